// The inverse temperature at which a query condenses, for keys that are not uniform on the sphere.
//
// Only the keys next to the query matter: if their gaps T, measured from the smallest possible one,
// satisfy P(T ≤ t) ~ c t^a, then softmax condenses at
//
//     β* = (c n)^{1/a},
//
// with the limit law of critical_sphere.hpp at θ = β/β* and exponent a. The functions below give
// (a, c) for keys with a density on the sphere, on a submanifold of any ambient dimension, with the
// query on it or off it; log_key_unit turns them into β*.
//
// Two things end a power law. A submanifold blurred by noise of size ε looks thick to β > 1/ε² and
// takes the ambient exponent (ThickKeys). And a power law needs N = n^{2/(d−1)} ≫ 1: at d = 64 and
// a million keys, N = 1.55 and the nearest key is not near. There the scale is that of Gaussian
// scores, and freezing_interpolation joins the two.
//
// n may be as large as e^{1e8}, so n and the scales are logarithms.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::theory {

/// P(T ≤ t) ~ c t^a as t → 0.
struct KeyLaw {
  double exponent;      // a
  double log_constant;  // log c
};

/// log β* = (log c + log n)/a.
///
///   Domain      log n ≥ 0, a > 0.
///   Accuracy    4 units in the last place of (|log c| + log n)/a.
///   Properties  (1) uniform keys: log sphere_unit.
///               (2) d log β*/d log n = 1/a.
///   Reference   [Scaling limits of long-context transformers, arXiv:2605.08505] for the sphere;
///               constants derived here.
[[nodiscard]] double log_key_unit(const KeyLaw& law, double log_n);

/// Keys with a density f with respect to the uniform law on S^{d−1}: a = (d − 1)/2, c = f(q) c_d.
/// Densities of a mixture add.
///
///   Domain      2 ≤ d ≤ 512.
///   Accuracy    log c to 2e-14.
///   Properties  (1) f = 1: c_d.
///               (2) β* is multiplied by f^{1/a}.
///   Reference   derived here.
[[nodiscard]] KeyLaw sphere_keys(int dimension, double log_density = 0.0);

/// Keys on a submanifold of dimension d' with the density ρ at the query per unit of its own
/// volume, or ρ|x|^γ at the distance |x| from it, whatever the ambient dimension:
///
///     a = (d' + γ)/2,        c = ρ V 2^a d'/(d' + γ),        V = π^{d'/2}/Γ(d'/2 + 1).
///
///   Domain      d' ≥ 1, γ > −d'.
///   Accuracy    log c to 1e-14 (1 + d').
///   Properties  (1) ρ = 1/|S^{d'}|, γ = 0: sphere_keys(d' + 1).
///               (2) the flat torus |x_1| = |x_2| = 1/√2 in S³: β* = n/π.
///               (3) keys of density ρ|x|^γ in a ball of radius L: c t^a = (2t/L²)^a of them.
///   Reference   derived here.
[[nodiscard]] KeyLaw submanifold_keys(int intrinsic_dimension, double log_density,
                                      double singularity = 0.0);

/// log(1/|S^{d'}|), the density of the uniform law on a sphere of dimension d' and radius 1.
[[nodiscard]] double log_uniform_density(int intrinsic_dimension);

/// The same keys for a query off the manifold, where T − T_0 has the Hessian H at the nearest point
/// of the manifold: c is divided by √det H. For a = d'/2, a law without singularity.
[[nodiscard]] KeyLaw with_hessian(const KeyLaw& law, double log_determinant);

/// Uniform keys on a great subsphere of dimension d', seen under the angle α: H = cos α · 1, so
/// that β* = β*(0)/cos α.
///
///   Domain      d' ≥ 1, 0 ≤ α < π/2.
///   Accuracy    log c to 1e-14 (1 + d').
///   Properties  (1) log β* grows by −log cos α.
///               (2) c t^a is the start of F(t/cos α), F the law of the gap on the subsphere.
///   Reference   derived here.
[[nodiscard]] KeyLaw great_subsphere_keys(int intrinsic_dimension, double angle = 0.0);

// ---- thick manifolds ------------------------------------------------------------------------

/// Keys on a manifold, displaced by Gaussian noise of standard deviation ε in each of the m
/// directions across it; the query is on the manifold.
struct ThickKeys {
  KeyLaw manifold;   // a = d'/2 and c at ε = 0
  int codimension;   // m = D − 1 − d' for keys on S^{D−1}
  double thickness;  // ε > 0, small compared with the manifold's curvature radius
};

/// log P(T ≤ t) with b = m/2 and x = t/ε²,
///
///     P = c t^a E[(1 − W/x)_+^a] = c t^a x^b Γ(a+1)/Γ(a+b+1) e^{−x} M(a+1, a+b+1, x),
///
/// W of the law Gamma(b): the exponent is a for t ≫ ε² and a + m/2 for t ≪ ε².
///
///   Domain      a > 0, 1 ≤ m ≤ 511, a ≤ 256, any log t.
///   Accuracy    kThickKeysError (1 + |log P|).
///   Properties  (1) d' = 2, m = 2: c t (1 − (1 − e^{−x})/x).
///               (2) at most c t^a and at most its own limit for small t.
///               (3) the integral over W.
///               (4) equals the share of draws with T ≤ t on a sphere S² blurred in R⁹.
///   Reference   [DLMF, 13.4.1].
[[nodiscard]] double thick_log_cdf(const ThickKeys& keys, double log_gap);

/// d log P/d log t, which falls from a + m/2 to a around t = ε².
///
///   Domain      as thick_log_cdf.
///   Accuracy    kThickKeysError.
///   Properties  (1) the slope of thick_log_cdf.
///               (2) its two limits.
///   Reference   derived here.
[[nodiscard]] double thick_exponent(const ThickKeys& keys, double log_gap);

/// log(1/t_n) with P(T ≤ t_n) = 1/n: the unit that is log β* on either side of log(1/ε²).
///
///   Domain      as thick_log_cdf, log n ≥ 0.
///   Accuracy    2 kThickKeysError (1 + log n)/a.
///   Properties  (1) inverts thick_log_cdf.
///               (2) β* of the thin manifold where that is ≪ 1/ε².
///               (3) grows as n^{1/(a + m/2)} beyond 1/ε².
///   Reference   Newton's method on a concave function, from the left.
[[nodiscard]] double log_thick_unit(const ThickKeys& keys, double log_n);

/// The crossover, β = 1/ε².
[[nodiscard]] double thickness_scale(double thickness);

inline constexpr double kThickKeysError = 1e-11;

// ---- large dimension ------------------------------------------------------------------------

/// log(1/t_n) for uniform keys, where F(t_n) = 1/n exactly: β* without the assumption N ≫ 1.
///
///   Domain      2 ≤ d ≤ 512, 0 ≤ log n ≤ 1e8.
///   Accuracy    that of SphereGap::log_quantile.
///   Properties  (1) 22 printed values between d = 2 and 128, among them 2.2258854 at d = 64 and
///                   n = 1e6, where β* = 2.8198175.
///               (2) → log β*.
///   Reference   derived here.
[[nodiscard]] double log_quantile_unit(int dimension, double log_n);

/// log β_c where β_c = (d − 1)√(N(N − 1)), N = n^{2/(d−1)}: the inverse temperature of freezing
/// from P(U ≥ u) ≈ (1 − u²)^{(d−1)/2}, U = ⟨q, k⟩, with no assumption on N.
///
///   Domain      d ≥ 2, log n > 0.
///   Accuracy    of the logarithm, 4 units in the last place of 1 + log N. As a stand-in for the β
///               where weights and keys differ by the entropy log n: 0.7 % at d = 64 and 128 for
///               n = 1e3 ... 1e15; at n = 1e6 4 % for d = 17, 9 % for d = 9, 20 % for d = 5.
///   Properties  (1) those shares.
///               (2) √(2(d − 1) log n) for log n ≪ d; (d − 1)N for N ≫ 1.
///   Reference   derived here.
[[nodiscard]] double log_freezing_interpolation(int dimension, double log_n);

}  // namespace dewpoint::theory
