// Where attention condenses for keys that are not uniform: constants against exact laws of the gap,
// the thick manifold against quadrature and draws, large dimension against printed values.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/key_scales.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/sphere_moments.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- densities and submanifolds -------------------------------------------------------------

// Properties (1) and (2) of log_key_unit and of sphere_keys.
TEST(KeyUnit, IsTheSphereUnitForUniformKeys) {
  for (int d : {2, 3, 5, 64, 200})
    for (double n : {10.0, 1e6, 1e30}) {
      const KeyLaw law = sphere_keys(d);
      const double error = 1e-14 * (1.0 + std::log(n));
      EXPECT_NEAR(log_key_unit(law, std::log(n)), std::log(sphere_unit(std::log(n), d)),
                  2.0 * error);
      const double dense = log_key_unit(sphere_keys(d, std::log(4.0)), std::log(n));
      EXPECT_NEAR(dense - log_key_unit(law, std::log(n)), std::log(4.0) / law.exponent,
                  4.0 * error);
    }
  const KeyLaw law = sphere_keys(512);
  EXPECT_NEAR((log_key_unit(law, 690.0) - log_key_unit(law, 90.0)) / 600.0, 2.0 / 511.0, 1e-15);
}

// Property (1): two computations of c_d.
TEST(SubmanifoldKeys, ContainTheSphere) {
  for (int d : {1, 2, 3, 8, 127, 511}) {
    const KeyLaw keys = submanifold_keys(d, log_uniform_density(d)), sphere = sphere_keys(d + 1);
    EXPECT_EQ(keys.exponent, sphere.exponent);
    EXPECT_NEAR(keys.log_constant, sphere.log_constant, 1e-14 * (1.0 + d)) << d;
    EXPECT_NEAR(great_subsphere_keys(d).log_constant, sphere.log_constant, 1e-14 * (1.0 + d)) << d;
  }
}

// Property (2): the torus has the area 2π².
TEST(SubmanifoldKeys, ContainTheFlatTorus) {
  const KeyLaw torus = submanifold_keys(2, -std::log(2.0 * std::numbers::pi * std::numbers::pi));
  EXPECT_NEAR(log_key_unit(torus, std::log(1e6)), std::log(1e6 / std::numbers::pi), 1e-14);
}

// Property (3): the ball of radius L holds ρ d' V L^{d'+γ}/(d' + γ) = 1 of the keys, and those with
// T ≤ t are in the ball of radius √(2t).
TEST(SubmanifoldKeys, CountABallWithASingularDensity) {
  constexpr double kRadius = 0.3, kGap = 1e-3;
  for (int d : {1, 2, 5})
    for (double singularity : {-0.5, 0.0, 1.5}) {
      const double ball = std::pow(std::numbers::pi, 0.5 * d) / std::tgamma(0.5 * d + 1.0);
      const double power = d + singularity;
      const double density = power / (d * ball * std::pow(kRadius, power));
      const KeyLaw keys = submanifold_keys(d, std::log(density), singularity);
      EXPECT_NEAR(keys.log_constant + keys.exponent * std::log(kGap),
                  0.5 * power * std::log(2.0 * kGap / (kRadius * kRadius)), 1e-13)
          << d << ' ' << singularity;
    }
}

// Properties (1) and (2): off the subsphere T − T_0 = cos α (1 − ⟨p, k⟩) exactly, p the nearest
// point. The first correction of F is of relative size a t/2.
TEST(GreatSubsphereKeys, SeeTheSubsphereUnderAnAngle) {
  for (int d : {1, 2, 7})
    for (double angle : {0.0, 0.4, 1.0, 1.5}) {
      const KeyLaw keys = great_subsphere_keys(d, angle);
      EXPECT_NEAR(log_key_unit(keys, 30.0) - log_key_unit(great_subsphere_keys(d), 30.0),
                  -std::log(std::cos(angle)), 1e-13);
      const double gap = 1e-9;
      EXPECT_NEAR(keys.log_constant + keys.exponent * std::log(gap),
                  SphereGap(d + 1).log_cdf(gap / std::cos(angle)),
                  d * gap / std::cos(angle) + 4.0 * kSphereGapError * (1.0 + 25.0 * d))
          << d << ' ' << angle;
    }
}

// ---- thick manifolds ------------------------------------------------------------------------

constexpr double kExponents[] = {0.5, 1.0, 2.5, 30.0, 256.0};
constexpr int kCodimensions[] = {1, 2, 6, 60, 511};

// Property (1).
TEST(ThickKeys, HaveAClosedFormForSurfacesInFourDimensions) {
  const ThickKeys keys{{1.0, std::log(0.5)}, 2, 0.01};
  for (double x : {1e-3, 0.1, 2.0, 50.0, 119.0, 121.0, 1e4, 1e9}) {
    // 1 − (1 − e^{−x})/x, as a series where it cancels: x/2 − x²/6 + x³/24 − ...
    const double share = x < 0.1 ? x / 2 - x * x / 6 + x * x * x / 24 - x * x * x * x / 120
                                 : 1.0 + std::expm1(-x) / x;
    const double log_gap = std::log(x * 1e-4), exact = std::log(0.5) + log_gap + std::log(share);
    EXPECT_NEAR(thick_log_cdf(keys, log_gap), exact, kThickKeysError * (1.0 + std::abs(exact)))
        << x;
  }
}

// Property (3): E(1 − W/x)_+^a by the double-exponential rule, to 1e-9.
TEST(ThickKeys, IntegrateOverTheNoise) {
  boost::math::quadrature::tanh_sinh<double> rule;
  for (double a : {0.5, 1.0, 2.5, 8.0})
    for (int codimension : {1, 3, 6, 20})
      for (double x : {0.3, 4.0, 40.0}) {
        const double b = 0.5 * codimension;
        const auto density = [&](double w) {
          return std::pow(1.0 - w / x, a) * std::exp((b - 1.0) * std::log(w) - w - std::lgamma(b));
        };
        const double exact = rule.integrate(density, 0.0, x, 1e-11);
        const ThickKeys keys{{a, 0.0}, codimension, 1.0};
        EXPECT_NEAR(std::exp(thick_log_cdf(keys, std::log(x)) - a * std::log(x)) / exact, 1.0, 1e-9)
            << a << ' ' << codimension << ' ' << x;
      }
}

// Property (2), and (2) of the exponent: it falls from a + m/2 to a.
TEST(ThickKeys, LieBelowBothPowerLaws) {
  for (double a : kExponents)
    for (int m : kCodimensions) {
      const ThickKeys keys{{a, 0.7}, m, 0.1};
      const double b = 0.5 * m, log_squared = 2.0 * std::log(0.1);
      const double log_inner =
          0.7 - b * log_squared + std::lgamma(a + 1.0) - std::lgamma(a + b + 1.0);
      double previous = a + b;
      for (double log_x : {-30.0, -2.0, 1.0, 4.0, 7.0, 12.0, 40.0}) {
        const double log_gap = log_squared + log_x, value = thick_log_cdf(keys, log_gap);
        const double error = kThickKeysError * (1.0 + std::abs(value));
        EXPECT_LE(value, 0.7 + a * log_gap + error);
        EXPECT_LE(value, log_inner + (a + b) * log_gap + error);
        const double exponent = thick_exponent(keys, log_gap);
        EXPECT_LE(exponent, previous + kThickKeysError);
        EXPECT_GE(exponent, a - kThickKeysError);
        previous = exponent;
      }
      EXPECT_NEAR(thick_exponent(keys, log_squared - 40.0), a + b, kThickKeysError);
      EXPECT_NEAR(previous, a, kThickKeysError);
    }
}

// Property (1) of the exponent: central differences with h = 1e-3, h²/6 times a third derivative of
// at most b·4 (a sigmoid of width √b or more in log x), and two errors over 2h.
TEST(ThickExponent, IsTheSlopeOfTheLaw) {
  for (double a : kExponents)
    for (int m : kCodimensions) {
      const ThickKeys keys{{a, 0.0}, m, 1.0};
      for (double log_x : {-3.0, 0.0, 2.0, 3.5, 5.0, 5.6, 6.5, 9.0}) {
        const double h = 1e-3, before = thick_log_cdf(keys, log_x - h),
                     after = thick_log_cdf(keys, log_x + h);
        EXPECT_NEAR(thick_exponent(keys, log_x), (after - before) / (2.0 * h),
                    2.0 * m * h * h + kThickKeysError * (1.0 + std::abs(before)) / h)
            << a << ' ' << m << ' ' << log_x;
      }
    }
}

/// P/(what thick_log_cdf says) − 1 for S² in R⁹, over ε², at t = xε². The key is at the distance R
/// from the origin along the three dimensions of the sphere and √W across them, its height there is
/// uniform, and T ≤ t where that height is at least (1 − t)√(1 + W/R²). With W = 2ε²Y, Y a Gamma(3)
/// variable of density p, and R = 1 + εg + ε² to second order,
///
///     P = E(ε²(x − Y) + ε³ 2gY + ε⁴(Y²/2 + xY − Y) + ...)_+ /2.
///
/// The first term is the law; its positive part bends at Y = x, where 2gY has the variance 4x².
double blur_correction(double x) {
  const double density = 0.5 * x * x * std::exp(-x);
  // ∫_0^x y^k p(y) dy = (k + 2)!/2 P(Gamma(k + 3) ≤ x).
  const auto moment = [x](int k) {
    double tail = 1.0, term = 1.0;
    for (int i = 1; i < k + 3; ++i) tail += term *= x / i;
    return 0.5 * std::tgamma(k + 3.0) * (1.0 - tail * std::exp(-x));
  };
  const double law = x * moment(0) - moment(1);
  return (0.5 * moment(2) + (x - 1.0) * moment(1) + 2.0 * x * x * density) / law;
}

// Property (4): S² in R⁹ blurred by ε in every coordinate and projected back, seen from a point of
// it. Draws of both radii; the height is integrated. The correction is exact to second order, and
// its square is the size of the fourth.
TEST(ThickKeys, CountABlurredSphere) {
  constexpr double kThickness = 0.04;
  const ThickKeys keys{sphere_keys(3), 6, kThickness};
  const Stream noise = test::stream("ThickKeys/noise");
  for (double x : {3.0, 8.0}) {
    const double gap = x * kThickness * kThickness;
    RunningMoments share;
    for (std::uint64_t i = 0; i < 400000; ++i) {
      double inside = 0.0, across = 0.0;
      for (std::uint64_t k = 0; k < 9; ++k) {
        const double coordinate = (k == 0 ? 1.0 : 0.0) + kThickness * noise.normal(9 * i + k);
        (k < 3 ? inside : across) += coordinate * coordinate;
      }
      share.add(0.5 * std::max(0.0, 1.0 - (1.0 - gap) * std::sqrt(1.0 + across / inside)));
    }
    const Estimate drawn = share.estimate();
    const double law = std::exp(thick_log_cdf(keys, std::log(gap)));
    const double correction = blur_correction(x) * kThickness * kThickness;
    EXPECT_NEAR(drawn.mean, law * (1.0 + correction),
                test::kSigmas * drawn.standard_error + law * correction * correction)
        << x;
  }
}

// Properties (1), (2) and (3) of the unit. In (2) P lies below c t^a by ab/x with x = 1/(β*ε²).
TEST(ThickUnit, CrossesFromTheManifoldToItsSurroundings) {
  for (double a : {0.5, 1.0, 4.0, 100.0})
    for (int m : {1, 6, 100}) {
      const ThickKeys keys{{a, 0.2}, m, 1e-3};
      for (double log_n : {0.0, 3.0, 13.8, 40.0, 690.0, 1e4}) {
        const double log_unit = log_thick_unit(keys, log_n);
        EXPECT_NEAR(thick_log_cdf(keys, -log_unit), -log_n,
                    3.0 * kThickKeysError * (1.0 + log_n) * (1.0 + m / a))
            << a << ' ' << m << ' ' << log_n;
      }
      const double thin = log_key_unit(keys.manifold, 3.0);
      EXPECT_NEAR(log_thick_unit(keys, 3.0), thin, m * std::exp(thin) / thickness_scale(1e-3));
      EXPECT_NEAR((log_thick_unit(keys, 1e5) - log_thick_unit(keys, 9e4)) / 1e4,
                  1.0 / (a + 0.5 * m), 1e-9);
    }
  EXPECT_EQ(thickness_scale(0.5), 4.0);
}

// ---- large dimension ------------------------------------------------------------------------

struct PrintedScale {
  int dimension;
  double n, unit, quantile_unit;
};

constexpr PrintedScale kPrintedScales[] = {{2, 1e4, 20264237, 20264237},
                                           {2, 1e6, 2.0264237e11, 2.0264237e11},
                                           {3, 1e4, 5000, 5000},
                                           {3, 1e6, 500000, 500000},
                                           {5, 1e4, 86.60254, 86.43539},
                                           {5, 1e6, 866.0254, 865.85869},
                                           {5, 1e9, 27386.128, 27385.961},
                                           {8, 1e4, 16.021984, 15.738475},
                                           {8, 1e6, 59.723448, 59.444175},
                                           {8, 1e9, 429.8211, 429.54311},
                                           {9, 1e4, 12.161496, 11.852819},
                                           {9, 1e6, 38.458028, 38.155385},
                                           {9, 1e9, 216.26539, 215.96492},
                                           {17, 1e4, 4.7319329, 4.3033713},
                                           {17, 1e6, 8.4146988, 8.0053996},
                                           {17, 1e9, 19.954395, 19.557393},
                                           {64, 1e4, 2.4362897, 1.8034981},
                                           {64, 1e6, 2.8198175, 2.2258854},
                                           {64, 1e9, 3.5112285, 2.9535802},
                                           {128, 1e4, 2.1936048, 1.4745314},
                                           {128, 1e6, 2.3586009, 1.6790644},
                                           {128, 1e9, 2.6296537, 1.9900065}};

// Half a unit of the last of eight significant digits.
double half_digit(double printed) {
  return 0.5000001 * std::pow(10.0, std::floor(std::log10(printed)) - 7);
}

// Property (1), and β* beside it.
TEST(QuantileUnit, ReproducesThePrintedTable) {
  for (const PrintedScale& row : kPrintedScales) {
    EXPECT_NEAR(std::exp(log_quantile_unit(row.dimension, std::log(row.n))), row.quantile_unit,
                half_digit(row.quantile_unit))
        << row.dimension << ' ' << row.n;
    EXPECT_NEAR(std::exp(log_key_unit(sphere_keys(row.dimension), std::log(row.n))), row.unit,
                half_digit(row.unit))
        << row.dimension << ' ' << row.n;
  }
}

// Property (2): the correction of F at t is of relative size a t/2, and n may be 1e300.
TEST(QuantileUnit, TendsToThePowerLaw) {
  for (int d : {2, 5, 9})
    EXPECT_NEAR(log_quantile_unit(d, 690.0), log_key_unit(sphere_keys(d), 690.0), 1e-10) << d;
}

// log β where KL(P_β ‖ P) = −β E_β T − log μ_0(β) is log n.
double log_divergence_beta(int dimension, double log_n) {
  const SphereMoments moments(dimension);
  const auto excess = [&](double log_beta) {
    const double beta = std::exp(log_beta);
    return -beta * mean_gap(dimension, beta) - moments.log_moment(0, beta) - log_n;
  };
  std::uintmax_t rounds = 200;
  const auto root = boost::math::tools::toms748_solve(
      excess, -3.0, 26.0, boost::math::tools::eps_tolerance<double>(40), rounds);
  return 0.5 * (root.first + root.second);
}

// Property (1), and the nine printed β it is compared with, of five digits.
TEST(FreezingInterpolation, IsNearTheTemperatureOfTheEntropy) {
  constexpr double kPrinted[][3] = {{3, 1e6, 1.3591e6}, {5, 1e4, 331.92},  {5, 1e6, 3328.2},
                                    {9, 1e4, 70.072},   {9, 1e6, 228.35},  {17, 1e6, 78.721},
                                    {64, 1e4, 42.523},  {64, 1e6, 58.113}, {128, 1e6, 69.877}};
  for (const auto& [d, n, beta] : kPrinted)
    EXPECT_NEAR(std::exp(log_divergence_beta(static_cast<int>(d), std::log(n))) / beta, 1.0, 5.1e-5)
        << d;
  const auto ratio = [](int d, double n) {
    return std::exp(log_freezing_interpolation(d, std::log(n)) -
                    log_divergence_beta(d, std::log(n)));
  };
  for (double n : {1e3, 1e6, 1e9, 1e15}) {
    EXPECT_NEAR(ratio(64, n), 1.0, 0.007) << n;
    EXPECT_NEAR(ratio(128, n), 1.0, 0.007) << n;
  }
  EXPECT_NEAR(std::abs(ratio(17, 1e6) - 1.0), 0.036, 5e-4);
  EXPECT_NEAR(std::abs(ratio(9, 1e6) - 1.0), 0.09, 5e-3);
  EXPECT_NEAR(std::abs(ratio(5, 1e6) - 1.0), 0.20, 5e-3);
  EXPECT_NEAR(std::abs(ratio(3, 1e6) - 1.0), 0.47, 5e-3);
}

// Property (2), with corrections (log n)/(2(d − 1)) · 3 and 1/(2N).
TEST(FreezingInterpolation, JoinsTheGaussianScaleAndThePowerLaw) {
  const double log_n = 10.0;
  for (int d : {10000, 1000000})
    EXPECT_NEAR(log_freezing_interpolation(d, log_n), 0.5 * std::log(2.0 * (d - 1.0) * log_n),
                3.0 * log_n / (d - 1.0));
  for (int d : {2, 4, 20}) {
    const double log_power = 2.0 * 690.0 / (d - 1.0);
    EXPECT_NEAR(log_freezing_interpolation(d, 690.0), std::log(d - 1.0) + log_power,
                std::exp(-log_power) + 8.0 * kEpsilon * log_power);
  }
}

}  // namespace
}  // namespace dewpoint::theory
