// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/token_angle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

double radial(int dimension, double drift) {
  return log_radial_integral(dimension, drift, gauss_legendre(kRadialNodes));
}

double bound(double value) { return kRadialError * (1.0 + std::abs(value)); }

// Closed forms at the two lowest orders, I_0 = √(2π) e^{a²/2} Φ(a) and I_1 = a I_0 + 1, then
// Property (1) upwards: every term is positive for a ≥ 0, so the recurrence loses a unit in the
// last place per step at most.
TEST(LogRadialIntegral, ObeysItsRecurrence) {
  for (double drift : {0.0, 0.3, 2.0, 15.0}) {
    const double normal = 0.5 * std::erfc(-drift / std::numbers::sqrt2);
    double log_scale =
        0.5 * drift * drift + 0.5 * std::log(2.0 * std::numbers::pi) + std::log(normal);
    double previous = 1.0, current = drift + std::exp(-log_scale);
    for (int dimension = 2; dimension <= 4096; ++dimension) {
      if (dimension <= 5 || dimension == 64 || dimension == 513 || dimension == 4096) {
        const double expected = log_scale + std::log(current);
        EXPECT_NEAR(radial(dimension, drift), expected,
                    bound(expected) + 3e-16 * dimension * (1.0 + std::log(dimension)))
            << dimension << ' ' << drift;
      }
      const double next = drift * current + (dimension - 1) * previous;
      previous = current / next;
      log_scale += std::log(next);
      current = 1.0;
    }
  }
}

// More nodes change nothing, on the side of negative drift too.
TEST(LogRadialIntegral, HasConvergedAtTheStatedNodes) {
  for (int dimension : {2, 3, 8, 64, 4096})
    for (double drift : {-8.0, -3.0, 0.0, 5.0, 600.0}) {
      const double fine = log_radial_integral(dimension, drift, gauss_legendre(160));
      EXPECT_NEAR(radial(dimension, drift), fine, bound(fine)) << dimension << ' ' << drift;
    }
}

// Property (2): differences far above rounding.
TEST(LogRadialIntegral, IsIncreasingAndConvex) {
  for (int dimension : {2, 16, 512})
    for (double drift = -6.0; drift < 20.0; drift += 1.0) {
      const double low = radial(dimension, drift - 1), mid = radial(dimension, drift);
      const double high = radial(dimension, drift + 1);
      EXPECT_GT(mid, low);
      EXPECT_GT(high - mid, mid - low);
    }
}

// Property (1): without a signal the moments are those of a uniform direction,
// E cos² θ = 1/d and E cos⁴ θ = 3/(d(d + 2)); what is cut off is e^{−45}.
TEST(TokenAngleLaw, IsThatOfAUniformDirectionWithoutSignal) {
  for (int dimension : {2, 3, 8, 64, 4096}) {
    const QuadratureRule law = token_angle_law(dimension, 0.0, 80, 45.0);
    double second = 0.0, fourth = 0.0;
    for (std::size_t i = 0; i < law.nodes.size(); ++i) {
      const double square = std::pow(std::cos(law.nodes[i]), 2);
      second += law.weights[i] * square;
      fourth += law.weights[i] * square * square;
    }
    EXPECT_NEAR(second * dimension, 1.0, 1e-12) << dimension;
    EXPECT_NEAR(fourth * dimension * (dimension + 2) / 3.0, 1.0, 1e-12) << dimension;
  }
}

// Property (2): mean and mean square of cos θ over explicit Gaussian tokens, each within kSigmas
// measured standard errors.
TEST(TokenAngleLaw, HasTheMomentsOfSimulatedTokens) {
  constexpr int draws = 20000;
  for (int dimension : {2, 3, 8, 32})
    for (double rho : {0.2, 0.7}) {
      const Stream normal = test::stream("TokenAngleLaw/HasTheMomentsOfSimulatedTokens");
      RunningMoments cosine, square;
      for (int draw = 0; draw < draws; ++draw) {
        std::vector<double> token(dimension);
        normal.normals(static_cast<std::uint64_t>(draw) * dimension, token);
        double norm = 0.0;
        for (double& x : token) x *= std::sqrt((1.0 - rho) / dimension);
        token[0] += std::sqrt(rho);
        for (double x : token) norm += x * x;
        cosine.add(token[0] / std::sqrt(norm));
        square.add(token[0] * token[0] / norm);
      }
      const QuadratureRule law = token_angle_law(dimension, rho, 80, 45.0);
      double mean = 0.0, mean_square = 0.0;
      for (std::size_t i = 0; i < law.nodes.size(); ++i) {
        mean += law.weights[i] * std::cos(law.nodes[i]);
        mean_square += law.weights[i] * std::pow(std::cos(law.nodes[i]), 2);
      }
      EXPECT_NEAR(mean, cosine.mean(), test::kSigmas * cosine.estimate().standard_error);
      EXPECT_NEAR(mean_square, square.mean(), test::kSigmas * square.estimate().standard_error);
    }
}

}  // namespace
}  // namespace dewpoint::theory
