// The simplex gradient against printed values, against the dense Jacobian of explicit tokens by
// complex step, and against its limits at n = 1e300.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/simplex_gradient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- printed values -------------------------------------------------------------------------

struct Reference {
  double n, dimension, gamma, correlation, squared_norm, residual, gradient;
};

// Printed with 15 significant digits.
constexpr Reference kReferences[] = {
    {8, 8, 1.2, 0.3, 1, 0, 0.364990726958329},
    {64, 64, 2, 0.5, 1, 0, 0.305597978551432},
    {64, 80, 2, 0.5, 2, 0.7, 1.16242201849147},
    {512, 512, 1.8, 0.5, 1, 0, 0.130207801225315},
    {512, 512, 2, 0.5, 1, 0, 0.260581678533359},
    {512, 512, 2.2, 0.5, 1, 0, 0.434413867728832},
    {1e6, 1e6, 2, 0.5, 1, 0, 0.250014849474743},
    {1e6, 1e6, 2.2, 0.5, 0.5, 0.3, 2.04576874277557},
    {1e30, 1e30, 2.05, 0.5, 1, 0, 0.720835712273079},
    {1e300, 1e300, 2.001, 0.5, 1, 0, 0.34280870272641},
    {1e300, 1e300, 1.5, 0.5, 1, 0, 1.00000000000007e-150},
};

// The printed numbers are themselves float64 results: half a printed digit, our bound and theirs.
TEST(SimplexGradient, ReproducesThePrintedTable) {
  for (const Reference& row : kReferences) {
    const double log_n = std::log(row.n), beta = row.gamma * log_n;
    const double value = simplex_gradient(log_n, beta, row.correlation,
                                          {row.dimension, row.squared_norm, row.residual});
    EXPECT_NEAR(value / row.gradient, 1.0, 5e-15 + 2.0 * simplex_gradient_error(log_n, beta))
        << "n=" << row.n << " gamma=" << row.gamma;
  }
}

// ---- the defining formula in extended precision ---------------------------------------------

// The formula as first derived, with its cancelling terms, in 64-bit mantissas. Cancellation costs
// a factor 2(n − 1)/((n − 2)(1 − ρ)), at most 40 here, of 2⁻¹¹: below a tenth of the bound.
TEST(SimplexGradient, StaysWithinItsErrorBoundOfExtendedPrecision) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no extended precision here";
  for (double log_n : {1.1, 3.0, 8.0, 40.0, 690.0})
    for (double rho : {0.0, 0.01, 0.3, 0.5, 0.9})
      for (double scale : {0.1, 0.7, 1.0, 1.3, 3.0})
        for (double residual : {0.0, 0.4, 3.0})
          for (double dimension : {2.0, 100.0, 1e300}) {
            const double beta = scale * log_n / (1.0 - rho);
            const long double n = std::exp(static_cast<long double>(log_n));
            const long double r = rho, big = beta * (1.0L - r), d = dimension, q = 1.7;
            const long double one = std::exp(-big), odds = (n - 1) * one;
            const long double a = 1 / (1 + odds), b = one / (1 + odds), s = odds / (1 + odds);
            const long double plain =
                (d - 1) * (a * a + s * b) +
                2 * big * s * (a * (1 - 2 * b) + r * (a * a - b * (1 - b))) +
                big * big *
                    (r * a * a * s * s +
                     s * b * ((2 + r) * (1 - 2 * b + s * b) + 2 * a * a * (1 + r)));
            const long double cross = a * (d - 1) + big * s * (1 + a * r - b);
            const long double alpha = residual;
            const long double exact =
                plain / (q * d) + alpha * alpha + 2 * alpha * cross / (std::sqrt(q) * d);
            const double value = simplex_gradient(log_n, beta, rho, {dimension, 1.7, residual});
            EXPECT_NEAR(value / static_cast<double>(exact), 1.0,
                        simplex_gradient_error(log_n, beta))
                << log_n << ' ' << rho << ' ' << scale << ' ' << residual << ' ' << dimension;
          }
}

// ---- the dense Jacobian of explicit tokens --------------------------------------------------

using Complex = std::complex<double>;
using Tokens = std::vector<std::vector<Complex>>;

Complex dot(const std::vector<Complex>& x, const std::vector<Complex>& y) {
  Complex sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

/// √q (√(1−ρ) e_i + t 1) in the first n of d coordinates. ⟨y_i, y_j⟩ = ρ: n t² + 2t √(1−ρ) = ρ.
Tokens simplex_tokens(int n, int dimension, double rho, double squared_norm) {
  const double side = std::sqrt(1.0 - rho), scale = std::sqrt(squared_norm);
  const double common = (std::sqrt(1.0 - rho + n * rho) - side) / n;
  Tokens tokens(n, std::vector<Complex>(dimension, 0.0));
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) tokens[i][k] = scale * (common + (i == k ? side : 0.0));
  return tokens;
}

/// x'_i = Σ_j softmax_j(β⟨y_i, y_j⟩) y_j + α x_i with y = x/√⟨x, x⟩, analytic in every coordinate.
Tokens softmax_layer(const Tokens& inputs, double beta, double residual) {
  const std::size_t n = inputs.size(), d = inputs[0].size();
  Tokens unit = inputs, outputs(n, std::vector<Complex>(d, 0.0));
  for (std::size_t i = 0; i < n; ++i) {
    const Complex length = std::sqrt(dot(inputs[i], inputs[i]));
    for (Complex& coordinate : unit[i]) coordinate /= length;
  }
  for (std::size_t i = 0; i < n; ++i) {
    Complex normaliser = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const Complex weight = std::exp(beta * (dot(unit[i], unit[j]) - 1.0));
      normaliser += weight;
      for (std::size_t k = 0; k < d; ++k) outputs[i][k] += weight * unit[j][k];
    }
    for (std::size_t k = 0; k < d; ++k)
      outputs[i][k] = outputs[i][k] / normaliser + residual * inputs[i][k];
  }
  return outputs;
}

/// ‖J‖_F²/(nd), column by column: the imaginary part of f(x + i h e)/h has no subtraction in it.
double dense_gradient(const Tokens& tokens, double beta, double residual) {
  constexpr double step = 1e-30;
  const std::size_t n = tokens.size(), d = tokens[0].size();
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < d; ++k) {
      Tokens moved = tokens;
      moved[i][k] += Complex{0.0, step};
      double column = 0.0;
      for (const auto& token : softmax_layer(moved, beta, residual))
        for (const Complex& coordinate : token)
          column += (coordinate.imag() / step) * (coordinate.imag() / step);
      sum += column;
    }
  return sum / static_cast<double>(n * d);
}

// Property (1). Rounding: a score carries (d + 2) kEpsilon magnified by β, entries of J add n of
// them: 14 · 14 · 20 · kEpsilon, doubled by the square. That is 2e-12 if all had the same sign, and
// they do not.
TEST(SimplexGradient, EqualsTheDenseJacobianOfExplicitTokens) {
  double worst = 0.0;
  for (int n : {2, 3, 7, 12})
    for (int extra : {0, 2})
      for (double rho : {0.0, 0.2, 0.8})
        for (double beta : {0.0, 0.5, 3.0, 20.0})
          for (double residual : {0.0, 0.6}) {
            const double squared_norm = residual > 0.0 ? 2.3 : 0.4;
            const double dense =
                dense_gradient(simplex_tokens(n, n + extra, rho, squared_norm), beta, residual);
            const double value = simplex_gradient(std::log(n), beta, rho,
                                                  {double(n + extra), squared_norm, residual});
            worst = std::max(worst, std::abs(value / dense - 1.0));
            EXPECT_NEAR(value / dense, 1.0, 1e-12) << n << ' ' << rho << ' ' << beta;
          }
  EXPECT_GT(worst, 0.0);  // two computations, not one
}

// ---- properties of simplex_gradient ---------------------------------------------------------

// Property (2).
TEST(SimplexGradient, IsInverseToTheSquaredNormWithoutResidual) {
  for (double squared_norm : {0.25, 3.0, 1e4})
    EXPECT_NEAR(simplex_gradient(6.0, 9.0, 0.3, {50.0, squared_norm}) * squared_norm,
                simplex_gradient(6.0, 9.0, 0.3, {50.0}), 4.0 * kEpsilon);
}

// Property (3). Off criticality the distance is of order n^{−|1−c|}, at c = 1 of order log² n/d;
// n = d = 1e300 and |1 − c| = 0.2 leave nothing but rounding. At c = 1 the rounding of ℓ, which is
// simplex_error, is all there is.
TEST(SimplexGradient, TendsToTheTwoPhasesAndTheCriticalValue) {
  const double log_n = std::log(1e300);
  for (double rho : {0.2, 0.5, 0.8})
    for (double squared_norm : {0.5, 2.0})
      for (double residual : {0.0, 0.7, 2.0})
        for (double scale : {0.8, 1.0, 1.2}) {
          const double beta = scale * log_n / (1.0 - rho);
          const GradientSetting setting{1e300, squared_norm, residual};
          const double x = scale < 1.0 ? -kInfinity : scale > 1.0 ? kInfinity : 0.0;
          const double limit = simplex_gradient_crossover(x, setting);
          EXPECT_NEAR(simplex_gradient(log_n, beta, rho, setting), limit,
                      simplex_gradient_error(log_n, beta) * std::max(1.0, limit))
              << rho << ' ' << squared_norm << ' ' << residual << ' ' << scale;
        }
}

// Property (4). The other term is smaller by n^{−|1−2c|}, here below 1e-60.
TEST(SimplexGradient, VanishesAsAPowerOfTheLengthBelowTheTransition) {
  const double log_n = std::log(1e300);
  for (double scale : {0.3, 0.4, 0.6, 0.7}) {
    const double beta = scale * log_n / 0.5;
    const double exponent = scale < 0.5 ? -1.0 : -2.0 * (1.0 - scale);
    EXPECT_NEAR(std::log(simplex_gradient(log_n, beta, 0.5, {1e300, 2.0})),
                exponent * log_n - std::log(2.0), 2.0 * simplex_gradient_error(log_n, beta));
  }
}

// Property (5). Next order: 3n^{2(1−c)}, and the terms in log n/d.
TEST(SimplexGradient, ApproachesTheIdentityAsAPowerOfTheLengthAboveTheTransition) {
  const double log_n = std::log(1e20);
  for (double scale : {1.2, 1.4}) {
    const double beta = scale * log_n / 0.5, small = std::exp((1.0 - scale) * log_n);
    const double gradient = simplex_gradient(log_n, beta, 0.5, {1e20, 4.0});
    EXPECT_NEAR((1.0 - 4.0 * gradient) / (2.0 * small), 1.0,
                1.6 * small + simplex_gradient_error(log_n, beta) / small);
  }
}

// ---- the crossover --------------------------------------------------------------------------

// Properties (1) and (2).
TEST(SimplexGradientCrossover, HasThePhasesAtItsEndsAndTheCriticalValueAtTheOrigin) {
  for (double q : {0.3, 1.0, 5.0})
    for (double alpha : {0.0, 0.8}) {
      const GradientSetting wide{kInfinity, q, alpha};
      const double own = alpha + 1.0 / std::sqrt(q), bound = 8.0 * kEpsilon * own * own;
      EXPECT_EQ(simplex_gradient_crossover(-kInfinity, wide), alpha * alpha);
      EXPECT_NEAR(simplex_gradient_crossover(0.0, wide),
                  alpha * alpha + alpha / std::sqrt(q) + 0.25 / q, bound);
      EXPECT_NEAR(simplex_gradient_crossover(kInfinity, wide), own * own, bound);
      EXPECT_EQ(simplex_gradient_crossover(-kInfinity, {16.0, q}), 0.0);
      EXPECT_NEAR(simplex_gradient_crossover(0.0, {16.0, q}), 15.0 / 64.0 / q, bound);
      EXPECT_NEAR(simplex_gradient_crossover(kInfinity, {16.0, q}), 15.0 / 16.0 / q, bound);
    }
}

// Property (3), and that the bound is not idle: somewhere the distance exceeds a tenth of it.
TEST(SimplexGradientCrossover, IsWithinItsBiasOfTheExactGradient) {
  for (double n : {10.0, 100.0, 1e4, 1e8}) {
    double largest = 0.0;
    for (double rho : {0.0, 0.2, 0.5, 0.8})
      for (double alpha : {0.0, 0.5, 2.0})
        for (double dimension : {n, 20.0 * n})
          for (double x = -6.0; x <= 6.0; x += 0.25) {
            const double log_n = std::log(n), beta = (log_n + x) / (1.0 - rho);
            if (beta < 0.0) continue;
            const GradientSetting setting{dimension, 1.5, alpha};
            const double exact = simplex_gradient(log_n, beta, rho, setting);
            const double bias = simplex_gradient_crossover_bias(log_n, beta, rho, setting);
            const double distance = std::abs(exact - simplex_gradient_crossover(x, setting));
            EXPECT_LE(distance, bias + exact * simplex_gradient_error(log_n, beta))
                << n << ' ' << rho << ' ' << alpha << ' ' << x;
            largest = std::max(largest, distance / bias);
          }
    EXPECT_GT(largest, 0.1) << n;
  }
}

// ---- the critical point ---------------------------------------------------------------------

// Property (1), for dimensions far below n as well, where log² n/d decides. The transition
// magnifies the rounding of ℓ no further than the weights do.
TEST(SimplexGradientCritical, IsWithinItsBiasOfTheExactGradient) {
  for (double n : {2.0, 8.0, 512.0, 1e6, 1e30, 1e300})
    for (double dimension : {4.0, 512.0, n})
      for (double rho : {0.0, 0.1, 0.5, 0.9})
        for (double alpha : {0.0, 1.5}) {
          const double log_n = std::log(n), beta = log_n / (1.0 - rho), own = 1.0 / (2.0 * n - 1.0);
          const GradientSetting setting{dimension, 0.7, alpha};
          const double exact = simplex_gradient(log_n, beta, rho, setting);
          const double bias = kCriticalGradientBias * (1.0 + 2.0 * alpha * std::sqrt(0.7)) *
                              (own * own + own * (log_n + log_n * log_n) / dimension) / 0.7;
          EXPECT_NEAR(simplex_gradient_critical(log_n, rho, setting), exact,
                      bias + 2.0 * exact * simplex_gradient_error(log_n, beta))
              << n << ' ' << dimension << ' ' << rho << ' ' << alpha;
        }
}

// Property (2): printed to four digits.
TEST(SimplexGradientCritical, ExceedsTheLimitByThePrintedCorrection) {
  const double log_n = std::log(512.0);
  EXPECT_NEAR(simplex_gradient_critical(log_n, 0.5, {512.0}), 0.2605, 5e-5);
  EXPECT_NEAR(simplex_gradient_crossover(0.0, {512.0}), 0.2495, 5e-5);
}

}  // namespace
}  // namespace dewpoint::theory
