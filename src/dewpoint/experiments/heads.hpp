// Statistics of real heads: which queries are looked at, and what is kept of them.
//
// Of a long context not every query is needed: up to `rows_per_bin` of them per bin of n, and of
// some of these the whole row of scores. n is the number of keys that a query sees under the mask;
// bin b holds those above end b−1, and above half of end b, up to end b.
//
// Within a bin queries are taken in kRuns runs of neighbours, spread evenly over its positions: the
// runs cover the octave, and within a run one can see how alike neighbours are, which an error bar
// needs to know. Under a sliding window all later queries see the same n and fall into one bin.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/core/head_row.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::experiments {

struct NamedMultiplier {
  std::string name;
  attention::LogitMultiplier value;
};

struct HeadPlan {
  std::vector<NamedMultiplier> multipliers;  // beside m = 1
  std::vector<std::size_t> bin_ends;         // upper ends of the bins of n, increasing
  std::size_t rows_per_bin = 512;            // more: smaller errors
  std::size_t score_rows_per_bin = 48;       // whole rows for companions (participation point, Λ)
  std::size_t score_rows_last_bin = 256;     // and for tail and thinning
  bool dew_points = true;
};

/// Runs of neighbours in a bin.
inline constexpr std::size_t kRuns = 16;

/// One head, measured.
struct MeasuredHead {
  std::vector<HeadRow> rows;
  std::vector<ScoreRow> scores;
};

/// The statistics of the planned queries and the whole scores of the planned few among them.
///
///   Domain      a head with at least one query; bin_ends may leave queries out, even all.
///   Properties  (1) rows are those of planned_queries with rows_per_bin, scores of a subset of
///                   them, both in the order of their positions.
///               (2) equal bytes for any number of threads.
[[nodiscard]] MeasuredHead measure_head(const attention::Head& head, const HeadPlan& plan,
                                        const RunContext& context = {});

/// Queries that a plan looks at: indices into head.queries, increasing.
///
///   Properties  (1) every bin has min(per_bin, its queries) of them.
///               (2) they form at most kRuns runs of neighbours per bin, whose lengths differ by 1
///                   at most; run k lies in the middle of piece k of the bin cut into kRuns.
///               (3) depends on the numbers of queries and keys, the first position, the mask, the
///                   bins and per_bin alone.
[[nodiscard]] std::vector<std::size_t> planned_queries(const attention::Head& head,
                                                       const HeadPlan& plan, std::size_t per_bin);

/// Those of them whose scores are kept: evenly spread single ones of every bin,
/// score_rows_last_bin of the last bin that has queries, score_rows_per_bin of the others.
[[nodiscard]] std::vector<std::size_t> planned_score_queries(const attention::Head& head,
                                                             const HeadPlan& plan);

}  // namespace dewpoint::experiments
