// "output": what one query reads from n random keys, Σ_j w_j k_j, for any law of keys as vectors.
//
// The experiment of `dewpoint query output` with values equal to keys, at one law, one n and one β.
// A replica is a batch of `draws` sets of keys; what it gives are means over its draws, so that
// replica 0 is what the verb shows at the study's seed. Variances of a batch are unbiased. Vectors
// and matrices of the verb (mean, bias, covariance) are left out.
//
// The canonical temperature is β. It may be asked for as a multiple of
// β_edge, the hazard of the scores at their upper 1/n quantile, and in a study file as
// `beta = {..., unit = "critical"}` or unit = "edge". Laws whose scores have no known distribution,
// a thickened subsphere, take β alone. Points that differ in β alone share their keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: gap, parallel_variance, tangential_variance, tangential_square, participation,
/// largest_weight and entropy, as in experiments/key_output.hpp.
///
/// Predictions: gap, participation and entropy exactly at this n for every law whose scores have a
/// known distribution (theory/finite_scores.hpp), for uniform keys also tangential_variance and
/// tangential_square; parallel_variance of the central limit theorem for uniform keys, where n_eff
/// keys are many enough for it; and critical_beta = β_edge, critical_edge = 1.
///
///   Properties  (1) replica 0 is experiments::key_output at the same seed, bit for bit.
///               (2) a point's values do not depend on the tile.
[[nodiscard]] const Experiment& output_experiment();

}  // namespace dewpoint::studies
