// The normal law against fifty digits, against tables, and against itself.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/core/distributions/normal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <numbers>
#include <vector>

namespace dewpoint::normal {
namespace {

using Wide = boost::multiprecision::cpp_bin_float_50;

const Wide kWideHalfLogTwoPi = log(2 * boost::math::constants::pi<Wide>()) / 2;

// Fifty digits and an exponent of 31 bits: erfc is a number up to u = 1e4 and beyond.
Wide wide_tail(double score) { return erfc(Wide(score) / sqrt(Wide(2))) / 2; }
Wide wide_density(double score) { return exp(-Wide(score) * score / 2 - kWideHalfLogTwoPi); }
Wide wide_hazard(double score) { return wide_density(score) / wide_tail(score); }

double difference(double value, const Wide& exact) { return static_cast<double>(value - exact); }
double relative(double value, const Wide& exact) {
  return static_cast<double>((value - exact) / exact);
}

constexpr double kScores[] = {-35.0, -20.0, -8.0,  -3.0, -1.0, -0.1,  0.0,   0.3,    1.0,
                              1.7,   1.999, 2.001, 2.6,  4.0,  5.9,   6.1,   9.0,    13.0,
                              24.99, 25.01, 37.05, 60.0, 90.0, 141.4, 700.0, 3000.0, 9999.0};

TEST(LogUpperTail, AgreesWithFiftyDigits) {
  for (double score : kScores) {
    const Wide exact = log1p(-wide_tail(-score));
    const Wide tail = score < 0.0 ? exact : log(wide_tail(score));
    const double bound = kTailError * (1.0 + std::abs(static_cast<double>(tail)));
    EXPECT_NEAR(difference(log_upper_tail(score), tail), 0.0, bound) << score;
    EXPECT_EQ(log_cdf(-score), log_upper_tail(score));
    if (score < 0.0) {
      EXPECT_NEAR(relative(log_upper_tail(score), tail), 0.0,
                  4.0 * kTailError * (1.0 + score * score))
          << score;
    }
  }
}

TEST(TailHazard, AgreesWithFiftyDigits) {
  for (double score : kScores) {
    const double bound = 2.0 * kTailError * (score < 0.0 ? 1.0 + score * score : 1.0);
    EXPECT_NEAR(relative(tail_hazard(score), wide_hazard(score)), 0.0, bound) << score;
  }
}

// In fifty digits the subtractions lose at most u⁴ = 1e16 of them.
TEST(TailExcess, AgreesWithFiftyDigits) {
  for (double score : kScores) {
    const Wide mean = wide_hazard(score) - score, square = 1 - score * mean;
    const TailExcess excess = tail_excess(score);
    EXPECT_NEAR(relative(excess.mean, mean), 0.0, 16.0 * kTailError) << score;
    EXPECT_NEAR(relative(excess.mean_square, square), 0.0, 16.0 * kTailError) << score;
  }
}

// Properties (1) and (2) of tail_excess; (1) subtracts u · mean from 1 after rounding it.
TEST(TailExcess, IsLighterThanExponential) {
  for (double score : kScores) {
    const auto [mean, mean_square] = tail_excess(score);
    EXPECT_NEAR(mean_square, 1.0 - score * mean, 20.0 * kTailError * (1.0 + std::abs(score * mean)))
        << score;
    EXPECT_GT(mean_square, mean * mean) << score;
    EXPECT_LT(mean_square, 2.0 * mean * mean) << score;
  }
}

// Property (1) of log_upper_tail, (1) of tail_hazard, and (2) by a central difference, whose error
// is step² h''/6, h'' ≤ 2h for u ≥ 0 and ≤ (2 + u²) h below, plus the rounding of the logarithm
// over the step.
TEST(LogUpperTail, JoinsItsContinuedFractionSmoothly) {
  EXPECT_NEAR(log_upper_tail(std::nextafter(6.0, 0.0)) - log_upper_tail(6.0), 0.0,
              2.0 * kTailError * (1.0 - log_upper_tail(6.0)));
  for (double score : {-3.0, 0.0, 2.0, 5.99995, 6.0, 10.0, 40.0, 1000.0}) {
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

// Property (1), and Boost's quantile where the probability is a double. The round trip has the
// error of the quantile times h ≤ |u| + 1, and |u| max(1, |u|) ≤ 2(1 − log_tail).
TEST(UpperQuantile, InvertsTheTail) {
  const boost::math::normal_distribution<double> law;
  for (double log_tail :
       {-1e-12, -1e-3, -0.1, -0.6931, -0.6932, -0.8, -1.0, -2.0, -5.0, -30.0, -300.0, -700.0}) {
    const double score = upper_quantile(log_tail);
    EXPECT_NEAR(log_upper_tail(score), log_tail, 8.0 * kTailError * (1.0 - log_tail)) << log_tail;
    // exp(log_tail) is off by |log_tail| roundings, which the quantile divides by h u ≈
    // 2|log_tail|.
    const double exact = boost::math::quantile(complement(law, std::exp(log_tail)));
    if (log_tail < -0.01) {
      EXPECT_NEAR(score, exact, 16.0 * kTailError * std::max(1.0, score)) << log_tail;
    }
  }
  for (double log_tail : {-1e4, -1e8, -1e16}) {
    EXPECT_NEAR(log_upper_tail(upper_quantile(log_tail)) / log_tail, 1.0, 8.0 * kTailError);
  }
}

// One Newton step in fifty digits from the double gives the quantile to thirty.
TEST(UpperQuantile, AgreesWithFiftyDigits) {
  // Steps of 0.1 in √(−log_tail) to beyond 27, over all four ranges of the approximation, and on.
  std::vector<double> log_tails;
  for (int k = 84; k < 2800; k += 10) log_tails.push_back(-1e-4 * k * k);
  for (double log_tail = -800.0; log_tail > -1e4; log_tail *= 1.37) log_tails.push_back(log_tail);
  for (const double log_tail : log_tails) {
    const double score = upper_quantile(log_tail);
    const Wide step = (log(wide_tail(score)) - log_tail) / wide_hazard(score);
    EXPECT_NEAR(static_cast<double>(step), 0.0, 4.0 * kTailError * std::max(1.0, score))
        << log_tail;
  }
}

// Property (2). log(1 − p) is off by a rounding of itself, p/(1 − p) of one in log p.
TEST(UpperQuantile, IsAntisymmetric) {
  for (double log_tail : {-0.7, -2.0, -10.0, -30.0}) {
    const double other = std::log1p(-std::exp(log_tail));
    EXPECT_NEAR(upper_quantile(other), -upper_quantile(log_tail),
                8.0 * kTailError * std::max(1.0, upper_quantile(log_tail)))
        << log_tail;
  }
}

// b_N = Φ̄⁻¹(1/N), printed to seven digits.
TEST(UpperQuantile, ReproducesTheTableOfNaturalUnits) {
  struct Row {
    double log10_n, quantile;
  };
  constexpr Row rows[] = {{3, 3.090232},  {4, 3.719016},   {6, 4.753424},   {9, 5.997807},
                          {12, 7.034484}, {30, 11.464025}, {300, 37.047096}};
  for (const Row& row : rows)
    EXPECT_NEAR(upper_quantile(-row.log10_n * std::numbers::ln10), row.quantile, 0.5001e-6);
}

}  // namespace
}  // namespace dewpoint::normal
