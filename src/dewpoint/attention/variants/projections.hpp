// What tokens ask, answer and say: the linear maps before attention.
//
// With a matrix for each of queries, keys and values, all d x d, head h of H works with columns
// [h d/H, (h + 1) d/H) of each:
//
//     q = R_j (y_j W_q),   k = R_j (y_j W_k),   v = y_j W_v          (y_j a row)
//
// and the outputs of the heads stand side by side, d columns again; there is no matrix after them.
// Without matrices W = I. R_j is the rotation of position j (RoPE), or nothing: in the plane of
// coordinates (a, a + d/2H) of a head it turns by the angle j θ_a, θ_a = base^{−2a H/d}, which
// leaves lengths alone and lets a score depend on positions through their difference only.
//
//   Reference   RoPE: [Su et al. 2021], planes as Hugging Face pairs them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dewpoint/attention/variants/attention_variant.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::attention {

struct Projections {
  std::size_t heads = 1;                 // H
  Matrix<double> queries, keys, values;  // W, d x d; all empty: Q = K = V = I
  std::optional<double> rotary_base;     // none: positions do not matter
};

/// Uniform orthogonal matrices, independent of each other: the factors (orthonormal_factor) of
/// normal matrices from the streams "attention/projections/queries", "/keys" and "/values", with
/// the number of the layer behind the name where it is not the first, 0.
///
///   Domain      heads divides d, else Error{bad_value}.
///   Properties  (1) Wᵀ W = I up to dense_error(d).
///               (2) uniform: ⟨e, W f⟩ has variance 1/d for unit e and f.
[[nodiscard]] Projections random_projections(std::size_t d, std::size_t heads, std::uint64_t seed,
                                             std::uint64_t replica = 0, std::size_t layer = 0);

/// Throws Error{bad_value} unless heads divides d, and, for rotations, d/H is even and the base a
/// finite number above 0. Matrices that are not d x d, or not all there, are the caller's mistake.
void check(const Projections& projections, std::size_t d);

/// Columns of head h.
[[nodiscard]] Range columns_of_head(const Projections& projections, std::size_t d, std::size_t h);

/// θ_a of a head of this dimension.
[[nodiscard]] double rotary_frequency(double base, std::size_t dimension, std::size_t a);

/// Turns row j by R_j, or by R_j⁻¹ = R_jᵀ.
enum class Turn { forward, back };
void rotate_rows(MatrixView<double> rows, double base, Turn turn);

/// Queries, keys and values of one head, n x d/H each, from the rows y (n x d). Linear in y: a
/// change of y gives the change of all three.
[[nodiscard]] AttentionMatrices project(const Projections& projections, std::size_t head,
                                        MatrixView<const double> rows);
/// The transpose: adds to `sum` (n x d) the gradient on y for gradients on the three.
///
///   Properties  (1) Σ⟨gradient, project(y)⟩ = ⟨sum, y⟩ for a sum that began at 0.
void add_unprojected(const Projections& projections, std::size_t head, AttentionMatrices gradient,
                     Matrix<double>& sum);

}  // namespace dewpoint::attention
