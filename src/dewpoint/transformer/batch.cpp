#include "dewpoint/transformer/batch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dewpoint/core/error.hpp"

namespace dewpoint::transformer {
namespace {

void expect_fitting([[maybe_unused]] const Windows& windows) {
  DEWPOINT_EXPECTS(windows.context >= 1 && windows.size() >= 1);
  DEWPOINT_EXPECTS(windows.tokens.size() == windows.size() * (windows.context + 1));
  DEWPOINT_EXPECTS(std::ranges::min(windows.tokens) >= 0);
  DEWPOINT_EXPECTS(windows.tokens.size() <= std::numeric_limits<std::uint32_t>::max());
}

void clear(Batch& batch) {
  batch.tokens.clear();
  batch.log_counts.clear();
  batch.begins.clear();
  batch.questions.clear();
  batch.asked.clear();
}

std::uint32_t next_row(const Batch& batch) { return static_cast<std::uint32_t>(batch.rows()); }

// The questions come in order of their rows, equal ones together.
void ask(std::uint32_t row, std::int32_t label, double weight, Batch& batch) {
  const bool asked_before = !batch.asked.empty() && batch.asked.back() == row;
  if (asked_before && batch.questions.back().label == label) {
    batch.questions.back().weight += weight;
    return;
  }
  if (!asked_before) batch.asked.push_back(row);
  batch.questions.push_back({row, label, weight});
}

// ---- the collapse -------------------------------------------------------------------------------

// A window as it is sorted: its context in order of token, the last token of it, the label.
std::span<const std::int32_t> sorted_window(const Batch& batch, std::size_t context,
                                            std::size_t i) {
  return std::span(batch.scratch.tokens).subspan(i * (context + 2), context + 2);
}

// The tokens of every context in their order, all contexts at once and without comparing: windows
// are listed per token, and every one gets its tokens in the order of these lists.
void sort_contexts(const Windows& windows, Batch& batch) {
  const std::size_t s = windows.context;
  Batch::Scratch& scratch = batch.scratch;
  const auto for_contexts = [&](const auto& use) {
    for (std::uint32_t i = 0; i < windows.size(); ++i) {
      for (const std::int32_t token : windows.window(i).first(s)) {
        use(i, static_cast<std::size_t>(token));
      }
    }
  };
  scratch.ends.assign(static_cast<std::size_t>(std::ranges::max(windows.tokens)) + 2, 0);
  for_contexts([&](std::uint32_t, std::size_t token) { ++scratch.ends[token + 1]; });
  std::partial_sum(scratch.ends.begin(), scratch.ends.end(), scratch.ends.begin());
  scratch.holders.resize(windows.size() * s);
  for_contexts(
      [&](std::uint32_t i, std::size_t token) { scratch.holders[scratch.ends[token]++] = i; });

  std::vector<std::uint32_t>& placed = scratch.order;
  placed.assign(windows.size(), 0);
  scratch.tokens.resize(windows.size() * (s + 2));
  std::size_t next = 0;
  for (std::size_t token = 0; next < scratch.holders.size(); ++token) {
    for (; next < scratch.ends[token]; ++next) {
      const std::size_t i = scratch.holders[next];
      scratch.tokens[i * (s + 2) + placed[i]++] = static_cast<std::int32_t>(token);
    }
  }
}

// Windows with equal histograms stand together after this, and in them equal questions.
void sort_windows(const Windows& windows, Batch& batch) {
  const std::size_t s = windows.context;
  sort_contexts(windows, batch);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    std::ranges::copy(windows.window(i).last(2),
                      batch.scratch.tokens.begin() + static_cast<std::ptrdiff_t>(i * (s + 2) + s));
  }
  std::iota(batch.scratch.order.begin(), batch.scratch.order.end(), 0U);
  std::ranges::sort(batch.scratch.order, [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::lexicographical_compare(sorted_window(batch, s, a),
                                                sorted_window(batch, s, b));
  });
}

// Rows of a context whose tokens are in order.
void add_histogram(std::span<const std::int32_t> context, Batch& batch) {
  batch.begins.push_back(next_row(batch));
  for (std::size_t i = 0, end = 0; i < context.size(); i = end) {
    while (end < context.size() && context[end] == context[i]) ++end;
    batch.tokens.push_back(context[i]);
    batch.log_counts.push_back(end == i + 1 ? 0.0 : std::log(static_cast<double>(end - i)));
  }
}

// The row of a token in the context that was added last.
std::uint32_t row_of(std::int32_t token, const Batch& batch) {
  const auto first = batch.tokens.begin() + batch.begins.back();
  const auto found = std::lower_bound(first, batch.tokens.end(), token);
  return static_cast<std::uint32_t>(found - batch.tokens.begin());
}

}  // namespace

const std::vector<std::pair<std::string, Targets>>& words_of(Targets) {
  static const std::vector<std::pair<std::string, Targets>> words = {{"last", Targets::last},
                                                                     {"all", Targets::all}};
  return words;
}

std::size_t Batch::longest_context() const {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < contexts(); ++i) longest = std::max(longest, context(i).size());
  return longest;
}

void fill_explicit(const Windows& windows, Targets targets, Batch& batch) {
  fill_ends(windows, targets == Targets::all ? windows.context : 1, batch);
}

void fill_ends(const Windows& windows, std::size_t asked, Batch& batch) {
  expect_fitting(windows);
  DEWPOINT_EXPECTS(asked >= 1 && asked <= windows.context);
  clear(batch);
  const std::size_t s = windows.context, first = s - asked;
  const double weight = 1.0 / static_cast<double>(windows.size() * (s - first));
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::span<const std::int32_t> window = windows.window(i);
    batch.begins.push_back(next_row(batch));
    for (std::size_t position = 0; position < s; ++position) {
      if (position >= first) ask(next_row(batch), window[position + 1], weight, batch);
      batch.tokens.push_back(window[position]);
    }
  }
  batch.begins.push_back(next_row(batch));
}

void fill_collapsed(const Windows& windows, Batch& batch) {
  expect_fitting(windows);
  clear(batch);
  sort_windows(windows, batch);
  const std::size_t s = windows.context;
  const double share = 1.0 / static_cast<double>(windows.size());
  std::span<const std::int32_t> before;
  for (const std::uint32_t i : batch.scratch.order) {
    const std::span<const std::int32_t> sorted = sorted_window(batch, s, i);
    const std::span<const std::int32_t> context = sorted.first(s);
    if (before.empty() || !std::ranges::equal(before, context)) add_histogram(context, batch);
    before = context;
    ask(row_of(sorted[s], batch), sorted[s + 1], share, batch);
  }
  batch.begins.push_back(next_row(batch));
}

}  // namespace dewpoint::transformer
