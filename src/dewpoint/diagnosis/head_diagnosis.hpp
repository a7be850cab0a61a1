// Is a head diffuse, critical or condensed, and how does that move with the context?
//
// The phase of a query is τ = 1/β_dew of its logits: the dew point is the factor by which the
// logits would have to be multiplied for the best key to hold half of the weight, so below τ = 1
// attention is diffuse, above it condensed. Queries see different numbers of keys n; everything
// here is per bin of n. A bin reaches from half its upper end to that end, the last one ends at the
// longest n.
//
// The frame of a head has these variables; means over the rows of a bin have errors from block
// means, medians from redrawn blocks of rows, because neighbouring queries of a text are alike
// (row_blocks.hpp).
//
//   over n and multiplier      entropy, effective_keys (e^H), effective_share (e^H/n),
//                              participation, largest_weight, first_mass, sink_mass, mean_score,
//                              score_variance, largest_score: observables/head_observables.hpp;
//                              phase: median of τ.
//                              All but the masses also with "_without_sink": first key and learned
//                              sink taken away, weights renormalised.
//   over n                     rows, keys (mean number of visible ones): exact
//     dew points               dew_point (median), dew_point_lower, dew_point_upper (quartiles),
//                              dew_point_mean (geometric, over rows that condense), tied_share;
//                              the five with "_without_sink"
//     companions               participation_point (β_PR), accumulation (median Λ), own_key_wins
//                              (share of rows whose best key is the query's own): from whole rows
//                              of scores, without the first key
//     of the keys              key_mean, key_variance: every key but the first counted alike
//     theory                   dew_point_gaussian: what Gaussian scores of that variance would have
//                              (gaussian_dew_point of head_statistics.hpp, exact finite-n mean of
//                              the largest weight); dew_point_fitted: the law's shape through the
//                              longest bin's dew_point_without_sink, empty where no law was named
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/head_row.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/growth_law.hpp"
#include "dewpoint/diagnosis/row_bootstrap.hpp"
#include "dewpoint/diagnosis/tail_estimators.hpp"

namespace dewpoint::diagnosis {

/// What was measured of one head.
struct HeadData {
  std::size_t layer = 0;
  std::size_t head = 0;
  std::vector<HeadRow> rows;     // of sampled queries, in any order
  std::vector<ScoreRow> scores;  // of some of them, whole: for companions, tail and thinning
};

/// The bins of one study, the same for all its heads: upper ends, increasing.
struct ContextBins {
  std::vector<std::size_t> ends;
  [[nodiscard]] std::optional<std::size_t> bin_of(std::size_t keys) const;
};
/// longest, longest/2, .. down to `least` keys.
[[nodiscard]] ContextBins octave_bins(std::size_t longest, std::size_t least = 16);

enum class Phase { diffuse, critical, condensed };
[[nodiscard]] const char* name_of(Phase phase);

/// "Critical" is a τ between 1/kCriticalBand and kCriticalBand.
inline constexpr double kCriticalBand = 1.25;
/// A phase is named when at least this probable; else nobody can tell.
inline constexpr double kPhaseProbability = 0.9;

struct PhaseVerdict {
  std::optional<Phase> phase;  // nothing: cannot tell
  double probability = 0.0;    // of the phase, or of the most probable one
  std::string reason;          // one sentence
};

/// One law of growth of β_dew: along the rows of the text, or by leaving keys out at random.
struct HeadGrowth {
  GrowthVerdict verdict;
  Estimate slope;               // d log β/d log n over the longest lengths
  std::vector<double> lengths;  // at which it was measured
};

struct HeadDiagnosis {
  std::size_t layer = 0;
  std::size_t head = 0;
  Frame statistics;                    // over n and multiplier: see the top of the file
  std::vector<PhaseVerdict> verdicts;  // of the longest bin, one per multiplier
  std::vector<PhaseVerdict> verdicts_without_first;
  std::optional<HeadGrowth> along_rows;  // where at least 3 bins are filled
  std::optional<HeadGrowth> thinned;     // where whole rows of scores are there
  EdgeFit edge;
  std::vector<std::string> warnings;  // one sentence each, a stable id of head_warnings.hpp first
};

struct HeadOptions {
  std::vector<std::string> multipliers;  // names of HeadRow::softmax, "1" first
  ContextBins bins;
  Bootstrap bootstrap;
  std::size_t tail = 50;             // best keys that show the edge
  std::size_t thinned_keys = 32768;  // most keys that are dealt; more cost memory
};

/// Measures, judges and warns.
///
/// The verdict on the phase is that of the longest bin: log of the median τ, normal with its error,
/// against ±log kCriticalBand. The law of growth is judged on the medians of β_dew along the rows,
/// and on β_PR over random hands of the keys of whole rows (head_growth.hpp).
///
///   Domain      every row has one softmax per multiplier. Rows outside all bins do not count.
///   Accuracy    phases and laws of synthetic heads with 16384 keys and 256 rows (simplex,
///   Gaussian,
///               spheres of dimension 3, 5 and 9, a planted cluster): at most 5 % wrong and at most
///               20 % undecided, tests/diagnosis/long_head_test.cpp.
///   Properties  (1) the order of the rows does not matter.
///               (2) scores multiplied by c: β_dew and its companions divided by c, τ multiplied,
///                   laws unchanged.
///               (3) the same bytes for any number of threads.
[[nodiscard]] HeadDiagnosis diagnose_head(const HeadData& data, const HeadOptions& options,
                                          const RunContext& context = {});

/// All heads as one frame over (layer, head, n, multiplier), as studies keep it. Every variable of
/// a head gets the dimensions layer and head in front; over (layer, head) alone there are
///
///     slope_along_rows, slope_thinned                 d log β/d log n over the longest lengths
///     law_along_rows, law_thinned                     number of the GrowthLaw, empty: cannot tell
///     law_offset_.., law_exponent_..                  its b and a
///     edge_shape, edge_beta                           ξ and β_edge of the best keys
///
/// over (layer, head, multiplier), all with "_without_sink" too,
///
///     verdict                                         number of the Phase, empty: cannot tell
///     verdict_probability                             of that phase, or of the most probable one
///
/// and over (reason), whose labels are the verdicts in words, each with its reason,
///
///     reason_probability                              the same probability beside them
///
/// Throws Error{bad_value} without heads.
[[nodiscard]] Frame frame_of_heads(const std::vector<HeadDiagnosis>& heads,
                                   const HeadOptions& options);

}  // namespace dewpoint::diagnosis
