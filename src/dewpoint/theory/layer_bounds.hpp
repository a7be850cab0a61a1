// What one attention layer must do to tokens that are almost a simplex, at any finite length.
//
// The correlations G_ij of n tokens lie between ρ_1 and ρ_2 for i ≠ j and their squared norms
// between q_1 and q_2; keys, queries and values are the identity. A_ij are the weights,
// r_i = ‖x_i‖, y_i = x_i/r_i, and κ_i = α r_i is the residual as in simplex.hpp. Per row,
//
//     A_ii                 the weight of the token itself,
//     S_i = Σ_j A_ij²      the inverse number of tokens a row attends to.
//
// The bounds come in two kinds: some take measured weights and hold for every cloud, some take only
// ρ_1, ρ_2, β and n and are the theorems of [Critical attention scaling in long-context
// transformers] with the o(1) written out. Where the constant printed there is too large or can be
// made smaller, both are here; the printed one is called published. On an exact simplex
// (ρ_1 = ρ_2) the layer itself is known: simplex.hpp, simplex_gradient.hpp.
//
// Accuracy is that of real arithmetic: a bound compared with measured numbers needs room for the
// rounding of both, kBoundRounding of the bound for measured weights that add up to 1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::theory {

/// Bounds are sums of a few terms that are not negative; the weights and correlations they are
/// compared with have been summed over some hundred tokens and coordinates.
inline constexpr double kBoundRounding = 1e-13;

// ---- weights --------------------------------------------------------------------------------

/// Context length, temperature and the range of correlations.
struct AlmostSimplex {
  double log_n;
  double inverse_temperature;   // β
  double smallest_correlation;  // ρ_1
  double largest_correlation;   // ρ_2
};

/// What the weights of a row cannot exceed or fall below.
struct WeightBounds {
  double smallest_self;   // 1/(1 + (n − 1) e^{−β(1−ρ_2)}) ≤ A_ii
  double largest_self;    // A_ii ≤ 1/(1 + (n − 1) e^{−β(1−ρ_1)})
  double largest_others;  // 1 − A_ii ≤ 1 − smallest_self, to full relative accuracy
  double largest_other;   // A_ij ≤ e^{βρ_2}/(e^β + e^{βρ_2} + (n − 2) e^{βρ_1}), j ≠ i
  double largest_overlap;  // S_i, see below
};

/// Bounds on a row of weights from the range of correlations alone. With A and m the largest self
/// and other weight, S_i ≤ A_ii² + (1 − A_ii) m is convex in A_ii, and no weight exceeds A_ii:
///
///     S_i ≤ min{ A, max{ m, A² + (1 − A) m } }.
///
///   Domain      log n ≥ log 2, β ≥ 0, 0 ≤ ρ_1 ≤ ρ_2 < 1.
///   Accuracy    as simplex_weights.
///   Properties  (1) hold for every cloud.
///               (2) ρ_1 = ρ_2: self and other weights are those of simplex_weights.
///               (3) n → ∞ with γ < 1/(1 − ρ_1): largest_self and largest_overlap → 0.
///               (4) n → ∞ with γ > 1/(1 − ρ_2): largest_others → 0.
///   Reference   [Critical attention scaling in long-context transformers, Lemma A.1].
[[nodiscard]] WeightBounds weight_bounds(const AlmostSimplex& tokens);

/// S_i of a row from its self weight and its largest other weight, A_ii² + (1 − A_ii) max A_ij.
///
///   Domain      both in [0, 1].
///   Accuracy    rounding.
///   Properties  (1) not below S_i.
///   Reference   derived here.
[[nodiscard]] double overlap_bound(double self, double largest_other);

// ---- correlations after a layer -------------------------------------------------------------

/// Upper bound of ‖x'_i‖²,
///
///     N_i = κ_i² + 2κ_i (ρ_2 + (1 − ρ_2) A_ii) + ρ_2 + (1 − ρ_2) S_i.
///
///   Domain      ρ_2 ≤ 1, κ_i ≥ 0, weights measured or bounded.
///   Accuracy    rounding.
///   Properties  (1) not below ‖x'_i‖².
///               (2) on the simplex it is ‖x'_i‖² itself.
///   Reference   [Critical attention scaling in long-context transformers, (38) and (47)].
[[nodiscard]] double output_norm_bound(double largest_correlation, double scaled_residual,
                                       double self, double overlap);

/// Lower bound of ⟨y'_i, y'_j⟩ from the norms or norm bounds N_i, N_j,
///
///     ρ_1 (1 + κ_i)(1 + κ_j)/√(N_i N_j).
///
///   Domain      ρ_1 ≥ 0, κ ≥ 0, N > 0. For every temperature.
///   Accuracy    rounding.
///   Properties  (1) not above ⟨y'_i, y'_j⟩.
///   Reference   [Critical attention scaling in long-context transformers, (46)].
[[nodiscard]] double output_correlation_bound(double smallest_correlation, double first_residual,
                                              double first_norm, double second_residual,
                                              double second_norm);

/// The same for all pairs, from the range of correlations and the largest κ = α√q_2 alone: the
/// theorem of collapse at finite n. The ratio (1 + κ)²/N falls with κ since S_i ≤ A_ii.
///
///   Domain      as weight_bounds, κ ≥ 0.
///   Accuracy    as weight_bounds.
///   Properties  (1) not above any ⟨y'_i, y'_j⟩.
///               (2) n → ∞ with γ < 1/(1 − ρ_1): tends to ρ_1 + collapse_gain.
///   Reference   [Critical attention scaling in long-context transformers, Theorem 2.3].
[[nodiscard]] double collapse_bound(const AlmostSimplex& tokens, double largest_residual);

/// How far correlations rise at least in one subcritical layer as n → ∞,
///
///     ε = ρ_1 [(1 + δ)² − 1] = ρ_1 δ(2 + δ) = ρ_1 (1 − ρ_2)(1 + 2κ)/(κ² + 2κρ_2 + ρ_2),
///     1 + δ = (1 + κ)/√(κ² + 2κρ_2 + ρ_2),    κ = α√q_2.
///
///   Domain      0 ≤ ρ_1 ≤ ρ_2, 0 < ρ_2 < 1, κ ≥ 0.
///   Accuracy    rounding.
///   Properties  (1) the two forms agree.
///               (2) ρ_1 + ε ≤ 1, with equality at ρ_1 = ρ_2, κ = 0: the simplex collapses fully.
///               (3) falls with κ.
///   Reference   [Critical attention scaling in long-context transformers, Theorem 2.3], with the
///               constant that its proof gives.
[[nodiscard]] double collapse_gain(double smallest_correlation, double largest_correlation,
                                   double largest_residual);

/// The constant as printed there, ε = ρ_1 (1 + 2δ) δ. It exceeds the one above by ρ_1 δ(δ − 1).
///
///   Domain      as collapse_gain.
///   Accuracy    rounding.
///   Properties  (1) larger than collapse_gain exactly when δ > 1; without residual, ρ_2 < 1/4.
///               (2) ρ = 0.1 without residual: ρ + ε = 1.2513, more than any correlation can be.
///   Reference   [Critical attention scaling in long-context transformers, after (49)].
[[nodiscard]] double published_collapse_gain(double smallest_correlation,
                                             double largest_correlation, double largest_residual);

/// How far attention moves a token: ‖Σ_j A_ij y_j − y_i‖ ≤ (1 − A_ii) √(2(1 − ρ_1)).
///
///   Domain      ρ_1 in [−1, 1], others = 1 − A_ii in [0, 1], measured or largest_others.
///   Accuracy    rounding.
///   Properties  (1) not below the displacement.
///   Reference   [Critical attention scaling in long-context transformers, (11)].
[[nodiscard]] double displacement_bound(double others, double smallest_correlation);

// ---- gradients ------------------------------------------------------------------------------

/// Lower bound of η = ‖J‖_F²/(nd) (simplex_gradient.hpp) from the mean over tokens of the squared
/// gain (A_ii/r_i + α)²,
///
///     η ≥ (1 − 1/d) mean_i (A_ii/r_i + α)².
///
///   Domain      d ≥ 1, α ≥ 0. For every temperature and every cloud.
///   Accuracy    rounding.
///   Properties  (1) not above η.
///               (2) supercritical: with smallest_self of weight_bounds and r² ≤ q_2 it tends to
///                   (1 − 1/d)/q_2 for α = 0.
///   Reference   [Critical attention scaling in long-context transformers, (23)].
[[nodiscard]] double gradient_lower_bound(double dimension, double mean_squared_gain);

/// Means over rows of attention weights.
struct RowMeans {
  double self;            // mean_i A_ii
  double squared_self;    // mean_i A_ii²
  double squared_others;  // mean_i Σ_{j≠i} A_ij²
};

/// Upper bound of η without residual,
///
///     q_1 d η ≤ mean_i (A_ii √(d−1) + β(1−ρ_1))²
///             + (√(d−1) + β √(2(1−ρ_1)(1−ρ_1²)))² mean_i Σ_{j≠i} A_ij².
///
///   Domain      d ≥ 1, β ≥ 0, 0 ≤ ρ_1 < 1, q_1 > 0.
///   Accuracy    rounding.
///   Properties  (1) not below η.
///               (2) not above published_gradient_bound.
///               (3) weights → 0: β²(1 − ρ_1)²/(q_1 d).
///   Reference   derived here: a covariance has norm at most its trace, 1 − ‖m_i‖² ≤ 1 − ρ_1.
[[nodiscard]] double gradient_upper_bound(double dimension, double inverse_temperature,
                                          double smallest_correlation, double smallest_squared_norm,
                                          const RowMeans& means);

/// The bound of the paper before its limit is taken,
///
///     q_1 d η ≤ 4β² + 4β(2β + √d) mean_i A_ii + (2β + √d)² mean_i Σ_j A_ij².
///
///   Domain      as gradient_upper_bound.
///   Accuracy    rounding.
///   Properties  (1) not below η.
///               (2) weights → 0: 4β²/(q_1 d), the statement (22).
///   Reference   [Critical attention scaling in long-context transformers, (76)], with the
///               prefactor 1/‖x_i‖ in place of its ‖x_i‖^{−1/2}.
[[nodiscard]] double published_gradient_bound(double dimension, double inverse_temperature,
                                              double smallest_squared_norm, const RowMeans& means);

}  // namespace dewpoint::theory
