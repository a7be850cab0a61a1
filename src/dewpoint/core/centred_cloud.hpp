// Unit vectors close to each other, without cancellation.
//
// The angle between two unit vectors enters everything here through the gap
//
//     Δ_ij = 1 − ⟨y_i, y_j⟩ = ½ ‖y_i − y_j‖².
//
// When tokens collapse, Δ is far below the rounding of ⟨y_i, y_j⟩. So a cloud is kept as offsets
// o_i = y_i − centre from a common point, and
//
//     Δ_ij = ½‖o_i‖² + ½‖o_j‖² − ⟨o_i, o_j⟩,
//
// which is relative to the size of the cloud instead of to 1. In float32 the error of a mean of
// ratios of gaps stays near 3e-7 where the plain form has lost everything.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint {

/// Anything that can tell the gaps Δ_ij of a set of tokens, block by block.
class GapSource {
 public:
  GapSource() = default;
  GapSource(const GapSource&) = default;
  GapSource& operator=(const GapSource&) = default;
  GapSource(GapSource&&) = default;
  GapSource& operator=(GapSource&&) = default;
  virtual ~GapSource() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  /// out(i, j) = Δ of tokens rows.begin + i and cols.begin + j, never negative; exactly 0 on the
  /// diagonal.
  virtual void gaps(Range rows, Range cols, MatrixView<float> out) const = 0;
  /// Gaps below this are rounding: the two tokens cannot be told apart.
  [[nodiscard]] virtual float resolution() const = 0;
};

class CentredCloud final : public GapSource {
 public:
  CentredCloud() = default;

  /// Unit vectors given as rows; the centre is their mean.
  static CentredCloud of_unit_vectors(MatrixView<const double> rows);

  /// The directions of the vectors base + deviations_i; the centre is again their mean. On the way
  /// they are taken from the direction u of v = base + mean(deviations): with c = ‖v‖,
  /// D_i = deviations_i − mean, p_i = ⟨D_i, u⟩,
  ///
  ///     ‖v + D_i‖ = √(c² + 2 c p_i + ‖D_i‖²) =: m_i,
  ///     o_i = (D_i + (c − m_i) u) / m_i,   c − m_i = −(2 c p_i + ‖D_i‖²) / (c + m_i):
  ///
  /// nothing is subtracted that is nearly equal, whatever the size of D_i. A cloud of size 0 where
  /// one of the vectors in double is zero: it has no direction.
  static CentredCloud of_deviations(std::span<const double> base,
                                    MatrixView<const float> deviations);
  static CentredCloud of_deviations(std::span<const double> base,
                                    MatrixView<const double> deviations);

  /// The cloud of some of the tokens.
  [[nodiscard]] CentredCloud subset(std::span<const std::size_t> rows) const;

  [[nodiscard]] std::size_t size() const override { return offsets_.rows(); }
  [[nodiscard]] std::size_t dimension() const { return offsets_.cols(); }
  [[nodiscard]] const std::vector<double>& centre() const { return centre_; }
  [[nodiscard]] MatrixView<const float> offsets() const { return offsets_; }
  /// ½‖o_i‖², followed by kFarGap up to a multiple of kLanePadding.
  [[nodiscard]] std::span<const float> half_squares() const { return half_squares_; }

  void gaps(Range rows, Range cols, MatrixView<float> out) const override;
  [[nodiscard]] float resolution() const override;

  /// One gap from the differences of coordinates: d operations instead of a share in a product,
  /// and relative to itself as far as √Δ is above the rounding of an offset, where `gaps` is
  /// relative to the cloud.
  [[nodiscard]] float near_gap(std::size_t i, std::size_t j) const;

  /// Mean of Δ_ij over all pairs i < j, from Σ‖o‖² in O(n).
  [[nodiscard]] double mean_gap() const;

 private:
  CentredCloud(std::vector<double> centre, Matrix<float> offsets);

  std::vector<double> centre_;
  Matrix<float> offsets_;
  std::vector<float> half_squares_;
};

}  // namespace dewpoint
