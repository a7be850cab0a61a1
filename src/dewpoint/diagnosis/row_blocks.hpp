// How many independent pieces of text stand behind a list of rows.
//
// Rows are queries in the order of their positions. If the autocorrelation of what is measured on
// them sums to the time
//
//     t = 1 + 2 Σ_k ρ_k,
//
// their mean is as uncertain as that of rows/t independent ones. Errors then come from contiguous
// blocks of kBlockTimes · t rows, which miss of the variance a share of at most 1/kBlockTimes, for
// correlations that decay exponentially.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "dewpoint/core/estimate.hpp"

namespace dewpoint::diagnosis {

inline constexpr double kBlockTimes = 4.0;
/// Fewer blocks say nothing about an error; longer correlations than this allows are not resolved.
inline constexpr std::size_t kLeastBlocks = 8;

/// t of the ranks of the values, so that outliers and infinities count as one value like any other;
/// NaN ranks below everything. A straight line along the rows is taken out before: it comes from
/// the growing number of keys. The sum ends at the first lag of at least 5 t [Sokal 1997].
///
///   Domain      any number of values; below 4, and for values on a line, t = 1.
///   Accuracy    for independent rows t scatters around 1 by about √(20/rows).
///   Properties  (1) x_i = φ x_{i−1} + noise: t → (1 + φ)/(1 − φ) for the values themselves; for
///                   ranks it is smaller by at most a tenth.
///               (2) invariant under increasing functions.
[[nodiscard]] double correlation_time(std::span<const double> values);

/// Number of blocks for errors of the values: as many as rows where t is 1 within its scatter.
///
///   Domain      at least one value; between min(rows, kLeastBlocks) and rows.
[[nodiscard]] std::size_t independent_blocks(std::span<const double> values);

/// Mean of the values with the error from the scatter of block means.
[[nodiscard]] Estimate block_mean(std::span<const double> values, std::size_t blocks);

}  // namespace dewpoint::diagnosis
