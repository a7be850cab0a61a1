// The theory beside a query's measurement: ordered weights against the measured ones and the
// quadrature of the first.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/query_theory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "dewpoint/core/frame_json.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::studies {
namespace {

experiments::Query many_keys_at(int dimension) {
  experiments::Query question;
  question.dimension = dimension;
  question.n = {1e15};
  question.temperatures = {0.3, 1.0, 3.0};
  question.draws = 4000;
  question.seed = test::seed();
  return question;
}

/// The limit is approached as 1/β* (theory/critical_sphere.hpp), which is below 5e-8 for d ≤ 5 and
/// n = 1e15; weights are at most 1, and change by θ ≤ 3 times their gap, of order 10, times that.
constexpr double kDistanceToLimit = 1e-5;

// Property (2): two samplers that share no code, one of keys and one of the limit.
TEST(QueryTheory, LimitWeightsAreTheMeasuredOnesOfManyKeysAtEveryRank) {
  for (const int dimension : {2, 3, 5}) {
    const experiments::Query question = many_keys_at(dimension);
    const auto measured = experiments::query(question).means.variable("weight").cells;
    const auto limit = query_theory(question, {}).variable("limit_weight").cells;
    ASSERT_EQ(measured.size(), limit.size());
    for (std::size_t c = 0; c < limit.size(); ++c) {
      const double error = std::hypot(measured[c].standard_error, limit[c].standard_error);
      EXPECT_NEAR(measured[c].mean, limit[c].mean, test::kSigmas * error + kDistanceToLimit)
          << "d = " << dimension << ", rank " << c % question.ranks + 1;
    }
  }
}

// Property (1). The Gaussian law of the keys beyond the 512 nearest is good to their weight,
// e^{−θ 500^{1/a}} of the first: below 2e-3 at the warmest point, a = 2 and θ = 0.3, and a share
// θ²/2 = 0.045 of that of the whole.
TEST(QueryTheory, TheFirstLimitWeightIsThatOfTheQuadrature) {
  for (const int dimension : {2, 3, 5}) {
    const experiments::Query question = many_keys_at(dimension);
    const Frame theory = query_theory(question, {});
    for (std::size_t t = 0; t < question.temperatures.size(); ++t) {
      const Estimate& first = theory.variable("limit_weight").cells[t * question.ranks];
      EXPECT_EQ(first.samples, kLimitDraws);
      EXPECT_NEAR(first.mean, theory.variable("limit_largest_weight").cells[t].mean,
                  test::kSigmas * first.standard_error + 1e-4);
    }
  }
}

TEST(QueryTheory, TheLimitDoesNotDependOnTheUnitNorOnN) {
  experiments::Query question = many_keys_at(5);
  question.n = {1e6, 1e15};
  const auto by_theta = query_theory(question, {}).variable("limit_weight").cells;
  const std::size_t half = by_theta.size() / 2;
  for (std::size_t c = 0; c < half; ++c) EXPECT_EQ(by_theta[c].mean, by_theta[half + c].mean);
  question.n = {1e15};
  question.unit = experiments::TemperatureUnit::beta;
  const double unit = experiments::query_scales(5, std::log(1e15)).unit;
  for (double& value : question.temperatures) value *= unit;
  const auto by_beta = query_theory(question, {}).variable("limit_weight").cells;
  // θ is a few roundings off, and weights have a slope of their gap times θ in log θ.
  for (std::size_t c = 0; c < half; ++c) {
    EXPECT_NEAR(by_beta[c].mean, by_theta[c].mean, 1e-13);
  }
}

TEST(QueryTheory, ThereIsNoLimitWhereOneKeyHasEverything) {
  experiments::Query question = many_keys_at(5);
  question.temperatures = {1e4};
  const Frame theory = query_theory(question, {});
  for (const Estimate& weight : theory.variable("limit_weight").cells) {
    EXPECT_EQ(weight.samples, 0u);
    EXPECT_TRUE(std::isnan(weight.mean));
  }
}

// Property (3).
TEST(QueryTheory, DoesNotDependOnThreads) {
  const experiments::Query question = many_keys_at(3);
  const auto text = [&](int threads) {
    return to_json(query_theory(question, {threads, {}, {}})).dump();
  };
  EXPECT_EQ(text(1), text(2));
}

}  // namespace
}  // namespace dewpoint::studies
