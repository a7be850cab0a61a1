// Moments of the gap and the mean resultant against closed forms, two series in extended precision,
// quadrature, Boost's Bessel functions and their differential and difference equations.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/sphere_moments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "dewpoint/theory/gauss_legendre.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- two series in extended precision -------------------------------------------------------

// log of 2^p (a)_p/(2a)_p e^{−z} Σ_k (a)_k/(2a+p)_k z^k/k!, every term positive.
double log_near_series(int dimension, int power, double beta) {
  const long double a = 0.5L * (dimension - 1), z = 2.0L * beta;
  long double prefactor = 1.0L, term = 1.0L, sum = 1.0L;
  for (int k = 0; k < power; ++k) prefactor *= 2.0L * (a + k) / (2.0L * a + k);
  for (int k = 0; k < z || term > 1e-22L * sum; ++k) {
    term *= (a + k) * z / ((2.0L * a + power + k) * (k + 1));
    sum += term;
  }
  return static_cast<double>(std::log(prefactor) + std::log(sum) - z);
}

// log of c_d a Γ(a+p) β^{−a−p} Σ_s (a+p)_s (1−a)_s/(s! z^s), cut where terms vanish or grow.
double log_far_series(int dimension, int power, double beta) {
  const long double a = 0.5L * (dimension - 1), z = 2.0L * beta;
  long double term = 1.0L, sum = 1.0L;
  for (int s = 0; s < 2000; ++s) {
    const long double next = term * (a + power + s) * (1.0L - a + s) / ((s + 1) * z);
    if (std::abs(next) < 1e-21L || std::abs(next) > std::abs(term)) break;
    term = next;
    sum += term;
  }
  const long double log_constant = (a - 1.0L) * std::numbers::ln2_v<long double> +
                                   std::lgamma(a + 0.5L) - std::lgamma(a + 1.0L) -
                                   0.5L * std::log(std::numbers::pi_v<long double>);
  return static_cast<double>(log_constant + std::log(a) + std::lgamma(a + power) -
                             (a + power) * std::log(static_cast<long double>(beta)) +
                             std::log(sum));
}

double log_moment_error(const SphereMoments& moments, int power, double beta) {
  const double average = moments.log_moment(0, beta), value = moments.log_moment(power, beta);
  return kSphereAverageError + kSphereAverageRounding * std::abs(average) +
         power * kMomentRatioError * (1.0 + std::abs(value));
}

// Property (1) of log_moment. Rounding of z in the reference: 1e-19 z, nothing.
TEST(SphereMoments, SumTheSeriesOfPositiveTerms) {
  for (int d : {2, 3, 4, 5, 8, 17, 64, 128, 511, 512}) {
    const SphereMoments moments(d);
    for (int p = 0; p <= kMostMomentPower; ++p)
      for (double beta : {0.0, 1e-9, 0.01, 1.0, 3.0, 25.0, 120.0, 700.0, 2500.0})
        EXPECT_NEAR(moments.log_moment(p, beta), log_near_series(d, p, beta),
                    log_moment_error(moments, p, beta))
            << d << ' ' << p << ' ' << beta;
  }
}

// Property (2) of log_moment. The series leaves its smallest term, e^{−2β}, and for d far above β
// it is of no use: from the β where its terms fall at once.
TEST(SphereMoments, SumTheAsymptoticSeries) {
  for (int d : {2, 3, 4, 5, 8, 17, 64, 128, 511, 512}) {
    const SphereMoments moments(d);
    for (int p = 0; p <= kMostMomentPower; ++p)
      for (double factor : {1.0, 30.0, 1e5}) {
        const double a = 0.5 * (d - 1),
                     beta = factor * std::max(30.0, 3.0 * (a + 1.0) * (a + p + 1.0));
        EXPECT_NEAR(moments.log_moment(p, beta), log_far_series(d, p, beta),
                    log_moment_error(moments, p, beta))
            << d << ' ' << p << ' ' << beta;
      }
    EXPECT_NEAR(moments.log_moment(3, 1e12), log_far_series(d, 3, 1e12),
                log_moment_error(moments, 3, 1e12));
  }
}

// Where both series converge they agree, which is a check of the references themselves.
TEST(SphereMoments, HaveTwoSeriesThatAgree) {
  for (int d : {2, 3, 8, 17})
    for (int p = 0; p <= kMostMomentPower; ++p)
      for (double factor : {1.0, 1.5}) {
        const double a = 0.5 * (d - 1),
                     beta = factor * std::max(30.0, 3.0 * (a + 1.0) * (a + p + 1.0));
        const double near = log_near_series(d, p, beta), far = log_far_series(d, p, beta);
        EXPECT_NEAR(near, far, 4.0 * kEpsilon * (1.0 + std::abs(far)))
            << d << ' ' << p << ' ' << beta;
      }
}

// The density of the angle between a uniform key and the query, sin^{d−2}φ/B((d−1)/2, 1/2).
double angle_density(int dimension, double angle) {
  const double a = 0.5 * (dimension - 1);
  return std::exp(std::lgamma(a + 0.5) - std::lgamma(a)) * std::numbers::inv_sqrtpi *
         std::pow(std::sin(angle), dimension - 2);
}

// Property (3) of log_moment. In the angle the law has a density smooth at both ends, and beyond β
// T = 45 + a log β nothing is left.
TEST(SphereMoments, IntegrateTheLawOfTheGap) {
  const QuadratureRule rule = gauss_legendre(400);
  for (int d : {2, 3, 5, 8, 40})
    for (double beta : {0.0, 0.5, 10.0, 300.0}) {
      const SphereMoments moments(d);
      const double reach = beta > 0.0 ? (45.0 + 0.5 * d * std::log1p(beta)) / beta : 2.0;
      const double last = 2.0 * std::asin(std::sqrt(std::min(1.0, 0.5 * reach)));
      const QuadratureRule angles = on_interval(rule, 0.0, last);
      std::vector<double> sums(kMostMomentPower + 1, 0.0);
      for (std::size_t i = 0; i < angles.nodes.size(); ++i) {
        const double angle = angles.nodes[i], t = 2.0 * std::pow(std::sin(0.5 * angle), 2);
        const double mass = angles.weights[i] * angle_density(d, angle);
        for (int p = 0; p <= kMostMomentPower; ++p)
          sums[p] += mass * std::pow(t, p) * std::exp(-beta * t);
      }
      // Weights of the rule to 400 · 8 ε; nodes to 8ε, on which log f varies by at most d/φ.
      for (int p = 0; p <= kMostMomentPower; ++p)
        EXPECT_NEAR(moments.log_moment(p, beta), std::log(sums[p]), 1e-12)
            << d << ' ' << beta << ' ' << p;
    }
}

// Property (4) of log_moment.
TEST(SphereMoments, AreElementaryInSpace) {
  const SphereMoments moments(3);
  for (double beta : {1e-3, 1.0, 40.0, 1e6})
    EXPECT_NEAR(moments.log_moment(0, beta), std::log(-std::expm1(-2.0 * beta) / (2.0 * beta)),
                log_moment_error(moments, 0, beta));
}

// Properties (1), (2) and (3). The correction to (2) is (1 − a)(a + p − 1)/z − ... relative 1/β,
// with as much again for the next.
TEST(MomentRatio, RunsBetweenItsLimits) {
  for (int d : {2, 3, 7, 64, 512}) {
    const double a = 0.5 * (d - 1);
    for (int p = 1; p <= kMostMomentPower; ++p) {
      const double shift = p - 1.0;
      EXPECT_NEAR(moment_ratio(d, p, 0.0), 2.0 * (a + shift) / (2.0 * a + shift), 4.0 * kEpsilon);
      EXPECT_NEAR(moment_ratio(d, p, 1e10) * 1e10 / (a + shift), 1.0,
                  (1.0 + a) * 1e-10 + kMomentRatioError);
      double previous = 2.1;
      for (double beta : {0.0, 0.1, 2.0, 50.0, 1e4, 1e12}) {
        const double ratio = moment_ratio(d, p, beta);
        EXPECT_LT(ratio, previous);
        if (p > 1) {
          EXPECT_GT(ratio, moment_ratio(d, p - 1, beta));
        }
        previous = ratio;
      }
    }
  }
}

// ---- the mean resultant ---------------------------------------------------------------------

// Property (1). coth β − 1/β loses 3/β² of its digits for small β, in the extended format here.
TEST(MeanResultant, IsElementaryInSpace) {
  for (long double beta : {0.1L, 1.0L, 5.0L, 30.0L, 1e4L, 1e9L}) {
    const auto b = static_cast<double>(beta);
    const auto gap = static_cast<double>(1.0L / beta - 2.0L / std::expm1(2.0L * beta));
    const auto exact = static_cast<double>(1.0L / std::tanh(beta) - 1.0L / beta);
    EXPECT_NEAR(mean_resultant(3, b) / exact, 1.0, kMomentRatioError + 1e-18 / (b * b)) << b;
    EXPECT_NEAR(mean_gap(3, b) / gap, 1.0, kMomentRatioError + 1e-18 / (b * b)) << b;
  }
}

// Property (2). Five-point difference with h = β/1000: rounding 1.5 kMomentRatioError g/h; the
// function is analytic beyond a circle of radius β/2 about β, so that the fifth derivative is below
// 5! (2/β)⁵ times a few g and the truncation h⁴/30 of it below 1e-9 g/β.
TEST(MeanResultant, ObeysTheRiccatiEquation) {
  for (int d : {2, 3, 5, 17, 128})
    for (double beta : {0.1, 1.0, 12.0, 100.0, 1e4, 1e7}) {
      const double h = 1e-3 * beta, g = mean_gap(d, beta);
      const double slope = (8.0 * (mean_gap(d, beta - h) - mean_gap(d, beta + h)) -
                            (mean_gap(d, beta - 2.0 * h) - mean_gap(d, beta + 2.0 * h))) /
                           (12.0 * h);
      const double right = g * (2.0 - g) - (d - 1.0) * mean_resultant_over_beta(d, beta);
      EXPECT_NEAR(slope, right, (1e-9 + 2e3 * kMomentRatioError) * g / beta + 8.0 * kEpsilon * g)
          << d << ' ' << beta;
    }
}

// Property (3). The fraction gains a digit or more per term once d + 2k exceeds β.
TEST(MeanResultant, IsAContinuedFraction) {
  for (int d : {2, 3, 9, 64, 500})
    for (double beta : {0.01, 1.0, 30.0, 1e3}) {
      long double tail = 0.0L;
      for (int k = 4000; k >= 0; --k) tail = 1.0L / ((d + 2.0L * k) / beta + tail);
      EXPECT_NEAR(mean_resultant(d, beta) / static_cast<double>(tail), 1.0, kMomentRatioError)
          << d << ' ' << beta;
    }
}

// Property (4), and that both halves add up to 1.
TEST(MeanResultant, ComplementsTheMeanGap) {
  for (int d : {2, 3, 64, 512}) {
    EXPECT_NEAR(mean_resultant_over_beta(d, 0.0) * d, 1.0, kMomentRatioError);
    EXPECT_EQ(mean_resultant(d, 0.0), 0.0);
    for (double beta : {1e-6, 0.5, 20.0, 1e3, 1e12})
      EXPECT_NEAR(mean_resultant(d, beta) + mean_gap(d, beta), 1.0, 2.0 * kMomentRatioError);
  }
}

// Coefficients of A_d in powers of 1/β, from the Riccati equation.
std::vector<double> resultant_coefficients(int dimension, int count) {
  std::vector<double> c = {1.0};
  for (int k = 0; k + 1 < count; ++k) {
    double sum = (k - dimension + 1.0) * c[k];
    for (int i = 1; i <= k; ++i) sum -= c[i] * c[k + 1 - i];
    c.push_back(0.5 * sum);
  }
  return c;
}

// Properties (1) and (2). What remains is twice the coefficient after the next over β, and the
// rounding of two numbers near 1.
TEST(MeanResultantExpansion, ErrsByItsNextTerm) {
  for (int d : {2, 4, 5, 8, 12}) {
    const std::vector<double> c = resultant_coefficients(d, 6);
    const double v = (d - 1.0) * (d - 3.0) / 8.0;
    EXPECT_NEAR(c[4], 0.5 * v * (3.0 - v), 1e-12 * (1.0 + v * v));
    for (int order = 0; order <= 3; ++order)
      for (double beta : {500.0, 2000.0}) {
        const double power = std::pow(beta, order + 1);
        const double error = (1.0 - mean_resultant_expansion(d, beta, order)) - mean_gap(d, beta);
        EXPECT_NEAR(error * power, c[order + 1],
                    2.0 * std::abs(c[order + 2]) / beta + 4.0 * kEpsilon * power)
            << d << ' ' << order << ' ' << beta;
      }
  }
  EXPECT_NEAR(mean_resultant_expansion(3, 25.0, 1), mean_resultant(3, 25.0), 4.0 * kEpsilon);
}

// ---- harmonics ------------------------------------------------------------------------------

// Boost's Bessel functions err by up to some 20 units in the last place each at these orders.
TEST(HarmonicMultiplier, IsARatioOfBesselFunctions) {
  for (int d : {2, 3, 6, 17, 64})
    for (double beta : {0.3, 2.0, 20.0, 150.0, 600.0})
      for (int degree : {0, 1, 2, 5, 16, 64}) {
        const double order = 0.5 * d - 1.0;
        const double exact = boost::math::cyl_bessel_i(order + degree, beta) /
                             boost::math::cyl_bessel_i(order, beta);
        EXPECT_NEAR(harmonic_multiplier(d, degree, beta) / exact, 1.0,
                    40.0 * kEpsilon + (degree + 1) * kMomentRatioError)
            << d << ' ' << beta << ' ' << degree;
      }
}

// Properties (1), (2) and (3). Both sides of (2) are differences of numbers of size r_{ℓ−1}. The
// exponent of (3) has a correction of relative size (d + ℓ)²/β.
TEST(HarmonicMultiplier, StepsLikeABesselFunction) {
  for (int d : {2, 5, 100, 512})
    for (double beta : {0.5, 10.0, 1e3, 1e6}) {
      EXPECT_EQ(harmonic_multiplier(d, 0, beta), 1.0);
      EXPECT_EQ(harmonic_multiplier(d, 1, beta), mean_resultant(d, beta));
      for (int degree : {1, 2, 7, 40, 63}) {
        const double before = harmonic_multiplier(d, degree - 1, beta);
        const double here = harmonic_multiplier(d, degree, beta);
        const double after = harmonic_multiplier(d, degree + 1, beta);
        EXPECT_LT(here, before);
        EXPECT_NEAR(before - after, (d - 2.0 + 2.0 * degree) / beta * here,
                    3.0 * (degree + 2) * kMomentRatioError * before)
            << d << ' ' << beta << ' ' << degree;
      }
    }
  for (int d : {2, 3, 8})
    for (int degree : {1, 4, 10}) {
      const double heat = degree * (degree + d - 2.0) / 2e6;
      EXPECT_NEAR(-std::log(harmonic_multiplier(d, degree, 1e6)) / heat, 1.0,
                  (d + degree) * (d + degree) * 1e-6 + (degree + 1) * kMomentRatioError / heat);
    }
}

// ---- the von Mises-Fisher law ---------------------------------------------------------------

// Properties (1) and (2). Central difference: h²/6 times the third cumulant, at most 1, and two
// errors over 2h.
TEST(VonMisesFisherNormaliser, HasTheMeanResultantForItsSlope) {
  for (int d : {2, 3, 10, 300})
    for (double kappa : {0.5, 4.0, 60.0}) {
      const double h = 1e-4;
      const double slope = (log_von_mises_fisher_normaliser(d, kappa + h) -
                            log_von_mises_fisher_normaliser(d, kappa - h)) /
                           (2.0 * h);
      const double error = kSphereAverageError + 2.0 * kSphereAverageRounding * kappa;
      EXPECT_NEAR(slope, mean_resultant(d, kappa), h * h / 6.0 + error / h) << d << ' ' << kappa;
    }
  EXPECT_NEAR(log_von_mises_fisher_normaliser(3, 7.0), std::log(std::sinh(7.0) / 7.0),
              kSphereAverageError + 14.0 * kSphereAverageRounding);
}

// Properties (1) and (2). The integral over the angle is as exact as the rule: 200 · 8 ε.
TEST(VonMisesFisherDensity, HasMeanOne) {
  const QuadratureRule angles = on_interval(gauss_legendre(200), 0.0, std::numbers::pi);
  for (int d : {2, 3, 9})
    for (double kappa : {0.0, 1.0, 30.0}) {
      double sum = 0.0;
      for (std::size_t i = 0; i < angles.nodes.size(); ++i) {
        const double angle = angles.nodes[i];
        sum += angles.weights[i] * angle_density(d, angle) *
               std::exp(log_von_mises_fisher_density(d, kappa, angle));
      }
      EXPECT_NEAR(sum, 1.0, 1600.0 * kEpsilon) << d << ' ' << kappa;
    }
  EXPECT_NEAR(log_von_mises_fisher_density(5, 0.0, 1.0), 0.0, kSphereAverageError);
}

// Property (3). M_3 = sinh κ/κ and M_5 = 3(κ cosh κ − sinh κ)/κ³; a dozen roundings of exponents up
// to κ. Two densities are printed without their angles, which are the round numbers that give them.
TEST(VonMisesFisherDensity, IsElementaryInThreeAndFiveDimensions) {
  for (double kappa : {0.5, 5.0, 8.0, 40.0})
    for (double angle : {0.0, 0.5, 0.8, 3.0}) {
      const double factor = std::exp(kappa * std::cos(angle)), sinh = std::sinh(kappa);
      const double three = factor * kappa / sinh;
      const double five = factor * std::pow(kappa, 3) / (3.0 * (kappa * std::cosh(kappa) - sinh));
      // At κ = 1/2 the difference in M_5 loses a factor 12.
      const double error = kSphereAverageError + 4.0 * kSphereAverageRounding * kappa +
                           12.0 * kEpsilon * (1.0 + kappa + 12.0);
      EXPECT_NEAR(log_von_mises_fisher_density(3, kappa, angle), std::log(three), error);
      EXPECT_NEAR(log_von_mises_fisher_density(5, kappa, angle), std::log(five), error);
    }
  EXPECT_NEAR(std::exp(log_von_mises_fisher_density(5, 5.0, 0.8)), 4.572, 5e-4);
  EXPECT_NEAR(0.7 + 0.3 * std::exp(log_von_mises_fisher_density(3, 8.0, 0.5)), 2.503, 5e-4);
}

}  // namespace
}  // namespace dewpoint::theory
