// What a data set is to the model: weighted rows of (last token, histogram of the context).
//
// The model has no positions and reads its answer at the last token, so a sequence enters the loss
// only through its last context token l, the counts n_j of the tokens in its context (the last one
// included) and its label. Sequences that agree in (l, n) share the model's output; what differs is
// summed: weights y_k of the labels. 100,000 sequences of four tokens are about 2,900 rows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/chain.hpp"
#include "dewpoint/training/sequences.hpp"

namespace dewpoint::training {

struct HistogramRows {
  std::size_t vocabulary = 0;
  std::size_t context = 0;         // every histogram sums to this
  double weight = 0.0;             // N = Σ y: the number of sequences, or 1
  std::vector<std::uint8_t> last;  // l of each row; rows are sorted by (l, n)
  Matrix<double> counts;           // n_j: rows x vocabulary
  Matrix<double> labels;           // y_k: rows x vocabulary

  [[nodiscard]] std::size_t size() const { return last.size(); }
};

/// The rows of a set of sequences: those that occur.
///
///   Domain      at least one sequence.
///   Accuracy    exact: counts are whole numbers.
[[nodiscard]] HistogramRows collapse(const SequenceSet& sequences);

/// The exact joint law of (l, n) for contexts of `context` tokens from a uniform start, with
/// y_k = prob(l, n) P_lk: the expectation over all data sets. By dynamic programming: with p_t the
/// law after t tokens and e_j one token j,
///
///     p_{t+1}(n + e_j, j) = Σ_l p_t(n, l) P_lj.
///
/// Rows of probability 0 are left out. Throws Error{bad_value} that says how much it would be, when
/// there would be more than kMostExactRows rows, d C(s + d − 2, d − 1) if none is left out; when
/// they and the work space would take more than kMostExactBytes; or when all steps together would
/// take more than kMostExactProducts products.
///
///   Domain      context ≥ 1.
///   Accuracy    relative error of every y at most (s + 1)(d + 1) 2⁻⁵³, to first order: sums of
///               products of positive numbers.
///   Properties  (1) Σ y = 1.
///               (2) the same for every order of the sums over sequences: equals the enumeration of
///                   all d^{s+1} sequences.
[[nodiscard]] HistogramRows exact_rows(const Chain& chain, std::size_t context);

inline constexpr double kMostExactRows = 4e6;
inline constexpr double kMostExactBytes = 0x1p32;   // 4 GiB
inline constexpr double kMostExactProducts = 1e10;  // some ten seconds

}  // namespace dewpoint::training
