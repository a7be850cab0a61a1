// Observables of a head's row against the dense softmax.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/observables/head_observables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "dewpoint/core/random.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::observables {
namespace {

/// Sums of the scores, the first of them set apart; a sink where it is given.
SoftmaxRow row_of(const std::vector<double>& scores, double sink = SoftmaxRow::kAbsent) {
  SoftmaxRow row;
  row.first = scores.front();
  row.sink = sink;
  if (scores.size() > 1) row.largest = *std::max_element(scores.begin() + 1, scores.end());
  for (std::size_t j = 1; j < scores.size(); ++j) {
    const double gap = row.largest - scores[j], weight = std::exp(-gap);
    row.rest += {weight, gap * weight, gap * gap * weight, weight * weight};
    row.plain_gap += gap;
    row.plain_squared_gap += gap * gap;
  }
  return row;
}

/// The dense softmax, entry by entry.
HeadObservables dense(const std::vector<double>& logits, std::size_t keys) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double partition = 0.0;
  for (const double s : logits) partition += std::exp(s - top);
  HeadObservables result;
  for (const double s : logits) {
    const double p = std::exp(s - top) / partition;
    if (p > 0.0) result.entropy -= p * std::log(p);
    result.participation += p * p;
    result.largest_weight = std::max(result.largest_weight, p);
    result.mean_score += p * s;
  }
  for (const double s : logits)
    result.score_variance +=
        std::exp(s - top) / partition * (s - result.mean_score) * (s - result.mean_score);
  result.effective_keys = std::exp(result.entropy);
  result.effective_share = result.effective_keys / static_cast<double>(keys);
  result.largest_score = top;
  return result;
}

/// A sum of n terms carries n roundings, a variance those of squares up to `square` times larger.
void expect_same(const HeadObservables& found, const HeadObservables& wanted, double square) {
  constexpr double tolerance = 1e-13;
  EXPECT_NEAR(found.entropy, wanted.entropy, tolerance * (1.0 + wanted.entropy));
  EXPECT_NEAR(found.effective_keys, wanted.effective_keys,
              tolerance * 10.0 * wanted.effective_keys);
  EXPECT_NEAR(found.effective_share, wanted.effective_share, tolerance * 10.0);
  EXPECT_NEAR(found.participation, wanted.participation, tolerance);
  EXPECT_NEAR(found.largest_weight, wanted.largest_weight, tolerance);
  EXPECT_NEAR(found.mean_score, wanted.mean_score, tolerance * std::sqrt(square));
  EXPECT_NEAR(found.score_variance, wanted.score_variance, tolerance * square);
  EXPECT_EQ(found.largest_score, wanted.largest_score);
}

std::vector<double> normal_scores(std::size_t count, double deviation, std::uint64_t row) {
  std::vector<double> scores(count);
  Stream(test::seed(), "head observables", row).normals(0, scores);
  for (double& score : scores) score *= deviation;
  return scores;
}

// Property (1), with the first key far above, among and far below the others.
TEST(HeadObservables, EqualTheDenseSoftmaxOverKeysAndSink) {
  std::uint64_t number = 0;
  for (const double deviation : {0.1, 1.0, 5.0})
    for (const double first : {-30.0, 0.0, 12.0})
      for (const double sink : {-2.0, 3.0, 25.0}) {
        std::vector<double> logits = normal_scores(300, deviation, number++);
        logits.front() = first;
        const HeadObservables found = head_observables(row_of(logits, sink), 300);
        logits.push_back(sink);
        const HeadObservables wanted = dense(logits, 300);
        expect_same(found, wanted, 1000.0);
        const double total = std::accumulate(
            logits.begin(), logits.end(), 0.0,
            [&](double sum, double s) { return sum + std::exp(s - wanted.largest_score); });
        EXPECT_NEAR(found.first_mass, std::exp(first - wanted.largest_score) / total, 1e-13);
        EXPECT_NEAR(found.sink_mass, std::exp(sink - wanted.largest_score) / total, 1e-13);
      }
}

// Property (1): a first key that holds all but e^{-60} leaves what is below it untouched.
TEST(HeadObservables, WithoutTheSinkEqualTheDenseSoftmaxOverTheOtherKeys) {
  for (const double first : {-5.0, 4.0, 60.0}) {
    std::vector<double> scores = normal_scores(200, 2.0, 100);
    scores.front() = first;
    const auto found = observables_without_sink(row_of(scores, 70.0), 200);
    ASSERT_TRUE(found.has_value());
    expect_same(*found, dense({scores.begin() + 1, scores.end()}, 199), 200.0);
    EXPECT_EQ(found->first_mass, 0.0);
    EXPECT_EQ(found->sink_mass, 0.0);
  }
}

// Property (3).
TEST(HeadObservables, MoveWithAConstantOnlyWhereTheyAreScores) {
  std::vector<double> scores = normal_scores(100, 1.5, 101);
  const HeadObservables before = head_observables(row_of(scores, 0.5), 100);
  for (double& score : scores) score += 40.0;
  const HeadObservables after = head_observables(row_of(scores, 40.5), 100);
  EXPECT_NEAR(after.entropy, before.entropy, 1e-12);
  EXPECT_NEAR(after.first_mass, before.first_mass, 1e-13);
  EXPECT_NEAR(after.mean_score, before.mean_score + 40.0, 1e-12);
  EXPECT_NEAR(after.score_variance, before.score_variance, 1e-11);
}

TEST(HeadObservables, OfALonelyFirstKeyAreThoseOfOneKey) {
  const SoftmaxRow row = row_of({3.0});
  const HeadObservables all = head_observables(row, 1);
  EXPECT_EQ(all.entropy, 0.0);
  EXPECT_EQ(all.largest_weight, 1.0);
  EXPECT_EQ(all.first_mass, 1.0);
  EXPECT_EQ(all.mean_score, 3.0);
  EXPECT_FALSE(observables_without_sink(row, 1).has_value());
  EXPECT_FALSE(key_moments(row, 1).has_value());
}

// A window that has left the first key behind: n counts every visible key.
TEST(HeadObservables, CountAllKeysWhereTheFirstOneIsNotVisible) {
  const std::vector<double> scores = normal_scores(50, 1.0, 102);
  SoftmaxRow row = row_of([&] {
    std::vector<double> with_first = scores;
    with_first.insert(with_first.begin(), 0.0);
    return with_first;
  }());
  row.first = SoftmaxRow::kAbsent;
  const HeadObservables wanted = dense(scores, 50);
  expect_same(head_observables(row, 50), wanted, 100.0);
  expect_same(observables_without_sink(row, 50).value(), wanted, 100.0);
  EXPECT_EQ(head_observables(row, 50).first_mass, 0.0);
}

TEST(KeyMoments, CountEveryKeyButTheFirstAlike) {
  const auto moments = key_moments(row_of({100.0, 1.0, 2.0, 3.0, 6.0}), 5);
  ASSERT_TRUE(moments.has_value());
  EXPECT_NEAR(moments->mean, 3.0, 1e-15);
  EXPECT_NEAR(moments->variance, 3.5, 1e-14);
}

}  // namespace
}  // namespace dewpoint::observables
