// The largest of n independent standard normal scores, and the softmax weight it gets, exactly.
//
// The limit laws of extremes are reached as slowly as 1/log n, so a comparison with samples of any
// size we can draw needs the means at finite n. They are integrals. With Φ̄ the upper tail of a
// normal variable and
//
//     Γ = n Φ̄(u),
//
// the largest score has the law (1 − Γ/n)^{n−1} dΓ, which is e^{−Γ} dΓ in the limit: all the
// slowness is in u(Γ), which is known. Everything takes log n, so that n = 1e250 costs nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::theory {

/// Smallest log n of this file: below a thousand scores the tail is no longer a tail.
inline constexpr double kLeastLogScores = 6.9;

/// Mean of the largest of n scores, E M_n = ∫ u (1 − Γ/n)^{n−1} dΓ.
///
///   Domain      log n ≥ kLeastLogScores.
///   Accuracy    absolute error kExtremesError.
///   Properties  (1) b_n + 0.5772/b_n to leading order.
///               (2) equals the mean over samples.
///   Reference   [Gumbel 1958].
[[nodiscard]] double mean_largest_score(double log_n);

/// Mean distance between the k-th and the (k+1)-th largest score,
///
///     binom(n, k) ∫ Φ^{n−k} Φ̄^k du = Π_{j<k}(1 − j/n)/k! ∫ Γ^{k−1} (1 − Γ/n)^{n−k}/h dΓ.
///
///   Domain      log n ≥ kLeastLogScores, 1 ≤ k ≤ 16.
///   Accuracy    relative error kExtremesError.
///   Properties  (1) b_n times it tends to 1/k: gaps are E_k/k with exponential E_k [Rényi 1953].
///               (2) equals the mean over samples.
///   Reference   [Pearson 1902].
[[nodiscard]] double mean_top_gap(double log_n, int rank);

/// Mean of the largest of n softmax weights, w_max = e^{βM}/Σ_j e^{βu_j},
///
///     E w_max = ∫ ds e^{−s} ∫ dΓ (1 − (Γ + g)/n)^{n−1},
///     g = Γ h(u) ∫_0^∞ e^{uy − y²/2} (1 − exp(−s e^{−βy})) dy,
///
/// from 1/Z = ∫ e^{−sZ} ds: given the largest, the others are independent, so the mean of the
/// exponential is a power.
///
///   Domain      kLeastLogScores ≤ log n ≤ 640, 0 ≤ β ≤ 2.5 √(2 log n).
///   Accuracy    relative error kLargestWeightError.
///   Properties  (1) β = 0: 1/n.
///               (2) increases with β.
///               (3) β = t√(2 log n), t > 1, n → ∞: ∫ e^{−x}/Ψ(x) dx of the Poisson-Dirichlet law,
///                   0.62651 at t = 2.
///               (4) equals the mean over samples.
///   Reference   derived here.
[[nodiscard]] double mean_largest_weight(double log_n, double inverse_temperature);

inline constexpr double kExtremesError = 1e-12;
inline constexpr double kLargestWeightError = 1e-6;

}  // namespace dewpoint::theory
