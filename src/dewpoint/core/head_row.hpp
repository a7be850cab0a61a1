// One query of a head under softmax, as the sums that a streaming pass leaves of it.
//
// The first key of a text collects weight that belongs nowhere ("attention sink"), and some models
// have a learned sink besides, a logit without a key. Whatever is reported of a row is reported
// with and without them, so the first key stays out of the sums: taken out of a total afterwards it
// would leave only rounding wherever it holds nearly all weight.
//
//     s_j = cap(m τ ⟨q, k_j⟩),   cap(x) = c tanh(x/c) or x,   p_j = e^{s_j}/Z
//
// m is a multiplier of the logits; several are measured in one pass. What follows from the sums
// (entropy, participation, masses) is in observables/head_observables.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "dewpoint/core/kernels.hpp"

namespace dewpoint {

/// The softmax of one query at one multiplier.
struct SoftmaxRow {
  static constexpr double kAbsent = -std::numeric_limits<double>::infinity();

  double largest = kAbsent;  // best score of the keys but the first
  double first = kAbsent;    // score of key 0, where it is visible
  double sink = kAbsent;     // learned logit without a key; no multiplier touches it
  RowMoments rest;           // of the keys but the first: gaps from `largest`, weights e^{−gap}
  double plain_gap = 0.0;    // Σ gap over the same keys, unweighted
  double plain_squared_gap = 0.0;  // Σ gap²
};

struct HeadRow {
  std::size_t position = 0;         // of the query among the keys
  std::size_t keys = 0;             // visible ones, the first included where it is
  std::vector<SoftmaxRow> softmax;  // one per multiplier; [0] is m = 1
  double dew_point = 0.0;           // of the scores at m = 1, learned sink not counted; +∞: the
  double dew_point_without_first = 0.0;  // maximum is tied; NaN: fewer than 3 keys
};

/// All scores of one query, at m = 1 and in double: for estimators that need more than sums.
struct ScoreRow {
  std::size_t position = 0;
  std::size_t first_key = 0;   // position of scores[0]
  std::vector<double> scores;  // of the visible keys, in their order
};

}  // namespace dewpoint
