// The simplex layer against printed reference values, against higher precision, and against a plain
// softmax layer on explicit tokens that shares no formula with it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/simplex.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "theory/dense_layer.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Half a unit of the last of `digits` significant digits.
double half_unit(double printed, int digits) {
  return 0.5 * std::pow(10.0, std::floor(std::log10(std::abs(printed))) + 1 - digits);
}

// ---- printed values ------------------------------------------------------------------------

struct Reference {
  double n, gamma, correlation, squared_norm, skip;  // input; κ = skip · √q
  double self, per_token, output_norm, output, log_contraction;
};

// Self, per-token weight and log λ are printed with 12 significant digits, the others with 15.
constexpr Reference kReferences[] = {
    {8, 1.2, 0.3, 1, 0, 0.450369159211, 0.0785186915412, 0.472192071812782, 0.79501786456723,
     -1.22815750393},
    {64, 2, 0.5, 1, 0, 0.503937007874, 0.00787401574803, 0.628929257858516, 0.804367113564669,
     -0.938368223894},
    {64, 2, 0.5, 2, 0.7, 0.503937007874, 0.00787401574803, 3.09775093730169, 0.643574781735229,
     -0.33848364701},
    {512, 1.8, 0.5, 1, 0, 0.349354580328, 0.00127327870777, 0.561438537877512, 0.892098079875881,
     -1.53338543091},
    {512, 2, 0.5, 1, 0, 0.500488758553, 0.000977517106549, 0.625488639110813, 0.800546752786468,
     -0.919028239363},
    {512, 2.2, 0.5, 1, 0, 0.651533677457, 0.000681930181101, 0.712366881281776, 0.702675680142264,
     -0.51978456935},
    {1e6, 2, 0.5, 1, 0, 0.50000025, 5.0000025e-07, 0.625000250000094, 0.800000279999968,
     -0.916292131875},
    {1e6, 2.2, 0.5, 0.5, 0.3, 0.799240151542, 2.00760049218e-07, 1.24606890371262,
     0.589559899426542, -0.19737809839},
    {1e30, 2.05, 0.5, 1, 0, 0.849020442789, 1.50979557211e-31, 0.86041785613654, 0.581112998102,
     -0.177006900079},
    {1e300, 2.001, 0.5, 1, 0, 0.585498678672, 4.14501321328e-301, 0.671404351363205,
     0.744707714486525, -0.67219899197},
    {1e300, 1.5, 0.5, 1, 0, 1e-75, 1e-300, 0.5, 1, -344.694616769},
};

// The printed numbers are themselves float64 results: half a printed digit, plus our rounding bound
// and theirs.
TEST(Simplex, ReproducesThePrintedTable) {
  for (const Reference& row : kReferences) {
    SCOPED_TRACE(testing::Message() << "n=" << row.n << " gamma=" << row.gamma);
    const double log_n = std::log(row.n), beta = row.gamma * log_n;
    const double rounding = 2.0 * simplex_error(log_n, beta);
    const auto near = [&](double value, double printed, int digits) {
      EXPECT_NEAR(value, printed, half_unit(printed, digits) + rounding * std::abs(printed));
    };
    const SimplexWeights weights = simplex_weights(log_n, beta, row.correlation);
    const SimplexOutput output =
        simplex_output(log_n, beta, row.correlation, row.skip * std::sqrt(row.squared_norm));
    near(weights.self, row.self, 12);
    near(weights.per_token, row.per_token, 12);
    near(output.squared_norm, row.output_norm, 15);
    near(output.correlation, row.output, 15);
    near(output.log_contraction, row.log_contraction, 12);
  }
}

// ---- the defining formulas in extended precision ----------------------------------------------

// 64-bit mantissa and exponents to 1e±4900 make the plain formulas, a − b included, exact enough:
// their error is 2⁻⁶⁴ · (2 + log n + β)/(β(1 − ρ)), below a thousandth of the bound here.
TEST(Simplex, StaysWithinItsErrorBoundOfExtendedPrecision) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no extended precision here";
  for (double log_n : {0.7, 1.1, 3.0, 8.0, 40.0, 690.0, 3000.0})
    for (double rho : {0.0, 0.01, 0.3, 0.5, 0.9})
      for (double scale : {0.1, 0.7, 1.0, 1.3, 3.0})
        for (double kappa : {0.0, 0.2, 3.0}) {
          const double beta = scale * log_n / (1.0 - rho);
          SCOPED_TRACE(testing::Message() << log_n << ' ' << rho << ' ' << beta << ' ' << kappa);
          const long double n = std::exp(static_cast<long double>(log_n));
          const long double r = rho, k = kappa;
          const long double one = std::exp(-beta * (1.0L - r)), odds = (n - 1) * one;
          const long double a = 1 / (1 + odds), b = one / (1 + odds), s = odds / (1 + odds);
          const long double q = r * (1 + k) * (1 + k) + (1 - r) * ((a + k) * (a + k) + s * b);
          const long double lambda = (a - b + k) * (a - b + k) / q;
          const long double p =
              r * (1 + k) * (1 + k) + (1 - r) * (2 * (a + k) * b + (n - 2) * b * b);

          const double error = simplex_error(log_n, beta);
          const auto weights = simplex_weights(log_n, beta, rho);
          const auto output = simplex_output(log_n, beta, rho, kappa);
          EXPECT_NEAR(weights.log_self, static_cast<double>(std::log(a)), error);
          EXPECT_NEAR(weights.log_others, static_cast<double>(std::log(s)), error);
          EXPECT_NEAR(weights.log_per_token, static_cast<double>(std::log(b)), error);
          EXPECT_NEAR(weights.log_gap, static_cast<double>(std::log(a - b)), error);
          EXPECT_NEAR(weights.log_normaliser, static_cast<double>(beta + std::log1p(odds)), error);
          EXPECT_NEAR(output.log_contraction, static_cast<double>(std::log(lambda)), error);
          if (q > 1e-300L) {
            EXPECT_NEAR(output.squared_norm / static_cast<double>(q), 1.0, error);
          }
          if (p / q > 1e-300L) {
            EXPECT_NEAR(output.correlation / static_cast<double>(p / q), 1.0, error);
          }
          if (lambda > 1e-300L) {
            EXPECT_NEAR(output.decorrelation / static_cast<double>((1 - r) * lambda), 1.0, error);
          }
        }
}

// ---- a plain softmax layer on explicit tokens -------------------------------------------------

TEST(Simplex, AgreesWithASoftmaxLayerOnExplicitTokens) {
  for (int n : {2, 3, 9, 40})
    for (double rho : {0.0, 0.2, 0.8})
      for (double beta : {0.5, 3.0, 20.0})
        for (double kappa : {0.0, 0.6}) {
          SCOPED_TRACE(testing::Message() << n << ' ' << rho << ' ' << beta << ' ' << kappa);
          const test::Tokens outputs =
              test::dense_layer(test::simplex_tokens(n, rho), {.beta = beta, .kappa = kappa});
          const double norm = test::dot(outputs[0], outputs[0]);
          const double inner = test::dot(outputs[0], outputs[1]);
          const auto predicted = simplex_output(std::log(n), beta, rho, kappa);
          const double tolerance = test::dense_layer_error(n, beta);
          EXPECT_NEAR(norm, predicted.squared_norm, tolerance * norm);
          EXPECT_NEAR(inner / norm, predicted.correlation, tolerance);
          EXPECT_NEAR(1.0 - inner / norm, predicted.decorrelation, tolerance);
          EXPECT_NEAR((1.0 - inner / norm) / (1.0 - rho), std::exp(predicted.log_contraction),
                      tolerance / (1.0 - rho));
        }
}

// ---- properties of simplex_weights ----------------------------------------------------------

// Property (1).
TEST(SimplexWeights, AddUpToOne) {
  for (double log_n : {0.7, 5.0, 690.0})
    for (double beta : {0.0, 1.0, 30.0, 2000.0}) {
      const auto weights = simplex_weights(log_n, beta, 0.4);
      EXPECT_NEAR(weights.self + weights.others, 1.0, 2.0 * simplex_error(log_n, beta));
    }
}

// Property (2).
TEST(SimplexWeights, AreNearlyEvenAtTheCriticalPoint) {
  for (double n : {2.0, 10.0, 1e4, 1e12, 1e200})
    for (double rho : {0.0, 0.5, 0.95}) {
      const double log_n = std::log(n), beta = log_n / (1.0 - rho);
      EXPECT_NEAR(simplex_weights(log_n, beta, rho).self, 1.0 / (2.0 - 1.0 / n),
                  simplex_error(log_n, beta));
    }
}

// Property (3).
TEST(SimplexWeights, FavourSelfMoreWithTemperatureLoweredAndLessWithLength) {
  double previous = 0.0;
  for (double beta = 0.0; beta < 40.0; beta += 0.5) {
    const double self = simplex_weights(10.0, beta, 0.3).self;
    EXPECT_GT(self, previous);
    EXPECT_GT(self, simplex_weights(10.5, beta, 0.3).self);
    previous = self;
  }
}

// Property (4).
TEST(SimplexWeights, AreUniformAtInfiniteTemperature) {
  for (double n : {2.0, 7.0, 1e9}) {
    const auto weights = simplex_weights(std::log(n), 0.0, 0.6);
    EXPECT_NEAR(weights.self * n, 1.0, 2.0 * simplex_error(std::log(n), 0.0));
    EXPECT_NEAR(weights.per_token * n, 1.0, 2.0 * simplex_error(std::log(n), 0.0));
    EXPECT_EQ(weights.gap, 0.0);
    EXPECT_EQ(weights.log_gap, -kInfinity);
  }
}

// The exponent 1 − c of the subcritical self weight survives where n itself is no double.
TEST(SimplexWeights, FollowThePowerLawFarBeyondTheRangeOfDoubles) {
  const double log_n = 1e5, rho = 0.5, beta = 0.8 * log_n / (1.0 - rho);
  EXPECT_NEAR(simplex_weights(log_n, beta, rho).log_self, -0.2 * log_n,
              2.0 * simplex_error(log_n, beta));
}

// ---- properties of simplex_output -------------------------------------------------------------

// Property (1).
TEST(SimplexOutput, CorrelationAndDecorrelationAddUpToOne) {
  for (double log_n : {0.7, 4.0, 30.0, 690.0})
    for (double rho : {0.0, 0.2, 0.9})
      for (double beta : {0.1, 2.0, 60.0})
        for (double kappa : {0.0, 1.0}) {
          const auto output = simplex_output(log_n, beta, rho, kappa);
          EXPECT_NEAR(output.correlation + output.decorrelation, 1.0,
                      2.0 * simplex_error(log_n, beta));
        }
}

// Properties (2) and (3): steps of 0.05 in γ move log λ by far more than rounding until λ is 1.
TEST(SimplexOutput, ContractionRisesWithGammaAndNeverExceedsOne) {
  for (double log_n : {2.0, 7.0, 100.0}) {
    double previous = -kInfinity;
    for (double gamma = 0.05; gamma < 6.0; gamma += 0.05) {
      const double beta = gamma * log_n;
      const double log_contraction = simplex_output(log_n, beta, 0.5).log_contraction;
      EXPECT_LE(log_contraction, simplex_error(log_n, beta));
      if (previous < -1e-10) {
        EXPECT_GT(log_contraction, previous) << gamma;
      }
      previous = log_contraction;
    }
    EXPECT_GT(previous, -0.05);
  }
}

// Property (4).
TEST(SimplexOutput, ContractionRisesWithTheResidual) {
  for (double rho : {0.0, 0.3, 0.8}) {
    double previous = -kInfinity;
    for (double kappa : {0.0, 0.01, 0.1, 0.5, 1.0, 5.0, 50.0}) {
      const double log_contraction = simplex_output(6.0, 4.0, rho, kappa).log_contraction;
      EXPECT_GT(log_contraction, previous) << kappa;
      previous = log_contraction;
    }
  }
}

// Property (5). Off criticality the distance is of order n^{−|1−c|}; n = 1e300 and |1 − c| = 0.2
// leave nothing but rounding.
TEST(SimplexOutput, TendsToTheTwoPhases) {
  const double log_n = 300.0 * std::log(10.0);
  for (double rho : {0.2, 0.5, 0.8})
    for (double kappa : {0.0, 0.7, 2.0})
      for (double scale : {0.8, 1.2}) {
        const double beta = scale * log_n / (1.0 - rho);
        const auto output = simplex_output(log_n, beta, rho, kappa);
        const auto limit = simplex_crossover(scale < 1.0 ? -kInfinity : kInfinity, rho, kappa);
        const double tolerance = simplex_error(log_n, beta);
        EXPECT_NEAR(output.squared_norm / limit.squared_norm, 1.0, tolerance);
        EXPECT_NEAR(output.decorrelation, (1.0 - rho) * limit.contraction, tolerance);
      }
}

// ---- the crossover ------------------------------------------------------------------------------

// Properties (1) and (3).
TEST(SimplexCrossover, EndsInCollapseAndInIdentity) {
  for (double rho : {0.1, 0.5, 0.9})
    for (double kappa : {0.0, 0.4}) {
      const auto collapse = simplex_crossover(-kInfinity, rho, kappa);
      const auto identity = simplex_crossover(kInfinity, rho, kappa);
      EXPECT_NEAR(collapse.squared_norm, kappa * kappa + 2 * kappa * rho + rho, 8 * kEpsilon);
      EXPECT_NEAR(identity.squared_norm, (1 + kappa) * (1 + kappa), 8 * kEpsilon);
      EXPECT_NEAR(identity.contraction, 1.0, 8 * kEpsilon);
      if (kappa == 0.0) {
        EXPECT_EQ(collapse.contraction, 0.0);
      }
    }
}

// Property (2).
TEST(SimplexCrossover, HasTheCriticalNormAtTheOrigin) {
  for (double rho : {0.1, 0.5, 0.9})
    for (double kappa : {0.0, 0.4, 3.0})
      EXPECT_NEAR(simplex_crossover(0.0, rho, kappa).squared_norm,
                  kappa * kappa + kappa * (1 + rho) + (1 + 3 * rho) / 4,
                  8 * kEpsilon * (1 + kappa) * (1 + kappa));
}

// Property (4), and that the bound is not idle: somewhere the distance exceeds a tenth of it.
TEST(SimplexCrossover, IsWithinItsBiasOfTheExactLayer) {
  for (double n : {10.0, 100.0, 1e4, 1e8}) {
    double largest = 0.0;
    for (double rho : {0.1, 0.2, 0.5, 0.8})
      for (double kappa : {0.0, 0.5, 2.0})
        for (double x = -6.0; x <= 6.0; x += 0.25) {
          const double log_n = std::log(n), beta = (log_n + x) / (1.0 - rho);
          if (beta < 0.0) continue;
          const double exact = std::exp(simplex_output(log_n, beta, rho, kappa).log_contraction);
          const double distance = std::abs(exact - simplex_crossover(x, rho, kappa).contraction);
          const double bias = kCrossoverBias / (rho * (n - 1.0));
          EXPECT_LE(distance, bias + simplex_error(log_n, beta)) << n << ' ' << rho << ' ' << x;
          largest = std::max(largest, distance / bias);
        }
    EXPECT_GT(largest, 0.1) << n;
  }
}

}  // namespace
}  // namespace dewpoint::theory
