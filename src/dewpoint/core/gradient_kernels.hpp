// The inner loops of the Jacobian norm (attention/jacobian_norm.hpp), vectorised and dispatched as
// those of kernels.hpp, over whole padded rows: hidden keys, the query itself and padding have
// weight 0 and add nothing.
//
// Geometry, in offsets o_i = y_i − c from a common point c: query j attends to
// m_j = Σ_i A_ji y_i = c + μ_j, gaps are Δ_ji = 1 − ⟨y_j, y_i⟩, and everything that a block of the
// Jacobian needs follows from Δ_ji and ⟨o_i, μ_j⟩ without a difference of nearly equal numbers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::kernels {

/// What each key brings along; padded with zeros to a multiple of kLanePadding.
struct KeyTerms {
  std::span<const float> half_square;          // ½‖o_i‖²
  std::span<const float> along_centre;         // ⟨c, o_i⟩
  std::span<const float> inverse_square_norm;  // 1/r_i²
};

/// What each query brings along.
struct QueryTerms {
  float share;         // 1/Z_j
  float half_square;   // ½‖μ_j‖²
  float self_overlap;  // ⟨m_j, o_j⟩
  float centre_part;   // ⟨m_j, c⟩
  float mean_gap;      // Σ_i A_ji Δ_ji
};

/// Sums over the other keys of one query.
struct QuerySums {
  double blocks = 0.0;           // Σ_i ‖J_ji‖_F²
  double spread = 0.0;           // Σ_i A_ji ‖y_i − m_j‖²
  double along = 0.0;            // Σ_i A_ji ⟨y_i − m_j, y_j⟩²
  double squared_overlap = 0.0;  // Σ_i A_ji ⟨o_i, μ_j⟩²
};

struct BlockScale {
  float inverse_temperature;  // β
  float tangents;             // d − 1
};

/// For a strip of queries: adds to sums, and to columns[i] the squared norms of the blocks of key
/// i,
///
///     r_i² ‖J_ji‖_F² = A_ji² { d − 1 + 2β ⟨y_i − m_j, P_i y_j⟩ + β² ‖y_i − m_j‖² ‖P_i y_j‖² },
///
/// and replaces overlaps(j, i) = ⟨o_i, μ_j⟩ by A_ji ⟨y_i − m_j, y_j⟩.
void jacobian_rows(MatrixView<const float> gaps, MatrixView<const float> weights,
                   const BlockScale& scale, const KeyTerms& keys,
                   std::span<const QueryTerms> queries, MatrixView<float> overlaps,
                   std::span<QuerySums> sums, std::span<double> columns);

/// values(j, i) = weights(j, i) · shares[j] · (values(j, i) − shifts[j]).
void centre_and_weigh(MatrixView<const float> weights, std::span<const float> shares,
                      std::span<const float> shifts, MatrixView<float> values);

/// sums[j] = Σ_i a(j, i) b(j, i), in float64 after a few float32 additions per lane.
void row_products(MatrixView<const float> a, MatrixView<const float> b, std::span<double> sums);

}  // namespace dewpoint::kernels
