#include "dewpoint/transformer/batch.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace dewpoint::transformer {
namespace {

using Tokens = std::vector<std::int32_t>;
using Numbers = std::vector<std::uint32_t>;

Batch explicit_batch(const Windows& windows, Targets targets) {
  Batch batch;
  fill_explicit(windows, targets, batch);
  return batch;
}

Batch collapsed_batch(const Windows& windows) {
  Batch batch;
  fill_collapsed(windows, batch);
  return batch;
}

bool same(const Batch& a, const Batch& b) {
  return a.tokens == b.tokens && a.log_counts == b.log_counts && a.begins == b.begins &&
         a.questions == b.questions && a.asked == b.asked;
}

double total_weight(const Batch& batch) {
  double sum = 0.0;
  for (const Question& question : batch.questions) sum += question.weight;
  return sum;
}

// ---- examples -----------------------------------------------------------------------------------

TEST(ExplicitBatch, HasARowForEveryPosition) {
  const Windows windows{{5, 3, 5, 1, 3, 3, 2, 0}, 3};
  ASSERT_EQ(windows.size(), 2U);
  const Batch batch = explicit_batch(windows, Targets::last);
  EXPECT_EQ(batch.tokens, (Tokens{5, 3, 5, 3, 3, 2}));
  EXPECT_TRUE(batch.log_counts.empty());
  EXPECT_EQ(batch.begins, (Numbers{0, 3, 6}));
  EXPECT_EQ(batch.questions, (std::vector<Question>{{2, 1, 0.5}, {5, 0, 0.5}}));
  EXPECT_EQ(batch.asked, (Numbers{2, 5}));
  EXPECT_EQ(batch.contexts(), 2U);
  EXPECT_EQ(batch.context(1), (Range{3, 6}));
  EXPECT_EQ(batch.longest_context(), 3U);
}

TEST(BatchOfEnds, AsksTheLastPositions) {
  Batch batch;
  fill_ends({{5, 3, 4, 1, 3, 3, 2, 0}, 3}, 2, batch);
  EXPECT_EQ(batch.tokens, (Tokens{5, 3, 4, 3, 3, 2}));
  EXPECT_EQ(batch.questions,
            (std::vector<Question>{{1, 4, 0.25}, {2, 1, 0.25}, {4, 2, 0.25}, {5, 0, 0.25}}));
  EXPECT_EQ(batch.asked, (Numbers{1, 2, 4, 5}));
}

// Property (1) of fill_ends().
TEST(BatchOfEnds, IsTheExplicitOneForOneAndForAllPositions) {
  const Windows windows{{5, 3, 5, 1, 3, 3, 2, 0}, 3};
  Batch batch;
  fill_ends(windows, 1, batch);
  EXPECT_TRUE(same(batch, explicit_batch(windows, Targets::last)));
  fill_ends(windows, 3, batch);
  EXPECT_TRUE(same(batch, explicit_batch(windows, Targets::all)));
}

TEST(ExplicitBatch, AsksEveryPositionForTheTokenAfterIt) {
  const Batch batch = explicit_batch({{5, 3, 1, 3, 3, 0}, 2}, Targets::all);
  EXPECT_EQ(batch.questions,
            (std::vector<Question>{{0, 3, 0.25}, {1, 1, 0.25}, {2, 3, 0.25}, {3, 0, 0.25}}));
  EXPECT_EQ(batch.asked, (Numbers{0, 1, 2, 3}));
}

TEST(CollapsedBatch, HasARowForEveryTokenOfAContextWithItsCount) {
  const Batch batch = collapsed_batch({{5, 3, 5, 5, 1}, 4});
  EXPECT_EQ(batch.tokens, (Tokens{3, 5}));
  EXPECT_EQ(batch.log_counts, (std::vector<double>{0.0, std::log(3.0)}));
  EXPECT_EQ(batch.begins, (Numbers{0, 2}));
  EXPECT_EQ(batch.questions, (std::vector<Question>{{1, 1, 1.0}}));
  EXPECT_EQ(batch.asked, (Numbers{1}));
}

// Three windows with the histogram of {2, 2, 4}: two end with 2 and ask for 0 and 9, one with 4.
// The fourth has another one, and is before them in order.
TEST(CollapsedBatch, AsksOneContextForTheLabelsOfAllThatEqualIt) {
  const Batch batch = collapsed_batch({{4, 2, 2, 9, 2, 2, 4, 7, 2, 4, 2, 0, 2, 2, 3, 1}, 3});
  EXPECT_EQ(batch.tokens, (Tokens{2, 3, 2, 4}));
  EXPECT_EQ(batch.begins, (Numbers{0, 2, 4}));
  EXPECT_EQ(batch.questions,
            (std::vector<Question>{{1, 1, 0.25}, {2, 0, 0.25}, {2, 9, 0.25}, {3, 7, 0.25}}));
  EXPECT_EQ(batch.asked, (Numbers{1, 2, 3}));
}

TEST(CollapsedBatch, AddsTheWeightsOfEqualQuestions) {
  const Batch batch = collapsed_batch({{1, 0, 3, 1, 0, 3, 1, 0, 2, 0, 1, 3}, 2});
  EXPECT_EQ(batch.tokens, (Tokens{0, 1}));
  EXPECT_EQ(batch.questions, (std::vector<Question>{{0, 2, 0.25}, {0, 3, 0.5}, {1, 3, 0.25}}));
}

TEST(CollapsedBatch, OfOneTokenContextsIsATableOfPairs) {
  const Batch batch = collapsed_batch({{1, 0, 0, 2, 1, 0, 1, 1}, 1});
  EXPECT_EQ(batch.tokens, (Tokens{0, 1}));
  EXPECT_EQ(batch.questions, (std::vector<Question>{{0, 2, 0.25}, {1, 0, 0.5}, {1, 1, 0.25}}));
}

TEST(ABatch, ForgetsWhatItHeldAndKeepsItsMemory) {
  const Windows many{{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, 3}, few{{9, 9, 2, 1}, 3};
  Batch batch;
  fill_collapsed(many, batch);
  const auto* tokens = batch.tokens.data();
  const auto* questions = batch.questions.data();
  const auto* sorted = batch.scratch.tokens.data();
  fill_collapsed(few, batch);
  EXPECT_TRUE(same(batch, collapsed_batch(few)));
  EXPECT_EQ(batch.tokens.data(), tokens);
  EXPECT_EQ(batch.questions.data(), questions);
  EXPECT_EQ(batch.scratch.tokens.data(), sorted);
  fill_explicit(few, Targets::all, batch);
  EXPECT_TRUE(same(batch, explicit_batch(few, Targets::all)));
}

TEST(ABatch, WithoutContextsHasNoLongestOne) {
  EXPECT_EQ(Batch{}.contexts(), 0U);
  EXPECT_EQ(Batch{}.longest_context(), 0U);
}

// ---- properties ---------------------------------------------------------------------------------

// Few tokens and short contexts: many windows have equal histograms.
Windows arbitrary_windows() {
  Windows windows;
  windows.context = *rc::gen::inRange<std::size_t>(1, 6);
  const auto count = *rc::gen::inRange<std::size_t>(1, 12);
  windows.tokens = *rc::gen::container<Tokens>(count * (windows.context + 1),
                                               rc::gen::inRange<std::int32_t>(0, 4));
  return windows;
}

// What a histogram with its last token and label weighs, however the rows are cut.
using Weighed =
    std::map<std::tuple<std::map<std::int32_t, long>, std::int32_t, std::int32_t>, double>;

Weighed weighed_contexts(const Batch& batch) {
  Weighed weighed;
  std::size_t question = 0;
  for (std::size_t i = 0; i < batch.contexts(); ++i) {
    std::map<std::int32_t, long> histogram;
    const Range rows = batch.context(i);
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      histogram[batch.tokens[row]] +=
          batch.log_counts.empty() ? 1 : std::lround(std::exp(batch.log_counts[row]));
    }
    for (; question < batch.questions.size() && batch.questions[question].row < rows.end;
         ++question) {
      const auto [row, label, weight] = batch.questions[question];
      weighed[{histogram, batch.tokens[row], label}] += weight;
    }
  }
  return weighed;
}

// Of Property (1) what is in the batch; gradient_test.cpp has the rest. Up to a dozen additions.
RC_GTEST_PROP(CollapsedBatch, WeighsContextsAsTheExplicitOne, ()) {
  const Windows windows = arbitrary_windows();
  const Weighed collapsed = weighed_contexts(collapsed_batch(windows));
  const Weighed wanted = weighed_contexts(explicit_batch(windows, Targets::last));
  RC_ASSERT(collapsed.size() == wanted.size());
  for (const auto& [context, weight] : wanted) {
    RC_ASSERT(collapsed.contains(context));
    RC_ASSERT(std::abs(collapsed.at(context) - weight) <= 12 * 0x1p-53);
  }
}

// Property (2).
RC_GTEST_PROP(CollapsedBatch, DoesNotDependOnTheOrderOfWindows, ()) {
  const Windows windows = arbitrary_windows();
  Windows turned{{}, windows.context};
  const auto first = *rc::gen::inRange<std::size_t>(0, windows.size());
  for (std::size_t i = windows.size(); i-- > 0;) {
    const auto window = windows.window((first + i) % windows.size());
    turned.tokens.insert(turned.tokens.end(), window.begin(), window.end());
  }
  RC_ASSERT(same(collapsed_batch(windows), collapsed_batch(turned)));
}

// Property (2).
RC_GTEST_PROP(CollapsedBatch, DoesNotDependOnTheOrderOfTokensBeforeTheLast, ()) {
  const Windows windows = arbitrary_windows();
  Windows mixed = windows;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto begin =
        mixed.tokens.begin() + static_cast<std::ptrdiff_t>(i * (windows.context + 1));
    const auto last = begin + static_cast<std::ptrdiff_t>(windows.context) - 1;
    if (last == begin) continue;
    std::rotate(begin, begin + *rc::gen::inRange<std::ptrdiff_t>(0, last - begin), last);
    std::iter_swap(begin, begin + *rc::gen::inRange<std::ptrdiff_t>(0, last - begin));
  }
  RC_ASSERT(same(collapsed_batch(windows), collapsed_batch(mixed)));
}

// Property (3), and contexts differ from each other.
RC_GTEST_PROP(CollapsedBatch, HasEveryHistogramOnceAndInFull, ()) {
  const Windows windows = arbitrary_windows();
  const Batch batch = collapsed_batch(windows);
  std::map<std::vector<std::pair<std::int32_t, double>>, int> seen;
  for (std::size_t i = 0; i < batch.contexts(); ++i) {
    double total = 0.0;
    std::vector<std::pair<std::int32_t, double>> histogram;
    for (std::size_t row = batch.begins[i]; row < batch.begins[i + 1]; ++row) {
      total += std::round(std::exp(batch.log_counts[row]));
      if (!histogram.empty()) RC_ASSERT(histogram.back().first < batch.tokens[row]);
      histogram.emplace_back(batch.tokens[row], batch.log_counts[row]);
    }
    RC_ASSERT(total == static_cast<double>(windows.context));
    RC_ASSERT(++seen[histogram] == 1);
  }
}

// What Batch says of itself, for both ways to fill it.
RC_GTEST_PROP(ABatch, HasOrderedQuestionsThatWeighOne, ()) {
  const Windows windows = arbitrary_windows();
  for (const Batch& batch : {explicit_batch(windows, Targets::last),
                             explicit_batch(windows, Targets::all), collapsed_batch(windows)}) {
    RC_ASSERT(batch.begins.front() == 0U);
    RC_ASSERT(batch.begins.back() == batch.rows());
    RC_ASSERT(std::ranges::is_sorted(batch.questions, {}, &Question::row));
    Numbers rows;
    for (const Question& question : batch.questions) rows.push_back(question.row);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    RC_ASSERT(rows == batch.asked);
    RC_ASSERT(std::abs(total_weight(batch) - 1.0) <= 60 * 0x1p-53);  // at most 60 additions
  }
}

}  // namespace
}  // namespace dewpoint::transformer
