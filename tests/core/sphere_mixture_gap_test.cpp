// The gap law of von Mises-Fisher mixtures against closed forms, direct quadrature of the density
// with Bessel functions, the uniform law, and itself down to probabilities of e^{−700}.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/core/distributions/sphere_mixture_gap.hpp"

#include <gtest/gtest.h>

#include <boost/math/quadrature/tanh_sinh.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "dewpoint/core/distributions/sphere_gap.hpp"

namespace dewpoint {
namespace {

using Wide = boost::multiprecision::cpp_bin_float_50;

constexpr double kPi = std::numbers::pi;

// ---- the average M_m ------------------------------------------------------------------------

double wide_log_scaled_average(int dimension, double x) {
  Wide term = 1, sum = 1;
  for (int k = 1; term > 1e-40 * sum || k < x; ++k) {
    term *= Wide(x) * x / (4 * Wide(k) * (k - 1 + Wide(dimension) / 2));
    sum += term;
  }
  return static_cast<double>(log(sum) - x);
}

TEST(LogScaledAverage, AgreesWithFiftyDigits) {
  for (int dimension : {1, 2, 3, 4, 7, 16, 63, 64, 128, 512})
    for (double x : {0.0, 1e-9, 0.3, 5.0, 39.9, 40.1, 150.0, 700.0, 2e3, 9e3})
      EXPECT_NEAR(log_scaled_average(dimension, x), wide_log_scaled_average(dimension, x),
                  kScaledAverageError * (1.0 + dimension))
          << dimension << " " << x;
}

// Property (1).
TEST(LogScaledAverage, IsElementaryInOneAndThreeDimensions) {
  for (double x : {1e-6, 0.5, 20.0, 45.0, 1e4, 1e10}) {
    EXPECT_NEAR(log_scaled_average(1, x), std::log(0.5 * (1.0 + std::exp(-2.0 * x))),
                2.0 * kScaledAverageError);
    const double three = std::log(-std::expm1(-2.0 * x) / (2.0 * x));
    EXPECT_NEAR(log_scaled_average(3, x), three, kScaledAverageError * (4.0 + std::abs(three)));
  }
}

// ---- closed forms ---------------------------------------------------------------------------

// Property (1) of log_cdf; the quantile and the density as well.
TEST(SphereMixtureGap, IsTheUniformLawAtZeroConcentration) {
  for (int dimension : {2, 3, 8, 65, 512}) {
    const SphereGap sphere(dimension);
    const SphereMixtureGap mixture(dimension, {{0.0, 0.7, 0.25}, {0.0, 2.0, 0.75}});
    for (double gap : {1e-300, 1e-20, 1e-3, 0.4, 1.0, 1.7, 1.999}) {
      const double exact = sphere.log_cdf(gap);
      const double survival = gap < 1.0 ? std::log1p(-std::exp(exact)) : sphere.log_survival(gap);
      EXPECT_NEAR(mixture.log_cdf(gap), exact, kSphereMixtureError * (1.0 + std::abs(exact)));
      EXPECT_NEAR(mixture.log_survival(gap), survival,
                  kSphereMixtureError * (1.0 + std::abs(survival)));
      EXPECT_NEAR(mixture.log_density(gap), sphere.log_density(gap), kSphereMixtureError);
    }
    for (double log_probability : {-300.0, -20.0, -1.0, -0.5, -1e-3})
      EXPECT_NEAR(mixture.quantile(log_probability) / sphere.quantile(log_probability), 1.0,
                  kSphereMixtureError * (1.0 + std::abs(log_probability)))
          << dimension << " " << log_probability;
  }
}

// Property (2): 1 − F = e^{−κt} (1 − e^{−κ(2−t)})/(1 − e^{−2κ}).
TEST(SphereMixtureGap, IsExponentialInThreeDimensions) {
  for (double kappa : {1e-3, 1.0, 20.0, 500.0, 1e4}) {
    const SphereMixtureGap law(3, {{kappa, 0.0, 1.0}});
    const double log_norm = std::log(-std::expm1(-2.0 * kappa));
    for (double gap : {1e-300, 1e-9, 1e-4, 0.01, 0.3, 1.0, 1.4, 1.95}) {
      const double cdf = std::log(-std::expm1(-kappa * gap)) - log_norm;
      const double survival = -kappa * gap + std::log(-std::expm1(-kappa * (2.0 - gap))) - log_norm;
      EXPECT_NEAR(law.log_cdf(gap), cdf, kSphereMixtureError * (1.0 + std::abs(cdf)))
          << kappa << " " << gap;
      EXPECT_NEAR(law.log_survival(gap), survival, kSphereMixtureError * (1.0 + std::abs(survival)))
          << kappa << " " << gap;
    }
  }
}

/// log ∫_0^t s (2 − s) e^{−κs} ds: the aligned law at d = 5 without its norm. By Taylor's series
/// of the exponential, whose terms reach e^{20} at κt = 20: 41 of 50 digits are left.
Wide five_dimensional(double kappa, double gap) {
  Wide sum = 0, power = Wide(gap) * gap;
  for (int j = 0; j < 200; ++j) {
    sum += power * (Wide(2) / (j + 2) - Wide(gap) / (j + 3));
    power *= -Wide(kappa) * gap / (j + 1);
  }
  return sum;
}

TEST(SphereMixtureGap, IsElementaryInFiveDimensions) {
  for (double kappa : {0.5, 4.0, 10.0}) {
    const SphereMixtureGap law(5, {{kappa, 0.0, 1.0}});
    for (double gap : {1e-200, 1e-8, 0.02, 0.3, 0.9, 1.6}) {
      const double exact =
          static_cast<double>(log(five_dimensional(kappa, gap) / five_dimensional(kappa, 2.0)));
      EXPECT_NEAR(law.log_cdf(gap), exact, kSphereMixtureError * (1.0 + std::abs(exact)))
          << kappa << " " << gap;
    }
  }
}

// ---- the density, integrated by other means -------------------------------------------------

/// E e^{x u} over S^{m−1} by Boost's Bessel function.
double average(int m, double x) {
  if (m == 1) return std::cosh(x);
  if (x < 1e-6) return 1.0 + 0.5 * x * x / m;
  const double order = 0.5 * m - 1.0;
  return std::tgamma(0.5 * m) * std::pow(2.0 / x, order) * boost::math::cyl_bessel_i(order, x);
}

double integral_of_density(int d, const std::vector<SphereComponent>& components, double angle) {
  const auto density = [&](double theta) {
    double sum = 0.0;
    for (const auto& [kappa, alpha, share] : components)
      sum += share * std::exp(kappa * std::cos(alpha) * std::cos(theta)) *
             average(d - 1, kappa * std::sin(alpha) * std::sin(theta)) / average(d, kappa);
    return sum * std::pow(std::sin(theta), d - 2);
  };
  const double norm = std::sqrt(kPi) * std::tgamma(0.5 * (d - 1)) / std::tgamma(0.5 * d);
  boost::math::quadrature::tanh_sinh<double> rule;
  return rule.integrate(density, 0.0, angle) / norm;
}

// Components off the query. Tanh-sinh stops at a relative 1e-8 of its last change, which squares:
// some 1e-14 are left, and roundings of a few hundred terms.
TEST(SphereMixtureGap, IntegratesItsDensity) {
  for (int dimension : {2, 3, 4, 7, 16})
    for (const auto& components : std::vector<std::vector<SphereComponent>>{
             {{6.0, 0.4, 1.0}}, {{30.0, 2.0, 1.0}}, {{0.0, 0.0, 0.9}, {80.0, 0.9, 0.1}}}) {
      const SphereMixtureGap law(dimension, components);
      for (double angle : {0.05, 0.4, 1.0, 1.6, 2.4}) {
        const double gap = 2.0 * std::sin(0.5 * angle) * std::sin(0.5 * angle);
        const double exact = integral_of_density(dimension, components, angle);
        EXPECT_NEAR(std::exp(law.log_cdf(gap)) / exact, 1.0,
                    1e-12 + kSphereMixtureError * (1.0 - std::log(exact)))
            << dimension << " " << angle;
      }
    }
}

// Property (1) of log_density: a central difference with a step of h = 1e-4 t errs by h² times the
// third derivative over six, below (κ + d/t)² f, and by rounding over the step.
TEST(SphereMixtureGap, HasItsDensityAsDerivative) {
  const SphereMixtureGap law(6, {{0.0, 0.0, 0.5}, {12.0, 1.0, 0.5}});
  for (double gap : {1e-3, 0.1, 0.5, 1.2}) {
    const double step = 1e-4 * gap;
    const double slope =
        (std::exp(law.log_cdf(gap + step)) - std::exp(law.log_cdf(gap - step))) / (2.0 * step);
    const double curvature = std::pow((12.0 + 6.0 / gap) * step, 2);
    EXPECT_NEAR(slope / std::exp(law.log_density(gap)), 1.0, curvature + 1e-7) << gap;
  }
}

// ---- mixtures, tails, inversion --------------------------------------------------------------

// Property (3).
TEST(SphereMixtureGap, AddsItsComponents) {
  for (int dimension : {2, 5, 64, 512})
    for (double kappa : {5.0, 300.0, 1e4})
      for (double angle : {0.0, 0.3, 1.5, kPi}) {
        const SphereMixtureGap both(dimension, {{kappa, angle, 0.3}, {0.0, 0.0, 0.7}});
        const SphereMixtureGap one(dimension, {{kappa, angle, 1.0}});
        const SphereGap other(dimension);
        for (double gap : {1e-3, 0.02, 0.1, 0.5, 0.9, 1.3, 1.8}) {
          const double cdf = 0.3 * std::exp(one.log_cdf(gap)) + 0.7 * other.cdf(gap);
          const double survival =
              0.3 * std::exp(one.log_survival(gap)) + 0.7 * std::exp(other.log_survival(gap));
          if (cdf > 1e-290) {
            EXPECT_NEAR(both.log_cdf(gap), std::log(cdf),
                        2.0 * kSphereMixtureError * (1.0 - std::log(cdf)))
                << dimension << " " << kappa << " " << angle << " " << gap;
          }
          if (survival > 1e-290) {
            EXPECT_NEAR(both.log_survival(gap), std::log(survival),
                        2.0 * kSphereMixtureError * (1.0 - std::log(survival)))
                << dimension << " " << kappa << " " << angle << " " << gap;
          }
        }
      }
}

// Property (4) of log_cdf and (1) of log_enrichment.
TEST(SphereMixtureGap, IsTheLocalDensityTimesTheUniformLawFarOut) {
  for (int dimension : {2, 3, 9}) {
    const SphereMixtureGap law(dimension, {{7.0, 0.8, 0.4}, {0.0, 0.0, 0.6}});
    const double density = 0.4 * std::exp(7.0 * std::cos(0.8)) / average(dimension, 7.0) + 0.6;
    EXPECT_NEAR(law.log_enrichment(0.0), std::log(density), kSphereMixtureError);
    EXPECT_NEAR(law.log_cdf(1e-290) - SphereGap(dimension).log_cdf(1e-290), std::log(density),
                kSphereMixtureError);
  }
}

// Property (1) of quantile, as long as the gap is a double. Below the median the gap is found to
// 1e-12 and the slope d log F/d log t is at most (d − 1)/2 + 2κ; above it, 2 − t is rounded.
TEST(SphereMixtureGap, InvertsItsDistribution) {
  for (int dimension : {2, 3, 5, 64})
    for (double kappa : {0.5, 60.0, 1e3, 1e4})
      for (double angle : {0.0, 0.3, 1.5, kPi}) {
        const SphereMixtureGap law(dimension, {{kappa, angle, 1.0}});
        for (double log_probability = -700.0; log_probability < -1e-6; log_probability *= 0.8) {
          const double gap = law.quantile(log_probability);
          if (gap < 1e-300 || gap > 1.9) continue;
          const double slope = std::exp(law.log_density(gap) - law.log_cdf(gap)) * gap;
          EXPECT_NEAR(law.log_cdf(gap), log_probability,
                      1e-12 * slope + 2.0 * kSphereMixtureError * (1.0 - log_probability))
              << dimension << " " << kappa << " " << angle << " " << log_probability;
        }
        EXPECT_EQ(law.quantile(0.0), 2.0);
      }
}

// Newton's method alone runs in a circle here: a narrow component far from the query, seen from a
// probability that only the foot of it reaches.
TEST(SphereMixtureGap, FindsQuantilesWhereTheDistributionBends) {
  const SphereMixtureGap law(3, {{1000.0, 0.3, 1.0}});
  for (double log_probability = -60.0; log_probability < -20.0; log_probability += 0.37)
    EXPECT_NEAR(law.log_cdf(law.quantile(log_probability)) / log_probability, 1.0,
                2.0 * kSphereMixtureError)
        << log_probability;
}

// Between the two components nothing is added but roundings.
TEST(SphereMixtureGap, IncreasesFromZeroToOne) {
  const SphereMixtureGap law(4, {{200.0, 0.5, 0.2}, {50.0, 2.5, 0.8}});
  double last = -std::numeric_limits<double>::infinity();
  for (double gap = 0.0; gap <= 2.0; gap += 0.001) {
    const double here = law.log_cdf(gap);
    EXPECT_GE(here, last - kSphereMixtureError) << gap;
    last = here;
    EXPECT_NEAR(std::exp(here) + std::exp(law.log_survival(gap)), 1.0, kSphereMixtureError);
  }
  EXPECT_EQ(law.piece_ends().back(), kPi);
}

}  // namespace
}  // namespace dewpoint
