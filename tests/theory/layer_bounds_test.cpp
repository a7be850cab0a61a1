// The bounds against plain layers on random clouds of at most 64 Gaussian tokens, whose Jacobian
// norm is the exact formula written out below, and against the exact simplex.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/layer_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

using Rows = std::vector<std::vector<double>>;

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

// ---- a plain layer --------------------------------------------------------------------------

struct Layer {
  int n, d;
  double beta, alpha;
  std::vector<double> length;  // r_i
  Rows unit;                   // y_i
  Rows gram;                   // G
  Rows weights;                // A
  Rows mean;                   // m_i = Σ_j A_ij y_j
  Rows output;                 // x'_i = m_i + α x_i
  double smallest, largest;    // ρ_1, ρ_2
};

/// Tokens √ρ z_0 + √(1−ρ) z_i with z ~ N(0, I/d), stretched by random factors around 1.
Rows gaussian_cloud(int n, int d, double rho, std::uint64_t replica) {
  const Stream draws = test::stream("theory/layer_bounds");
  const std::uint64_t first = replica << 20;
  Rows tokens(n, std::vector<double>(d));
  for (int i = 0; i < n; ++i) {
    const double stretch = std::exp(0.2 * draws.normal(first + i)) / std::sqrt(d);
    for (int k = 0; k < d; ++k)
      tokens[i][k] = stretch * (std::sqrt(rho) * draws.normal(first + 1024 + k) +
                                std::sqrt(1.0 - rho) * draws.normal(first + 2048 + i * d + k));
  }
  return tokens;
}

Layer plain_layer(const Rows& tokens, double gamma, double alpha) {
  const int n = static_cast<int>(tokens.size()), d = static_cast<int>(tokens[0].size());
  const Rows square(n, std::vector<double>(n)), flat(n, std::vector<double>(d));
  Layer layer{n,
              d,
              gamma * std::log(n),
              alpha,
              std::vector<double>(n),
              tokens,
              square,
              square,
              flat,
              flat,
              1.0,
              -1.0};
  for (int i = 0; i < n; ++i) {
    layer.length[i] = std::sqrt(dot(tokens[i], tokens[i]));
    for (double& coordinate : layer.unit[i]) coordinate /= layer.length[i];
  }
  for (int i = 0; i < n; ++i) {
    double normaliser = 0.0;
    for (int j = 0; j < n; ++j) {
      layer.gram[i][j] = i == j ? 1.0 : dot(layer.unit[i], layer.unit[j]);
      layer.weights[i][j] = std::exp(layer.beta * (layer.gram[i][j] - 1.0));
      normaliser += layer.weights[i][j];
      if (i != j) layer.smallest = std::min(layer.smallest, layer.gram[i][j]);
      if (i != j) layer.largest = std::max(layer.largest, layer.gram[i][j]);
    }
    for (int j = 0; j < n; ++j) {
      layer.weights[i][j] /= normaliser;
      for (int k = 0; k < d; ++k) layer.mean[i][k] += layer.weights[i][j] * layer.unit[j][k];
    }
    for (int k = 0; k < d; ++k) layer.output[i][k] = layer.mean[i][k] + alpha * tokens[i][k];
  }
  return layer;
}

double others(const Layer& layer, int i) {
  double sum = 0.0;
  for (int j = 0; j < layer.n; ++j) sum += j == i ? 0.0 : layer.weights[i][j];
  return sum;
}

double residual(const Layer& layer, int i) { return layer.alpha * layer.length[i]; }

/// ‖Σ_j A_ij (y_j − y_i)‖, without the cancellation of m_i − y_i.
double displacement(const Layer& layer, int i) {
  std::vector<double> step(layer.d, 0.0);
  for (int j = 0; j < layer.n; ++j)
    for (int k = 0; k < layer.d; ++k)
      step[k] += layer.weights[i][j] * (layer.unit[j][k] - layer.unit[i][k]);
  return std::sqrt(dot(step, step));
}

RowMeans row_means(const Layer& layer) {
  RowMeans means{};
  for (int i = 0; i < layer.n; ++i) {
    const double self = layer.weights[i][i];
    means.self += self / layer.n;
    means.squared_self += self * self / layer.n;
    means.squared_others += (dot(layer.weights[i], layer.weights[i]) - self * self) / layer.n;
  }
  return means;
}

/// ‖J‖_F²/(nd), block by block. With H_ij = ⟨y_i, m_j⟩ and C_j the covariance of y under row j,
///
///     r_i² ‖∂x'_j/∂x_i‖² = A_ji² { d − 1 − 2β(H_jj − G_ij H_ij)
///                                  + β²(1 − 2H_ij + |m_j|²)(1 − G_ij²) }
///     r_j² ‖∂x'_j/∂x_j‖² = A_jj²(d − 1) + 2βA_jj τ + β²φ
///                          + α²r²d + 2αr [A_jj(d − 1) + βτ]
///
/// where τ = tr(C_j P_j), φ = ‖C_j P_j‖² and P_j projects y_j out.
double exact_gradient(const Layer& layer) {
  const int n = layer.n, d = layer.d;
  const double beta = layer.beta;
  double total = 0.0;
  for (int j = 0; j < n; ++j) {
    const std::vector<double>& row = layer.weights[j];
    const double self = row[j], square = dot(layer.mean[j], layer.mean[j]);
    std::vector<double> inner(n), image(d, 0.0);
    for (int i = 0; i < n; ++i) inner[i] = dot(layer.unit[i], layer.mean[j]);
    double second = 0.0, cross = 0.0, fourth = 0.0;
    for (int i = 0; i < n; ++i) {
      const double g = layer.gram[i][j];
      second += row[i] * g * g;
      cross += row[i] * inner[i] * inner[i];
      for (int k = 0; k < d; ++k) image[k] += row[i] * g * layer.unit[i][k];
      for (int l = 0; l < n; ++l) fourth += row[i] * row[l] * layer.gram[i][l] * layer.gram[i][l];
      if (i == j) continue;
      total += row[i] * row[i] / (layer.length[i] * layer.length[i]) *
               (d - 1 - 2 * beta * (inner[j] - g * inner[i]) +
                beta * beta * (1 - 2 * inner[i] + square) * (1 - g * g));
    }
    for (int k = 0; k < d; ++k) image[k] -= inner[j] * layer.mean[j][k];
    const double tau = 1 - square - (second - inner[j] * inner[j]);
    const double phi = fourth - 2 * cross + square * square - dot(image, image);
    const double inverse = 1 / layer.length[j];
    total +=
        inverse * inverse * (self * self * (d - 1) + 2 * beta * self * tau + beta * beta * phi) +
        layer.alpha * layer.alpha * d + 2 * layer.alpha * inverse * (self * (d - 1) + beta * tau);
  }
  return total / n / d;
}

/// Applies `check` to clouds of several shapes, correlations, temperatures and residuals. All of
/// them have ρ_1 > 0: a correlation would have to be nine standard deviations from its mean.
template <class Check>
void for_clouds(const std::vector<double>& residuals, Check check) {
  std::uint64_t replica = 0;
  for (int n : {8, 24, 64})
    for (int d : {128, 400})
      for (double rho : {0.5, 0.7}) {
        const Rows tokens = gaussian_cloud(n, d, rho, ++replica);
        for (double scale : {0.3, 0.9, 1.0, 1.1, 1.6, 3.0})
          for (double alpha : residuals) {
            SCOPED_TRACE(testing::Message() << "n=" << n << " d=" << d << " rho=" << rho
                                            << " c=" << scale << " alpha=" << alpha);
            const Layer layer = plain_layer(tokens, scale / (1.0 - rho), alpha);
            ASSERT_GT(layer.smallest, 0.0);
            check(layer);
          }
      }
}

AlmostSimplex almost_simplex(const Layer& layer) {
  return {std::log(layer.n), layer.beta, layer.smallest, layer.largest};
}

double smallest_length(const Layer& layer) {
  return *std::min_element(layer.length.begin(), layer.length.end());
}

double largest_length(const Layer& layer) {
  return *std::max_element(layer.length.begin(), layer.length.end());
}

void expect_at_most(double smaller, double larger) {
  EXPECT_LE(smaller, larger + kBoundRounding * std::abs(larger));
}

// The formula above is itself checked: on explicit simplex tokens it is simplex_gradient. The
// covariance loses β² kEpsilon to cancellation.
TEST(LayerBounds, TestFormulaForTheGradientIsExactOnTheSimplex) {
  constexpr int n = 12;
  for (double rho : {0.2, 0.6})
    for (double alpha : {0.0, 0.5}) {
      const double side = std::sqrt(1.0 - rho);
      const double common = (std::sqrt(1.0 - rho + n * rho) - side) / n;
      Rows tokens(n, std::vector<double>(n, 1.5 * common));
      for (int i = 0; i < n; ++i) tokens[i][i] += 1.5 * side;
      const Layer layer = plain_layer(tokens, 1.0 / (1.0 - rho), alpha);
      const double exact = simplex_gradient(std::log(n), layer.beta, rho, {n, 2.25, alpha});
      EXPECT_NEAR(exact_gradient(layer), exact,
                  8.0 * kEpsilon * n * (2.0 + layer.beta * layer.beta));
    }
}

// ---- weights --------------------------------------------------------------------------------

// Property (1) of weight_bounds and of overlap_bound.
TEST(WeightBounds, HoldForGaussianClouds) {
  for_clouds({0.0}, [](const Layer& layer) {
    const WeightBounds bounds = weight_bounds(almost_simplex(layer));
    for (int i = 0; i < layer.n; ++i) {
      double largest_other = 0.0;
      for (int j = 0; j < layer.n; ++j)
        if (j != i) largest_other = std::max(largest_other, layer.weights[i][j]);
      const double self = layer.weights[i][i], overlap = dot(layer.weights[i], layer.weights[i]);
      expect_at_most(bounds.smallest_self, self);
      expect_at_most(self, bounds.largest_self);
      expect_at_most(others(layer, i), bounds.largest_others);
      expect_at_most(largest_other, bounds.largest_other);
      expect_at_most(overlap, bounds.largest_overlap);
      expect_at_most(overlap, overlap_bound(self, largest_other));
    }
  });
}

// Property (2).
TEST(WeightBounds, AreTheWeightsOnASimplex) {
  for (double n : {2.0, 3.0, 50.0, 1e9})
    for (double scale : {0.0, 0.5, 1.0, 2.0}) {
      const double log_n = std::log(n), beta = scale * log_n / 0.7;
      const auto bounds = weight_bounds({log_n, beta, 0.3, 0.3});
      const auto weights = simplex_weights(log_n, beta, 0.3);
      const double error = 2.0 * simplex_error(log_n, beta);
      EXPECT_EQ(bounds.smallest_self, weights.self);
      EXPECT_EQ(bounds.largest_self, weights.self);
      EXPECT_EQ(bounds.largest_others, weights.others);
      EXPECT_NEAR(bounds.largest_other / weights.per_token, 1.0, error);
    }
}

// Properties (3) and (4): exponents 1 − γ(1−ρ_1) = 0.1 and 1 − γ(ρ_2−ρ_1) > 0.1 below, 0.1 above.
TEST(WeightBounds, CloseInOnBothPhases) {
  const double log_n = 300.0 * std::log(10.0);
  const auto below = weight_bounds({log_n, 0.9 * log_n / 0.8, 0.2, 0.6});
  EXPECT_LT(below.largest_self, 1e-29);
  EXPECT_LT(below.largest_overlap, 1e-29);
  const auto above = weight_bounds({log_n, 1.1 * log_n / 0.4, 0.2, 0.6});
  EXPECT_LT(above.largest_others, 1e-29);
}

// ---- correlations ---------------------------------------------------------------------------

// Property (1) of output_norm_bound, output_correlation_bound, collapse_bound.
TEST(OutputCorrelationBound, HoldsForGaussianClouds) {
  for_clouds({0.0, 0.4, 1.5}, [](const Layer& layer) {
    const double uniform =
        collapse_bound(almost_simplex(layer), layer.alpha * largest_length(layer));
    std::vector<double> norms;
    for (int i = 0; i < layer.n; ++i) {
      norms.push_back(output_norm_bound(layer.largest, residual(layer, i), layer.weights[i][i],
                                        dot(layer.weights[i], layer.weights[i])));
      expect_at_most(dot(layer.output[i], layer.output[i]), norms[i]);
    }
    for (int i = 0; i < layer.n; ++i)
      for (int j = 0; j < i; ++j) {
        const double norm = dot(layer.output[i], layer.output[i]);
        const double other = dot(layer.output[j], layer.output[j]);
        const double actual = dot(layer.output[i], layer.output[j]) / std::sqrt(norm * other);
        expect_at_most(output_correlation_bound(layer.smallest, residual(layer, i), norms[i],
                                                residual(layer, j), norms[j]),
                       actual);
        expect_at_most(uniform, actual);
      }
  });
}

// Property (2) of output_norm_bound.
TEST(OutputNormBound, IsTheNormOnASimplex) {
  for (double rho : {0.1, 0.8})
    for (double kappa : {0.0, 0.9}) {
      const auto weights = simplex_weights(4.0, 6.0, rho);
      const double overlap = weights.self * weights.self + weights.others * weights.per_token;
      const double norm = simplex_output(4.0, 6.0, rho, kappa).squared_norm;
      EXPECT_NEAR(output_norm_bound(rho, kappa, weights.self, overlap) / norm, 1.0,
                  2.0 * simplex_error(4.0, 6.0));
    }
}

// Property (2) of collapse_bound. With exponents of at least 0.1 and n = 1e300 the rest is below
// rounding.
TEST(CollapseBound, TendsToTheTheorem) {
  const double log_n = 300.0 * std::log(10.0);
  for (double rho_1 : {0.05, 0.2, 0.5})
    for (double contrast : {0.0, 0.1, 0.3})
      for (double kappa : {0.0, 0.5, 3.0}) {
        const double rho_2 = rho_1 + contrast, beta = 0.9 * log_n / (1.0 - rho_1);
        EXPECT_NEAR(collapse_bound({log_n, beta, rho_1, rho_2}, kappa),
                    rho_1 + collapse_gain(rho_1, rho_2, kappa), 16.0 * kEpsilon);
      }
}

// Properties (1), (2) and (3) of collapse_gain.
TEST(CollapseGain, IsWhatTheProofGivesAndNeverImpossible) {
  for (double rho_1 : {0.01, 0.1, 0.4, 0.8})
    for (double contrast : {0.0, 0.05, 0.15}) {
      double previous = 1.0;
      for (double kappa : {0.0, 0.2, 1.0, 10.0}) {
        const double rho_2 = rho_1 + contrast;
        const double gain = collapse_gain(rho_1, rho_2, kappa);
        const double delta =
            (1.0 + kappa) / std::sqrt(kappa * kappa + 2.0 * kappa * rho_2 + rho_2) - 1.0;
        EXPECT_NEAR(gain, rho_1 * delta * (2.0 + delta), 16.0 * kEpsilon);
        EXPECT_LE(rho_1 + gain, 1.0 + 4.0 * kEpsilon);
        EXPECT_LT(gain, previous);
        previous = gain;
      }
      EXPECT_NEAR(rho_1 + collapse_gain(rho_1, rho_1, 0.0), 1.0, 4.0 * kEpsilon);
    }
}

// Properties (1) and (2) of published_collapse_gain.
TEST(PublishedCollapseGain, IsImpossibleForLooseTokens) {
  EXPECT_NEAR(0.1 + published_collapse_gain(0.1, 0.1, 0.0), 1.2513, 5e-5);
  EXPECT_NEAR(0.1 + collapse_gain(0.1, 0.1, 0.0), 1.0, 4.0 * kEpsilon);
  for (double rho_2 : {0.05, 0.2, 0.24, 0.26, 0.5, 0.9})
    EXPECT_EQ(published_collapse_gain(0.04, rho_2, 0.0) > collapse_gain(0.04, rho_2, 0.0),
              rho_2 < 0.25)
        << rho_2;

  // The layer itself, n = 1e30 at c = 0.9 and ρ = 0.1: the right value to n^{−0.2}/ρ, not above 1.
  const double log_n = 30.0 * std::log(10.0);
  const double actual = simplex_output(log_n, 0.9 * log_n / 0.9, 0.1).correlation;
  EXPECT_LE(actual, 1.0);
  EXPECT_NEAR(actual, 0.1 + collapse_gain(0.1, 0.1, 0.0), 10.0 * std::exp(-0.2 * log_n));
}

// Property (1), from measured weights and from the range of correlations.
TEST(DisplacementBound, HoldsForGaussianClouds) {
  for_clouds({0.0}, [](const Layer& layer) {
    const double uniform =
        displacement_bound(weight_bounds(almost_simplex(layer)).largest_others, layer.smallest);
    for (int i = 0; i < layer.n; ++i) {
      const double moved = displacement(layer, i);
      expect_at_most(moved, displacement_bound(others(layer, i), layer.smallest));
      expect_at_most(moved, uniform);
    }
  });
}

// ---- gradients ------------------------------------------------------------------------------

// Property (1) of gradient_lower_bound, with measured weights and with the range of correlations.
// The bound is tight far above the transition. Rounding of the exact value: β² kEpsilon per token.
TEST(GradientLowerBound, HoldsForGaussianCloudsAndIsTightAboveTheTransition) {
  double tightest = 0.0;
  for_clouds({0.0, 0.7}, [&](const Layer& layer) {
    double gain = 0.0;
    for (int i = 0; i < layer.n; ++i) {
      const double own = layer.weights[i][i] / layer.length[i] + layer.alpha;
      gain += own * own / layer.n;
    }
    const double eta = exact_gradient(layer);
    const double rounding = 8.0 * kEpsilon * (2.0 + layer.beta * layer.beta);
    const double measured = gradient_lower_bound(layer.d, gain);
    const double self = weight_bounds(almost_simplex(layer)).smallest_self;
    const double least = self / largest_length(layer) + layer.alpha;
    expect_at_most(measured, eta + rounding);
    expect_at_most(gradient_lower_bound(layer.d, least * least), measured);
    tightest = std::max(tightest, measured / eta);
  });
  EXPECT_GT(tightest, 0.98);
}

// Property (2) of gradient_lower_bound: 1 − A_ii is below n^{−0.1} = 1e-30.
TEST(GradientLowerBound, TendsToTheTheorem) {
  const double log_n = 300.0 * std::log(10.0);
  const double self = weight_bounds({log_n, 1.1 * log_n / 0.4, 0.2, 0.6}).smallest_self;
  EXPECT_NEAR(gradient_lower_bound(64.0, self * self / 1.7), (1.0 - 1.0 / 64.0) / 1.7,
              4.0 * kEpsilon);
}

// Properties (1) and (2) of gradient_upper_bound, property (1) of published_gradient_bound.
TEST(GradientUpperBound, HoldsForGaussianCloudsAndIsSharperThanThePublishedOne) {
  for_clouds({0.0}, [](const Layer& layer) {
    const double q_1 = smallest_length(layer) * smallest_length(layer);
    const RowMeans means = row_means(layer);
    const double sharp = gradient_upper_bound(layer.d, layer.beta, layer.smallest, q_1, means);
    const double published = published_gradient_bound(layer.d, layer.beta, q_1, means);
    expect_at_most(exact_gradient(layer), sharp);
    expect_at_most(sharp, published);
  });
}

// Property (3) of gradient_upper_bound and (2) of published_gradient_bound.
TEST(GradientUpperBound, HasTheConstantOfTheTheoremWithoutWeights) {
  EXPECT_NEAR(gradient_upper_bound(64.0, 5.0, 0.3, 0.8, {}), 25.0 * 0.49 / (0.8 * 64.0),
              8.0 * kEpsilon);
  EXPECT_NEAR(published_gradient_bound(64.0, 5.0, 0.8, {}), 4.0 * 25.0 / (0.8 * 64.0),
              8.0 * kEpsilon);
}

// The formulas of both bounds, row by row, for two rows of a cloud with r² ≥ 0.8 and d = 10.
TEST(GradientUpperBound, IsTheMeanOverRowsOfItsFormula) {
  const double beta = 4.0, rho = 0.3, tangent = 3.0;
  const double selves[] = {0.2, 0.7}, squares[] = {0.11, 0.03};
  RowMeans means{};
  double sharp = 0.0, published = 0.0;
  for (int i = 0; i < 2; ++i) {
    means.self += selves[i] / 2.0;
    means.squared_self += selves[i] * selves[i] / 2.0;
    means.squared_others += squares[i] / 2.0;
    const double entry = tangent + beta * std::sqrt(2.0 * 0.7 * 0.91);
    const double loose = 2.0 * beta + std::sqrt(10.0);
    sharp += std::pow(selves[i] * tangent + beta * 0.7, 2.0) + entry * entry * squares[i];
    published += std::pow(2.0 * beta + loose * selves[i], 2.0) + loose * loose * squares[i];
  }
  EXPECT_NEAR(gradient_upper_bound(10.0, beta, rho, 0.8, means), sharp / 16.0, 1e-14 * sharp);
  EXPECT_NEAR(published_gradient_bound(10.0, beta, 0.8, means), published / 16.0,
              1e-14 * published);
}

// The simplex is a cloud too: lower and upper bound hold at lengths no cloud can have.
TEST(GradientBounds, EncloseTheSimplexAtAnyLength) {
  for (double n : {4.0, 100.0, 1e6, 1e30, 1e300})
    for (double scale : {0.3, 0.9, 1.0, 1.1, 2.0})
      for (double rho : {0.0, 0.3, 0.8}) {
        const double log_n = std::log(n), beta = scale * log_n / (1.0 - rho);
        const auto weights = simplex_weights(log_n, beta, rho);
        const double square = weights.self * weights.self;
        const RowMeans means{weights.self, square, weights.others * weights.per_token};
        const double eta = simplex_gradient(log_n, beta, rho, {n, 1.0});
        const double room = 1.0 + 2.0 * simplex_gradient_error(log_n, beta);
        EXPECT_LE(gradient_lower_bound(n, square), eta * room);
        EXPECT_LE(eta, gradient_upper_bound(n, beta, rho, 1.0, means) * room);
      }
}

}  // namespace
}  // namespace dewpoint::theory
