// Attention as the heat equation run backwards: how it sharpens the density of its keys.
//
// Keys have a density f with respect to the uniform law on S^{d−1}, values are the keys, and n is
// infinite. The output of a query is then a gradient,
//
//     ATT(q) = (1/β) ∇_q log ∫ e^{β⟨q,k⟩} f(k) dk,
//
// along the sphere that of log f smoothed by the kernel e^{β⟨q,k⟩}. For large β
//
//     ATT = (A_d(β) − Δf/(2β²f)) q + (1/β) ∇log f + (1/(2β²)) ∇(Δf/f) + O(β^{−3}).
//
// Tokens that all attend to all and are normalised move by (1/β)∇log f per layer, so their density
// obeys ∂f/∂s = −Δf with the step s = 1/β: heat flowing backwards. The kernel itself smooths as
// heat does in the time 1/(2β); a layer moves tokens twice as far as undoing that would need. High
// harmonics are not amplified without bound, because the kernel has erased them first.
//
// At finite n the drift, of order 1/β, drowns in the fluctuations across the query at
//
//     β_heat ∝ n^{2/(d+1)} ≪ β* ∝ n^{2/(d−1)}:
//
// between the two, the pull along the query is deterministic and what happens across it is noise.
//
// For keys of the von Mises-Fisher law with centre μ and concentration κ, everything is explicit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::theory {

// ---- the output for von Mises-Fisher keys ---------------------------------------------------

/// Keys of density e^{κ⟨μ,k⟩}/M_d(κ) and a query at the angle φ from μ.
struct VonMisesFisherQuery {
  int dimension;               // d
  double inverse_temperature;  // β
  double concentration;        // κ
  double angle;                // φ in [0, π]
};

/// The output in the plane of q and μ; it has no other part.
struct PopulationOutput {
  double along;   // ⟨q, ATT⟩
  double across;  // the part orthogonal to q, positive towards μ
};

/// ATT = A_d(ρ)(βq + κμ)/ρ with ρ = |βq + κμ|: weights and density are tilts of the same family.
///
///   Domain      2 ≤ d ≤ kMostSphereDimension, β ≥ 0, κ ≥ 0, β + κ ≤ 1e12.
///   Accuracy    relative error 2 kMomentRatioError, times (β + κ)/ρ where q and μ nearly cancel.
///   Properties  (1) the mean of k under e^{β⟨q,k⟩} f(k).
///               (2) κ = 0: A_d(β) along, nothing across.
///   Reference   [Mardia and Jupp 2000, section 9.3].
[[nodiscard]] PopulationOutput population_output(const VonMisesFisherQuery& query);

/// The expansion above for these keys, where ∇log f = κ sin φ towards μ and
/// Δf/f = κ² sin²φ − (d − 1)κ cos φ, cut after β^{−order}.
///
///   Domain      as above with β > 0; order 1 or 2.
///   Accuracy    a law with an error of O(β^{−order−1}).
///   Properties  (1) the error times β^{order+1} tends to a constant.
///               (2) at κ = 2, φ = 0.7, four printed coefficients of β^{−2} along q.
///   Reference   derived here.
[[nodiscard]] PopulationOutput population_output_expansion(const VonMisesFisherQuery& query,
                                                           int order);

// ---- growth of harmonics --------------------------------------------------------------------

/// A harmonic of degree ℓ of the density, and the layer that acts on it:
/// x' = normalise((1 − η)x + η ATT), η = 1 being attention without a skip connection.
struct HarmonicStep {
  int dimension;               // d
  int degree;                  // ℓ, 1 to kMostHarmonicDegree
  double inverse_temperature;  // β > 0
  double share = 1.0;          // η in (0, 1]
};

/// G_ℓ, the factor per layer of a small harmonic on top of the uniform density, exactly:
///
///     G_ℓ = 1 + η ℓ(ℓ + d − 2) r_ℓ(β)/(β (1 − η + η A_d(β))).
///
///   Domain      as HarmonicStep; d as harmonic_multiplier, β ≤ 1e12.
///   Accuracy    relative error (ℓ + 4) kMomentRatioError.
///   Properties  (1) what one layer does to particles on the circle, 6 printed digits.
///               (2) never below 1: no harmonic decays.
///               (3) ℓ = 1, η = 1: 1 + (d − 1)/β.
///   Reference   derived here.
[[nodiscard]] double harmonic_growth(const HarmonicStep& step);

/// With x = ℓ(ℓ + d − 2)/β, e^{ηx}: the backward heat equation run for the time η/β.
///
///   Accuracy    a law for x ≪ 1: relative error O(x²) + O(d²/β · x).
///   Properties  (1) (G − e^{ηx})/x² is bounded as β → ∞.
///   Reference   derived here.
[[nodiscard]] double heat_growth_law(const HarmonicStep& step);

/// 1 + ηx e^{−x/2}: the same after the kernel's own smoothing. At η = 1 at most 1 + 2/e = 1.736, at
/// x = 2.
///
///   Accuracy    a law for β ≫ d, any x: error O(d²/β).
///   Properties  (1) (G − law)·β is bounded as β → ∞ with x fixed.
///               (2) its largest value.
///   Reference   derived here.
[[nodiscard]] double regularised_growth_law(const HarmonicStep& step);

/// e^{x/2}, the growth if a layer undid the smoothing of its own kernel. It is a natural guess and
/// wrong: attention moves twice as far. Kept to be shown beside the truth.
///
///   Properties  (1) at β = 50, ℓ = 5, d = 2: 1.284, where G = 1.392437.
///   Reference   none; see heat_growth_law.
[[nodiscard]] double deconvolution_growth(const HarmonicStep& step);

// ---- the second threshold -------------------------------------------------------------------

/// Where the drift of a query is looked for.
struct DriftQuery {
  int dimension;             // d
  double log_n;              // log n ≥ 0
  double log_density = 0.0;  // log f(q)
  double gradient = 1.0;     // |∇log f(q)| > 0
};

/// log β_heat, above which fluctuations across the query exceed the drift, a = (d − 1)/2:
///
///     β_heat = (2^{a+1} c_d Γ(a+1) n f |∇log f|²/(d − 1))^{1/(a+1)}.
///
///   Domain      2 ≤ d ≤ 512, as DriftQuery.
///   Accuracy    1e-14 (1 + log n).
///   Properties  (1) d = 3: √(n f |∇log f|²).
///               (2) grows as n^{2/(d+1)}.
///   Reference   derived here.
[[nodiscard]] double log_heat_scale(const DriftQuery& query);

/// noise²/signal² = E|ATT_⊥ − drift|²/|drift|² → (β/β_heat)^{a+1}.
///
///   Domain      as above, β > 0.
///   Accuracy    a law with a relative error of O(d²/β).
///   Properties  (1) 1 at β_heat; at d = 5, 0.027 and 27 at 0.3 and 3 times it.
///               (2) tends to the ratio of the exact variance and the exact drift of von
///                   Mises-Fisher keys.
///   Reference   derived here.
[[nodiscard]] double noise_to_signal_law(const DriftQuery& query, double inverse_temperature);

}  // namespace dewpoint::theory
