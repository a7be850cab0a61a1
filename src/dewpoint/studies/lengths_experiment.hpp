// "lengths": one layer at contexts of many lengths under the multipliers that models use.
//
// Every law is made critical at n0 tokens and then follows its own formula m(n)
// (scaling/schedule.hpp):
//
//     β(n) = β_c(n0) m(n)/m(n0).
//
// β_c is theory's, not a fit to the cloud that is measured:
//
//     simplex, equicorrelated   log(n − 1)/(1 − ρ), the dew point of the exact simplex
//     sphere                    the root of (n − 1) E e^{β(G − 1)} = 1, even odds on average
//                               (theory::sphere_critical_inverse_temperature, of which
//                               (d − 1)√(N(N − 1)), N = n^{2/(d−1)}, is the simple form)
//
// so that phase, τ = β(n)/β_c(n), is 1 at n0 for every law, and what a law does to longer contexts
// is what it does to τ. Correlations that fluctuate, as those of equicorrelated tokens do in finite
// dimension, condense somewhat later than the simplex: measured weights at τ = 1 are below 1/2
// there.
//
// `law` is a name of scaling::named_schedule, with its numbers where it has any ("llama-4:n0=8192",
// "power:d=128"; "power" alone takes the dimension of the tokens), or "critical": β_c(n) itself,
// the law that keeps τ = 1.
//
// A replica is one cloud, the same for all laws. Up to kAllRowsTokens every query is measured; from
// there on `rows` of them, and from experiments::kStreamedTokens on without the cloud in memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: contraction, mean_cosine, entropy, normalised_entropy (over log n), largest_weight,
/// participation, self_mass, effective_rank of the outputs, all but the last as in
/// experiments/phase_cell.hpp; beta and phase, which are exact; and jacobian_norm where `eta` asks
/// for it, up to `eta-most` tokens.
///
/// The effective rank is that of `rows` outputs at every length, so that its bias, −d/(2 rows) of
/// its logarithm, is the same at all of them.
///
/// Predictions: contraction, entropy, normalised_entropy, largest_weight, participation, self_mass
/// and jacobian_norm of the regular simplex at the same β: exact for simplex tokens, the limit
/// d → ∞ for equicorrelated ones, unknown for the sphere.
///
///   Properties  (1) phase is 1 at n = n0 for every law, and at every n for "critical".
///               (2) equals experiments::phase_point at β(n).
///               (3) streamed and in memory, a point is the same to the accuracy of float32.
[[nodiscard]] const Experiment& lengths_experiment();

}  // namespace dewpoint::studies
