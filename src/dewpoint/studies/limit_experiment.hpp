// "limit": the limit law of attention weights at criticality, with no key and no n left in it.
//
// For keys on the sphere, or any scores with P(gap ≤ t) ~ c t^a, at β = θβ* (theory/
// critical_sphere.hpp). A replica is a batch of `draws` draws of the law; what it gives are means
// over its draws, which are unbiased. The first `top` points of the Poisson process are drawn one
// by one, the sum of the others from its Gaussian law; participation counts the squares of the
// former alone, which misses the share of weight beyond them times a weight smaller than any of
// theirs.
//
// The canonical parameters are θ and a; d stands for a = (d − 1)/2. critical_theta is a, the limit
// of β_edge/β*.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: largest_weight, participation, and weight over rank, the ordered weights.
/// Predictions: participation for a ≤ 10, and critical_theta. The mean of the largest weight takes
/// a quadrature of tens of milliseconds and is left to `dewpoint predict query`.
///
///   Properties  (1) means over the draws of experiments::critical_limit_weights, which for replica
///                   0 have the study's seed.
[[nodiscard]] const Experiment& limit_experiment();

}  // namespace dewpoint::studies
