// The inner loops, vectorised with Highway and dispatched at run time to the best instruction set
// of the processor (simd_target() names it).
//
// Everything here works on gaps: for unit vectors, Δ_ij = 1 − ⟨y_i, y_j⟩ ≥ 0 is how far the score
// of key j lies below the best possible score of query i, and the weight of j before normalisation
// is w_ij = exp(−β Δ_ij) ∈ [0, 1]. No maximum has to be searched and nothing overflows. Products
// are float32; sums leave a kernel as float64 after at most a few hundred float32 additions per
// lane.
//
// Strips have a stride that is a multiple of kLanePadding floats; columns between the last real one
// and the stride are padding, which kernels may read and write.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint {

/// Floats in the widest vector of any supported target.
inline constexpr std::size_t kLanePadding = 16;

/// Smallest multiple of kLanePadding that holds n floats.
[[nodiscard]] constexpr std::size_t padded(std::size_t n) {
  return (n + kLanePadding - 1) / kLanePadding * kLanePadding;
}

/// Gap written into padding columns: so far that the weight is exactly 0, so near that its square
/// is finite.
inline constexpr float kFarGap = 1e15F;

/// Smallest inverse temperature that kernels accept: it gives kFarGap the weight 0 and every real
/// gap the weight 1, to the last bit, as β = 0 should.
inline constexpr float kLeastInverseTemperature = 1e-12F;

/// β as kernels take it.
[[nodiscard]] constexpr float kernel_inverse_temperature(double beta) {
  const auto rounded = static_cast<float>(beta);
  return rounded < kLeastInverseTemperature ? kLeastInverseTemperature : rounded;
}

/// Sums over the keys of one query (row), weights relative to a score of gap 0.
struct RowMoments {
  double partition = 0.0;       // Σ w
  double gap = 0.0;             // Σ Δ w
  double squared_gap = 0.0;     // Σ Δ² w
  double weight_squared = 0.0;  // Σ w²

  RowMoments& operator+=(const RowMoments& other);
};

namespace kernels {

/// Largest relative error of a weight, in units of the last place of float32 (ε = 1.2e-7), given
/// the rounded exponent x = −βΔ: kExpUlp for the polynomial and kExpUlpPerUnit · |x| for the
/// single-float ln 2. The rounding of x itself comes on top, |x|/2 per operation that made it.
inline constexpr double kExpUlp = 2.0;
inline constexpr double kExpUlpPerUnit = 0.025;

struct Weighing {
  float inverse_temperature;  // β
  float shift = 0.0F;         // subtracted from the weights that are written, not from the moments
};

/// Turns a block of inner products into weights, in place, and adds the moments of its rows and, if
/// col_moments is not empty, of its columns (the block then stands for its transpose too):
///
///     Δ_ij = max(0, row_half[i] + col_half[j] − dots(i, j)),   dots(i, j) ← exp(−β Δ_ij) − shift.
///
/// col_half has padded(dots.cols()) entries, kFarGap in the padding.
void weigh_block(MatrixView<float> dots, Weighing weighing, std::span<const float> row_half,
                 std::span<const float> col_half, std::span<RowMoments> row_moments,
                 std::span<RowMoments> col_moments);

/// weights = exp(−inverse_temperature · gaps), over whole padded rows.
void exp_gaps(MatrixView<const float> gaps, float inverse_temperature, MatrixView<float> weights);

/// weights *= factor, element by element, over whole padded rows.
void multiply(MatrixView<float> weights, MatrixView<const float> factor);

/// row_moments[i] = the moments of row i of a strip of weights and their gaps.
void row_moments(MatrixView<const float> weights, MatrixView<const float> gaps,
                 std::span<RowMoments> moments);

/// multiply, then row_moments, in one pass over memory.
void multiply_with_moments(MatrixView<float> weights, MatrixView<const float> factor,
                           MatrixView<const float> gaps, std::span<RowMoments> moments);

/// total(i, j) += part(i, j): float32 products into a float64 sum.
void accumulate(MatrixView<const float> part, MatrixView<double> total);

/// sums[k] += Σ_i rows(i, k).
void add_columns(MatrixView<const float> rows, std::span<double> sums);

/// The stable normalisation of CentredCloud::of_deviations in float32: with D = deviations_i −
/// shift and u of length 1 (or 0), out_i = direction of (c u + D), minus u.
void normalise_rows(MatrixView<const float> deviations, std::span<const float> shift,
                    std::span<const float> u, float c, MatrixView<float> out);

/// rows −= shift, and half_squares[i] = ½‖row_i‖² of the result, summed in float64.
void recentre_rows(MatrixView<float> rows, std::span<const float> shift,
                   std::span<float> half_squares);

/// Σ of ratios and the extreme gaps of some pairs (i, j).
struct PairSums {
  double ratio = 0.0;  // Σ Δ'_ij / Δ_ij
  float smallest_gap;  // min Δ'_ij
  float largest_gap;   // max Δ'_ij
  PairSums();
  PairSums& operator+=(const PairSums& other);
};

/// Sums over columns [begin, end) of one row, with Δ'_j = max(0, half + col_half[j] − dots[j]) and
/// ratio Δ'_j · inverse_gaps[j].
[[nodiscard]] PairSums pair_sums(const float* dots, float half, const float* col_half,
                                 const float* inverse_gaps, Range columns);

/// The same over the upper triangle of a strip whose row i is token first_row + i and whose column
/// j is token first_row + j: pairs j > i.
[[nodiscard]] PairSums upper_pair_sums(MatrixView<const float> dots, const float* half,
                                       MatrixView<const float> inverse_gaps);

}  // namespace kernels

/// Name of the instruction set that the kernels run on here, e.g. "AVX2".
[[nodiscard]] std::string simd_target();
/// Every target that was compiled in and that this processor supports, best first.
[[nodiscard]] std::vector<std::string> simd_targets();
/// Restricts dispatch to one of simd_targets(), or lifts the restriction (empty name). For tests.
void force_simd_target(const std::string& name);

}  // namespace dewpoint
