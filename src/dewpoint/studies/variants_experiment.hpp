// "variants": where a layer of any form condenses, as the number of keys grows.
//
// A replica is one cloud of tokens, the same for all forms; its last `rows` queries are asked for
// their dew point (experiments/variant_dew.hpp), the least β at which the largest weight is 1/2.
// The form is said by mask, attention, projections and rope, as everywhere
// (attention/variants/layer_form.hpp). A capital letter in the place of one number of a name, as
// these names are written in the tables ("window:W", "top:K", "sink:B"), stands for the parameter
// `size`, so that a width or a logit may be an axis of numbers.
//
// Theory beside the measurement. With Q = K = I the best key of a query is the query itself, with
// v keys in view and softmax
//
//     simplex           log(v − 1)/(1 − ρ), exactly; with top:K, K in place of v
//     equicorrelated    theory::annealed_critical_scale: correlations fluctuate, by √(1/d)
//     sphere            theory::sphere_critical_inverse_temperature
//
// and beside a sink of logit B the root of theory::sink_even_beta for the simplex that has this dew
// point without one: exact on the simplex. With random orthogonal matrices, H heads, on the sphere
// no key is special: a score is ‖q‖ ≈ H^{−1/2} times one coordinate of a random direction, and keys
// condense like random energies, half of the queries below
//
//     1.657 √H β_n ≈ 1.657 √(2 log v)/σ,      σ² = 1/(dH) = d_h/d²,
//
// with β_n = theory::tilted_mean_beta, which has the finite-size corrections of the edge, and
// theory::kMedianDewLoad: some 4 % too high at a thousand to a hundred thousand keys. Rotations of
// positions do not change that. All else is not known.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: those of experiments::DewSample, by their names. Prediction: dew_point.
///
///   Properties  (1) equals experiments::sample_variant_dew.
///               (2) "window:W" of size 256 is the point "window:256".
///               (3) exact theory where tokens are a simplex.
[[nodiscard]] const Experiment& variants_experiment();

}  // namespace dewpoint::studies
