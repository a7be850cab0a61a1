// "condense": softmax over up to 1e300 Gaussian scores, and what it still finds.
//
// The experiment of `dewpoint condense` at one number of scores n and one load t = β/β_c, with at
// most one planted key. A replica is a batch of `draws` rows of scores;
// what it gives is the mean, deviation or median over its draws, so that replica 0 is what the verb
// shows at the study's seed and the same k. Means over replicas are unbiased for means over draws.
// A median or a deviation of a batch (retrieval_signal, median_planted_weight,
// log_partition_deviation) has a bias of O(1/draws), which more replicas do not remove: raise
// `draws` where it matters.
//
// The canonical load is t, and the canonical planted key is its score m. k, the number of scores
// drawn one by one, is `top`, or what `bound` asks for: then it is chosen for each point alone when
// the point is measured, by the search of the verb with pilot draws of seed 1. Points that differ
// in t alone and have the same k share their draws, and none of them notices.
//
// Two results of the verb are not here: the best load, which is a property of many t, and log E Z,
// which is not the mean of what batches say.
//
// `beta = {..., unit = "critical"}` is t: the critical scale is β_c = √(2 log n)/σ, where the
// random energy model freezes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables:
///
///   largest_weight, log_largest_weight, participation, rest_weight, entropy, mean_score,
///   log_partition, log_partition_deviation, log_partition_bound, largest_weight_bound,
///   retrieval_signal                      as in experiments/condense.hpp
///   ordered_weight over rank              w_(1) ≥ w_(2) ≥ ... ≥ w_(8)
///   and with a planted key planted_weight, log_planted_weight, median_planted_weight and
///   largest_noise_weight.
///
/// Predictions, for scores of fixed deviation: participation, entropy, mean_score, log_partition
/// and its deviation exactly at this n (theory/finite_scores.hpp), retrieval_signal for n → ∞; and
/// critical_t = 1, critical_beta = β_c. The mean of the largest weight takes a quadrature of tens
/// of milliseconds and is left to `dewpoint predict condense`.
///
///   Properties  (1) replica 0 is experiments::condense at the same seed and top, bit for bit.
///               (2) a point's values do not depend on the tile.
[[nodiscard]] const Experiment& condense_experiment();

}  // namespace dewpoint::studies
