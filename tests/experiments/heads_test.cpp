#include "dewpoint/experiments/heads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "experiments/measured_rows.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

using attention::Head;
using attention::Mask;

Matrix<float> normal_rows(std::size_t n, std::size_t d, const char* name) {
  Matrix<float> rows(n, d);
  const Stream draw = test::stream(name);
  for (std::size_t k = 0; k < rows.size(); ++k) rows.data()[k] = static_cast<float>(draw.normal(k));
  return rows;
}

// A head whose numbers do not matter: only its shape is looked at.
Head shape_of(std::size_t queries, std::size_t keys, Mask mask) {
  Head head;
  head.queries = {nullptr, queries, 1, 1};
  head.keys = {nullptr, keys, 1, 1};
  head.first_position = keys - queries;
  head.mask = mask;
  return head;
}

std::size_t keys_of(const Head& head, std::size_t query) {
  return head.mask.visible(head.first_position + query, head.keys.rows()).size();
}

// Upper end of the bin of n out of octaves; 0: none.
std::size_t bin_end(const HeadPlan& plan, std::size_t n) {
  for (const std::size_t end : plan.bin_ends) {
    if (n > end / 2 && n <= end) return end;
  }
  return 0;
}

std::map<std::size_t, std::vector<std::size_t>> by_bin(const Head& head, const HeadPlan& plan,
                                                       const std::vector<std::size_t>& queries) {
  std::map<std::size_t, std::vector<std::size_t>> bins;
  for (const std::size_t query : queries)
    bins[bin_end(plan, keys_of(head, query))].push_back(query);
  return bins;
}

HeadPlan octaves(std::vector<std::size_t> ends) {
  HeadPlan plan;
  plan.bin_ends = std::move(ends);
  return plan;
}

// Property (1) of planned_queries.
TEST(PlannedQueries, EveryBinHasAsManyAsWereAskedForOrAllThatThereAre) {
  const HeadPlan plan = octaves({31, 62, 125, 250, 500, 1000});
  const Head head = shape_of(1000, 1000, Mask::causal());
  const auto bins = by_bin(head, plan, planned_queries(head, plan, 100));
  ASSERT_EQ(bins.size(), 6U);
  EXPECT_EQ(bins.at(31).size(), 16U);  // n = 16 .. 31
  EXPECT_EQ(bins.at(62).size(), 31U);
  EXPECT_EQ(bins.at(125).size(), 63U);
  for (const std::size_t end : {250, 500, 1000}) EXPECT_EQ(bins.at(end).size(), 100U);
}

// Property (2).
TEST(PlannedQueries, AreEvenRunsOfNeighboursInTheMiddleOfTheirPieces) {
  const HeadPlan plan = octaves({4096});
  const Head head = shape_of(4096, 4096, Mask::causal());
  for (const std::size_t count : {1, 7, 16, 40, 512, 2047}) {
    const auto queries = planned_queries(head, plan, count);
    ASSERT_EQ(queries.size(), count);
    ASSERT_TRUE(std::is_sorted(queries.begin(), queries.end()));
    std::vector<Range> runs;
    for (const std::size_t query : queries) {
      if (runs.empty() || runs.back().end != query) runs.push_back({query, query});
      ++runs.back().end;
    }
    const std::size_t pieces = std::min(kRuns, count);
    EXPECT_LE(runs.size(), pieces);
    if (runs.size() < pieces) continue;  // neighbouring runs have grown together
    for (std::size_t k = 0; k < pieces; ++k) {
      EXPECT_LE(runs[k].size() - count / pieces, 1U);
      // The middle of piece k of queries 2048 .. 4095, to a rounding of either size.
      const double middle =
          2048.0 + 2048.0 * (static_cast<double>(k) + 0.5) / static_cast<double>(pieces);
      EXPECT_NEAR(0.5 * static_cast<double>(runs[k].begin + runs[k].end), middle, 1.5);
    }
  }
}

TEST(PlannedQueries, UnderAWindowAllLateQueriesShareOneBin) {
  const HeadPlan plan = octaves({16, 32, 64});
  const Head head = shape_of(1000, 1000, Mask::window(64));
  const auto bins = by_bin(head, plan, planned_queries(head, plan, 50));
  EXPECT_EQ(bins.at(32).size(), 16U);
  EXPECT_EQ(bins.at(64).size(), 50U);
  EXPECT_GT(bins.at(64).back(), 900U);
}

TEST(PlannedQueries, WithoutAMaskAllQueriesShareOneBin) {
  const HeadPlan plan = octaves({50, 100});
  const Head head = shape_of(30, 100, Mask::none());
  EXPECT_EQ(planned_queries(head, plan, 1000).size(), 30U);
  EXPECT_TRUE(planned_queries(head, octaves({50}), 1000).empty());
}

TEST(PlannedQueries, CountVisibleKeysNotQueries) {
  const HeadPlan plan = octaves({16, 32, 64, 128});
  const Head head = shape_of(10, 100, Mask::causal());  // the last ten: n = 91 .. 100
  const auto bins = by_bin(head, plan, planned_queries(head, plan, 1000));
  ASSERT_EQ(bins.size(), 1U);
  EXPECT_EQ(bins.at(128).size(), 10U);
}

TEST(PlannedScores, AreASpreadSubsetWithMoreInTheLastBinThatIsFilled) {
  HeadPlan plan = octaves({64, 128, 256, 512, 1024});
  plan.rows_per_bin = 100;
  plan.score_rows_per_bin = 10;
  plan.score_rows_last_bin = 30;
  const Head head = shape_of(500, 500, Mask::causal());  // the bin of 1024 stays empty
  const auto rows = planned_queries(head, plan, plan.rows_per_bin);
  const auto scores = planned_score_queries(head, plan);
  EXPECT_TRUE(std::includes(rows.begin(), rows.end(), scores.begin(), scores.end()));
  const auto bins = by_bin(head, plan, scores);
  EXPECT_EQ(bins.at(512).size(), 30U);
  for (const std::size_t end : {64, 128, 256}) EXPECT_EQ(bins.at(end).size(), 10U);
  EXPECT_LT(bins.at(512).front(), 256U + 20U);
  EXPECT_GT(bins.at(512).back(), 480U);
}

class MeasuredHeads : public testing::Test {
 protected:
  MeasuredHeads()
      : queries_(normal_rows(200, 8, "MeasuredHeads/queries")),
        keys_(normal_rows(200, 8, "MeasuredHeads/keys")),
        plan_(octaves({25, 50, 100, 200})) {
    head_.queries = queries_;
    head_.keys = keys_;
    head_.scale = 0.5;
    plan_.rows_per_bin = 20;
    plan_.score_rows_per_bin = 4;
    plan_.score_rows_last_bin = 8;
    plan_.multipliers = {{"2", [](std::size_t) { return 2.0; }}};
  }

  Matrix<float> queries_, keys_;
  Head head_;
  HeadPlan plan_;
};

// Property (1) of measure_head.
TEST_F(MeasuredHeads, HoldThePlannedRowsAndScores) {
  const MeasuredHead measured = measure_head(head_, plan_);
  const auto queries = planned_queries(head_, plan_, plan_.rows_per_bin);
  ASSERT_EQ(measured.rows.size(), queries.size());
  for (std::size_t k = 0; k < queries.size(); ++k) {
    EXPECT_EQ(measured.rows[k].position, queries[k]);
    EXPECT_EQ(measured.rows[k].keys, queries[k] + 1);
    EXPECT_EQ(measured.rows[k].softmax.size(), 2U);
  }
  const auto whole = planned_score_queries(head_, plan_);
  ASSERT_EQ(measured.scores.size(), whole.size());
  for (std::size_t k = 0; k < whole.size(); ++k) {
    EXPECT_EQ(measured.scores[k].position, whole[k]);
    EXPECT_EQ(measured.scores[k].scores.size(), whole[k] + 1);
  }
}

// Property (2).
TEST_F(MeasuredHeads, DoNotDependOnTheNumberOfThreads) {
  EXPECT_EQ(test::bits_of(measure_head(head_, plan_, {1, {}, {}})),
            test::bits_of(measure_head(head_, plan_, {3, {}, {}})));
}

TEST_F(MeasuredHeads, OfAPlanWithoutBinsHoldNothing) {
  plan_.bin_ends.clear();
  const MeasuredHead measured = measure_head(head_, plan_);
  EXPECT_TRUE(measured.rows.empty());
  EXPECT_TRUE(measured.scores.empty());
}

}  // namespace
}  // namespace dewpoint::experiments
