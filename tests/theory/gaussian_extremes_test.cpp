// The extremes of Gaussian scores against closed forms, tables and their limits.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/gaussian_extremes.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <numbers>

#include "dewpoint/core/distributions/normal.hpp"

namespace dewpoint::theory {
namespace {

// Property (1): E M = b + γ_E/b with a remainder of (γ_E + (π²/6 + γ_E²)/2)/b³ = 1.57/b³ and terms
// of the next odd order, ten of which are allowed.
TEST(MeanLargestScore, IsTheGumbelMeanToLeadingOrder) {
  for (double log_n : {20.0, 100.0, 700.0}) {
    const double b = normal::upper_quantile(-log_n), next = 1.0 / (b * b * b);
    EXPECT_NEAR(mean_largest_score(log_n), b + std::numbers::egamma / b - 1.567 * next,
                10.0 * next / (b * b))
        << log_n;
  }
}

// The definition, ∫ u n φ Φ^{n−1} du, by another rule in another variable.
TEST(MeanLargestScore, IsTheMeanOfItsDensity) {
  const boost::math::normal_distribution<double> law;
  constexpr double n = 1000.0;
  const auto integrand = [&](double score) {
    return score * n * pdf(law, score) * std::pow(cdf(law, score), n - 1.0);
  };
  const double exact =
      boost::math::quadrature::gauss_kronrod<double, 61>::integrate(integrand, 0.0, 10.0, 8, 1e-14);
  EXPECT_NEAR(mean_largest_score(std::log(n)), exact, kExtremesError + 1e-13);
}

// Property (1): 1/h at the k-th score, h = b (1 + O(1/b²)).
TEST(MeanTopGap, IsOneOverItsRankInUnitsOfTheQuantile) {
  for (int rank : {1, 2, 3, 8}) {
    const double b = normal::upper_quantile(-690.0);
    EXPECT_NEAR(rank * b * mean_top_gap(690.0, rank), 1.0, 3.0 / (b * b)) << rank;
  }
}

// Taking away one of n scores at random hits the largest once in n times and then costs the first
// gap: E M_n − E M_{n−1} = gap/n exactly.
TEST(MeanTopGap, IsTheGainOfOneMoreScore) {
  constexpr double n = 2000.0;
  const double gain = mean_largest_score(std::log(n)) - mean_largest_score(std::log(n - 1.0));
  EXPECT_NEAR(gain * n, mean_top_gap(std::log(n), 1), 2.0 * n * kExtremesError);
}

// Properties (1) and (2).
TEST(MeanLargestWeight, StartsAtOneOverTheNumberOfScores) {
  const double log_n = std::log(1e4);
  double previous = mean_largest_weight(log_n, 0.0);
  EXPECT_NEAR(previous * 1e4, 1.0, kLargestWeightError);
  for (double beta : {0.5, 2.0, 4.0, 8.0, 10.0}) {
    const double weight = mean_largest_weight(log_n, beta);
    EXPECT_GT(weight, previous) << beta;
    EXPECT_LT(weight, 1.0) << beta;
    previous = weight;
  }
}

// Property (3). At finite n the load is β/b rather than β/√(2 log n), here 1.0019 times as large,
// and the weight rises by 0.175 per unit of load near 2: 0.0007. As much again is allowed for the
// curvature of the tail, which is of the same order 1/b².
TEST(MeanLargestWeight, TendsToThePoissonDirichletLaw) {
  constexpr double log_n = 600.0;
  const double weight = mean_largest_weight(log_n, 2.0 * std::sqrt(2.0 * log_n));
  const double shift = 2.0 * (std::sqrt(2.0 * log_n) / normal::upper_quantile(-log_n) - 1.0);
  EXPECT_NEAR(weight, 0.62650760 + 0.175 * shift, 0.175 * shift + kLargestWeightError);
}

}  // namespace
}  // namespace dewpoint::theory
