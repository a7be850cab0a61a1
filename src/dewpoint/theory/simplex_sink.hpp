// Softmax with a sink on a regular simplex of tokens: weights that need not go to any key.
//
// Some heads have one more term in the denominator of softmax, a logit u without key and value,
//
//     w_j = e^{β s_j} / (e^u + Σ_k e^{β s_k}),
//
// learned (gpt-oss) or u = 0, the off-by-one softmax; u = −∞ is softmax itself. u is a logit, not a
// score: neither β nor a multiplier of a long context touches it. On the simplex of simplex.hpp,
// with Z = e^β + (n − 1) e^{βρ}, the keys hold the mass M and the sink the rest,
//
//     M = Z/(Z + e^u),    1 − M = e^u/(Z + e^u),
//
// and among themselves the keys share M as softmax would share 1. From this follows all that a sink
// does and does not do:
//
//   - the dew point, where a token weighs as much as all other keys, stays log(n − 1)/(1 − ρ);
//   - without residual the outputs are M times those of softmax: norms fall by M, cosines and the
//     contraction λ stay;
//   - with a residual κ the layer is that of softmax with κ/M: the skip connection counts for more,
//     so a sink slows the collapse of tokens;
//   - Z grows with n and with β, so longer contexts and colder heads drain a sink. At the critical
//     point, Z ≈ 2e^β = 2n^{1/(1−ρ)}, the sink holds e^u n^{−1/(1−ρ)}/2: nothing, for long
//     contexts, unless u grows with log n itself.
//
// Everything takes log n. A window of keys is in simplex_window.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>

#include "dewpoint/theory/simplex.hpp"

namespace dewpoint::theory {

/// The logit of the sink in off-by-one softmax.
inline constexpr double kOffByOneSink = 0.0;

/// One row of weights beside a sink: self + others + sink = 1.
struct SinkWeights {
  double self;           // a, on the token itself
  double others;         // s, on all other keys together
  double per_token;      // b, on each other key
  double sink;           // on no key
  double keys;           // M = a + s, on all keys
  double log_self;       // log a
  double log_others;     // log s
  double log_per_token;  // log b
  double log_sink;
  double log_keys;  // log M
};

/// Weights of one row: those of simplex_weights times M,
///
///     M = 1/(1 + e^{u − log Z}),    sink = 1/(1 + e^{log Z − u}).
///
///   Domain      as simplex_weights; any u below +∞, u = −∞ is no sink.
///   Accuracy    relative error of a weight and absolute error of a logarithm at most
///               sink_error(log n, β, u).
///   Properties  (1) self + others + sink = 1.
///               (2) u = −∞: simplex_weights.
///               (3) self/others is that of simplex_weights for every u: even odds at the same dew
///                   point.
///               (4) sink falls with n and with β, and rises with u.
///               (5) at c = 1: sink = 1/(1 + e^{β−u} (2 − 1/n)).
///   Reference   derived here.
[[nodiscard]] SinkWeights sink_weights(double log_n, double inverse_temperature, double correlation,
                                       double sink_logit);

/// Gram matrix after one layer with residual κ: simplex_output with κ/M, its norm times M²,
///
///     q' = ρ(M + κ)² + (1 − ρ) [(a + κ)² + s b],    λ = (a − b + κ)²/q'.
///
///   Domain      as sink_weights, and κ = 0 or 1e-50 ≤ κ ≤ 1e50.
///   Accuracy    relative error of q', ρ' and 1 − ρ', absolute error of log λ: at most
///               sink_error(log n, β, u) for κ ≤ 10, and log κ more units of 1e-15 beyond.
///   Properties  (1) equals a dense layer on explicit tokens.
///               (2) κ = 0: λ and ρ' do not depend on u, and q' is M² times that of softmax.
///               (3) κ > 0: λ rises with u, to 1 as u → ∞, where q' is κ².
///   Reference   derived here.
[[nodiscard]] SimplexOutput sink_output(double log_n, double inverse_temperature,
                                        double correlation, double sink_logit,
                                        double scaled_residual = 0.0);

/// Rounding bound of sink_weights and sink_output. M adds an exponent as large as u to those of the
/// simplex; it enters q' squared and once more squared through κ/M, beside simplex_output itself.
[[nodiscard]] inline double sink_error(double log_n, double inverse_temperature,
                                       double sink_logit) {
  const double largest = std::isinf(sink_logit) ? 0.0 : std::abs(sink_logit);
  return 5.0 * simplex_error(log_n, inverse_temperature + largest);
}

// ---- where the sink matters ---------------------------------------------------------------------

/// The β at which the sink holds half of the mass, log Z(β) = u. A colder head reads its keys, a
/// warmer one its sink.
///
///   Domain      log n ≥ log 2, 0 ≤ ρ < 1, u finite. Nothing for u < log n: with n keys of logit 0
///               or more the sink is never worth half.
///   Accuracy    absolute error of β at most sink_error(log n, β, u) divided by the mean score
///               d log Z/dβ at the root.
///   Properties  (1) sink_weights gives 1/2 there.
///               (2) u = log n: β = 0.
///               (3) ρ = 0: log(e^u − n + 1).
///               (4) rises with u and falls with n.
///   Reference   derived here.
[[nodiscard]] std::optional<double> sink_half_beta(double log_n, double correlation,
                                                   double sink_logit);

/// log n of the context at which the sink holds half of the mass: shorter ones are read less than
/// that, longer ones more,
///
///     n = 1 + e^{u − βρ} − e^{β(1−ρ)}.
///
///   Domain      β ≥ 0, 0 ≤ ρ < 1, u finite. Nothing where two keys already hold more than half.
///   Accuracy    absolute error of log(n − 1) at most sink_error(log n, β, u)/(1 − e^{β − u}).
///   Properties  (1) sink_weights gives 1/2 there.
///               (2) is the inverse of sink_half_beta.
///   Reference   derived here.
[[nodiscard]] std::optional<double> sink_half_log_length(double inverse_temperature,
                                                         double correlation, double sink_logit);

/// The β at which a token holds half of all mass, the sink counted among its competitors,
///
///     (n − 1) e^{−β(1−ρ)} + e^{u − β} = 1.
///
/// Between the dew point and this β a token is the largest of the keys' weights, and yet most of
/// the mass is elsewhere.
///
///   Domain      log n ≥ log 3, 0 ≤ ρ < 1, u below +∞; u = −∞ gives the dew point.
///   Accuracy    relative error at most sink_error(log n, β, u).
///   Properties  (1) sink_weights gives self = 1/2 there.
///               (2) at least the dew point log(n − 1)/(1 − ρ), and at least u.
///               (3) ρ = 0: log(n − 1 + e^u).
///   Reference   derived here.
[[nodiscard]] double sink_even_beta(double log_n, double correlation, double sink_logit);

}  // namespace dewpoint::theory
