// One critical inverse temperature for every law of scores, by five definitions.
//
// Attention over n keys with independent scores is a mean over many keys at small β and one key at
// large β. Where it changes depends on what is asked. For scores of law P seen as depths x below
// their origin, t_n the depth of probability 1/n,
//
//     unit            1/t_n                                              laws with a supremum
//     annealed        n E e^{−βx} = 1                                    laws with a supremum
//     edge            β = f(t_n)/F(t_n), the rate of keys at the edge
//     information     KL(P_β ‖ P) = log n, P_β ∝ e^{−βx} P: what n samples can represent
//     tilted mean     E_β x = t_n: the tilted law reaches the edge
//     participation   E Σw² = 1/2
//
// On a sphere, P(x ≤ t) ~ c t^a, all are of the order β* = (cn)^{1/a}; asymptotically 1,
// Γ(a+1)^{1/a}, a, e Γ(a+1)^{1/a}, a and θ_½(a) of it (half_participation_theta). For scores N(0,
// σ²) edge, information and tilted mean tend to √(2 log n)/σ, where the random energy model
// freezes, and participation to twice that, logarithmically slowly. Only the last exists for any
// law of scores with a unique maximum, atoms included: β_PR is what a measurement should be
// compared with.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dewpoint/core/distributions/depth_distribution.hpp"

namespace dewpoint::theory {

/// 1/t_n with t_n measured from the lowest depth; nullopt for scores without supremum.
///
///   Domain      log n > 0, t_n a double.
///   Accuracy    that of the law's quantile.
///   Properties  (1) d = 3: n/2. d large or n small: less than β* = (c_d n)^{1/a}.
[[nodiscard]] std::optional<double> unit_beta(const DepthDistribution& law, double log_n);

/// β_edge = f(t_n)/F(t_n) = n f(t_n), the slope of the logarithm of the number of keys at the edge.
///
///   Domain      log n > 0.
///   Accuracy    relative error 1e-13 (1 + log n) for the laws of core.
///   Properties  (1) N(0, 1): the hazard of the normal law at b_n. d = 3: n/2.
[[nodiscard]] double edge_beta(const DepthDistribution& law, double log_n);

/// β_PR, where the mean participation of many rows is 1/2. Σw² increases with β in every row, so
/// there is one such β for n > 2.
///
///   Domain      log 3 ≤ log n ≤ 691; the law as for DepthPanels.
///   Accuracy    relative error kCriticalScalesError.
///   Properties  (1) E Σw² is 1/2 there.
///               (2) divided by β*, tends to θ_½(a); for N(0, 1) to 2√(2 log n).
[[nodiscard]] double participation_beta(const DepthDistribution& law, double log_n);

/// Where the annealed mean of the partition function, seen from the supremum, is 1; nullopt for
/// scores without supremum.
///
///   Domain      0 < log n ≤ 691; the law as for DepthPanels.
///   Accuracy    relative error kCriticalScalesError.
///   Properties  (1) d = 3: the root of n(1 − e^{−2β}) = 2β.
[[nodiscard]] std::optional<double> annealed_beta(const DepthDistribution& law, double log_n);

/// Where the divergence of the tilted law from the law is log n. Attention is importance sampling
/// of P_β from P, which needs e^{KL} samples [Chatterjee and Diaconis 2018].
///
///   Domain      0 < log n ≤ 691; the law as for DepthPanels.
///   Accuracy    relative error kCriticalScalesError.
///   Properties  (1) N(0, σ²): √(2 log n)/σ.
[[nodiscard]] double information_beta(const DepthDistribution& law, double log_n);

/// Where the mean of the tilted law is t_n; nullopt where t_n is not below the mean of the law.
///
///   Domain      0 < log n ≤ 691; the law as for DepthPanels.
///   Accuracy    relative error kCriticalScalesError.
///   Properties  (1) N(0, σ²): b_n/σ, b_n that of N(0, 1).
[[nodiscard]] std::optional<double> tilted_mean_beta(const DepthDistribution& law, double log_n);

inline constexpr double kCriticalScalesError = 1e-9;

// ---- the simplex ----------------------------------------------------------------------------

/// The same for a query with one key of score ρ + Δ among n, the others of score ρ: annealed (with
/// tilted mean half way across the gap) and participation,
///
///     log(n − 1)/Δ,        [log(n − 1) + log(1 + √(2 − 2/(n − 1)))]/Δ.
///
///   Domain      n ≥ 3 in the form log n ≥ log 3, Δ > 0.
///   Accuracy    4 units in the last place.
///   Properties  (1) (n − 1) e^{−βΔ} = 1. (2) Σw² = 1/2.
///   Reference   derived here.
[[nodiscard]] double simplex_annealed_beta(double log_n, double gap);
[[nodiscard]] double simplex_participation_beta(double log_n, double gap);

}  // namespace dewpoint::theory
