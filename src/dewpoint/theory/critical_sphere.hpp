// Softmax over uniform keys on a sphere at the scale where it condenses: the limit law, exactly.
//
// For a fixed query and n uniform keys on S^{d−1}, gaps T = 1 − ⟨q, k⟩ have P(T ≤ t) ~ c_d t^a with
// the local exponent a = (d − 1)/2. In the unit
//
//     β* = (c_d n)^{1/a},        θ = β/β*,
//
// the gaps β*T_(1) < β*T_(2) < ... tend to Γ_k^{1/a}, where Γ_k = E_1 + ... + E_k are the points of
// a Poisson process of rate 1, and the ordered weights to
//
//     w_k = e^{−θΓ_k^{1/a}}/Z,        Z = Σ_l e^{−θΓ_l^{1/a}}.
//
// The same law holds for any scores whose gaps to their supremum satisfy P(T ≤ t) ~ c t^a, a
// submanifold for example, with β* = (c n)^{1/a}. Nothing is simulated here: with s = e^y, G_p =
// −log Gamma(p) and λ = θ^{−a}, 1/Z^p = ∫ s^{p−1} e^{−sZ} ds/Γ(p) and the Mecke formula give
//
//     E Σ_k w_k^p h(Γ_k^{1/a}) = ∫ dy e^{−Ψ(y)} λ a E[(y + G_p)_+^{a−1} h((y + G_p)_+/θ)],
//     Ψ(y) = −log E exp(−e^y Z) = λ E[(y + G_1)_+^a].
//
// As a → ∞ with θ = ta the law becomes the Poisson-Dirichlet law of load t (poisson_dirichlet.hpp).
// The limit is approached as n^{−1/a}: slowly when d is large.
//
// All integrals are trapezoidal sums of analytic integrands over the whole line, whose error falls
// as e^{−π²/step}: halving the step squares it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace dewpoint::theory {

/// Bounds of the domain of this file: d from 2 to 201, and kLeastTheta a ≤ θ ≤ kMostTheta, from the
/// diffuse side, where e^{5a} keys share the weight, to the condensed one.
inline constexpr double kLeastExponent = 0.5;
inline constexpr double kMostExponent = 100.0;
inline constexpr double kLeastTheta = 0.005;
inline constexpr double kMostTheta = 1e3;

/// One point of the law.
struct CriticalSphere {
  double theta;       // θ = β/β*
  double exponent;    // a = (d − 1)/2
  double step = 0.2;  // of the sums
};

/// β* = (c_d n)^{2/(d−1)}.
///
///   Domain      log n ≥ 0, 2 ≤ d ≤ 201, and log β* ≤ 700.
///   Accuracy    relative error 1e-14 (1 + log n).
///   Properties  (1) d = 2: 2n²/π². d = 3: n/2. d = 5: √(3n/4).
///   Reference   [Scaling limits of long-context transformers, arXiv:2605.08505] up to the
///               constant, which is derived here.
[[nodiscard]] double sphere_unit(double log_n, int dimension);

/// Ψ(y) = −log E exp(−e^y Z), the Laplace exponent of the partition function.
///
///   Domain      as CriticalSphere; |y| ≤ 1e5.
///   Accuracy    relative error kCriticalSphereError.
///   Properties  (1) a = 1: Ein(e^y)/θ.
///               (2) e^y E Z = λ Γ(a+1) e^y as y → −∞; λ y^a to leading order as y → ∞.
///   Reference   derived here.
[[nodiscard]] double critical_sphere_laplace(const CriticalSphere& law, double y);

/// E Σ_k w_k^p h(Γ_k^{1/a}) for a function h of the gap in units of 1/β*.
///
///   Domain      as CriticalSphere, 1 ≤ p ≤ 16; h smooth on (0, ∞) and of at most polynomial
///               growth. A kink of h costs the accuracy.
///   Accuracy    kCriticalSphereError times the mean of |h|.
///   Properties  (1) p = 1, h = 1: 1.
///               (2) p = 2 and 1 with h = 1, u: what critical_sphere_means has.
///               (3) equals the mean over draws of Γ_k.
///   Reference   derived here.
[[nodiscard]] double critical_sphere_average(const CriticalSphere& law, double power,
                                             const std::function<double(double)>& function);

/// Means of the limit law. With unit keys as values, ATT = Σ w_k k_k has the part ⟨q, ATT⟩ along
/// the query and the part ATT_⊥ across it.
struct CriticalSphereMeans {
  double normalisation;  // E Σw: its distance from 1 measures the quadrature
  double participation;  // E Σw²
  double entropy;        // −E Σ w log w
  double bias;           // lim β* E(1 − ⟨q, ATT⟩) = E Σ w Γ^{1/a}
  double scatter;        // lim β* E|ATT_⊥|² = 2 E Σ w² Γ^{1/a}
};

///   Domain      as CriticalSphere.
///   Accuracy    relative error kCriticalSphereError of each; of the entropy H,
///               kCriticalSphereError (1 + H).
///   Properties  (1) the normalisation is 1.
///               (2) the virial identity θ E Σ w(1 − w)Γ^{1/a} = a, that is
///                   scatter = 2 (bias − a/θ).
///               (3) a = 1: participation is λ ∫ (1 − e^{−s}(1 + s)) e^{−λ Ein(s)} ds/s.
///               (4) halving the step changes nothing beyond the error.
///               (5) equal the means over draws of Γ_k.
///               (6) participation at θ = ta tends to 1 − 1/t as a → ∞, entropy likewise.
///   Reference   derived here; the regime is that of [Scaling limits of long-context transformers,
///               arXiv:2605.08505].
[[nodiscard]] CriticalSphereMeans critical_sphere_means(const CriticalSphere& law);

/// The mean of the largest weight,
///
///     E w_1 = ∫_0^∞ dx e^{−x} ∫_0^∞ ds e^{−s} exp(−λ H(θ x^{1/a}, s)),
///     H(v, s) = ∫_0^∞ [(v + g)^a − v^a] s e^{−g} e^{−s e^{−g}} dg:
///
/// given the nearest key, the others are a Poisson process beyond it.
///
///   Domain      as CriticalSphere.
///   Accuracy    relative error kCriticalSphereError.
///   Properties  (1) E Σw² ≤ E w_1 ≤ √(E Σw²).
///               (2) a = 1: ∫ exp(−x − Ein(x)/θ) dx.
///               (3) halving the step changes nothing beyond the error.
///               (4) equals the mean over draws of Γ_k.
///   Reference   derived here.
[[nodiscard]] double critical_sphere_largest_weight(const CriticalSphere& law);

/// θ_½(a), the θ where E Σw² = 1/2: in units of β*, the temperature where the pooled participation
/// of many queries is 1/2.
///
///   Domain      kLeastExponent ≤ a ≤ kMostExponent.
///   Accuracy    relative error 1e-9.
///   Properties  (1) 16 values between a = 1/2 and 63.5, among them 1.23281 at a = 1.
///               (2) 2a − O(1) for large a.
///   Reference   derived here.
[[nodiscard]] double half_participation_theta(double exponent);

/// The sums leave e^{−π²/step} = 4e-22; what remains is the rounding of exponents, up to 600 in
/// size.
inline constexpr double kCriticalSphereError = 1e-11;

}  // namespace dewpoint::theory
