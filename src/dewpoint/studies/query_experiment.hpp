// "query": attention of one query over n uniform keys on the sphere S^{d−1}, n up to 1e300.
//
// The experiment of `dewpoint query point` at one d, one n and one β. A replica is a batch of
// `draws` sets of keys; what it gives are means over its draws, so that
// replica 0 is what the verb shows at the study's seed and the same k. Variances of a batch are
// unbiased; its skewness has a bias of O(1/draws), which more replicas do not remove.
//
// The canonical temperature is β. It may be asked for as θ = β/β*, β* = (c_d n)^{2/(d−1)}, or as a
// multiple of β_edge = n F′(t_n), and in a study file as beta with a unit:
//
//     beta = {..., unit = "star"}        θ
//     beta = {..., unit = "edge"}        the multiple of β_edge
//     beta = {..., unit = "critical"}    the same: β_edge is the critical scale in any dimension,
//                                        while β* is larger than anything of interest at large d
//
// k, the number of keys drawn one by one, is 64 (more for more `ranks`), or n if that is less; with
// a bound it is chosen for each point alone, with pilot draws of seed 1. It is part of the
// canonical point as `top`. Points that differ in β alone share their draws, and at fixed k none of
// them notices.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: participation, entropy, remainder, bias, scaled_bias, scatter, scaled_scatter,
/// expected_scatter, radial_variance, across_variance, skewness, virial_residual, rest_weight,
/// log_partition_bound, largest_weight_bound and exchange, as in experiments/query.hpp, and weight
/// over rank, the ordered weights. What is scaled is in units of 1/β*. The skewness is unknown
/// (NaN) where all draws of a batch agree to rounding, at small β and huge n.
///
/// Predictions: participation, entropy, bias, scatter and across_variance exactly at this n
/// (theory/finite_scores.hpp), radial_variance and skewness of the central limit theorem where
/// n_eff keys are many enough for it; and critical_beta = β_edge, critical_theta, critical_edge
/// = 1. The mean of the largest weight takes a quadrature of ten milliseconds and is left to
/// `dewpoint predict query`.
///
///   Properties  (1) replica 0 is experiments::query at the same seed and top, bit for bit.
///               (2) a point's values do not depend on the tile.
[[nodiscard]] const Experiment& query_experiment();

}  // namespace dewpoint::studies
