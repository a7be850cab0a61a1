// The condensed sphere against the exact means of the critical law, closed forms and draws.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/condensed_sphere.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/exp_sinh.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "support/kolmogorov_smirnov.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// The error of the leading order, in powers of 1/θ.
double error_power(double exponent) { return exponent == 0.5 ? 1.5 : 2.0; }

double scaled_error(double theta, double exponent) {
  const double exact = 1.0 - critical_sphere_largest_weight({theta, exponent});
  return (exact - condensed_remainder(theta, exponent)) * std::pow(theta, error_power(exponent));
}

// ---- the mean remainder ---------------------------------------------------------------------

// Property (1): between θ = 250 and 1000 the scaled error moves towards its limit by a quarter of
// what it still had to go; a wrong rate θ^{1/2} would double it. It is of the size a²/15 at most.
TEST(CondensedRemainder, IsTheLeadingOrderOfTheExactMean) {
  for (double a : {0.5, 1.0, 2.0, 3.5, 8.0}) {
    const double near = scaled_error(250.0, a), far = scaled_error(1000.0, a);
    EXPECT_NEAR(near / far, 1.0, 0.1) << a;
    EXPECT_LT(std::abs(far), 0.4 + a * a / 15.0) << a;
  }
}

// Property (3), and the second order on S²: E(1 − w_1) = log 2/θ − ∫e^{−x} Ein(x)² dx/(2θ²), whose
// integral is 0.748: the scaled error tends to half of it.
TEST(CondensedRemainder, IsElementaryInSpace) {
  EXPECT_NEAR(condensed_remainder(50.0, 1.0), std::numbers::ln2 / 50.0, 4.0 * kEpsilon);
  const auto square = [](double x) {
    double power = x, ein = x;
    for (int k = 2; std::abs(power) > 1e-18; ++k) ein += (power *= -x / k) / k;
    return std::exp(-x) * ein * ein;
  };
  // The alternating series is good to e^x ε; trapezoids of step 1/100 to 1e-4 of the curvature.
  double integral = 0.0;
  for (int i = 1; i < 2000; ++i) integral += 0.01 * square(0.01 * i);
  EXPECT_NEAR(scaled_error(1000.0, 1.0), -0.5 * integral, 1e-3);
}

// ---- draws ----------------------------------------------------------------------------------

// 1 − w_1 of one draw. The last of 40 points weighs less than e^{−50} in the laws below.
double drawn_remainder(double theta, double exponent, const Stream& stream) {
  double gamma = stream.exponential(0), others = 0.0;
  const double nearest = std::pow(gamma, 1.0 / exponent);
  for (std::uint64_t k = 1; k < 40; ++k) {
    gamma += stream.exponential(k);
    others += std::exp(-theta * (std::pow(gamma, 1.0 / exponent) - nearest));
  }
  return others / (1.0 + others);
}

// Property (2), and (3) of the probability. The leading order is allowed its error, below
// 0.4 + a²/15 in units of θ^{−2} or θ^{−3/2}; in the probability at ε = 0.1, where x = 2.2/θ, ten
// times as much is allowed for x² = 5/θ² and its constant.
TEST(CondensedRemainder, IsTheMeanOfDraws) {
  constexpr double kTheta = 40.0, kRemainder = 0.1;
  constexpr int kDraws = 40000;
  for (double a : {0.5, 1.0, 3.5}) {
    RunningMoments remainder, exceeds;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const double drawn = drawn_remainder(kTheta, a, Stream(test::seed(), "Condensed", i));
      remainder.add(drawn);
      exceeds.add(drawn > kRemainder ? 1.0 : 0.0);
    }
    const double error = (0.4 + a * a / 15.0) * std::pow(kTheta, -error_power(a));
    const Estimate mean = remainder.estimate(), share = exceeds.estimate();
    EXPECT_NEAR(mean.mean, condensed_remainder(kTheta, a),
                test::kSigmas * mean.standard_error + error)
        << a;
    const double probability = remainder_probability(kTheta, a, kRemainder);
    EXPECT_NEAR(share.mean, probability, test::kSigmas * share.standard_error + 10.0 * error) << a;
    EXPECT_LT(10.0 * error, 0.5 * probability);
  }
}

// ---- the probability ------------------------------------------------------------------------

// Property (1). In y = log((1−ε)/ε) the integral is that of P e^y/(1 + e^y)² from 0 on, here by
// Simpson's rule with steps of 1/64, good to 1e-9, and up to y = 60.
TEST(RemainderProbability, IntegratesToTheMean) {
  constexpr double kTheta = 1e4, kStep = 1.0 / 64.0;
  for (double a : {0.5, 1.0, 2.0, 20.0}) {
    const auto integrand = [a](double y) {
      if (y == 0.0) return 0.0;
      const double remainder = 1.0 / (1.0 + std::exp(y));
      return remainder_probability(kTheta, a, remainder) * remainder * (1.0 - remainder);
    };
    double sum = 0.0;
    for (int i = 0; i < 30 * 64; ++i) {
      const double y = i * kStep;
      sum += kStep / 6.0 * (integrand(y) + 4.0 * integrand(y + 0.5 * kStep) + integrand(y + kStep));
    }
    // The circle's y log y at 0 costs Simpson's rule step² of its first interval.
    const double error = a == 0.5 ? kStep * kStep : 1e-7;
    EXPECT_NEAR(sum / condensed_remainder(kTheta, a), 1.0, error) << a;
  }
}

// Property (2), with the stated orders: the constants are those of the next terms, below a².
TEST(RemainderProbability, IsTheStartOfTheLawOfTies) {
  for (double a : {0.5, 1.0, 2.0, 6.0})
    for (double x : {1e-3, 1e-4}) {
      const double remainder = 1.0 / (1.0 + std::exp(1.0));  // log((1−ε)/ε) = 1
      EXPECT_NEAR(remainder_probability(1.0 / x, a, remainder), tie_probability(a, x),
                  (1.0 + a * a) * std::pow(x, a == 0.5 ? 1.5 : 2.0))
          << a << ' ' << x;
    }
}

// Properties (1) and (2). 1 − √x K_1(√x) loses ε/P in the reference.
TEST(TieProbability, HasClosedFormsOnTheCircleAndInSpace) {
  for (double x : {1e-4, 0.01, 0.3, 1.0, 6.0, 30.0}) {
    EXPECT_NEAR(tie_probability(1.0, x) / -std::expm1(-x), 1.0, kTieProbabilityError) << x;
    const double circle = 1.0 - std::sqrt(x) * boost::math::cyl_bessel_k(1.0, std::sqrt(x));
    EXPECT_NEAR(tie_probability(0.5, x) / circle, 1.0,
                kTieProbabilityError + 8.0 * kEpsilon / circle)
        << x;
  }
  for (double a : {0.5, 1.5, 9.0, 256.0}) {
    EXPECT_EQ(tie_probability(a, 0.0), 0.0);
    double previous = 0.0;
    for (double x : {1e-6, 1e-3, 0.02, 0.5, 4.0}) {
      const double probability = tie_probability(a, x);
      EXPECT_GE(probability, previous);
      EXPECT_LE(probability, 1.0 + kTieProbabilityError);
      previous = probability;
    }
  }
}

// Property (3): Kolmogorov's distance of 10000 draws, at the level of kSigmas, 2e-8.
TEST(TieProbability, IsTheLawOfTheTwoNearestKeys) {
  constexpr int kDraws = 10000;
  for (double a : {0.5, 2.0, 12.0}) {
    std::vector<double> distances;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const Stream stream(test::seed(), "TieProbability", i);
      const double first = stream.exponential(0), second = first + stream.exponential(1);
      distances.push_back(std::pow(second, 1.0 / a) - std::pow(first, 1.0 / a));
    }
    std::sort(distances.begin(), distances.end());
    double largest = 0.0;
    for (int i = 0; i < kDraws; i += 10)  // every tenth: the distance is short by 1e-3 at most
      largest = std::max(largest, std::abs((i + 0.5) / kDraws - tie_probability(a, distances[i])));
    EXPECT_GT(test::kolmogorov_tail(std::sqrt(kDraws) * largest), 2e-8) << a;
  }
}

// ---- the output -----------------------------------------------------------------------------

// Property (1): the integral of e^{−u^a}, and the exact means at θ = 1000. By the virial identity
// scatter/2 lacks a/θ of the bias; the bias itself exceeds the mean by what near ties add: a share
// 1/θ of rows, in which the tied key is 1/θ farther.
TEST(CondensedGap, IsTheGapOfTheNearestKey) {
  boost::math::quadrature::exp_sinh<double> rule;
  for (double a : {0.5, 1.0, 2.0, 3.5, 8.0}) {
    const double mean = condensed_gap_mean(a);
    const auto survival = [a](double u) { return 1.0 - condensed_gap_cdf(a, u); };
    EXPECT_NEAR(rule.integrate(survival, 1e-12), mean, 1e-10) << a;
    const CriticalSphereMeans exact = critical_sphere_means({1000.0, a});
    EXPECT_GT(exact.bias, mean);
    EXPECT_NEAR(exact.bias, mean, 10.0 * a * a / 1e6) << a;
    EXPECT_NEAR(0.5 * exact.scatter, mean - a / 1000.0, 10.0 * a * a / 1e6) << a;
  }
}

}  // namespace
}  // namespace dewpoint::theory
