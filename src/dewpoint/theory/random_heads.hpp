// Many layers with random queries, keys and values: the random energy model, one layer at a time.
//
// n tokens y_i = √ρ u + √(1−ρ) ξ_i share a direction u; the ξ_i are uniform on a sphere of
// dimension d. H heads have independent uniform orthogonal matrices of d/H columns each, new ones
// in each layer. A score ⟨y_j W_q, y_i W_k⟩ is then ⟨z_j, y_i⟩ with a vector z_j that knows nothing
// of y_i, of mean square length 1/H: scores of one query are independent energies of variance
//
//     σ² = (d/H)/d² = 1/(H d),
//
// and with b = βσ, g = 1 − ρ a row of weights is that of the model at inverse temperature √v,
// v = b² g. It freezes at v = 2 log n. Two numbers of it say what a layer does:
//
//     Y(v) = E Σ_i p_ji²,      a(v) = E Σ_i p_ji ⟨z_j, ξ_i⟩/‖z_j‖,
//
// of which Y keeps noise of single keys in the output and a the part of ξ along the query: without
// freezing Y = e^v/n and a² = v/d. Rows of two queries share Y(ρv), because ρ of v is the score of
// a key for u; above freezing, where a query takes its best key, v stands for 2 log n here.
//
// The part along the query is linear in it, S z_j with the covariance S of the ξ_i, and the next
// layer sees S z_j in place of ξ_j. Even uniform tokens have S = 1/d only for n ≫ d; what counts is
// the anisotropy k = d tr S²/(tr S)², 1 + d/n at the start. The linear part multiplies spectra,
// S (A S Aᵀ) S with a free rotation A, and the noise of single keys keeps them: with the share x of
// the linear part and spectra of the Marchenko-Pastur form, c = k − 1,
//
//     k' = x² [(1 + 6c + 6c² + c³)/(1 + c)² + c] + 2x(1 − x) (1 + 3c + c²)/(1 + c) + (1 − x)² k.
//
// So an output has square length q' and cosine ρ' with another, where N = Y(v) − Y(ρv) − g a² d/n
// is the noise less what the linear part has of it,
//
//     o   = N (1 − a²) + g a² k (1 − Y(ρv)),
//     q'  = ρ + g [Y(ρv) + (1 − Y(ρv)) ρ a² k + o],        1 − ρ' = g o/q'.
//
// What follows from it:
//   - the common part of the tokens passes a layer unchanged and the rest shrinks by Y + a²: tokens
//     collapse with depth at every β, faster than any power in the end (g' ≈ b² g³ k/d);
//   - from tokens without a common direction (ρ = 0) one layer makes cosines 1/(e^{b²} + n b²/d): a
//     collapse in one layer for b ≪ 1 and n b² ≪ d only, far from freezing;
//   - later layers multiply ρ by 1/(Y + a²), so that collapse takes log n/log(1/(Y + a²)) layers:
//     a number of order 1 below freezing; above it Y → 1 − 1/t, and the depth grows as t log n.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace dewpoint::theory {

/// σ = 1/√(H d): the standard deviation of a score.
///
///   Domain      d ≥ 1, H ≥ 1.
///   Properties  (1) is that of random orthogonal matrices on uniform unit tokens.
[[nodiscard]] double random_head_deviation(double d, double heads);

/// What all layers share.
struct RandomHeadStack {
  double log_n;
  int dimension;            // d
  double scaled_deviation;  // b = βσ
};

/// The tokens between two layers, and what is left by then of a random change of the first ones.
struct RandomHeadState {
  double squared_norm;  // q
  double log_gap;       // log(1 − ρ)
  double anisotropy;    // k
  /// Of a change of the tokens by independent random vectors of mean square d: mean square of the
  /// part that all tokens now share, and of the rest, over d. Their sum is η end to end.
  double common_change;
  double own_change;

  [[nodiscard]] double gap() const;  // 1 − ρ; 0 when below the range of a double
  [[nodiscard]] double end_to_end() const { return common_change + own_change; }
};

/// The state of n tokens before the first layer, k = 1 + d/n.
///
///   Domain      q > 0, 0 ≤ ρ < 1.
[[nodiscard]] RandomHeadState random_head_state(const RandomHeadStack& stack, double squared_norm,
                                                double correlation);

/// What the weights of one query are like: means over the model at inverse temperature √v, with the
/// scores of a sphere in place of Gaussian ones.
struct RandomHeadWeights {
  double participation;  // Y
  double alignment;      // a
  /// K = E[Σp² − 2 Σp³ + (Σp²)²]: squares of the weights around their mean, Y far below freezing
  /// and (1 − 1/t)/(3t) above. By Gaussian integration by parts (2Y − 2Y₃ + dY/dv)/3.
  double spread;
};

/// Those numbers at v = b² g.
///
///   Domain      log 2 ≤ log n ≤ 690, 3 ≤ d ≤ SphereGap::kMostDimension, 0 ≤ v ≤ 400 log n; stated
///   for one head, where
///               ‖z‖ = 1.
///   Accuracy    Y and a relative error 1e-9 (kSmallVariance: for smaller v the first terms of e^v,
///               off by v²/n); K: O(1/d).
///   Properties  (1) v → 0: 1/n, 0, 1/n.
///               (2) d → ∞: random_energy_means.
///               (3) K above freezing: that of the Poisson-Dirichlet weights.
[[nodiscard]] RandomHeadWeights random_head_weights(const RandomHeadStack& stack, double v);

/// k' of k and the share x of the linear part.
///
///   Properties  (1) k' = k for x = 0; 1 stays 1.
[[nodiscard]] double anisotropy_step(double anisotropy, double linear_share);

/// One layer: the formulas above, and for a change of the tokens, of which the common part moves no
/// weight as far as it moves keys,
///
///     common' = [common (1 + b² g² h) + own (Y(ρv) − 1/n)]/q,
///     own'    = [own (Y(v) − Y(ρv)) + b² g² ((1 − a²)(K − 1/n) + h) own + b² g (1 − a²) K own
///                + b² g² (1 − a²)(K − 1/n) common]/q,         h = (1 − Y)² k/d:
///
/// values, queries (at which ‖Cov‖² of the keys stands, g² ((1 − a²)(K − 1/n) + h)) and keys. Keys
/// that carry weight lie along the query, which leaves 1 − a² of what they are about their mean.
///
///   Domain      as random_head_weights; any state of random_head_state or of a previous layer.
///   Accuracy    a law: the limit of large n and d, 2 log n ≪ d. One head. With several the
///               lengths of z_j differ, by √(2H/d) of their square, queries overlap by √(H/d), and
///               e^v is convex: rows are more alike and sharper than here once v² H/d is not small.
///               Above freezing sums over a few keys take the place of means.
///   Properties  (1) b → 0: one layer makes all cosines 1, and q' = ρ + g/n.
///               (2) ρ = 0, far below freezing: 1 − ρ' is annealed_first_gap.
///               (3) after the collapse 1 − ρ' = b² (1 − ρ)³ k/d.
///               (4) b → ∞: ρ' − ρ = (1 − ρ)/n, the coalescence of copies.
///               (5) agrees with measured layers.
///   Reference   derived here.
[[nodiscard]] RandomHeadState random_head_step(const RandomHeadState& state,
                                               const RandomHeadStack& stack);

/// η of a layer at this state, ‖J‖²/(n d): the step with common = 1/n and own = 1 − 1/n, less the
/// part 1/d of a change that is along its token.
[[nodiscard]] double random_head_gradient(const RandomHeadState& state,
                                          const RandomHeadStack& stack);

/// The states before the first layer, after it, ..., after the last: layers + 1 of them.
[[nodiscard]] std::vector<RandomHeadState> random_head_trajectory(const RandomHeadState& start,
                                                                  const RandomHeadStack& stack,
                                                                  int layers);

/// 1 − 1/(e^{b²} + n b²/d): the gap after one layer from tokens without a common direction, without
/// freezing.
///
///   Domain      log n ≥ log 2, d ≥ 1, 0 ≤ b < √(2 log n)/2.
///   Accuracy    a law: the annealed limit of random_head_step.
[[nodiscard]] double annealed_first_gap(const RandomHeadStack& stack);

/// Below this v the weights are those of the first terms of e^v.
inline constexpr double kSmallVariance = 0.01;

}  // namespace dewpoint::theory
