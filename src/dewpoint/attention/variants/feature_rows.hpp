// The features φ of queries or keys, and how they move with them (attention_kind.hpp has the maps).
//
// Random features are exponentials of large numbers of either sign. Factors that cancel from every
// weight are taken out before: e^{c_m} from feature m of all keys, c_m the largest exponent there,
// which is given back to feature m of the queries; and e^{r_j} from query j, which cancels from its
// quotient. Then all features lie in [0, 1], each feature of the keys reaches 1, and so does some
// feature of each query: without a mask no sum of weights is below 1, however large β.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dewpoint/attention/variants/attention_variant.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::attention {

/// ω, M x d: entry (m, k) is draw m d + k of the stream "attention/features" of seed and replica.
[[nodiscard]] Matrix<double> feature_directions(const AttentionVariant& variant, std::size_t d);

/// A bound on every weight of linear attention (elu) over these keys, for any query and any β:
///
///     w_i ≤ (1/n) max_a max(1/p_a, m_a/A_a),
///
/// p_a the share of keys whose coordinate a is positive, A_a the mean over all keys of its positive
/// part, m_a the largest. For w_i = Σ_a φ_a(q) φ_a(k_i)/Σ_a φ_a(q) Σ_l φ_a(k_l) is at most the
/// largest of the quotients φ_a(k_i)/Σ_l φ_a(k_l), with φ_a(k_i) ≤ 1 + √β m_a above and
/// n (p_a + √β A_a) below. So no temperature lets a query choose: coordinates that are spread like
/// normal ones have p = 1/2 and m/A = √(4π log n) or so, and weights stay below about 12/n. A
/// coordinate that is positive in few keys, as along a common direction, makes the bound weaker.
///
///   Domain      at least one key; 1 where a coordinate is positive in none, or the bound above 1.
///   Accuracy    (n + 4) 2⁻⁵².
///   Properties  (1) no weight of reference_attention is above it.
///   Reference   derived here.
[[nodiscard]] double elu_weight_bound(MatrixView<const double> keys);

/// φ of the rows of one matrix.
class FeatureRows {
 public:
  /// φ(x) = elu(√β x) + 1.
  [[nodiscard]] static FeatureRows elu(MatrixView<const double> rows, double beta);
  /// Random features of keys, and those of queries that give back what was taken from the keys.
  [[nodiscard]] static FeatureRows random_keys(MatrixView<const double> rows, double beta,
                                               Matrix<double> directions);
  [[nodiscard]] static FeatureRows random_queries(MatrixView<const double> rows, double beta,
                                                  const FeatureRows& keys);

  /// n x m.
  [[nodiscard]] const Matrix<double>& values() const { return values_; }
  /// log of what was taken from row j, the factor 1/M of the kernel included.
  [[nodiscard]] double row_shift(std::size_t row) const {
    return row_shifts_.empty() ? 0.0 : row_shifts_[row];
  }

  /// dφ for a change of the rows:  √β φ'(√β x) dx,  or  φ_m (√β⟨ω_m, dx⟩ − β⟨x, dx⟩).
  ///
  ///   Properties  (1) is the derivative of values(), what was taken out staying as it is.
  [[nodiscard]] Matrix<double> forward(MatrixView<const double> change) const;
  /// The gradient on the rows for one on φ.
  ///
  ///   Properties  (2) is the transpose of forward.
  [[nodiscard]] Matrix<double> backward(const Matrix<double>& gradient) const;

 private:
  using Directions = std::shared_ptr<const Matrix<double>>;

  FeatureRows(MatrixView<const double> rows, double beta, Directions directions);
  [[nodiscard]] Matrix<double> exponents() const;

  MatrixView<const double> rows_;  // x
  double beta_;
  Directions directions_;  // ω; none: elu
  Matrix<double> values_;
  std::vector<double> feature_shifts_;  // c_m, of keys
  std::vector<double> row_shifts_;      // r_j − log M, of queries
};

}  // namespace dewpoint::attention
