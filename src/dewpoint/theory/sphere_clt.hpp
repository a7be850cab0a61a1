// Attention over many keys on the sphere: its mean, its bias and its Gaussian fluctuations.
//
// n keys are uniform on S^{d−1}, values are the keys, T = 1 − ⟨q, k⟩. While β ≪ β* the output
// ATT = Σ w_j k_j is a ratio of two sums of n independent terms, so
//
//     √n (ATT − A_d(β) q) ⇒ N(0, V_∥ qqᵀ + V_⊥ (I − qqᵀ)).
//
// Let E_b be the mean under the density e^{−bT}/μ_0(b) (sphere_moments.hpp). All of it is made of
//
//     R   = μ_0(2β)/μ_0(β)²,        n_eff = n/R: the number of keys that effectively share,
//     V_∥ = R (Var_{2β} T + (E_β T − E_{2β} T)²),
//     V_⊥ = R A_d(2β)/(2β) for each coordinate across the query,
//     E⟨q, ATT⟩ = A_d(β) − (R/n)(E_β T − E_{2β} T) + O(n_eff^{−2}).
//
// What this leaves out is of relative size (4/3)^a/n_eff, a = (d − 1)/2, whatever β/β* is. The
// exact variances at n = 1e5 (by quadrature; for d ≤ 8, 20000 draws agree within 2.4 standard
// errors), divided by V_∥/n and by V_⊥/n:
//
//     n_eff        300     100      66      20      10       7
//     d = 3       1.009   1.026   1.040   1.146   1.343   1.559   along the query
//                 1.004   1.012   1.019   1.067   1.146   1.225   across it
//     d = 5       1.005   1.016   1.024   1.078   1.145   1.192
//                 1.002   1.006   1.009   1.030   1.057   1.076
//     d = 8       0.997   0.990   0.985   0.942   0.881   0.833
//                 0.998   0.994   0.991   0.969   0.937   0.910
//     d = 17      0.961   0.885   0.835   0.621   0.473   0.399
//                 0.983   0.947   0.922   0.795   0.685   0.620
//
// For d ≤ 8 the corrected mean is right to 0.002 standard deviations from n_eff = 66 up and to 0.05
// at 7. In high dimension the theorem ends early: at d = 64, n = 1e6 and β = β_edge/2, where
// n_eff = 774, V_⊥ is 14.01 and the exact n Var 13.03.
//
// Keys of a density f with respect to the uniform law have n f(q) for n once f is constant over the
// width 1/√β of the weights: a law for β → ∞, exact for f = 1.
//
// R reaches e^{5000} at d = 512, so what may overflow is a logarithm.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::theory {

/// One query. n may be huge, so it is given by its logarithm.
struct SphereQuery {
  int dimension;               // d, 2 to kMostSphereDimension
  double inverse_temperature;  // β, 0 to 3e11
  double log_n;                // log n ≥ 0
  double log_density = 0.0;    // log f(q): 0 for uniform keys
};

/// The constants of the central limit theorem.
struct SphereFluctuations {
  double mean_gap;             // 1 − A_d(β): limit of 1 − ⟨q, ATT⟩
  double log_keys;             // log n_eff
  double log_ratio;            // log R; for keys of density f, of R/f(q)
  double log_variance_along;   // log V_∥: V_∥/n is the variance of ⟨q, ATT⟩
  double log_variance_across;  // log V_⊥: V_⊥/n is the variance of each tangential coordinate
  double log_bias;  // log R(E_β T − E_{2β} T): n (E(1 − ⟨q, ATT⟩) − mean_gap)
  double skewness_coefficient;  // skewness of 1 − ⟨q, ATT⟩ times √n_eff
};

/// The constants at finite β, from moments of the gap. The skewness is that of the ratio to leading
/// order in 1/n_eff: with X = (T − E_β T)e^{−βT}/μ_0 and Y = e^{−βT}/μ_0,
///
///     skewness · √n = (E X³ − 6 Var X Cov(X, Y))/(Var X)^{3/2}.
///
///   Domain      as SphereQuery. At β = 0 the bias is 0 and its logarithm −∞.
///   Accuracy    logarithms: 4 times that of SphereMoments::log_moment, plus 1e-15 d for the
///               variances, where means cancel. Skewness coefficient: absolute error 1e-15 d² times
///               (4/3)^a, the size of what cancels.
///   Properties  (1) 24 × 4 printed values of R, V_∥, V_⊥ and the bias between d = 2 and 64.
///               (2) equal integrals of the gap's law, skewness included.
///               (3) V_∥ = R (1 − (d−1)A(2β)/(2β) − 2A(β)A(2β) + A(β)²), A = A_d: the form that
///                   loses digits at large β.
///               (4) d = 3: R = β coth β, and V_∥ → 1/(2β), V_⊥ → 1/2, bias → 1/2.
///               (5) β = 0: R = 1, both variances 1/d, no bias, no skewness.
///               (6) the leading order of the exact law at n keys, which draws of keys follow; the
///                   table above.
///   Reference   delta method; the regime is that of [Scaling limits of long-context transformers,
///               arXiv:2605.08505], constants derived here.
[[nodiscard]] SphereFluctuations sphere_fluctuations(const SphereQuery& query);

/// The same for β → ∞ with β ≪ β*, where the gap has the density c_d a t^{a−1}, a = (d − 1)/2:
///
///     R ≈ β^a/(2^a c_d Γ(a+1)),    n_eff ≈ 2^a Γ(a+1) θ^{−a} with θ = β/β*,    1 − A ≈ a/β,
///     V_∥ ≈ R a(a+1)/(4β²),        V_⊥ ≈ R/(2β),        bias ≈ R a/(2β),
///     skewness √ν ≈ −8 · 2^{3a/2} (3^{−a}(8a−2)/27 − 3a 4^{−a}/4)/√(a(a+1)),
///
/// ν = 2^{−a} n_eff = Γ(a+1) θ^{−a}.
///
///   Domain      as SphereQuery with β > 0.
///   Accuracy    a law with relative errors of O(d²/β).
///   Properties  (1) its distance to sphere_fluctuations, times β, tends to a constant.
///               (2) d = 3: R = β, V_∥ = 1/(2β), V_⊥ = bias = 1/2.
///   Reference   derived here.
[[nodiscard]] SphereFluctuations sphere_fluctuations_law(const SphereQuery& query);

/// E(1 − ⟨q, ATT⟩) with its bias of second order, mean_gap + e^{log_bias}/n.
[[nodiscard]] double corrected_gap(const SphereQuery& query, const SphereFluctuations& constants);

/// The output V ATT for a value matrix V: its limit mean and its covariance at this n.
struct ValueOutput {
  std::vector<double> mean;   // A_d(β) V q
  Matrix<double> covariance;  // V (V_∥ qqᵀ + V_⊥ (I − qqᵀ)) Vᵀ/n
};

///   Domain      V of any number of rows and d columns; q of length d and norm 1 within 1e-6.
///   Accuracy    the rounding of d + 3 terms of each sum; e^{error of the logarithms}.
///   Properties  (1) V = I: A q, and the covariance of the keys themselves.
///               (2) symmetric and positive: it is a sum of squares, V_∥ uuᵀ + V_⊥ WWᵀ with u = Vq
///                   and W = V − uqᵀ.
///               (3) a rotation V turns mean and covariance.
///   Reference   derived here.
[[nodiscard]] ValueOutput value_output(MatrixView<const double> values,
                                       std::span<const double> query_direction,
                                       const SphereQuery& query,
                                       const SphereFluctuations& constants);

}  // namespace dewpoint::theory
