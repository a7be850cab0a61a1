// Causal masks and sliding windows on a regular simplex of tokens, row by row.
//
// Under a mask the query at position i (0-based) sees itself and the keys before it, at most W in
// all: v = min(i + 1, W) keys, W = ∞ for a plain causal mask. Its row is a row of simplex.hpp with
// v in place of n, and so are all that a row decides:
//
//     dew point of the row    log(v − 1)/(1 − ρ)
//
// A window holds every row beyond its first W at log(W − 1)/(1 − ρ), however long the context, and
// needs no multiplier that grows; a causal mask moves the dew point along the text, and a β that is
// critical for the last query is supercritical for the early ones.
//
// What two outputs have in common is no longer the same for all pairs: it depends on the keys they
// share. Since ⟨y_k, y_l⟩ = ρ + (1 − ρ)δ_kl, outputs x'_i = Σ_k A_ik y_k + κ y_i with total weights
// m_i = Σ_k A_ik + κ have
//
//     ⟨x'_i, x'_j⟩ = m_i m_j [ρ + (1 − ρ) Σ_k Â_ik Â_jk],    Â_i = (A_i + κ e_i)/m_i,
//
// exactly, for any weights. Queries further apart than W share no key, and keep an angle that no
// temperature takes from them. A sink (simplex_sink.hpp) only lowers m_i, beside a residual.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>

#include "dewpoint/theory/simplex_sink.hpp"

namespace dewpoint::theory {

/// No window: a plain causal mask.
inline constexpr double kNoWindow = std::numeric_limits<double>::infinity();

/// The number of keys that a position sees, itself included, min(i + 1, W).
///
///   Domain      i ≥ 0, W ≥ 1; both whole numbers, as far as doubles tell them apart.
///   Accuracy    exact below 2^53.
///   Properties  (1) i + 1 for i < W, W from there on.
[[nodiscard]] double visible_keys(double position, double window);

/// The dew point of a row with so many visible keys, log(v − 1)/(1 − ρ).
///
///   Domain      v ≥ 1, 0 ≤ ρ < 1. Nothing for v < 3, where a query has no two competitors.
///   Accuracy    4 units in the last place.
///   Properties  (1) a row of v keys has even odds there.
///               (2) does not depend on a sink.
///   Reference   derived here.
[[nodiscard]] std::optional<double> row_dew_point(double visible, double correlation);

/// The layer that two positions pass through.
struct MaskedLayer {
  double window;               // W, or kNoWindow
  double inverse_temperature;  // β
  double correlation;          // ρ
  double scaled_residual = 0.0;
  double sink_logit = -std::numeric_limits<double>::infinity();
};

/// Two outputs under a mask.
struct MaskedPair {
  double first_squared_norm;
  double second_squared_norm;
  double cosine;
  double decorrelation;  // 1 − cosine, to full relative accuracy
  double contraction;    // (1 − cosine)/(1 − ρ)
};

/// The outputs at positions i < j. With P_i = Σ_k Â_ik², O = Σ_k Â_ik Â_jk, D = Σ_k (Â_ik − Â_jk)²,
///
///     ‖x'_i‖² = m_i² q_i,   q_i = ρ + (1 − ρ)P_i,   cosine = [ρ + (1 − ρ)O]/√(q_i q_j),
///     1 − cosine = (1 − ρ) [ρD + (1 − ρ)(P_j D − (P_j − O)²)] / (q_i q_j (1 + cosine)).
///
/// The sums run over five kinds of keys: i, j, those both see, and those that only one sees.
///
///   Domain      0 ≤ i < j ≤ 1e15, W ≥ 1, β ≥ 0, 0 ≤ ρ < 1, κ ≥ 0; m_i not below 1e-150.
///   Accuracy    relative error of norms, of 1 − cosine and of λ, and absolute error of the cosine:
///               at most masked_pair_error(log v_j, layer).
///   Properties  (1) equals a dense masked layer on explicit tokens, with residual and sink.
///               (2) cosine and 1 − cosine add up to 1.
///               (3) κ = 0: the cosine does not depend on the sink.
///               (4) i ≥ W − 1, j − i ≥ W, κ = 0: λ = P/(ρ + (1 − ρ)P) with P = Σw² of W keys.
///               (5) i ≥ W − 1: λ depends on j − i only, and rises with it until j − i = W.
///   Reference   derived here.
[[nodiscard]] MaskedPair masked_pair(double first, double second, const MaskedLayer& layer);

/// Rounding bound of masked_pair, in bounds of a weight. P, O and D are sums of squares of weights
/// or of their differences, good to 4 bounds. The later row sees no fewer keys and is not visible
/// to the earlier, so that O ≤ P_j ≤ P_i; hence (P_j − O)² ≤ P_j D/2 and the difference keeps half
/// of P_j D: at most 20 bounds. The norms add 2 each, twice.
[[nodiscard]] inline double masked_pair_error(double log_visible, const MaskedLayer& layer) {
  return 28.0 * sink_error(log_visible, layer.inverse_temperature, layer.sink_logit);
}

}  // namespace dewpoint::theory
