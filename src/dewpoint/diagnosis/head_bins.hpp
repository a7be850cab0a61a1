// The rows of one head, sorted into bins of the context length and into blocks of text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dewpoint/diagnosis/head_diagnosis.hpp"
#include "dewpoint/diagnosis/row_bootstrap.hpp"

namespace dewpoint::diagnosis {

struct HeadBin {
  std::vector<const HeadRow*> rows;       // in the order of positions
  std::vector<const ScoreRow*> scores;    // the same
  std::optional<RowBootstrap> bootstrap;  // over the rows, in blocks; none for an empty bin
};

/// One per bin of the options; rows outside all bins are left out. The blocks are those of the more
/// correlated of entropy and dew point (row_blocks.hpp).
[[nodiscard]] std::vector<HeadBin> head_bins(const HeadData& data, const HeadOptions& options);

/// The last bin that holds rows; nothing where none does.
[[nodiscard]] const HeadBin* longest_bin(const std::vector<HeadBin>& bins);

/// A quantile over rows with its redrawn values.
struct RowQuantile {
  Estimate estimate;
  std::vector<double> replicates;
};

/// The q-quantile of values, one per row of the bootstrap. NaN values count as absent; nothing
/// where all are.
[[nodiscard]] std::optional<RowQuantile> row_quantile(std::span<const double> values, double share,
                                                      const RowBootstrap& bootstrap);

/// τ = 1/β_dew of every row at a multiplier, NaN where there is no dew point. With a plain
/// multiplier m the gaps, and τ, are m times those at m = 1. A cap bends scores: then m is the
/// ratio of the mean gaps, which is exact for the mean and an approximation for the best keys.
[[nodiscard]] std::vector<double> row_phases(const HeadBin& bin, std::size_t multiplier,
                                             bool without_first);

/// β_dew of every row at m = 1.
[[nodiscard]] std::vector<double> row_dew_points(const HeadBin& bin, bool without_first);

/// The scores of a row but that of the text's first key.
[[nodiscard]] std::span<const double> without_first_key(const ScoreRow& row);

/// Is the query's own key its best one, the text's first key aside? Ties count as no.
[[nodiscard]] bool own_key_wins(const ScoreRow& row);

}  // namespace dewpoint::diagnosis
