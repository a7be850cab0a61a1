// Softmax over keys on the sphere far beyond its critical scale: one key, and its near ties.
//
// In units of β* (critical_sphere.hpp) the gaps are Γ_k^{1/a}, a = (d − 1)/2 and Γ_k the points of
// a Poisson process of rate 1, and θ = β/β* is large. The nearest key takes all: with unit keys as
// values
//
//     β*(1 − ⟨q, ATT⟩) → Γ_1^{1/a},        √β* ATT_⊥ → √2 Γ_1^{1/(2a)} ω,
//
// ω uniform on the directions across q. What it leaves, 1 − w_1, is typically exponentially small,
//
//     −log(1 − w_1)/θ ⇒ Δ = Γ_2^{1/a} − Γ_1^{1/a},
//
// yet its mean falls only as 1/θ, because Δ has a positive density at 0: of many queries, a share
// of order 1/θ has two keys that nearly tie, and those carry the mean. On the circle (d = 2) that
// density diverges logarithmically, from pairs of keys on either side of the query and close to it.
//
// a = d'/2 belongs to keys on a submanifold of dimension d' in the same way (key_scales.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::theory {

/// lim E[1 − w_1], to leading order in 1/θ,
///
///     (log 2) a Γ(2 − 1/a)/θ for a ≥ 1,     (log 2/(4θ))(log θ + (5/2) log 2 − 2γ_E) for a = 1/2.
///
///   Domain      a = 1/2 or 1 ≤ a ≤ 256; θ > 0, and θ ≥ 1 for a = 1/2.
///   Accuracy    a law with an error of O(θ^{−2}), and O(θ^{−3/2}) for a = 1/2, where three keys
///               tie.
///   Properties  (1) its distance to critical_sphere_largest_weight falls at that rate.
///               (2) equals the mean over draws of Γ_k.
///               (3) a = 1: log 2/θ.
///   Reference   derived here.
[[nodiscard]] double condensed_remainder(double theta, double exponent);

/// lim P(1 − w_1 > ε) for the two nearest keys alone, to leading order in x = log((1−ε)/ε)/θ,
///
///     a Γ(2 − 1/a) x for a ≥ 1,        (x/4)(1 + log 4 − log x − 2γ_E) for a = 1/2.
///
///   Domain      0 < ε < 1/2; a and θ as above, and x ≤ 1 for a = 1/2.
///   Accuracy    a law with an error of O(x²), and O(x^{3/2}) for a = 1/2.
///   Properties  (1) its integral over ε from 0 to 1/2 is condensed_remainder.
///               (2) tends to tie_probability(x).
///               (3) equals the share of draws of Γ_k.
///   Reference   derived here.
[[nodiscard]] double remainder_probability(double theta, double exponent, double remainder);

/// P(Δ ≤ x), the law of the distance between the two nearest keys in units of 1/β*,
///
///     ∫_0^∞ e^{−g} (1 − exp(g − (g^{1/a} + x)^a)) dg.
///
/// The weight of all but the nearest key is typically e^{−θΔ}.
///
///   Domain      1/2 ≤ a ≤ 256, x ≥ 0.
///   Accuracy    relative error kTieProbabilityError.
///   Properties  (1) a = 1: 1 − e^{−x}. a = 1/2: 1 − √x K_1(√x).
///               (2) increases from 0 to 1.
///               (3) equals the share of draws of Γ_1 and Γ_2.
///   Reference   derived here.
[[nodiscard]] double tie_probability(double exponent, double distance);

inline constexpr double kTieProbabilityError = 1e-11;

/// The limit law of β*(1 − ⟨q, ATT⟩) as θ → ∞, that of the nearest key,
///
///     P(Γ_1^{1/a} ≤ u) = 1 − e^{−u^a},    of mean Γ(1 + 1/a).
///
/// β*|ATT_⊥|² tends to twice the same variable.
///
///   Domain      a ≥ 1/2, u ≥ 0.
///   Accuracy    a few units in the last place.
///   Properties  (1) the mean is the integral of 1 − cdf, and the limit of the bias of
///                   critical_sphere_means; half its scatter lacks a/θ of that.
///   Reference   [Scaling limits of long-context transformers, arXiv:2605.08505] up to constants.
[[nodiscard]] double condensed_gap_cdf(double exponent, double scaled_gap);
[[nodiscard]] double condensed_gap_mean(double exponent);

}  // namespace dewpoint::theory
