// Where a layer of any form (attention/variants/layer_form.hpp) condenses: the dew points of the
// queries of one cloud.
//
// The dew point of a query is the least β at which its largest weight is 1/2: one key is worth as
// much as everything else in its softmax, the other keys and a sink together. How it is found
// depends on how scores become weights:
//
//   softmax, top:K        observables::dew_point of the scores of the keys with weight
//   sink:B, off-by-one    observables::dew_point_beside_sink
//   linear, features:M    the first crossing of 1/2 on a grid of β from kLeastLinearBeta to
//                         kLargestLinearBeta; there may be none
//
// The queries are the last ones of the cloud. Tokens of a cloud are exchangeable, so these are a
// sample like any other; under a mask that looks backward they see as much as anybody does, and
// under every mask they are the same tokens, so that forms are compared on equal terms. A row is
// one query in one head.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/attention/variants/layer_form.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::experiments {

struct VariantDew {
  tokens::CloudParameters cloud;  // resolved, and check(form, n, d) lets it pass
  attention::LayerForm form;
  std::size_t rows = 256;  // queries of a cloud, all if it has fewer
  std::uint64_t seed = 1;
};

/// What one cloud shows. Where no row has a dew point, those of dew points are NaN.
struct DewSample {
  double dew_point = kUnknown;        // median over the rows that have one
  double dew_mean = kUnknown;         // mean over the same; its variance may be infinite
  double log_dew_point = kUnknown;    // mean of the logarithm
  double dew_in_log_keys = kUnknown;  // median of β_dew/log v, v the keys that the query sees
  double visible = 0.0;               // mean of v
  double without_dew = 0.0;           // share of rows that have none
  double best_key = kUnknown;         // share of the others in which the winner has the best score
  double largest_weight = kUnknown;   // largest mean of w_max on the grid of β; of linear kinds
  double weight_bound = kUnknown;     // attention::elu_weight_bound; of `linear` without a mask
};

/// One replica: cloud, matrices and features are functions of (seed, replica). Softmax kinds take
/// O(rows n d) time and O(n d) memory; linear ones with m features O((rows + d) n m) time for each
/// β and O(n m) memory for each thread.
///
///   Accuracy    softmax kinds: that of dew_point for scores in double. Linear kinds: log odds are
///               taken as linear in log β between points of the grid, kEmpiricalGridError of β.
///   Properties  (1) tokens on a simplex under a backward mask: log(v − 1)/(1 − ρ); with top:K
///                   K in place of v; beside a sink theory::sink_even_beta.
///               (2) linear kinds: w_max on either side of a dew point is on either side of 1/2.
///               (3) the same bytes for any number of threads.
[[nodiscard]] DewSample sample_variant_dew(const VariantDew& question, std::uint64_t replica,
                                           const RunContext& context);

/// The queries whose rows are looked at, increasing.
[[nodiscard]] std::vector<std::size_t> last_queries(std::size_t n, std::size_t rows);

/// Floating-point operations of one replica.
[[nodiscard]] double variant_dew_work(const VariantDew& question);

/// The grid of linear kinds. Softmax over the same tokens condenses at some tens.
inline constexpr double kLeastLinearBeta = 0.125;
inline constexpr double kLargestLinearBeta = 4096.0;
inline constexpr std::size_t kLinearStepsPerOctave = 8;

/// Relative difference from the crossing by bisection: at most 2.5e-4 in 8 rows of features:16 and
/// features:200 over 60 equicorrelated tokens, d = 8 (18 November 2026).
inline constexpr double kEmpiricalGridError = 2e-3;

}  // namespace dewpoint::experiments
