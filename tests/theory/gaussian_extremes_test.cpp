// The extremes of Gaussian scores against closed forms, tables and their limits.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/gaussian_extremes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <numbers>

namespace dewpoint::theory {
namespace {

// Property (1) of log_upper_tail, (1) of tail_hazard, and (2) by a central difference, whose error
// is step² h''/6, h'' ≤ 2h for u ≥ 0 and ≤ (2 + u²) h below, plus the rounding of the logarithm
// over the step.
TEST(LogUpperTail, JoinsItsSeriesSmoothly) {
  EXPECT_NEAR(log_upper_tail(std::nextafter(25.0, 0.0)) - log_upper_tail(25.0), 0.0,
              2.0 * kTailError * 320.0);
  for (double score : {-3.0, 0.0, 2.0, 10.0, 24.99995, 25.0, 40.0, 1000.0}) {
    constexpr double step = 1e-4;
    const double slope =
        (log_upper_tail(score - step) - log_upper_tail(score + step)) / (2.0 * step);
    const double rounding = kTailError * (1.0 - log_upper_tail(score + step)) / step;
    const double curvature = 2.0 + std::min(score, 0.0) * std::min(score, 0.0);
    EXPECT_NEAR(slope, tail_hazard(score),
                step * step / 6.0 * curvature * tail_hazard(score) + rounding)
        << score;
  }
  for (double score : {0.5, 2.0, 10.0, 24.9, 30.0, 1000.0}) {
    EXPECT_GT(tail_hazard(score), score);
    EXPECT_LT(tail_hazard(score), score + 1.0 / score);
  }
}

// Property (1), and Boost's quantile where the probability is a double.
TEST(UpperQuantile, InvertsTheTail) {
  const boost::math::normal_distribution<double> normal;
  for (double log_tail : {-1.0, -5.0, -30.0, -300.0, -700.0}) {
    const double score = upper_quantile(log_tail);
    EXPECT_NEAR(log_upper_tail(score), log_tail, 8.0 * kTailError * (1.0 - log_tail)) << log_tail;
    const double exact = boost::math::quantile(complement(normal, std::exp(log_tail)));
    // exp(log_tail) is off by |log_tail| roundings, which the quantile divides by h u ≈
    // 2|log_tail|.
    EXPECT_NEAR(score / exact, 1.0, 16.0 * kTailError) << log_tail;
  }
  EXPECT_NEAR(log_upper_tail(upper_quantile(-1e8)), -1e8, 8.0 * kTailError * 1e8);
}

// Property (1): E M = b + γ_E/b with a remainder of (γ_E + (π²/6 + γ_E²)/2)/b³ = 1.57/b³ and terms
// of the next odd order, ten of which are allowed.
TEST(MeanLargestScore, IsTheGumbelMeanToLeadingOrder) {
  for (double log_n : {20.0, 100.0, 700.0}) {
    const double b = upper_quantile(-log_n), next = 1.0 / (b * b * b);
    EXPECT_NEAR(mean_largest_score(log_n), b + std::numbers::egamma / b - 1.567 * next,
                10.0 * next / (b * b))
        << log_n;
  }
}

// The definition, ∫ u n φ Φ^{n−1} du, by another rule in another variable.
TEST(MeanLargestScore, IsTheMeanOfItsDensity) {
  const boost::math::normal_distribution<double> normal;
  constexpr double n = 1000.0;
  const auto integrand = [&](double score) {
    return score * n * pdf(normal, score) * std::pow(cdf(normal, score), n - 1.0);
  };
  const double exact =
      boost::math::quadrature::gauss_kronrod<double, 61>::integrate(integrand, 0.0, 10.0, 8, 1e-14);
  EXPECT_NEAR(mean_largest_score(std::log(n)), exact, kExtremesError + 1e-13);
}

// Property (1): 1/h at the k-th score, h = b (1 + O(1/b²)).
TEST(MeanTopGap, IsOneOverItsRankInUnitsOfTheQuantile) {
  for (int rank : {1, 2, 3, 8}) {
    const double b = upper_quantile(-690.0);
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
  const double shift = 2.0 * (std::sqrt(2.0 * log_n) / upper_quantile(-log_n) - 1.0);
  EXPECT_NEAR(weight, 0.62650760 + 0.175 * shift, 0.175 * shift + kLargestWeightError);
}

}  // namespace
}  // namespace dewpoint::theory
