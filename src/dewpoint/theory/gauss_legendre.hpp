// Gauss-Legendre quadrature with a number of nodes chosen at run time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

namespace dewpoint::theory {

/// Nodes and weights: ∫ g ≈ Σ weight[i] g(node[i]).
struct QuadratureRule {
  std::vector<double> nodes;
  std::vector<double> weights;
};

/// The rule on [−1, 1]: the nodes are the zeros x_i of the Legendre polynomial P_N, and
///
///     w_i = 2/((1 − x_i²) P_N'(x_i)²).
///
///   Domain      1 ≤ N ≤ 4096.
///   Accuracy    nodes to kGaussLegendreError, absolute; weights to N · kGaussLegendreError,
///               relative.
///   Properties  (1) exact for polynomials of degree up to 2N − 1, and not for degree 2N.
///               (2) nodes increase and are symmetric about 0; weights are positive with sum 2.
///   Reference   [Abramowitz and Stegun, 25.4.29]; starting points [Tricomi 1950].
[[nodiscard]] QuadratureRule gauss_legendre(int count);

inline constexpr double kGaussLegendreError = 8.0 * std::numeric_limits<double>::epsilon();

/// A rule on [−1, 1] moved to [lower, upper].
[[nodiscard]] QuadratureRule on_interval(const QuadratureRule& rule, double lower, double upper);

}  // namespace dewpoint::theory
