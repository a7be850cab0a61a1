// Many attention layers on a regular simplex: how long tokens stay apart.
//
// A layer maps a regular simplex to a regular simplex (simplex.hpp), so L layers are L steps of an
// exact map of two numbers, the squared norm q and the correlation ρ. Normalisation enters through
// κ = α√q, which changes from layer to layer; inverse temperature and length stay fixed.
//
// Tokens never drift apart. Below the transition, β(1 − ρ) < log n, they collapse within a few
// layers. Above it they approach each other slowly, 1 − ρ shrinking by the factor 1 − 2ρs per layer
// with s ≈ n^{1−c} the weight on all others; that raises ρ, which lowers c = β(1 − ρ)/log n, until
// c passes 1 and the rest is sudden. A supercritical context is therefore only safe for about
// n^{c−1} layers (leading_collapse_depth), a few when c is close to 1.
//
// After the collapse 1 − ρ falls as the cube of itself per layer and leaves the range of doubles at
// once; the state carries its logarithm.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <vector>

namespace dewpoint::theory {

/// The tokens between two layers.
struct SimplexState {
  double squared_norm;       // q
  double log_decorrelation;  // log(1 − ρ)

  [[nodiscard]] double correlation() const;    // ρ
  [[nodiscard]] double decorrelation() const;  // 1 − ρ; 0 when below the range of a double
};

/// The state with given squared norm and correlation.
///
///   Domain      q > 0, 0 ≤ ρ < 1.
///   Accuracy    rounding of one log1p.
///   Properties  (1) correlation() and decorrelation() give ρ and 1 − ρ back.
///   Reference   [Critical attention scaling in long-context transformers, Assumption 1].
[[nodiscard]] SimplexState simplex_state(double squared_norm, double correlation);

/// What all layers share.
struct SimplexStack {
  double log_n;
  double inverse_temperature;  // β
  double residual = 0.0;       // α
};

/// One layer,
///
///     q'          = ρ(1 + κ)² + (1 − ρ) [(a + κ)² + s b],         κ = α√q,
///     log(1 − ρ') = log(1 − ρ) + 2 log(a (1 − e^{−β(1−ρ)}) + κ) − log q'.
///
///   Domain      log n ≥ log 2, β > 0, α ≥ 0; any state of simplex_state or of a previous layer.
///   Accuracy    relative error of q' and absolute error of log(1 − ρ') for an exact state: at most
///               simplex_step_error(stack, state). Without residual an error of log(1 − ρ) grows
///               by at most kCollapseOrder + 2sB + (1 − ρ)/q', B = β(1 − ρ): about log n at the
///               transition, kCollapseOrder after the collapse.
///   Properties  (1) agrees with simplex_output of simplex.hpp.
///               (2) ρ' ≥ ρ, in floating point as well.
///               (3) 1 − ρ → 0, α = 0: 1 − ρ' = (1 − ρ)³ (β/n)².
///               (4) 1 − ρ → 0, α > 0: 1 − ρ' = (1 − ρ) (κ/(1 + κ))².
///   Reference   [Critical attention scaling in long-context transformers, proof of Theorem 2.1].
[[nodiscard]] SimplexState simplex_step(const SimplexState& state, const SimplexStack& stack);

/// Rounding bound of simplex_step: that of simplex_error with the logarithms of 1 − ρ and of β
/// added to what is known to half a unit.
[[nodiscard]] constexpr double simplex_step_error(const SimplexStack& stack,
                                                  const SimplexState& state) {
  return 4.0 * std::numeric_limits<double>::epsilon() *
         (3.0 + stack.log_n + stack.inverse_temperature - state.log_decorrelation);
}

/// The power of 1 − ρ that one layer without residual leaves of a collapsed simplex.
inline constexpr double kCollapseOrder = 3.0;

/// The states before layer 0, 1, ..., `layers` − 1 and after the last: `layers` + 1 of them.
///
///   Domain      as simplex_step, layers ≥ 0.
///   Accuracy    as simplex_step, layer after layer.
///   Properties  (1) equals explicit tokens sent through softmax layers.
///   Reference   as simplex_step.
[[nodiscard]] std::vector<SimplexState> simplex_trajectory(const SimplexState& start,
                                                           const SimplexStack& stack, int layers);

/// η of the layer that follows (simplex_gradient.hpp), however close to collapse: near ρ = 1 it is
/// a function of B = β(1 − ρ), which the state knows to full accuracy.
///
///   Domain      as simplex_step, d ≥ 1.
///   Accuracy    as simplex_gradient.
///   Properties  (1) is simplex_gradient while 1 − ρ is far above rounding.
///               (2) 1 − ρ → 0, α = 0: η → (1 − 1/d)/(n q), uniform weights.
///   Reference   as simplex_gradient.
[[nodiscard]] double simplex_gradient(const SimplexState& state, const SimplexStack& stack,
                                      double dimension);

/// How many layers it takes until ρ exceeds a threshold: 0 when it does at the start, nothing when
/// it does not within `most_layers`.
///
///   Domain      as simplex_step, 0 ≤ threshold < 1, most_layers ≥ 0. One simplex_step per layer.
///   Accuracy    exact, unless ρ meets the threshold within rounding.
///   Properties  (1) is the first index of simplex_trajectory that exceeds the threshold.
///               (2) α = 0, c well above 1: leading_collapse_depth to leading order.
///               (3) increases with β, and with α from q = 1.
///   Reference   derived here.
[[nodiscard]] std::optional<long long> collapse_depth(const SimplexState& start,
                                                      const SimplexStack& stack, double threshold,
                                                      long long most_layers);

/// Leading behaviour of collapse_depth above the transition without residual,
///
///     ∫_ρ^{1−1/γ} dr/(2r(1 − r)s(r)) ≈ n^{c−1}/(2ρ c log n),    c = β(1 − ρ)/log n, s ≈ n^{1−c}.
///
///   Domain      log n > 0, 0 < ρ < 1, β(1 − ρ) > log n: the supercritical phase. +∞ beyond the
///               range of doubles.
///   Accuracy    of the formula: relative error kLeadingDepthError · (β + log n). Of the
///               approximation: the neglected part is a few layers for the final collapse plus a
///               relative O(1/((c − 1) log n)); good when the value is beyond 50.
///   Properties  (1) the printed values.
///               (2) n = 1e12, c = 1.4, ρ = 1/2: 1631, where collapse_depth is 1640.
///   Reference   derived here.
[[nodiscard]] double leading_collapse_depth(double log_n, double inverse_temperature,
                                            double correlation);

inline constexpr double kLeadingDepthError = 4.0 * std::numeric_limits<double>::epsilon();

}  // namespace dewpoint::theory
