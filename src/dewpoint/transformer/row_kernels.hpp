// The inner loops over rows of numbers, vectorised with Highway and dispatched at run time like
// those of core/kernels.hpp. Real is float or double; rows have any length and alignment, and
// nothing outside of them is touched.
//
// Rows of a table are named by their numbers, so that what many contexts share is read where it is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::transformer {

using RowNumbers = std::span<const std::uint32_t>;

/// out[k] = Σ_c vector[c] table(rows[k], c).
void dot_rows(std::span<const float> vector, MatrixView<const float> table, RowNumbers rows,
              std::span<float> out);
void dot_rows(std::span<const double> vector, MatrixView<const double> table, RowNumbers rows,
              std::span<double> out);

/// sum[c] += Σ_k weights[k] table(rows[k], c).
void add_rows(std::span<const float> weights, MatrixView<const float> table, RowNumbers rows,
              std::span<float> sum);
void add_rows(std::span<const double> weights, MatrixView<const double> table, RowNumbers rows,
              std::span<double> sum);

/// sum += factor · row.
void add_row(float factor, std::span<const float> row, std::span<float> sum);
void add_row(double factor, std::span<const double> row, std::span<double> sum);

/// Σ_c a[c] b[c].
[[nodiscard]] float dot(std::span<const float> a, std::span<const float> b);
[[nodiscard]] double dot(std::span<const double> a, std::span<const double> b);

/// scores ← total · softmax(scores), and log Σ e^score is returned. A score that is NaN makes all
/// of them NaN, and the answer.
///
///   Accuracy    of a weight: 3 units in the last place of Real and those that the rounding of
///               score − largest brings; the sum is taken in double.
double weigh(std::span<float> scores, float total = 1.0F);
double weigh(std::span<double> scores, double total = 1.0);

/// From ∂L/∂A to ∂L/∂S for one row A = softmax(S), in place:
/// slopes[j] ← A_j (slopes[j] − Σ_k A_k slopes[k]).
void take_score_slopes(std::span<const float> weights, std::span<float> slopes);
void take_score_slopes(std::span<const double> weights, std::span<double> slopes);

}  // namespace dewpoint::transformer
