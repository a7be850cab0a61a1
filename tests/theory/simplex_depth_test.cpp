// Many simplex layers: printed depths, explicit tokens through twelve softmax layers, and the laws
// of the collapse far below the range of doubles.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/simplex_depth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- printed values -------------------------------------------------------------------------

struct Printed {
  double n, scale;
  long long layers;  // until ρ > 0.999, from ρ = 1/2 without residual
  double leading, unit;
};

constexpr Printed kPrinted[] = {
    {1e12, 1.4, 1640, 1631, 1}, {1e20, 1.25, 1745, 1737, 1}, {1e30, 1.15, 404, 398, 1},
    {1e8, 1.4, 67, 61, 1},      {1e6, 1.5, 53, 48, 1},       {1e6, 1.3, 7, 3.5, 0.1},
    {1e6, 1.2, 4, 0.96, 0.01},
};

// Properties (1) and (2) of leading_collapse_depth, and property (2) of collapse_depth: the excess
// is the final collapse, at most ten layers here.
TEST(CollapseDepth, ReproducesThePrintedTable) {
  for (const Printed& row : kPrinted) {
    SCOPED_TRACE(testing::Message() << "n=" << row.n << " c=" << row.scale);
    const double log_n = std::log(row.n), beta = row.scale * log_n / 0.5;
    const auto depth = collapse_depth(simplex_state(1.0, 0.5), {log_n, beta}, 0.999, 10000);
    ASSERT_TRUE(depth.has_value());
    EXPECT_EQ(*depth, row.layers);
    const double leading = leading_collapse_depth(log_n, beta, 0.5);
    EXPECT_NEAR(leading, row.leading, 0.5 * row.unit);
    EXPECT_GT(static_cast<double>(*depth), leading);
    EXPECT_LT(static_cast<double>(*depth), leading + 10.0);
  }
}

// ---- explicit tokens ------------------------------------------------------------------------

using Tokens = std::vector<std::vector<double>>;

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

Tokens simplex_tokens(int n, double rho, double squared_norm) {
  const double side = std::sqrt(1.0 - rho), scale = std::sqrt(squared_norm);
  const double common = (std::sqrt(1.0 - rho + n * rho) - side) / n;
  Tokens tokens(n, std::vector<double>(n, scale * common));
  for (int i = 0; i < n; ++i) tokens[i][i] += scale * side;
  return tokens;
}

/// x'_i = Σ_j softmax_j(β⟨y_i, y_j⟩) y_j + α x_i with y = x/‖x‖.
Tokens softmax_layer(const Tokens& inputs, double beta, double residual) {
  const std::size_t n = inputs.size();
  Tokens unit = inputs, outputs(n, std::vector<double>(n, 0.0));
  for (auto& token : unit) {
    const double length = std::sqrt(dot(token, token));
    for (double& coordinate : token) coordinate /= length;
  }
  for (std::size_t i = 0; i < n; ++i) {
    double normaliser = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const double weight = std::exp(beta * (dot(unit[i], unit[j]) - 1.0));
      normaliser += weight;
      for (std::size_t k = 0; k < n; ++k) outputs[i][k] += weight * unit[j][k];
    }
    for (std::size_t k = 0; k < n; ++k)
      outputs[i][k] = outputs[i][k] / normaliser + residual * inputs[i][k];
  }
  return outputs;
}

// Property (1) of simplex_trajectory. Rounding: a score carries (n + 2) kEpsilon magnified by β,
// 1 − ρ is a difference of numbers near 1, and twelve layers add up.
TEST(SimplexTrajectory, EqualsExplicitTokensThroughTwelveLayers) {
  constexpr int n = 24, layers = 12;
  constexpr double alpha = 0.6;
  for (double rho : {0.1, 0.4})
    for (double scale : {0.5, 1.0, 1.5}) {
      const double beta = scale * std::log(n) / (1.0 - rho);
      Tokens tokens = simplex_tokens(n, rho, 1.3);
      const auto states =
          simplex_trajectory(simplex_state(1.3, rho), {std::log(n), beta, alpha}, layers);
      ASSERT_EQ(states.size(), layers + 1u);
      const double tolerance = 4.0 * kEpsilon * (n + 2) * (2.0 + beta);
      for (int layer = 0; layer <= layers; ++layer) {
        SCOPED_TRACE(testing::Message() << rho << ' ' << scale << ' ' << layer);
        const double norm = dot(tokens[0], tokens[0]), inner = dot(tokens[0], tokens[1]);
        EXPECT_NEAR(norm / states[layer].squared_norm, 1.0, tolerance * (1 + layer));
        EXPECT_NEAR(1.0 - inner / norm, states[layer].decorrelation(), tolerance * (1 + layer));
        tokens = softmax_layer(tokens, beta, alpha);
      }
    }
}

// ---- properties of simplex_state and simplex_step -------------------------------------------

// Property (1) of simplex_state.
TEST(SimplexState, GivesTheCorrelationBack) {
  for (double rho : {0.0, 1e-12, 0.3, 0.9, 0.999999}) {
    const SimplexState state = simplex_state(2.0, rho);
    EXPECT_NEAR(state.correlation(), rho, 4.0 * kEpsilon);
    EXPECT_NEAR(state.decorrelation() / (1.0 - rho), 1.0, 32.0 * kEpsilon);
  }
}

// Property (1).
TEST(SimplexStep, AgreesWithTheSingleLayer) {
  for (double log_n : {0.7, 4.0, 30.0, 690.0})
    for (double rho : {0.0, 0.2, 0.9})
      for (double scale : {0.1, 0.9, 1.0, 1.4, 4.0})
        for (double alpha : {0.0, 0.8}) {
          const double beta = scale * log_n / (1.0 - rho);
          const SimplexStack stack{log_n, beta, alpha};
          const SimplexState start = simplex_state(2.5, rho), next = simplex_step(start, stack);
          const auto output = simplex_output(log_n, beta, rho, alpha * std::sqrt(2.5));
          const double bound = simplex_step_error(stack, start) + simplex_error(log_n, beta);
          EXPECT_NEAR(next.log_decorrelation, std::log1p(-rho) + output.log_contraction, bound);
          if (output.squared_norm > 1e-300) {
            EXPECT_NEAR(next.squared_norm / output.squared_norm, 1.0, bound);
          }
        }
}

// Property (2), down to where 1 − ρ is no double any more.
TEST(SimplexStep, NeverDrivesTokensApart) {
  for (double log_n : {1.0, 6.0, 40.0})
    for (double scale : {0.2, 1.0, 3.0})
      for (double alpha : {0.0, 0.5, 2.0}) {
        const SimplexStack stack{log_n, scale * log_n / 0.6, alpha};
        SimplexState state = simplex_state(1.0, 0.4);
        for (int layer = 0; layer < 30; ++layer) {
          const SimplexState next = simplex_step(state, stack);
          EXPECT_LE(next.log_decorrelation, state.log_decorrelation);
          state = next;
        }
      }
  // Uncorrelated tokens far above the transition, where 1 − λ is less than rounding.
  for (double beta = 30.0; beta < 60.0; beta += 0.1)
    EXPECT_LE(simplex_step(simplex_state(1.0, 0.0), {2.0, beta}).log_decorrelation, 0.0);
}

// Property (3). At 1 − ρ = e^{−5000} the corrections of relative order β(1 − ρ) are nothing.
TEST(SimplexStep, CubesWhatACollapsedSimplexHasLeft) {
  for (double log_n : {2.0, 9.0, 300.0}) {
    const SimplexStack stack{log_n, 3.0 * log_n};
    for (double log_spread : {-50.0, -700.0, -5000.0}) {
      const SimplexState start{1.0, log_spread}, next = simplex_step(start, stack);
      EXPECT_NEAR(next.log_decorrelation,
                  kCollapseOrder * log_spread + 2.0 * (std::log(3.0 * log_n) - log_n),
                  2.0 * simplex_step_error(stack, start));
      EXPECT_NEAR(next.squared_norm, 1.0, 2.0 * kEpsilon);
    }
  }
}

// Property (4).
TEST(SimplexStep, ContractsACollapsedSimplexGeometricallyWithAResidual) {
  const SimplexStack stack{5.0, 8.0, 0.7};
  const SimplexState start{4.0, -900.0};
  const double kappa = 0.7 * 2.0;
  EXPECT_NEAR(simplex_step(start, stack).log_decorrelation,
              -900.0 + 2.0 * std::log(kappa / (1.0 + kappa)), simplex_step_error(stack, start));
}

// 1 − ρ through many layers against 64-bit mantissas and the plain formula. The bound of one layer
// grows in the next by 3 + 2sB + (1 − ρ)/q', as the header says.
TEST(SimplexTrajectory, KeepsTheRelativeAccuracyOfTheSpreadThroughTheCollapse) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no extended precision here";
  const double log_n = std::log(64.0), beta = 1.05 * log_n / 0.6;
  const SimplexStack stack{log_n, beta};
  const auto states = simplex_trajectory(simplex_state(1.0, 0.4), stack, 8);
  const long double n = std::exp(static_cast<long double>(log_n));
  long double spread = 1.0L - static_cast<long double>(0.4), bound = 2.0L * kEpsilon;
  for (const SimplexState& state : states) {
    if (spread < 1e-300L) break;
    EXPECT_NEAR(state.log_decorrelation, static_cast<double>(std::log(spread)),
                static_cast<double>(bound));
    const long double advantage = beta * spread, lead = -std::expm1(-advantage);
    const long double odds = (n - 1) * (1 - lead), a = 1 / (1 + odds), s = odds / (1 + odds);
    const long double q = (1 - spread) + spread * (a * a + s * s / (n - 1));
    bound = (kCollapseOrder + 2 * s * advantage + spread / q) * bound +
            simplex_step_error(stack, state);
    spread *= a * a * lead * lead / q;
  }
  EXPECT_LT(spread, 1e-40L);
}

// ---- properties of collapse_depth -----------------------------------------------------------

// Property (1), with the cap on either side.
TEST(CollapseDepth, IsTheFirstLayerOfTheTrajectoryBeyondTheThreshold) {
  const SimplexStack stack{std::log(1e6), 1.3 * std::log(1e6) / 0.5, 0.1};
  const SimplexState start = simplex_state(1.0, 0.5);
  const auto states = simplex_trajectory(start, stack, 60);
  for (double threshold : {0.4, 0.6, 0.9, 0.99}) {
    long long first = 0;
    while (states[first].correlation() <= threshold) ++first;
    EXPECT_EQ(collapse_depth(start, stack, threshold, first), first);
    if (first > 0) {
      EXPECT_FALSE(collapse_depth(start, stack, threshold, first - 1).has_value());
    }
  }
}

// Property (3).
TEST(CollapseDepth, GrowsWithInverseTemperatureAndResidual) {
  const double log_n = std::log(1e5);
  long long previous = 0;
  for (double scale : {0.5, 1.0, 1.2, 1.4, 1.6, 1.8}) {
    const auto depth =
        collapse_depth(simplex_state(1.0, 0.3), {log_n, scale * log_n / 0.7}, 0.99, 1000000);
    ASSERT_TRUE(depth.has_value());
    EXPECT_GE(*depth, previous);
    previous = *depth;
  }
  EXPECT_GT(previous, 500);
  previous = 0;
  for (double alpha : {0.0, 0.2, 0.4, 0.8}) {
    const auto depth =
        collapse_depth(simplex_state(1.0, 0.3), {log_n, 1.1 * log_n / 0.7, alpha}, 0.99, 1000000);
    ASSERT_TRUE(depth.has_value());
    EXPECT_GE(*depth, previous);
    previous = *depth;
  }
}

// simplex_gradient of a state, property (1): 1 − ρ from its logarithm is off by a few roundings.
TEST(SimplexStateGradient, IsThatOfItsCorrelation) {
  const SimplexStack stack{std::log(1e4), 18.0, 0.3};
  for (const double rho : {0.0, 0.3, 0.9}) {
    const double expected = simplex_gradient(stack.log_n, 18.0, rho, {64.0, 2.0, 0.3});
    EXPECT_NEAR(simplex_gradient(simplex_state(2.0, rho), stack, 64.0), expected,
                2.0 * simplex_gradient_error(stack.log_n, 18.0) * expected)
        << rho;
  }
}

// Property (2), where ρ is 1 to the last bit and beyond.
TEST(SimplexStateGradient, OfCollapsedTokensIsThatOfUniformWeights) {
  const SimplexStack stack{std::log(1e4), 18.0};
  for (const double log_decorrelation : {-40.0, -700.0, -5000.0}) {
    const double expected = (1.0 - 1.0 / 64.0) / 1e4 / 0.7;
    EXPECT_NEAR(simplex_gradient({0.7, log_decorrelation}, stack, 64.0), expected,
                2.0 * simplex_gradient_error(stack.log_n, 18.0) * expected)
        << log_decorrelation;
  }
}

}  // namespace
}  // namespace dewpoint::theory
