// One head of a real model: scores of given queries and keys, streamed.
//
// The scores of a few dozen queries against all keys they see are complete at a time, a strip; so
// memory is O(n d + strip · n) and no n x n matrix exists. Products are float32, sums leave the
// kernels as float64. The plain version in double is in head_reference.hpp; both pass
// tests/conformance.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dewpoint/attention/mask.hpp"
#include "dewpoint/core/head_row.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::attention {

/// A head as attention meets it: queries and keys after norms and rotation.
struct Head {
  MatrixView<const float> queries;  // one row per query
  MatrixView<const float> keys;     // one row per key
  MatrixView<const float> values;   // one row per key; empty where only statistics are wanted
  std::size_t first_position = 0;   // of query 0 among the keys: query i sits at position i + it
  Mask mask = Mask::causal();       // speaks of positions
  double scale = 1.0;               // τ: s = τ⟨q, k⟩
  double softcap = 0.0;             // c; 0: none
  std::optional<double> sink;       // learned sink logit
};

/// m as a function of the number of keys that a query sees; acts before the cap, as engines do.
/// Must give finite numbers, 0 or above, or Error{bad_value} names what it gave.
using LogitMultiplier = std::function<double(std::size_t keys)>;

/// The statistics of some queries (indices into head.queries, increasing), at m = 1 and at every
/// given multiplier; `dew_points` decides whether the dew points are solved for (else NaN).
///
///   Domain      as many columns in keys as in queries, every query at a position among the keys,
///               τ > 0, c ≥ 0. Scores of size below 1e18: a row with others, or with a NaN, raises
///               Error{bad_value} with its query.
///   Accuracy    products round as float32 does, by about τ √d ε |q||k| with ε = 6e-8; relative to
///               that, sums of weights with exponents up to y are good to kHeadError(1 + y/30) and
///               dew points to kRowDewPointError (row_dew_points.hpp).
///   Properties  (1) equals reference_rows within that accuracy, for every mask.
///               (2) the same bytes for any number of threads.
///               (3) memory beyond the results: a copy of the keys and, per thread, 96 n floats
///                   with dew points, 96 · 1024 without.
[[nodiscard]] std::vector<HeadRow> measure_rows(const Head& head,
                                                std::span<const std::size_t> queries,
                                                std::span<const LogitMultiplier> multipliers,
                                                bool dew_points, const RunContext& context = {});

/// Two roundings of an exponent of 30, the exponential twice (for w²), a run of additions.
inline constexpr double kHeadError = 1e-5;

/// Σ_j p_j v_j for every query, with one multiplier (empty: 1) into `out`, one row per query. A
/// learned sink takes weight and adds nothing.
///
///   Domain      as measure_rows, as many values as keys; scores that are not numbers give outputs
///               that are not.
///   Accuracy    kHeadError of the largest value in size, beside the rounding of products.
///   Properties  (1) equals reference_attend within that accuracy, for every mask.
///               (2) the same bytes for any number of threads.
void attend(const Head& head, const LogitMultiplier& multiplier, MatrixView<float> out,
            const RunContext& context = {});

/// The scores of one query at m = 1, in double from float32 queries and keys.
///
///   Domain      as measure_rows.
[[nodiscard]] ScoreRow score_row(const Head& head, std::size_t query);

}  // namespace dewpoint::attention
