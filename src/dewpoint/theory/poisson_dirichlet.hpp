// The weights of softmax over Gaussian scores above freezing: the Poisson-Dirichlet law.
//
// For N independent Gaussian scores at the load t = β/β_c > 1, β_c = √(2 log N)/σ, the ordered
// weights tend in law to
//
//     w_k = Γ_k^{−t}/Σ_l Γ_l^{−t},        Γ_k = E_1 + ... + E_k with exponential E_i,
//
// which is PD(α, 0) with α = 1/t: a few keys hold almost everything, however many there are, and
// how much each of them holds stays random. For t ≤ 1 the sum diverges and every weight tends to 0;
// functions here then return that limit. At finite N put t = β/b_N with Φ̄(b_N) = 1/N, which
// removes most of the slow approach; random_energy.hpp has means that are exact at finite N.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::theory {

/// E w_1, the mean of the largest weight,
///
///     E w_1 = ∫_0^∞ e^{−x}/Ψ(x) dx = ∫_0^∞ dx/M(x),
///     Ψ(x) = 1 + α ∫_0^1 (1 − e^{−xv}) v^{−α−1} dv = Γ(1−α) x^α + α ∫_1^∞ e^{−xv} v^{−α−1} dv,
///     M(x) = e^x Ψ(x) = 1 + x/(1−α) + x²/((1−α)(2−α)) + ...
///
/// The series is what is summed: its terms are positive.
///
///   Domain      t ≥ 0; 0 for t ≤ 1 and 1 for t = ∞.
///   Accuracy    relative error kPoissonDirichletError.
///   Properties  (1) 0.62650760 at t = 2; 14 values between t = 1.01 and 20.
///               (2) both forms of Ψ give it.
///               (3) increases with t; E Σw² ≤ E w_1 ≤ √(E Σw²).
///               (4) equals the mean over draws of Γ_k.
///   Reference   derived here; the law is that of [Pitman and Yor 1997].
[[nodiscard]] double poisson_dirichlet_largest_weight(double load);

/// P(w_1 > 1/2), the share of rows in which one key outweighs all others together,
///
///     P(w_1 > 1/2) = sin(πα)/(πα).
///
/// Above 1/2 there is room for one weight only, so the density of w_1 there is that of all weights,
/// x^{−1−α} (1 − x)^{α−1}/(Γ(α) Γ(1 − α)). With u = (1 − x)/x that is u^{α−1} du from 0 to 1, and
/// the integral 1/(Γ(1 + α) Γ(1 − α)). As a function of β this is the law of the dew points of the
/// rows: half of them are below 1.66 β_c, and P(β_dew > tβ_c) falls as π²/6t², so that dew points
/// have a mean and no variance; use their median.
///
///   Domain      t ≥ 0; 0 for t ≤ 1, 1 for t = ∞.
///   Accuracy    8 units in the last place.
///   Properties  (1) 1/2 at kMedianDewLoad.
///               (2) 2/π at t = 2.
///               (3) equals the share among draws of Γ_k.
///   Reference   derived here; the density is that of [Derrida and Toulouse 1985].
[[nodiscard]] double poisson_dirichlet_majority(double load);

/// The load t at which poisson_dirichlet_majority is 1/2: β_dew/β_c of the median row.
inline constexpr double kMedianDewLoad = 1.657400240258006;

/// E Σ_k w_k^p,
///
///     E Σ w^p = Γ(p − α)/(Γ(p) Γ(1 − α)).
///
///   Domain      t > 1 and p > 0; +∞ for p ≤ α, where the sum diverges.
///   Accuracy    relative error kPoissonDirichletError while p ≤ 100.
///   Properties  (1) p = 1: 1. p = 2: 1 − α.
///               (2) decreases with p.
///   Reference   [Derrida and Toulouse 1985].
[[nodiscard]] double poisson_dirichlet_moment(double load, double power);

/// E Σ w² = 1 − 1/t, the mean participation.
///
///   Domain      t ≥ 0; 0 for t ≤ 1, 1 for t = ∞.
///   Accuracy    2 units in the last place.
///   Properties  (1) equals the mean over draws of Γ_k.
///   Reference   [Derrida and Toulouse 1985].
[[nodiscard]] double poisson_dirichlet_participation(double load);

/// Var Σ w² = (1 − 1/t)/(3t): even for N = ∞ two rows do not agree.
///
///   Domain      t ≥ 0; 0 for t ≤ 1.
///   Accuracy    4 units in the last place.
///   Properties  (1) equals the variance over draws of Γ_k.
///   Reference   [Mézard, Parisi, Sourlas, Toulouse and Virasoro 1984].
[[nodiscard]] double poisson_dirichlet_participation_variance(double load);

/// The mean entropy −E Σ w log w,
///
///     E S = ψ(1) − ψ(1 − 1/t),        ψ = Γ'/Γ.
///
///   Domain      t ≥ 0; +∞ for t ≤ 1, 0 for t = ∞.
///   Accuracy    kPoissonDirichletError (1 + E S).
///   Properties  (1) minus the derivative of E Σ w^p at p = 1.
///               (2) equals the mean over draws of Γ_k.
///   Reference   [Gross and Mézard 1984] for the random energy model.
[[nodiscard]] double poisson_dirichlet_entropy(double load);

inline constexpr double kPoissonDirichletError = 1e-12;

/// E A_1 as CAS, Eq (118) has it: weights proportional to e^{−tS_k}, S_0 = 0 and S_k = E_1 + ... +
/// E_k, where Rényi's E_1 + E_2/2 + ... + E_k/k belongs,
///
///     ∫_0^∞ exp(−x − Ein(x)/t) dx,        Ein(x) = ∫_0^x (1 − e^{−v})/v dv.
///
/// It is positive at every t > 0, so it has no transition: 0.374 at t = 1/2 where the truth is 0.
/// The law itself is real: it belongs to keys on the sphere S² (critical_sphere.hpp at a = 1).
///
///   Domain      t > 0.
///   Accuracy    relative error kPoissonDirichletError.
///   Properties  (1) 0.729488 at t = 2, 0.3738 at t = 1/2.
///               (2) critical_sphere_largest_weight(t, 1).
///   Reference   [Critical attention scaling in long-context transformers, Eq (118)], row 18 of the
///               errata; the integral is the generalised Dickman law.
[[nodiscard]] double published_largest_weight(double load);

}  // namespace dewpoint::theory
