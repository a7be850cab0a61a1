// The one sum of the Jacobian norm that costs more than O(n² d): how the keys of a query spread in
// every pair of directions,
//
//     Σ_ik A_ji A_jk ⟨o_i, o_k⟩² = ‖Σ_i A_ji o_i o_iᵀ‖_F².
//
// The left side is a product of the weights with the n x n matrix of squared overlaps; the right
// side one with the n x d(d+1)/2 matrix of distinct products of two coordinates, the (symmetric)
// Khatri-Rao product of the keys with themselves. Whichever is narrower is cheaper.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "dewpoint/core/centred_cloud.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::attention {

enum class SecondMoment {
  pairs_of_keys,  // the left side, O(n³) for all queries
  khatri_rao,     // the right side, O(n² d²)
};

/// Columns of the matrix that the weights are multiplied with: n, or d(d+1)/2.
[[nodiscard]] std::size_t second_moment_columns(SecondMoment way, std::size_t n, std::size_t d);
/// The way with fewer columns.
[[nodiscard]] SecondMoment cheaper_second_moment(std::size_t n, std::size_t d);

/// Largest n whose squared overlaps are kept (1 GiB).
inline constexpr std::size_t kKeptOverlaps = 16384;

/// Second moments of many strips of weights over the same keys.
class SecondMoments {
 public:
  /// Throws Error{bad_value} for pairs_of_keys beyond kKeptOverlaps tokens. `cloud` must outlive
  /// it.
  SecondMoments(const CentredCloud& cloud, SecondMoment way);

  /// sums[q] = Σ_ik w_qi w_qk ⟨o_i, o_k⟩² for each row of `weights` (padded; 0 on the query itself,
  /// which is added with weight 1). Callable from several threads.
  ///
  ///   Accuracy    float32 products: relative to (Σ_i w_qi ‖o_i‖²)² a few float32 roundings.
  ///   Properties  (1) the two ways agree.
  void of_strip(MatrixView<const float> weights, std::span<const std::size_t> queries,
                std::span<double> sums) const;

 private:
  void over_pairs(MatrixView<const float> weights, std::span<const std::size_t> queries,
                  std::span<double> sums) const;
  void over_products(MatrixView<const float> weights, std::span<const std::size_t> queries,
                     std::span<double> sums) const;

  const CentredCloud& cloud_;
  SecondMoment way_;
  Matrix<float> squared_overlaps_;  // n x n, or empty
};

}  // namespace dewpoint::attention
