// "heat": how far a query drifts up the gradient of the log density of its keys, and when the drift
// drowns in noise.
//
// The drift of `dewpoint query heat` at one β: von Mises-Fisher keys of concentration kappa whose
// centre is at an angle from the query. A replica is a batch of `draws` sets of keys; what it gives
// are means over its draws, so that replica 0 is what the verb shows at the study's seed.
// noise_squared is a variance over the draws of a batch and unbiased.
//
// The canonical temperature is β. `beta = {..., unit = "critical"}` is the parameter `heat`, β in
// units of β_heat ∝ n^{2/(d+1)}, where noise and drift are equal. Points that differ in β alone
// share their keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/experiments/heat_question.hpp"
#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/theory/backward_heat.hpp"

namespace dewpoint::studies {

/// Where the query is, for the laws of theory/backward_heat.hpp.
[[nodiscard]] theory::DriftQuery drift_query(const experiments::HeatQuestion& question);

/// Complete: β for a multiple of β_heat. Throws Error{bad_value} for a β above 1e11.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] experiments::HeatQuestion resolved(experiments::HeatQuestion question);

/// Observables: drift, relative_drift, noise_squared, noise_to_signal and gap, as
/// experiments/backward_heat.hpp has them (drift is along_gradient).
///
/// Predictions: drift, relative_drift and gap of infinitely many keys, noise_to_signal of the law
/// (β/β_heat)^{(d+1)/2} up to β*, noise_squared from it; and critical_beta = β_heat, critical_heat
/// = 1.
///
///   Properties  (1) replica 0 is experiments::heat_drift at the same seed, bit for bit.
///               (2) a point's values do not depend on the tile.
[[nodiscard]] const Experiment& heat_experiment();

}  // namespace dewpoint::studies
