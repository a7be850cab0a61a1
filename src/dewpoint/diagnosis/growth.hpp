// How the dew point of a head grows with the number of keys, from one matrix of scores.
//
// Rows are queries, columns keys. At the full length the scales are β_dew of every row, by its
// median and its geometric mean, and β_PR of all rows together (observables/dew_point.hpp). Shorter
// contexts are made by leaving keys out: each row deals its keys at random into two halves, four
// quarters, eight eighths and so on, and every hand is a query over fewer keys. For keys that are
// exchangeable this is exact and needs no model; for a real head it says what a random thinning of
// its context would do. Rows deal independently of each other. A key that is always there, such as
// the query's own, can be kept in every hand.
//
// Errors come from redrawing rows (row_bootstrap.hpp), all hands of a row together: the redrawn
// heads are the same at every length, so the errors of slopes are much smaller than those of the
// scales, and the covariance between lengths is known. They hold for rows that are independent
// given the keys' law; rows that share one set of keys also share its accidents.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/row_bootstrap.hpp"

namespace dewpoint::diagnosis {

struct GrowthOptions {
  std::size_t halvings = 6;      // at most; each adds a shorter length at the cost of one more pass
  std::size_t least_keys = 100;  // no hand is smaller; fewer are further from any asymptotic law
  std::vector<std::size_t> kept;  // for every row the column that stays in every hand; empty: none
  std::uint64_t seed = 1;         // of the dealing
};

/// Scales at one length, as logarithms.
struct GrowthPoint {
  std::size_t keys;        // n of a hand
  std::size_t hands;       // per row
  double tied_share;       // of hands whose maximum is tied: their β_dew is +∞
  Estimate log_dew_lower;  // quartiles of β_dew over hands
  Estimate log_dew_median;
  Estimate log_dew_upper;
  Estimate log_dew_mean;       // of log β_dew; +∞ when a maximum is tied
  Estimate log_participation;  // log β_PR
  Estimate log_accumulation;   // log of the median of Λ
};

struct Growth {
  std::vector<GrowthPoint> points;          // from the shortest length to the whole
  Matrix<double> participation_replicates;  // redrawn log β_PR: one row per replicate
  Matrix<double> median_replicates;         // redrawn log of the median β_dew
};

/// Measures all lengths.
///
///   Domain      at least 3 columns (4 with a kept key), finite scores, or Error{bad_value}. A
///               scale that ties make infinite is +∞ with an unknown error.
///   Properties  (1) the whole length: the median of dew_points, participation_point.
///               (2) equal gaps Δ: β_dew = log(n−1)/Δ at every length when the winner is kept.
///               (3) independent keys: each length has the law of a fresh head of that length.
///               (4) errors cover: the truth is within two of them in 95 % of heads.
///               (5) the same bytes for any number of threads.
///   Reference   derived here.
[[nodiscard]] Growth measure_growth(MatrixView<const double> scores, const GrowthOptions& options,
                                    const RowBootstrap& bootstrap, const RunContext& context = {});

/// (log β_j − log β_i)/(log n_j − log n_i) with the error of its replicates, for β_PR or for the
/// median of β_dew.
enum class Scale { participation, dew_median };
[[nodiscard]] Estimate growth_slope(const Growth& growth, Scale scale, std::size_t from,
                                    std::size_t to, const RowBootstrap& bootstrap);

/// The same matrix without each row's kept column, for estimators of the tail.
[[nodiscard]] Matrix<double> without_columns(MatrixView<const double> scores,
                                             const std::vector<std::size_t>& columns);

}  // namespace dewpoint::diagnosis
