// How the dew point of a head grows with the context, measured twice.
//
// Along the rows: the medians of β_dew over queries that see more and more keys. That is what the
// head does in this text, recency and all. Thinned: keys of the longest rows left out at random
// (growth.hpp), the query's own key kept and the text's first key left out. That is what the number
// of keys alone does. Where the two disagree, the place of a key matters and not their number.
//
// Who wins decides which laws are possible (GrowthPrior). Where the query's own key is the best one
// in nearly every row, thinning takes away competitors and never the winner; where it nearly never
// is, the winner comes from the tail of the scores, and the offsets b of the laws are bounded by
// those of a tail in which every key competes. In between two laws are at work at once, and nobody
// can tell.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/head_bins.hpp"

namespace dewpoint::diagnosis {

/// A winner is "always" or "never" the query's own key from this share of rows on.
inline constexpr double kWinnerShare = 0.9;
/// Bins with fewer rows, or that end below so many keys, show no growth along the rows.
inline constexpr std::size_t kLeastGrowthRows = 16;
inline constexpr std::size_t kLeastGrowthKeys = 64;
/// Fewer rows, or blocks of text, do not carry a covariance over the lengths of a thinning.
inline constexpr std::size_t kLeastThinnedBlocks = 16;

/// Whole rows of one bin cut to a common number of keys.
struct ThinnedRows {
  Matrix<double> scores;          // without the text's first key
  std::vector<std::size_t> kept;  // column of each row's own key; empty where a row has none
  double own_wins = 0.0;          // share of rows
};

/// Nothing for fewer than kLeastThinnedBlocks rows or than 8 common keys. Keys beyond the common
/// number, or beyond `most_keys`, are left out at random, the query's own never.
[[nodiscard]] std::optional<ThinnedRows> thinned_rows(const HeadBin& bin, std::size_t most_keys,
                                                      std::uint64_t seed);

/// Nothing where fewer than 3 bins are filled.
[[nodiscard]] std::optional<HeadGrowth> growth_along_rows(const std::vector<HeadBin>& bins,
                                                          const ContextBins& ends);

[[nodiscard]] std::optional<HeadGrowth> growth_by_thinning(const ThinnedRows& rows,
                                                           const Bootstrap& options,
                                                           const RunContext& context);

/// log of the shape of a law at log n: only differences mean something.
///
///   Domain      log n + b > 0.
[[nodiscard]] double log_growth_shape(GrowthLaw law, const LawFit& fit, double log_n);

}  // namespace dewpoint::diagnosis
