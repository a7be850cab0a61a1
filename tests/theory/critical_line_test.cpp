// Critical lines: printed values, limits, and a simulation of the annealed condition.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/critical_line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

double annealed(double n, int dimension, double correlation, double refinement = 1.0) {
  return annealed_critical_scale(std::log(n), dimension, correlation, {refinement})
      .value_or(std::numeric_limits<double>::quiet_NaN());
}

double gaussian(double n, int dimension, double correlation) {
  return gaussian_critical_scale(std::log(n), dimension, correlation)
      .value_or(std::numeric_limits<double>::quiet_NaN());
}

// ---- the simplex ----------------------------------------------------------------------------

// Properties (1) and (2).
TEST(CriticalGamma, PutsHalfTheWeightOnTheTokenItself) {
  for (double rho : {0.0, 0.25, 0.5, 0.99}) {
    EXPECT_NEAR(critical_gamma(rho) * (1.0 - rho), 1.0, 2 * kEpsilon);
    const double log_n = std::log(1e4), beta = critical_gamma(rho) * log_n;
    EXPECT_NEAR(simplex_weights(log_n, beta, rho).self, 1e4 / (2e4 - 1),
                simplex_error(log_n, beta));
  }
}

// ---- Gaussian correlations --------------------------------------------------------------------

// Property (1).
TEST(GaussianCriticalScale, SolvesItsQuadratic) {
  for (double rho : {0.0, 0.5, 0.9})
    for (int dimension : {64, 500, 100000}) {
      const double c = gaussian(1024, dimension, rho);
      const double load = (1 + rho - rho * rho / 2) / dimension * std::log(1024.0);
      EXPECT_NEAR(1.0 - c + 0.5 * c * c * load, 0.0, 2 * kGaussianScaleError);
    }
}

// Printed with four decimals.
TEST(GaussianCriticalScale, ReproducesPrintedValues) {
  EXPECT_NEAR(gaussian(1024, 32, 0.5), 1.2226, 0.5e-4);
  EXPECT_NEAR(gaussian(1024, 64, 0.5), 1.0882, 0.5e-4);
  EXPECT_NEAR(gaussian(1024, 128, 0.5), 1.0403, 0.5e-4);
  EXPECT_NEAR(gaussian(1024, 512, 0.5), 1.0095, 0.5e-4);
}

// Property (2), and nothing once 2D² log n reaches 1: at ρ = 0, d = 2 log n.
TEST(GaussianCriticalScale, EndsAtTwoWhereScoresFreeze) {
  const double log_n = 8.0;
  EXPECT_FALSE(gaussian_critical_scale(log_n, 16, 0.0).has_value());
  EXPECT_FALSE(gaussian_critical_scale(log_n, 3, 0.0).has_value());
  for (int dimension = 17; dimension < 4000; dimension *= 2) {
    const auto scale = gaussian_critical_scale(log_n, dimension, 0.0);
    ASSERT_TRUE(scale.has_value());
    EXPECT_GT(*scale, 1.0);
    EXPECT_LT(*scale, 2.0);
  }
}

// Property (3). With load u = D² log n, c* = 1 + u/2 + u²/2 + ..., the rest below u² for u ≤ 1/4.
TEST(GaussianCriticalScale, TendsToOneLinearlyInTheInverseDimension) {
  for (double rho : {0.0, 0.4, 0.9})
    for (int dimension : {100, 1000, 100000}) {
      const double load = (1 + rho - rho * rho / 2) / dimension * std::log(1e4);
      EXPECT_NEAR(gaussian(1e4, dimension, rho), 1.0 + load / 2, load * load);
    }
}

// Property (4).
TEST(GaussianCriticalScale, IncreasesWithLengthAndDecreasesWithDimension) {
  EXPECT_GT(gaussian(2048, 64, 0.5), gaussian(1024, 64, 0.5));
  EXPECT_GT(gaussian(1024, 64, 0.5), gaussian(1024, 65, 0.5));
}

// ---- annealed tokens ----------------------------------------------------------------------------

// Printed values: four decimals, the two of low dimension three. 1.0828 is printed for a value of
// 1.08286, so a whole last digit is allowed.
TEST(AnnealedCriticalScale, ReproducesPrintedValues) {
  EXPECT_NEAR(annealed(1024, 8, 0.5), 2.466, 1e-3);
  EXPECT_NEAR(annealed(1024, 16, 0.5), 1.443, 1e-3);
  EXPECT_NEAR(annealed(1024, 32, 0.5), 1.1813, 1e-4);
  EXPECT_NEAR(annealed(1024, 64, 0.5), 1.0828, 1e-4);
  EXPECT_NEAR(annealed(1024, 128, 0.5), 1.0396, 1e-4);
  EXPECT_NEAR(annealed(1024, 512, 0.5), 1.0095, 1e-4);
}

/// Unit directions of √ρ e + √(1−ρ) z, one row per token.
std::vector<std::vector<double>> simulated_tokens(int count, int dimension, double rho,
                                                  const Stream& normal) {
  std::vector<std::vector<double>> tokens(count, std::vector<double>(dimension));
  for (int i = 0; i < count; ++i) {
    normal.normals(static_cast<std::uint64_t>(i) * dimension, tokens[i]);
    for (double& x : tokens[i]) x *= std::sqrt((1.0 - rho) / dimension);
    tokens[i][0] += std::sqrt(rho);
    double norm = 0.0;
    for (double x : tokens[i]) norm += x * x;
    for (double& x : tokens[i]) x /= std::sqrt(norm);
  }
  return tokens;
}

/// The annealed log odds E_i log((n − 1) E_j e^{−β(1−G_ij)}) from `queries` tokens i and `keys`
/// tokens j drawn apart: estimate, standard error and the bias of the logarithm of a mean.
struct SimulatedLogOdds {
  double value, standard_error, bias;
};

SimulatedLogOdds simulate_log_odds(double n, int dimension, double rho, double beta, int queries,
                                   int keys) {
  const auto query =
      simulated_tokens(queries, dimension, rho, test::stream("AnnealedCriticalScale/queries"));
  const auto key =
      simulated_tokens(keys, dimension, rho, test::stream("AnnealedCriticalScale/keys"));
  RunningMoments log_mean, inverse_bias;
  std::vector<double> influence(keys, 0.0), row(keys);
  for (const auto& y : query) {
    RunningMoments kernel;
    for (int j = 0; j < keys; ++j) {
      double correlation = 0.0;
      for (int k = 0; k < dimension; ++k) correlation += y[k] * key[j][k];
      kernel.add(row[j] = std::exp(-beta * (1.0 - correlation)));
    }
    log_mean.add(std::log((n - 1.0) * kernel.mean()));
    inverse_bias.add(kernel.variance() / (kernel.mean() * kernel.mean()) / (2.0 * keys));
    for (int j = 0; j < keys; ++j) influence[j] += row[j] / kernel.mean() / queries;
  }
  RunningMoments over_keys;
  for (double value : influence) over_keys.add(value);
  return {log_mean.mean(),
          std::hypot(log_mean.estimate().standard_error, over_keys.estimate().standard_error),
          inverse_bias.mean()};
}

// At the returned scale the simulated log odds vanish. The two samples are independent, so the
// variance is the sum of that over queries and, by the delta method, that over keys; the second
// order of the logarithm is a bias, added whole. The test has power: with β larger by the factor
// in the last column the same simulation is outside the tolerance.
TEST(AnnealedCriticalScale, MakesSimulatedOddsEven) {
  struct Case {
    double n;
    int dimension;
    double rho, detectable;
  };
  for (const Case& c : {Case{1024, 16, 0.5, 1.10}, Case{1024, 64, 0.5, 1.05}, Case{64, 8, 0.8, 1.2},
                        Case{30, 3, 0.3, 1.3}, Case{12, 2, 0.5, 2.0}, Case{100, 8, 0.0, 1.1}}) {
    SCOPED_TRACE(testing::Message() << c.n << ' ' << c.dimension << ' ' << c.rho);
    const double beta = annealed(c.n, c.dimension, c.rho) * std::log(c.n) / (1.0 - c.rho);
    const auto odds = simulate_log_odds(c.n, c.dimension, c.rho, beta, 1000, 8000);
    const double tolerance = test::kSigmas * odds.standard_error + odds.bias;
    EXPECT_NEAR(odds.value, 0.0, tolerance);
    const auto wrong = simulate_log_odds(c.n, c.dimension, c.rho, c.detectable * beta, 500, 4000);
    EXPECT_LT(wrong.value, -tolerance);
  }
}

// Property (1). What remains at d = 1e3 … 4e3 is of order (log n)/d.
TEST(AnnealedCriticalScale, TendsToTheSimplexAsDimensionGrows) {
  for (double n : {3.0, 64.0, 1e6})
    for (double rho : {0.0, 0.5, 0.95}) {
      const double simplex = std::log(n - 1.0) / std::log(n);
      double previous = 1.0;
      for (int dimension : {1024, 2048, 4096}) {
        const double distance = std::abs(annealed(n, dimension, rho) - simplex);
        EXPECT_LT(distance, std::log(n) / dimension + 1.0 / dimension);
        EXPECT_LT(distance, previous);
        previous = distance;
      }
    }
}

// Property (2).
TEST(AnnealedCriticalScale, IncreasesWithLengthAndDecreasesWithDimension) {
  for (double rho : {0.0, 0.3, 0.7, 0.95})
    for (int dimension : {8, 24, 64, 512}) {
      double previous = 0.0;
      for (double n : {3.0, 10.0, 100.0, 1e4, 1e6}) {
        const double scale = annealed(n, dimension, rho);
        EXPECT_GT(scale, previous) << n << ' ' << dimension << ' ' << rho;
        EXPECT_GT(scale, annealed(n, 2 * dimension, rho)) << n << ' ' << dimension << ' ' << rho;
        previous = scale;
      }
    }
}

// Property (3): two quadratures against none.
TEST(AnnealedCriticalScale, IsTheSphereWithoutSignal) {
  for (double n : {3.0, 50.0, 1e6, 1e9})
    for (int dimension : {8, 16, 64, 4096}) {
      const double sphere =
          sphere_critical_inverse_temperature(std::log(n), dimension) / std::log(n);
      EXPECT_NEAR(annealed(n, dimension, 0.0) / sphere, 1.0, kAnnealedScaleError);
    }
}

// Property (4).
TEST(AnnealedCriticalScale, IsTheGaussianFormulaPlusTheShiftOfTheMean) {
  for (double n : {64.0, 1024.0, 1e6, 1e9})
    for (double rho : {0.0, 0.2, 0.5, 0.8, 0.95})
      for (int dimension : {64, 128, 512, 4096}) {
        const double order = std::log(n) / dimension;
        if (2.0 * (1 + rho - rho * rho / 2) * order > 0.25) continue;
        const double shift =
            rho * (3 * rho - 1) / (2 * dimension) + std::log1p(-1 / n) / std::log(n);
        EXPECT_NEAR(annealed(n, dimension, rho), gaussian(n, dimension, rho) + shift,
                    order * order + 2.0 / (n * dimension))
            << n << ' ' << dimension << ' ' << rho;
      }
}

// Property (5), over the corners of the domain and at a cost of four times a call.
TEST(AnnealedCriticalScale, IsUnmovedByTwiceTheNodes) {
  for (double n : {3.0, 50.0, 1024.0, 1e9})
    for (int dimension : {8, 64, 4096})
      for (double rho : {0.0, 0.5, 0.8, 0.99}) {
        if (dimension == 8 && n > 1e6) continue;  // 2 s each; measured once: 4e-14
        const double scale = annealed(n, dimension, rho);
        EXPECT_NEAR(annealed(n, dimension, rho, 2.0), scale, kAnnealedScaleError * scale)
            << n << ' ' << dimension << ' ' << rho;
      }
  for (int dimension : {2, 3}) {
    const double scale = annealed(12, dimension, 0.5);
    EXPECT_NEAR(annealed(12, dimension, 0.5, 2.0), scale, kAnnealedScaleError * scale);
  }
}

// The domain's far side: at d = 2 the critical β grows as n², past the largest tilt by n = 1000.
TEST(AnnealedCriticalScale, SaysSoWhenTheRootIsOutOfReach) {
  EXPECT_FALSE(annealed_critical_scale(std::log(1000.0), 2, 0.0).has_value());
  EXPECT_GT(sphere_critical_inverse_temperature(std::log(1000.0), 2), 2 * kAnnealedLargestTilt);
}

// ---- the sphere ---------------------------------------------------------------------------------

// Printed for n = 4096: half a unit of the last digit.
TEST(SphereCriticalInverseTemperature, ReproducesPrintedValues) {
  const double log_n = std::log(4096.0);
  EXPECT_NEAR(sphere_critical_inverse_temperature(log_n, 4), 220.0, 0.5);
  EXPECT_NEAR(sphere_critical_inverse_temperature(log_n, 6), 43.5, 0.05);
  EXPECT_NEAR(sphere_critical_inverse_temperature(log_n, 8), 23.72, 0.005);
  EXPECT_NEAR(sphere_critical_inverse_temperature(log_n, 16), 12.18, 0.005);
  EXPECT_NEAR(sphere_critical_inverse_temperature(log_n, 32), 9.742, 0.0005);
  EXPECT_NEAR(sphere_critical_power_law(log_n, 4), 220.0, 0.5);
  EXPECT_NEAR(sphere_critical_power_law(log_n, 6), 44.3, 0.05);
  EXPECT_NEAR(sphere_critical_power_law(log_n, 8), 25.03, 0.005);
  EXPECT_NEAR(sphere_critical_power_law(log_n, 16), 15.96, 0.005);
  EXPECT_NEAR(sphere_critical_power_law(log_n, 32), 19.07, 0.005);
}

// Properties (1) and (4).
TEST(SphereCriticalInverseTemperature, IncreasesWithLengthAndDecreasesTowardsItsLowerBound) {
  for (double n : {3.0, 100.0, 1e6, 1e30}) {
    double previous = std::numeric_limits<double>::infinity();
    for (int dimension : {4, 8, 64, 1024, 100000}) {
      const double beta = sphere_critical_inverse_temperature(std::log(n), dimension);
      EXPECT_GE(beta, std::log(n - 1.0));
      EXPECT_LT(beta, previous);
      EXPECT_LT(beta, sphere_critical_inverse_temperature(std::log(n) + 0.1, dimension));
      previous = beta;
    }
  }
}

// Property (2). The first correction to log Λ is (4ν² − 1)/(8β), ν = d/2 − 1, and the root feels it
// divided by the slope (d − 1)/2; twice that covers the higher orders. The other is n − 1 for n.
TEST(SphereCriticalInverseTemperature, BecomesAPowerOfTheLength) {
  for (int dimension : {2, 4, 7})
    for (double log_n : {30.0, 60.0, 80.0}) {
      const double beta = sphere_critical_inverse_temperature(log_n, dimension);
      const double order = 0.5 * dimension - 1.0;
      const double correction = std::abs(4 * order * order - 1) / (8 * beta) + std::exp(-log_n);
      EXPECT_NEAR(std::log(beta / sphere_critical_power_law(log_n, dimension)), 0.0,
                  4.0 * correction / (dimension - 1) + kSphereCriticalError * (1 + log_n));
    }
}

// Property (3). The residual is relative to 2β.
TEST(SphereCriticalInverseTemperature, SolvesTheElementaryEquationInSpace) {
  for (double n : {3.0, 20.0, 1e4, 1e12}) {
    const double beta = sphere_critical_inverse_temperature(std::log(n), 3);
    EXPECT_NEAR(-(n - 1.0) * std::expm1(-2.0 * beta) / (2.0 * beta), 1.0,
                2 * kSphereCriticalError * (1 + std::log(n)));
  }
}

// Property (1) of the power law.
TEST(SphereCriticalPowerLaw, HasTheExponentTwoOverDimensionMinusOne) {
  for (int dimension : {2, 5, 33}) {
    const double ratio = std::log(sphere_critical_power_law(12.0, dimension) /
                                  sphere_critical_power_law(11.0, dimension));
    EXPECT_NEAR(ratio, 2.0 / (dimension - 1), 1e-14 * 12);
  }
}

}  // namespace
}  // namespace dewpoint::theory
