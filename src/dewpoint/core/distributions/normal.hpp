// The standard normal law, far into its tails.
//
// A softmax over N scores lives on the largest of them, at probabilities of order 1/N, and N may be
// 1e300. So probabilities are given and taken as logarithms, and what a tail needs is computed
// without cancellation. Notation: φ the density, Φ the distribution function, Φ̄ = 1 − Φ, and
// h = φ/Φ̄ the hazard. Away from the centre everything comes from one continued fraction,
//
//     h(u) = u + 1/(u + 2/(u + 3/(u + ...))),
//
// whose terms are all positive [Laplace 1805]: the hazard from u = 2 on and the probability from
// u = 6 on; below, both come from the error function.
//
// Shared by predictions and measurements on purpose, and tested against extended precision.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::normal {

/// Unit of the error bounds of this file.
inline constexpr double kTailError = 1e-15;

/// log φ(u) = −u²/2 − log(2π)/2.
///
///   Domain      |u| ≤ 1e150.
///   Accuracy    kTailError (1 + u²).
[[nodiscard]] double log_density(double score);

/// log Φ̄(u), the logarithm of the probability that the variable exceeds u.
///
///   Domain      |u| ≤ 1e150.
///   Accuracy    kTailError (1 + |log Φ̄(u)|), and relative error 4 kTailError (1 + u²) for u < 0,
///               where the logarithm is small.
///   Properties  (1) continuous where the continued fraction takes over from the error function.
///               (2) −h is its derivative.
///   Reference   [Abramowitz and Stegun, 26.2.14].
[[nodiscard]] double log_upper_tail(double score);

/// log Φ(u) = log Φ̄(−u).
[[nodiscard]] double log_cdf(double score);

/// The hazard h(u) = φ(u)/Φ̄(u): u + 1/u + O(u⁻³) for large u.
///
///   Domain      |u| ≤ 1e150; zero below u = −39, where φ is no double.
///   Accuracy    relative error 2 kTailError for u ≥ 0, 2 kTailError (1 + u²) below.
///   Properties  (1) u < h(u) < u + 1/u for u > 0.
///   Reference   [Gordon 1941].
[[nodiscard]] double tail_hazard(double score);

/// How far X lies above u, given that it does: E[X − u | X > u] = h − u and
/// E[(X − u)² | X > u] = 1 − u (h − u), neither of them by subtraction where they are small.
struct TailExcess {
  double mean;
  double mean_square;
};

///   Domain      |u| ≤ 1e150.
///   Accuracy    relative error 16 kTailError of either.
///   Properties  (1) mean_square = 1 − u · mean.
///               (2) mean² < mean_square < 2 mean²: the tail is lighter than exponential.
[[nodiscard]] TailExcess tail_excess(double score);

/// The score that is exceeded with given probability, log Φ̄(u) = log_tail. At log_tail = −log n it
/// is b_n, the natural unit of the largest of n scores.
///
///   Domain      −1e20 ≤ log_tail < 0.
///   Accuracy    4 kTailError max(1, |u|).
///   Properties  (1) inverts log_upper_tail.
///               (2) u(log(1 − p)) = −u(log p).
///   Reference   [Wichura 1988] down to log_tail = −729; beyond, Newton's method on log Φ̄, which is
///               concave: monotone after the first step.
[[nodiscard]] double upper_quantile(double log_tail);

}  // namespace dewpoint::normal
