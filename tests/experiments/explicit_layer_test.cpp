#include "dewpoint/experiments/explicit_layer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "dewpoint/attention/jacobian_reference.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

using test::largest;
using test::largest_difference;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// A normal row times a uniform scale: tokens of random directions and norms.
Matrix<double> random_tokens(std::size_t n, std::size_t d, const std::string& name) {
  Matrix<double> tokens(n, d);
  const Stream stream = test::stream(name);
  stream.normals(0, {tokens.data(), tokens.size()});
  for (std::size_t i = 0; i < n; ++i) {
    const double scale = 0.5 + stream.uniform(2 * tokens.size() + i);
    for (double& coordinate : tokens.row(i)) coordinate *= scale;
  }
  return tokens;
}

// A row is n weights divided by their sum: n + 1 roundings of numbers that add up to 1.
TEST(ExplicitLayer, RowsOfWeightsAreProbabilities) {
  const Matrix<double> tokens = random_tokens(9, 4, "ExplicitLayer/rows");
  for (const double beta : {0.0, 1.0, 7.5}) {
    const ExplicitLayer layer = explicit_layer(tokens, beta, 0.3);
    for (std::size_t i = 0; i < tokens.rows(); ++i) {
      double sum = 0.0;
      for (const double weight : layer.weights.row(i)) {
        EXPECT_GT(weight, 0.0);
        sum += weight;
      }
      EXPECT_NEAR(sum, 1.0, 10.0 * kEpsilon);
    }
  }
}

// Two tokens at a right angle: the weights are those of scores β and 0. Five roundings.
TEST(ExplicitLayer, TwoOrthogonalTokensByHand) {
  Matrix<double> tokens(2, 2);
  tokens(0, 0) = 2.0;
  tokens(1, 1) = 0.5;
  constexpr double beta = 1.5, alpha = 0.25;
  const double self = 1.0 / (1.0 + std::exp(-beta));
  const ExplicitLayer layer = explicit_layer(tokens, beta, alpha);
  EXPECT_NEAR(layer.weights(0, 0), self, 5.0 * kEpsilon);
  EXPECT_NEAR(layer.mixed(1, 0), 1.0 - self, 5.0 * kEpsilon);
  EXPECT_NEAR(layer.outputs(0, 0), self + alpha * 2.0, 5.0 * kEpsilon);
  EXPECT_NEAR(layer.outputs(1, 1), self + alpha * 0.5, 5.0 * kEpsilon);
}

// At β = 0 every output is the mean direction plus the residual: n additions.
TEST(ExplicitLayer, WithoutScoresMixesToTheMean) {
  const Matrix<double> tokens = random_tokens(6, 3, "ExplicitLayer/mean");
  const ExplicitLayer layer = explicit_layer(tokens, 0.0, -0.7);
  for (std::size_t k = 0; k < 3; ++k) {
    double mean = 0.0;
    for (std::size_t i = 0; i < 6; ++i) mean += layer.directions(i, k) / 6.0;
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(layer.outputs(i, k), mean - 0.7 * tokens(i, k), 16.0 * kEpsilon);
    }
  }
}

// Central differences with step h are off by h² times a third derivative, which is at most
// (1 + β)³/r³ with r the smallest norm, and by ε/h from rounding: with h = 1e-5 both are 1e-10
// times a constant below 1e3.
TEST(ComplexStepJacobian, AgreesWithCentralDifferences) {
  constexpr std::size_t n = 5, d = 3;
  constexpr double beta = 2.5, alpha = 0.4, h = 1e-5;
  Matrix<double> tokens = random_tokens(n, d, "ComplexStep/differences");
  const Matrix<double> jacobian = complex_step_jacobian(tokens, beta, alpha);
  Matrix<double> differences(n * d, n * d);
  for (std::size_t input = 0; input < n * d; ++input) {
    const double centre = tokens.data()[input];
    tokens.data()[input] = centre + h;
    const Matrix<double> above = explicit_layer(tokens, beta, alpha).outputs;
    tokens.data()[input] = centre - h;
    const Matrix<double> below = explicit_layer(tokens, beta, alpha).outputs;
    tokens.data()[input] = centre;
    for (std::size_t k = 0; k < n * d; ++k) {
      differences(k, input) = (above.data()[k] - below.data()[k]) / (2.0 * h);
    }
  }
  EXPECT_GT(largest(jacobian), 0.1);
  EXPECT_LE(largest_difference(jacobian, differences), 1e-7);
}

// Two independent derivations: no derivative here, every derivative written out there.
TEST(ComplexStepJacobian, AgreesWithTheBlackboardJacobian) {
  for (const double beta : {0.0, 1.0, 4.0, 12.0}) {
    for (const double alpha : {0.0, 0.8}) {
      const Matrix<double> tokens = random_tokens(7, 5, "ComplexStep/blackboard");
      const attention::ReferenceJacobian reference(split_norms(tokens), {beta, alpha});
      const Matrix<double> expected = reference.dense();
      EXPECT_LE(largest_difference(complex_step_jacobian(tokens, beta, alpha), expected),
                attention::kJacobianError * largest(expected))
          << "beta " << beta << ", alpha " << alpha;
    }
  }
}

// Without a residual the layer sees directions only, so a change along a token is not felt.
TEST(ComplexStepJacobian, RadialChangesAreNotFelt) {
  constexpr std::size_t n = 4, d = 6;
  const Matrix<double> tokens = random_tokens(n, d, "ComplexStep/radial");
  const Matrix<double> jacobian = complex_step_jacobian(tokens, 3.0, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t output = 0; output < n * d; ++output) {
      double change = 0.0;
      for (std::size_t u = 0; u < d; ++u) change += jacobian(output, i * d + u) * tokens(i, u);
      EXPECT_NEAR(change, 0.0, attention::kJacobianError * largest(jacobian) * largest(tokens));
    }
  }
}

// Normalisation undone: the layer's block for token i is that of the mixing, projected on the
// directions tangent at y_i and divided by the length, J_ji = M_ji (I − y_i y_iᵀ)/‖x_i‖.
TEST(ComplexStepMixing, IsTheLayerBeforeNormalisation) {
  constexpr std::size_t n = 5, d = 4;
  constexpr double beta = 2.0;
  const Matrix<double> tokens = random_tokens(n, d, "ComplexStepMixing");
  const Matrix<double> directions = explicit_layer(tokens, beta, 0.0).directions;
  const Matrix<double> mixing = complex_step_mixing(directions, beta);
  const Matrix<double> jacobian = complex_step_jacobian(tokens, beta, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double length = tokens(i, 0) / directions(i, 0);
    for (std::size_t row = 0; row < n * d; ++row) {
      double radial = 0.0;
      for (std::size_t u = 0; u < d; ++u) radial += mixing(row, i * d + u) * directions(i, u);
      for (std::size_t u = 0; u < d; ++u) {
        const double tangent = mixing(row, i * d + u) - radial * directions(i, u);
        EXPECT_NEAR(jacobian(row, i * d + u), tangent / length,
                    attention::kJacobianError * largest(jacobian));
      }
    }
  }
}

// ‖J‖²/(nd) of the identity is 1, and every entry counts.
TEST(MeanSquaredGain, IsTheMeanSquareOfTheSingularValues) {
  Matrix<double> jacobian(6, 6);
  for (std::size_t k = 0; k < 6; ++k) jacobian(k, k) = 1.0;
  EXPECT_EQ(mean_squared_gain(jacobian), 1.0);
  jacobian(0, 5) = 3.0;
  EXPECT_EQ(mean_squared_gain(jacobian), 15.0 / 6.0);
}

// The stated accuracy is relative to η and to (2β)²/(n d) Σ 1/‖x_i‖², gaps being at most 2.
TEST(GradientNorm, AgreesWithTheComplexStepForAnyShape) {
  constexpr double beta = 3.0;
  for (const std::size_t d : {2U, 9U}) {  // either way of the second moment
    const Matrix<double> tokens = random_tokens(8, d, "GradientNorm");
    double inverse_squares = 0.0;
    for (std::size_t i = 0; i < tokens.rows(); ++i) {
      double square = 0.0;
      for (const double coordinate : tokens.row(i)) square += coordinate * coordinate;
      inverse_squares += 1.0 / square;
    }
    const double blocks = 4.0 * beta * beta * inverse_squares / static_cast<double>(tokens.size());
    for (const double alpha : {0.0, 0.6}) {
      const double expected = mean_squared_gain(complex_step_jacobian(tokens, beta, alpha));
      EXPECT_NEAR(gradient_norm(tokens, beta, alpha), expected,
                  attention::kJacobianNormError * (expected + blocks));
    }
  }
}

}  // namespace
}  // namespace dewpoint::experiments
