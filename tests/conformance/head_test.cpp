// The streaming statistics of a head against plain double loops: every mask, every instruction set,
// any number of threads.
#include "dewpoint/attention/head.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "conformance/head_data.hpp"
#include "dewpoint/attention/head_reference.hpp"
#include "dewpoint/attention/row_dew_points.hpp"

namespace dewpoint::attention {
namespace {

void expect_close(double found, double truth, double tolerance) {
  if (std::isnan(truth)) {
    EXPECT_TRUE(std::isnan(found));
  } else if (std::isinf(truth)) {
    EXPECT_EQ(found, truth);
  } else {
    EXPECT_NEAR(found, truth, tolerance * std::abs(truth));
  }
}

// Scores that are off by e move gaps by 2e at most, and every sum by that times its derivative. A
// score itself may be near 0: it is held to what would move its weight by the tolerance.
void expect_close(const SoftmaxRow& found, const SoftmaxRow& truth, double score_error = 0.0) {
  const double e = 2.0 * score_error;
  const auto near = [](double x, double y, double slope_times_error) {
    if (std::isinf(y)) {
      EXPECT_EQ(x, y);
    } else {
      EXPECT_NEAR(x, y, kTolerance * std::abs(y) + slope_times_error);
    }
  };
  const RowMoments &f = found.rest, &t = truth.rest;
  near(found.largest, truth.largest, score_error + kTolerance);
  near(found.first, truth.first, score_error + kTolerance);
  EXPECT_EQ(found.sink, truth.sink);
  near(f.partition, t.partition, e * t.partition);
  near(f.gap, t.gap, e * (t.partition + t.gap));
  near(f.squared_gap, t.squared_gap, e * (2.0 * t.gap + t.squared_gap));
  near(f.weight_squared, t.weight_squared, 2.0 * e * t.weight_squared);
  near(found.plain_gap, truth.plain_gap, e * 2500.0);  // keys, at most
  near(found.plain_squared_gap, truth.plain_squared_gap, 2.0 * e * truth.plain_gap);
}

// Moving every gap by a factor within 1 ± ρ moves R(β) by no more than moving β itself by ρ does.
// So scores that are off by e move β_dew by at most the share 2e/T, T the smallest gap.
double dew_point_tolerance(std::vector<double> scores, double score_error) {
  if (score_error == 0.0) return kRowDewPointError;
  std::sort(scores.begin(), scores.end(), std::greater<>());
  return kRowDewPointError + 2.0 * score_error / (scores[0] - scores[1]);
}

void expect_dew_point(double found, double truth, std::span<const double> scores,
                      double score_error) {
  if (std::isnan(truth)) {
    EXPECT_TRUE(std::isnan(found));
    EXPECT_LT(scores.size(), 3U);
  } else if (std::isinf(truth)) {
    EXPECT_EQ(found, truth);
  } else {
    expect_close(found, truth, dew_point_tolerance({scores.begin(), scores.end()}, score_error));
  }
}

void expect_close(const Head& head, std::size_t query, const HeadRow& found, const HeadRow& truth) {
  const bool capped = head.softcap > 0.0;
  EXPECT_EQ(found.position, truth.position);
  EXPECT_EQ(found.keys, truth.keys);
  ASSERT_EQ(found.softmax.size(), truth.softmax.size());
  for (std::size_t k = 0; k < truth.softmax.size(); ++k) {
    expect_close(found.softmax[k], truth.softmax[k], capped ? kCappedScoreError : 0.0);
  }
  const ScoreRow row = score_row(head, query);
  ASSERT_LE(*std::ranges::max_element(row.scores) - *std::ranges::min_element(row.scores),
            kLargestExponent / 2.0);  // the largest multiplier is below 2
  const std::span<const double> scores = row.scores;
  const double error = capped ? kCappedScoreError : 0.0;
  expect_dew_point(found.dew_point, truth.dew_point, scores, error);
  expect_dew_point(found.dew_point_without_first, truth.dew_point_without_first,
                   scores.subspan(row.first_key == 0 ? 1 : 0), error);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, HeadConformance, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

void expect_rows(const Head& head) {
  const std::vector<std::size_t> queries = all_queries(head);
  const auto found = measure_rows(head, queries, kMultipliers, true, kOneThread);
  const auto truth = reference_rows(head, queries, kMultipliers, true);
  ASSERT_EQ(found.size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    SCOPED_TRACE(head.mask.name() + ", query " + std::to_string(i));
    expect_close(head, i, found[i], truth[i]);
  }
}

TEST_P(HeadConformance, RowsEqualTheReferenceUnderEveryMask) {
  for (const Shape& shape : kShapes) {
    const Data data(shape.queries, shape.keys, shape.dimension);
    for (const Mask& mask : kMasks) expect_rows(data.head(mask));
  }
}

// A cap of 2 bends scores of deviation 4/3.
TEST_P(HeadConformance, RowsWithACapAndASinkEqualTheReference) {
  for (const Shape& shape : {Shape{3, 3, 64}, {20, 83, 16}, {100, 612, 64}, {9, 2500, 16}}) {
    const Data data(shape.queries, shape.keys, shape.dimension);
    for (const Mask& mask : {Mask::causal(), Mask::window(7), Mask::none()}) {
      Head head = data.head(mask);
      head.softcap = kCap;
      head.sink = 1.25;
      expect_rows(head);
    }
  }
}

// Far apart, queries of one strip see different blocks of keys, and some blocks nobody sees.
TEST_P(HeadConformance, SparseQueriesEqualTheReference) {
  constexpr std::size_t n = 3 * kBlockKeys + 100;
  const Data data(n, n, 16);
  for (const Mask& mask : {Mask::none(), Mask::causal(), Mask::window(7), Mask::window(700)}) {
    const Head head = data.head(mask);
    const std::vector<std::size_t> some = {0, 1, 5, 300, 1023, 1024, 1030, 2500, n - 1};
    const auto found = measure_rows(head, some, kMultipliers, true, kOneThread);
    const auto truth = reference_rows(head, some, kMultipliers, true);
    for (std::size_t r = 0; r < some.size(); ++r) {
      SCOPED_TRACE(mask.name() + ", query " + std::to_string(some[r]));
      expect_close(head, some[r], found[r], truth[r]);
    }
  }
}

std::vector<double> numbers_of(const std::vector<HeadRow>& rows) {
  std::vector<double> numbers;
  for (const HeadRow& row : rows) {
    numbers.insert(numbers.end(), {row.dew_point, row.dew_point_without_first});
    for (const SoftmaxRow& s : row.softmax) {
      numbers.insert(numbers.end(),
                     {s.largest, s.first, s.rest.partition, s.rest.gap, s.rest.squared_gap,
                      s.rest.weight_squared, s.plain_gap, s.plain_squared_gap});
    }
  }
  return numbers;
}

Matrix<float> normal_matrix(std::size_t rows, std::size_t cols, const char* name) {
  const Stream stream = test::stream(name);
  Matrix<float> result(rows, cols);
  for (std::size_t k = 0; k < result.size(); ++k) {
    result.data()[k] = static_cast<float>(stream.normal(k));
  }
  return result;
}

TEST_P(HeadConformance, ThreadsDoNotChangeAByte) {
  const Matrix<float> queries = normal_matrix(700, 64, "Threads/q");
  const Matrix<float> keys = normal_matrix(700, 64, "Threads/k");
  Head head;
  head.queries = queries;
  head.keys = keys;
  head.values = keys;
  head.scale = 0.125;
  const auto one =
      numbers_of(measure_rows(head, all_queries(head), kMultipliers, true, kOneThread));
  const auto two =
      numbers_of(measure_rows(head, all_queries(head), kMultipliers, true, kTwoThreads));
  ASSERT_EQ(one.size(), two.size());
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(double)), 0);

  Matrix<float> out_one(700, 64), out_two(700, 64);
  attend(head, {}, out_one, kOneThread);
  attend(head, {}, out_two, kTwoThreads);
  EXPECT_EQ(std::memcmp(out_one.data(), out_two.data(), out_one.size() * sizeof(float)), 0);
}

// Normal data rounds: 64 additions of numbers below 64 by at most 2⁻¹⁹ each, of either sign, times
// the scale 1/8: a standard deviation of √(64/3) 2⁻²² = 1.1e-6 in a score if all were so large. A
// row of 64 keys or more averages over several of them.
TEST_P(HeadConformance, RowsOfNormalDataEqualTheReference) {
  const Matrix<float> queries = normal_matrix(512, 64, "Normal/q");
  const Matrix<float> keys = normal_matrix(512, 64, "Normal/k");
  for (const Mask& mask : {Mask::none(), Mask::causal(), Mask::window(64)}) {
    Head head;
    head.queries = queries;
    head.keys = keys;
    head.mask = mask;
    head.scale = 0.125;
    std::vector<std::size_t> rows;
    for (std::size_t i = 64; i < 512; i += 3) rows.push_back(i);
    const auto found = measure_rows(head, rows, kMultipliers, false, kOneThread);
    const auto truth = reference_rows(head, rows, kMultipliers, false);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      EXPECT_TRUE(std::isnan(found[r].dew_point));  // not asked for
      for (std::size_t k = 0; k < truth[r].softmax.size(); ++k) {
        expect_close(found[r].softmax[k], truth[r].softmax[k]);
      }
    }
  }
}

// ---- rows of chosen scores ------------------------------------------------------------------

// A head whose only query has exactly these scores.
struct ChosenRow {
  Matrix<float> queries, keys;

  explicit ChosenRow(const std::vector<float>& scores) : queries(1, 5), keys(scores.size(), 5) {
    queries(0, 2) = 1.0F;
    for (std::size_t j = 0; j < scores.size(); ++j) keys(j, 2) = scores[j];
  }
  [[nodiscard]] Head head() const {
    Head head;
    head.queries = queries;
    head.keys = keys;
    head.first_position = keys.rows() - 1;
    return head;
  }
};

std::vector<float> normal_scores(std::size_t n, double scale) {
  const Stream stream = test::stream("ChosenRow");
  std::vector<float> scores(n);
  for (std::size_t j = 0; j < n; ++j) scores[j] = static_cast<float>(scale * stream.normal(j));
  return scores;
}

// Exponents up to 87 may carry 87 roundings, and weights below the smallest float are 0.
void expect_chosen_row(const std::vector<float>& scores) {
  const ChosenRow row(scores);
  const std::vector<std::size_t> query = {0};
  const HeadRow found = measure_rows(row.head(), query, {}, true, kOneThread).front();
  const HeadRow truth = reference_rows(row.head(), query, {}, true).front();
  const SoftmaxRow &f = found.softmax[0], &t = truth.softmax[0];
  constexpr double smallest = 1e4 * 1e4 * std::numeric_limits<float>::min();
  EXPECT_EQ(f.largest, t.largest);
  EXPECT_EQ(f.first, t.first);
  const double tolerance = 2.0 * kTolerance;
  EXPECT_NEAR(f.rest.partition, t.rest.partition, tolerance * t.rest.partition);
  EXPECT_NEAR(f.rest.gap, t.rest.gap, tolerance * t.rest.gap + smallest);
  EXPECT_NEAR(f.rest.squared_gap, t.rest.squared_gap, tolerance * t.rest.squared_gap + smallest);
  EXPECT_NEAR(f.rest.weight_squared, t.rest.weight_squared, tolerance * t.rest.weight_squared);
  EXPECT_NEAR(f.plain_gap, t.plain_gap, kTolerance * t.plain_gap);
  expect_close(found.dew_point, truth.dew_point, kRowDewPointError);
  expect_close(found.dew_point_without_first, truth.dew_point_without_first, kRowDewPointError);
}

constexpr std::size_t kRowKeys = 2 * kBlockKeys + 300;

TEST_P(HeadConformance, TheRestStaysExactUnderADominantFirstKey) {
  std::vector<float> scores = normal_scores(kRowKeys, 1.0);
  scores[0] = static_cast<float>(std::log(1e7 * kRowKeys));  // holds 1 − 2e-7 of the weight
  expect_chosen_row(scores);
}

TEST_P(HeadConformance, OneKeyMayDominateAnywhere) {
  for (const std::size_t place : {std::size_t{1}, kBlockKeys - 1, kBlockKeys, kRowKeys - 1}) {
    std::vector<float> scores = normal_scores(kRowKeys, 1.0);
    scores[place] = 200.0F;
    expect_chosen_row(scores);
  }
}

TEST_P(HeadConformance, HugeScoresDoNoHarm) { expect_chosen_row(normal_scores(kRowKeys, 1e4)); }

TEST_P(HeadConformance, ScoresThatKeepRisingDoNoHarm) {
  std::vector<float> scores(kRowKeys);
  for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = 0.05F * static_cast<float>(j);
  expect_chosen_row(scores);
}

TEST_P(HeadConformance, TiedMaximaNeverCondense) {
  std::vector<float> scores = normal_scores(kRowKeys, 1.0);
  scores[5] = scores[kBlockKeys + 5] = 7.5F;
  expect_chosen_row(scores);
  scores[0] = 9.0F;  // the first key wins alone: only the row without it is tied
  expect_chosen_row(scores);
  scores[0] = 7.5F;
  expect_chosen_row(scores);
  expect_chosen_row(std::vector<float>(kRowKeys, -3.25F));
  expect_chosen_row(std::vector<float>(3, 0.0F));
}

}  // namespace
}  // namespace dewpoint::attention
