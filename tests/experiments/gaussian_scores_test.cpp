// Drawn Gaussian scores against what is exactly known about them.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/gaussian_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

GaussianScores question(std::size_t scores, std::size_t draws) {
  GaussianScores result;
  result.scores = scores;
  result.draws = draws;
  result.seed = test::seed();
  return result;
}

double allowed(const Estimate& estimate) { return test::kSigmas * estimate.standard_error; }

bool same_bytes(const Estimate& a, const Estimate& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Property (1).
TEST(GaussianScores, AreTheSameForAnyNumberOfThreads) {
  GaussianScores asked = question(500, 40);
  asked.softmaxes = {{1.0, 2.0}, {4.0, 3.0}};
  const GaussianScoreMeans one = gaussian_scores(asked, {1, {}, {}});
  const GaussianScoreMeans two = gaussian_scores(asked, {2, {}, {}});
  EXPECT_TRUE(same_bytes(one.largest, two.largest));
  for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(same_bytes(one.gaps[k], two.gaps[k])) << k;
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_TRUE(same_bytes(one.softmaxes[s].largest_weight, two.softmaxes[s].largest_weight));
    EXPECT_TRUE(same_bytes(one.softmaxes[s].planted_weight, two.softmaxes[s].planted_weight));
  }
}

// Property (2): −log Φ̄ of a normal score is exponential, and the k-th gap of exponential variables
// is exponential with mean 1/k whatever their number [Rényi 1953]. N = 5 has no asymptotics in it.
TEST(GaussianScores, HaveTheTailGapsOfRenyi) {
  for (const std::size_t scores : {5U, 3000U}) {
    const GaussianScoreMeans means = gaussian_scores(question(scores, 3000));
    double harmonic = 0.0;
    for (std::size_t k = 0; k < means.tail_gaps.size(); ++k) {
      harmonic += 1.0 / static_cast<double>(k + 1);
      EXPECT_NEAR(means.tail_gaps[k].mean, harmonic, allowed(means.tail_gaps[k])) << scores;
    }
  }
}

// Property (3). The sum of N ones is exact.
TEST(GaussianScores, AreWeighedAlikeAtInfiniteTemperature) {
  GaussianScores asked = question(1000, 3);
  asked.softmaxes = {{0.0, 7.0}};
  const SoftmaxMeans means = gaussian_scores(asked).softmaxes[0];
  constexpr double rounding = 4.0 * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(means.largest_weight.mean, 1e-3, rounding * 1e-3);
  EXPECT_NEAR(means.planted_weight.mean, 1.0 / 1001.0, 8.0 * rounding / 1001.0);
  EXPECT_NEAR(means.log_partition.mean, std::log(1000.0), 8.0 * rounding);
}

// Property (4) through Jensen: E log Z = log E Z − ½ Var(Z)/(E Z)² + .., Var(Z)/(E Z)² =
// (e^{β²} − 1)/N = 1.7e-4 here; the next term is of the order of its 3/2 power, 2e-6.
TEST(GaussianScores, HaveTheAnnealedPartitionFunction) {
  constexpr double beta = 1.0, scores = 10'000.0;
  GaussianScores asked = question(10'000, 2000);
  asked.softmaxes = {{beta, 0.0}};
  const Estimate measured = gaussian_scores(asked).softmaxes[0].log_partition;
  const double jensen = 0.5 * std::expm1(beta * beta) / scores;
  EXPECT_NEAR(measured.mean, std::log(scores) + 0.5 * beta * beta - jensen,
              allowed(measured) + std::pow(2.0 * jensen, 1.5));
}

// The planted key is one more key: with m = M its weight w obeys w/(1 − w) = e^{βm}/Z, draw by
// draw; two draws of one score u make it w = 1/(1 + e^{β(u − m)}), which is 1/2 on average at m =
// 0.
TEST(GaussianScores, PlantAKeyBesideThem) {
  GaussianScores asked = question(1, 4000);
  asked.top = 1;
  asked.softmaxes = {{3.0, 0.0}};
  const Estimate measured = gaussian_scores(asked).softmaxes[0].planted_weight;
  EXPECT_NEAR(measured.mean, 0.5, allowed(measured));
  EXPECT_GT(measured.standard_error, 0.0);
}

}  // namespace
}  // namespace dewpoint::experiments
