// Numbers for histograms: where the dynamic programming over contexts keeps each of them.
//
// A histogram of t tokens is known by the counts n_1..n_D of all tokens but token 0, D = d − 1,
// because n_0 is what is missing to t. With the sums from the end r_k = n_D + ... + n_{D−k+1}, its
// number is
//
//     rank(n) = Σ_{k=1..D} C(r_k + k − 1, k).
//
//   (1) Histograms of t tokens have the numbers 0..C(t + D, D) − 1, each once.
//   (2) One more token 0 leaves the number as it is.
//   (3) Among histograms of t tokens the number falls as (n_0, n_1, ..., n_D) rises in
//       lexicographic order.
//
// So the numbers for t tokens are the beginning of those for t + 1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::training {

/// C(n, k) for whole n ≥ k ≥ 0: exact up to 10¹⁵, then rounded, then infinite.
[[nodiscard]] double binomial(double n, double k);

class HistogramIndex {
 public:
  /// Of histograms of up to `most` tokens. Domain: vocabulary ≥ 2, most ≥ 1, size(most) < 2³².
  HistogramIndex(std::size_t vocabulary, std::size_t most);

  /// How many histograms of t tokens there are: C(t + D, D). Domain: t ≤ most.
  [[nodiscard]] std::size_t size(std::size_t t) const { return terms_(t + 1, others_); }

  /// n_0..n_D of the histogram of t tokens with this number.
  void counts(std::size_t rank, std::size_t t, std::span<double> out) const;

  /// Number of the histogram with one more token j. Domain: rank < size(most − 1).
  [[nodiscard]] std::size_t with_one_more(std::size_t rank, std::size_t j) const {
    return j == 0 ? rank : next_(rank, j - 1);
  }

 private:
  void fill_terms();
  void fill_next(std::size_t rank);

  std::size_t others_;           // D
  Matrix<std::uint32_t> terms_;  // (r, k): C(r + k − 1, k)
  Matrix<std::uint32_t> sums_;   // r_1..r_D of every number
  Matrix<std::uint32_t> next_;   // with one more token 1..D
};

}  // namespace dewpoint::training
