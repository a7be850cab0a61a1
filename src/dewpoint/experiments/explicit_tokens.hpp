// Tokens written out coordinate by coordinate, for explicit_layer.hpp: exact simplices, and
// Gaussian clouds that are almost one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::experiments {

/// n tokens with ⟨y_i, y_j⟩ = ρ for i ≠ j and ‖x_i‖² = q.
///
///   Domain      n ≥ 2, 0 ≤ ρ < 1, q > 0, d ≥ n; 0 stands for n.
///   Accuracy    cosines and squared norms to (n + 4) roundings.
[[nodiscard]] Matrix<double> simplex_tokens(std::size_t n, double correlation,
                                            double squared_norm = 1.0, std::size_t dimension = 0);

/// n tokens √ρ e + √(1−ρ) z_i with Gaussian z_i ~ N(0, I/d) and a random unit vector e: norms
/// around 1, correlations around ρ with a spread of order 1/√d.
///
///   Domain      n ≥ 2, d ≥ 2, 0 ≤ ρ < 1.
[[nodiscard]] Matrix<double> gaussian_tokens(std::size_t n, std::size_t d, double correlation,
                                             std::uint64_t seed, std::uint64_t replica);

/// Tokens [k p, (k+1) p) form cluster k.
struct Clusters {
  std::size_t tokens = 512;  // n
  std::size_t size = 16;     // p; divides n
  double inner = 0.8;        // correlation within a cluster
  double outer = 0.5;        // correlation of tokens of different clusters, at most `inner`
};

/// Unit tokens with exactly these correlations, d = n + n/p + 1.
[[nodiscard]] Matrix<double> two_level_tokens(const Clusters& clusters);

/// The same from Gaussian vectors of R^d: correlations around these, norms around 1.
[[nodiscard]] Matrix<double> clustered_tokens(const Clusters& clusters, std::size_t d,
                                              std::uint64_t seed, std::uint64_t replica);

/// Smallest and largest of some numbers.
struct Interval {
  double smallest;
  double largest;
};

/// Cosines of all pairs i ≠ j, in double. Domain: n ≥ 2, no token is zero.
[[nodiscard]] Interval cosine_interval(const Matrix<double>& tokens);

/// Cosines of the pairs within a cluster of p tokens, and of the pairs across clusters.
struct ClusterCosines {
  Interval inner;
  Interval outer;
};
/// Domain: p divides n, 2 ≤ p < n.
[[nodiscard]] ClusterCosines cluster_cosines(const Matrix<double>& tokens,
                                             std::size_t cluster_size);

/// Squared norms ‖x_i‖².
[[nodiscard]] Interval square_interval(const Matrix<double>& tokens);

}  // namespace dewpoint::experiments
