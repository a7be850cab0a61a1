// The condensed sphere against the exact means of the critical law, closed forms and draws.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/condensed_sphere.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/exp_sinh.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/gauss_legendre.hpp"
#include "support/kolmogorov_smirnov.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

double squared(double x) { return x * x; }

constexpr double kZetaTwo = std::numbers::pi * std::numbers::pi / 6.0;
// ∫_0^∞ g^{s−1}/(1 + e^g) dg/Γ(s) for s = 3/2 and 3, by the zeta function; π²/12 for s = 2.
constexpr double kEtaThreeHalves = 0.76514702462540795;
constexpr double kEtaThree = 0.90154267736969571;

// ---- expansion in 1/θ -----------------------------------------------------------------------
//
// Given the nearest key at r, the others have the density λ(r + g/θ)/θ in g, λ(r) = a r^{a−1}.
// With w_1 = 1/(1 + S) = ∫ e^{−s(1+S)} ds,
//
//     E(1 − w_1) = E_r ∫ e^{−s} (1 − e^{−X}) ds,    X = ∫ λ(r + g/θ) (1 − exp(−s e^{−g})) dg/θ
//                                                     = λ Ein(s)/θ + λ' K(s)/θ² + λ'' M(s)/θ³ + ...
//
// where Ein, K, M ≤ s are ∫ g^k (1 − exp(−s e^{−g})) dg/k! for k = 0, 1, 2.

/// E_r Π λ^{(k)}(r) over the orders k of derivatives, r the nearest key: P(r > x) = e^{−x^a}.
double mean_rates(double a, std::initializer_list<int> orders) {
  double factor = 1.0, power = 0.0;
  for (int order : orders) {
    for (int j = 0; j <= order; ++j) factor *= a - j;
    power += a - 1.0 - order;
  }
  return factor == 0.0 ? 0.0 : factor * std::tgamma(1.0 + power / a);
}

/// ∫ e^{−s} f(Ein(s), K(s)) ds by 100 nodes up to s = 30; the alternating series of Ein and K lose
/// e^s ε, which e^{−s} makes up for.
template <class Function>
double mean_of_partition(const Function& function) {
  const QuadratureRule rule = on_interval(gauss_legendre(100), 0.0, 30.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double s = rule.nodes[i];
    double power = s, first = s, second = s;
    for (int k = 2; k < 150; ++k) {
      power *= -s / k;
      first += power / k;
      second += power / (k * k);
    }
    sum += rule.weights[i] * std::exp(-s) * function(first, second);
  }
  return sum;
}

/// What condensed_remainder leaves out for a ≥ 1, in powers θ^{−2}, θ^{−3}, and a bound in θ^{−4}.
struct Orders {
  double second, third, fourth_bound;
};

Orders remainder_orders(double a) {
  const double square = mean_of_partition([](double ein, double) { return ein * ein; });
  const double cube = mean_of_partition([](double ein, double) { return ein * ein * ein; });
  const double product = mean_of_partition([](double ein, double k) { return ein * k; });
  const auto mean = [a](auto... orders) { return mean_rates(a, {orders...}); };
  return {0.5 * kZetaTwo * mean(1) - 0.5 * square * mean(0, 0),
          kEtaThree * mean(2) - product * mean(0, 1) + cube / 6.0 * mean(0, 0, 0),
          // Ein, K, M, ... ≤ s, so that each integral is at most a factorial.
          std::abs(mean(3)) + 2.0 * std::abs(mean(0, 2)) + mean(1, 1) + 3.0 * mean(0, 0, 1) +
              mean(0, 0, 0, 0)};
}

/// On the circle λ diverges at r = 0 and the next power is θ^{−3/2}: with r = x²/θ, its coefficient
///
///     ∫dx ∫ (1 − x/√(x² + g))/(2(1 + e^g)) dg − ∫dx ∫∫ q(g, h)/(8√((x² + g)(x² + h))) dg dh
///     = Γ(3/2) η(3/2)/2 − (π/16) ∫∫ q(g, h)/agm(√g, √h) dg dh,
///
/// q = ∫ e^{−s}(1 − exp(−s e^{−g}))(1 − exp(−s e^{−h})) ds. A trapezoidal sum in log g and log h
/// errs by e^{−π²/step}.
double circle_coefficient() {
  constexpr double kStep = 0.25;
  double sum = 0.0;
  for (int i = -170; i < 20; ++i)
    for (int k = -170; k < 20; ++k) {
      const double g = std::exp(kStep * i), h = std::exp(kStep * k);
      const double p = std::exp(-g), q = std::exp(-h);
      const double three = 1.0 - 1.0 / (1.0 + p) - 1.0 / (1.0 + q) + 1.0 / (1.0 + p + q);
      double x = std::sqrt(g), y = std::sqrt(h);
      for (int round = 0; round < 12; ++round) {
        const double mean = 0.5 * (x + y);
        y = std::sqrt(x * y);
        x = mean;
      }
      sum += kStep * kStep * g * h * three / x;
    }
  return 0.5 * std::tgamma(1.5) * kEtaThreeHalves - std::numbers::pi / 16.0 * sum;
}

double missed_by_law(double theta, double exponent) {
  return 1.0 - critical_sphere_largest_weight({theta, exponent}) -
         condensed_remainder(theta, exponent);
}

// ---- the mean remainder ---------------------------------------------------------------------

// Property (1): what the law leaves out, order by order. A wrong coefficient of 1/θ would show
// θ-fold. The exact mean is good to kCriticalSphereError.
TEST(CondensedRemainder, IsTheLeadingOrderOfTheExactMean) {
  constexpr double kTheta = 1000.0;
  for (double a : {1.0, 2.0, 3.5, 8.0}) {
    const Orders orders = remainder_orders(a);
    EXPECT_NEAR(squared(kTheta) * missed_by_law(kTheta, a), orders.second + orders.third / kTheta,
                orders.fourth_bound / squared(kTheta) + squared(kTheta) * kCriticalSphereError)
        << a;
  }
}

// Property (1) on the circle. After θ^{−3/2} come θ^{−2} log θ, with the coefficient
// (∫e^{−s}Ein² ds/8 − π²/96)/2 from where both integrals above end as 1/x, and θ^{−2}. The latter
// cancels between θ and θ/4 in 2s(θ) − s(θ/4), s the scaled error; θ^{−5/2} has a coefficient
// below 1, an integral of the same kind.
TEST(CondensedRemainder, IsTheLeadingOrderOnTheCircle) {
  constexpr double kTheta = 1000.0;
  const auto scaled = [](double theta) { return std::pow(theta, 1.5) * missed_by_law(theta, 0.5); };
  const double square = mean_of_partition([](double ein, double) { return ein * ein; });
  const double logarithm = 0.5 * (square / 8.0 - kZetaTwo / 16.0);
  const double expected =
      circle_coefficient() - logarithm * 2.0 * std::log(0.25) / std::sqrt(kTheta);
  EXPECT_NEAR(2.0 * scaled(kTheta) - scaled(0.25 * kTheta), expected, 2.0 / kTheta);
}

// Property (3). ∫e^{−s}Ein² ds = π²/6 + 2 Li_2(−1/2).
TEST(CondensedRemainder, IsElementaryInSpace) {
  EXPECT_NEAR(condensed_remainder(50.0, 1.0), std::numbers::ln2 / 50.0, 4.0 * kEpsilon);
  double dilogarithm = 0.0;
  for (int k = 1; k < 60; ++k) dilogarithm += std::pow(-0.5, k) / (k * k);
  EXPECT_NEAR(remainder_orders(1.0).second, -0.5 * kZetaTwo - dilogarithm, 1e-12);
}

// ---- draws ----------------------------------------------------------------------------------

// 1 − w_1 of one draw. The last of 40 points weighs less than e^{−150} in the laws below.
double drawn_remainder(double theta, double exponent, const Stream& stream) {
  double gamma = stream.exponential(0), others = 0.0;
  const double nearest = std::pow(gamma, 1.0 / exponent);
  for (std::uint64_t k = 1; k < 40; ++k) {
    gamma += stream.exponential(k);
    others += std::exp(-theta * (std::pow(gamma, 1.0 / exponent) - nearest));
  }
  return others / (1.0 + others);
}

struct Share {
  double middle, half_width;
};

/// P(1 − w_1 > ε): the two nearest keys tie to x = G/θ, or two others reach e^{−G} only together:
/// λ²/θ² times half the area π²/6 of e^{−g} + e^{−h} > 1. The third order is the change of λ over
/// G + g, the absence of nearer keys, and three others; each at most (G + 1) π²/6. On the circle
/// the area has the density 1/(4√((x² + G + g)(x² + G + h))), at most that at g = h = 0.
Share remainder_share(double theta, double a, double remainder) {
  const double depth = std::log((1.0 - remainder) / remainder);
  const double tie = tie_probability(a, depth / theta);
  if (a == 0.5) {
    const double most =
        std::pow(theta, -1.5) / 8.0 * kZetaTwo * 0.5 * std::numbers::pi / std::sqrt(depth);
    return {tie + 0.5 * most, 0.5 * most};
  }
  const double third = mean_rates(a, {0, 1}) + mean_rates(a, {0, 0, 0});
  return {tie + 0.5 * kZetaTwo * mean_rates(a, {0, 0}) / squared(theta),
          (depth + 1.0) * kZetaTwo * third / std::pow(theta, 3)};
}

// Property (2), and (3) of the probability.
TEST(CondensedRemainder, IsTheMeanOfDraws) {
  constexpr double kTheta = 100.0, kRemainder = 0.1;
  constexpr int kDraws = 100000;
  for (double a : {0.5, 1.0, 3.5}) {
    RunningMoments remainder, exceeds;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const double drawn = drawn_remainder(kTheta, a, Stream(test::seed(), "Condensed", i));
      remainder.add(drawn);
      exceeds.add(drawn > kRemainder ? 1.0 : 0.0);
    }
    // After the second order: on the circle θ^{−2} with a coefficient below 1, as above.
    const bool circle = a == 0.5;
    const Orders orders =
        circle ? Orders{circle_coefficient() * std::sqrt(kTheta), 0.0, 0.0} : remainder_orders(a);
    const double next = circle ? 1.0 / squared(kTheta)
                               : std::abs(orders.third) / std::pow(kTheta, 3) +
                                     orders.fourth_bound / std::pow(kTheta, 4);
    const Estimate mean = remainder.estimate(), share = exceeds.estimate();
    EXPECT_NEAR(mean.mean, condensed_remainder(kTheta, a) + orders.second / squared(kTheta),
                test::kSigmas * mean.standard_error + next)
        << a;
    const Share expected = remainder_share(kTheta, a, kRemainder);
    EXPECT_NEAR(share.mean, expected.middle,
                test::kSigmas * share.standard_error + expected.half_width)
        << a;
  }
}

// ---- the probability ------------------------------------------------------------------------

// Property (1). In y = log((1−ε)/ε) the integral is that of P e^y/(1 + e^y)² from 0 on, here by
// Simpson's rule with steps of 1/64, good to step⁴/2880 = 2e-11 of the fourth derivative, which is
// below 4, and up to y = 30, where 31 e^{−30} = 3e-12 is left.
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
    // On the circle Simpson's rule integrates y log y over the first step h wrongly by
    // (1/4 − log 2/3)h² = 0.019 h², over the others by less each, in all by less than 0.04 h². It
    // enters with the factor 1/(16θ), and the mean is log 2 (log θ + 0.6)/(4θ) = 1.7/θ.
    const double error = a == 0.5 ? 0.0025 * kStep * kStep : 1e-10;
    EXPECT_NEAR(sum / condensed_remainder(kTheta, a), 1.0, error) << a;
  }
}

// Property (2). P(Δ ≤ x) = E_r(1 − e^{−X}) with X = λx + λ'x²/2 + λ''x³/6: the law is the first
// order, the second is added here, the third is the tolerance, its signs left out and a tenth added
// for what follows at x ≤ 1/100. On the circle the next terms of √x K_1(√x) are
// (x²/16)(log(√x/2) + γ_E − 5/4) and (x³/384)(log(√x/2) + γ_E − 5/3).
TEST(RemainderProbability, IsTheStartOfTheLawOfTies) {
  for (double a : {0.5, 1.0, 2.0, 6.0})
    for (double x : {1e-2, 1e-3, 1e-4}) {
      const double remainder = 1.0 / (1.0 + std::exp(1.0));  // log((1−ε)/ε) = 1
      const double law = remainder_probability(1.0 / x, a, remainder);
      const auto mean = [a](auto... orders) { return mean_rates(a, {orders...}); };
      const double log_half = std::log(0.5 * std::sqrt(x)) + std::numbers::egamma;
      const double second = a == 0.5 ? -(log_half - 1.25) / 16.0 : 0.5 * (mean(1) - mean(0, 0));
      const double third = a == 0.5 ? (5.0 / 3.0 - log_half) / 384.0
                                    : mean(2) / 6.0 + 0.5 * mean(0, 1) + mean(0, 0, 0) / 6.0;
      EXPECT_NEAR(tie_probability(a, x), law + second * x * x,
                  1.1 * third * x * x * x + kTieProbabilityError * law)
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

/// What near ties add to the bias, times θ²: a key g/θ farther with the weight 1/(1 + e^g),
/// E_r λ ∫ g/(1 + e^g) dg. On the circle E_r λ(r + g/θ) = (log 2 + (log θ − log g)/2 − γ_E)/2,
/// and ∫ g log g/(1 + e^g) dg = (π²/12)(1 − γ_E) + η'(2).
double tie_bias(double theta, double a) {
  if (a > 0.5) return 0.5 * kZetaTwo * mean_rates(a, {0});
  constexpr double kEtaSlope = 0.10131657816354;  // η'(2)
  const double log_mean = 0.5 * kZetaTwo * (1.0 - std::numbers::egamma) + kEtaSlope;
  return 0.25 * kZetaTwo * (std::numbers::ln2 + 0.5 * std::log(theta) - std::numbers::egamma) -
         0.25 * log_mean;
}

// Property (1): the integral of e^{−u^a}, and the exact means at θ = 1000. By the virial identity
// scatter/2 lacks a/θ of the bias. The next order of the bias is
// (2η(3) E_r λ' − E_r λ² ∫e^{−s}Ein² ds/s)/θ³, the integral below 1; on the circle θ^{−5/2} with a
// coefficient below Γ(5/2) η(5/2)/2 = 0.58.
TEST(CondensedGap, IsTheGapOfTheNearestKey) {
  constexpr double kTheta = 1000.0;
  boost::math::quadrature::exp_sinh<double> rule;
  for (double a : {0.5, 1.0, 2.0, 3.5, 8.0}) {
    const double mean = condensed_gap_mean(a);
    const auto survival = [a](double u) { return 1.0 - condensed_gap_cdf(a, u); };
    EXPECT_NEAR(rule.integrate(survival, 1e-12), mean, 1e-10) << a;
    const CriticalSphereMeans exact = critical_sphere_means({kTheta, a});
    const double next =
        a == 0.5 ? 0.58 / std::sqrt(kTheta)
                 : (2.0 * kEtaThree * mean_rates(a, {1}) + mean_rates(a, {0, 0})) / kTheta;
    EXPECT_NEAR(squared(kTheta) * (exact.bias - mean), tie_bias(kTheta, a),
                next + squared(kTheta) * kCriticalSphereError)
        << a;
    EXPECT_NEAR(0.5 * exact.scatter, exact.bias - a / kTheta, 4.0 * kCriticalSphereError) << a;
  }
}

}  // namespace
}  // namespace dewpoint::theory
