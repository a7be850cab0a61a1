// Where attention turns from averaging all tokens to reading only itself.
//
// Write β for the inverse temperature, G_ij for the correlation of tokens i and j, and
//
//     R_i = Σ_{j≠i} e^{−β(1 − G_ij)}
//
// for the odds of all other tokens against the token itself, so that its own weight is
// 1/(1 + R_i). The critical point is where the typical odds are even. In the reduced scale
// c = γ(1 − ρ), γ = β/log n:
//
//     all G_ij = ρ                      c = 1                    critical_gamma
//     G_ij Gaussian around ρ            c* of a quadratic        gaussian_critical_scale
//     tokens √ρ e + √(1−ρ) z in R^d     c* of the exact mean     annealed_critical_scale
//     tokens uniform on a sphere        β, a power of n          sphere_critical_...
//
// The three finite-dimensional ones replace the sum over j by its mean, which is what "annealed"
// says. That is right while many tokens contribute to R_i; once a few dominate (low dimension,
// long context) the true transition comes earlier than the annealed one. The sharp line
// γ = 1/(1 − ρ) needs d ≫ log n.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>

namespace dewpoint::theory {

/// The critical γ = β/log n of tokens with one common correlation,
///
///     γ_c = 1/(1 − ρ).
///
///   Domain      0 ≤ ρ < 1.
///   Accuracy    relative error of two units in the last place.
///   Properties  (1) the reduced scale γ_c (1 − ρ) is 1.
///               (2) simplex_weights at β = γ_c log n puts weight n/(2n − 1) on the token itself.
///   Reference   [Critical attention scaling in long-context transformers, Theorem 2.1].
[[nodiscard]] double critical_gamma(double correlation);

/// The critical reduced scale when correlations fluctuate like Gaussian variables: for tokens
/// √ρ e + √(1−ρ) z in R^d, seen from one of them, G_ij is ρ with standard deviation (1 − ρ) D,
///
///     D² = (1 + ρ − ρ²/2)/d,    1 − c + ½ c² D² log n = 0,    c* = 2/(1 + √(1 − 2D² log n)).
///
///   Domain      log n > 0, d ≥ 1, 0 ≤ ρ < 1; nothing when 2D² log n ≥ 1, where Gaussian scores
///               freeze before they reach even odds.
///   Accuracy    of the formula: rounding, relative error kGaussianScaleError away from the end
///               2D² log n = 1. Of the model: it has the term (log n)/d but not the shift
///               ρ(3ρ − 1)/(2d) of the mean correlation, nor (log n/d)²; use
///               annealed_critical_scale below d of about 64.
///   Properties  (1) 1 − c + ½ c² D² log n = 0.
///               (2) 1 < c* < 2.
///               (3) c* → 1 as d → ∞, with c* − 1 ≈ (1 + ρ − ρ²/2) log n/(2d).
///               (4) increases with n, decreases with d.
///   Reference   derived here; freezing is that of the random energy model [Derrida 1981].
[[nodiscard]] std::optional<double> gaussian_critical_scale(double log_n, int dimension,
                                                            double correlation);

inline constexpr double kGaussianScaleError = 8.0 * std::numeric_limits<double>::epsilon();

/// How finely annealed_critical_scale integrates.
struct AnnealedQuadrature {
  double refinement = 1.0;  // multiplies the nodes of the angular rule: time grows as its square
};

/// The critical reduced scale of tokens √ρ e + √(1−ρ) z, z ~ N(0, I_d/d), exact but for averaging
/// the odds over the other tokens: c* = β(1 − ρ)/log n at the root β of
///
///     E_i log( (n − 1) E_j e^{−β(1 − G_ij)} ) = 0.
///
/// With θ the angle of a token to e (token_angle.hpp) and Λ the sphere average,
///
///     E_j e^{−β(1 − G_ij)} = E_{θ_j} e^{−β(1 − cos θ_i cos θ_j)} Λ_{d−1}(β sin θ_i sin θ_j).
///
/// The left side falls strictly from log(n − 1) at β = 0, so the root is unique.
///
///   Domain      3 ≤ n ≤ 1e9, 2 ≤ d ≤ 4096, 0 ≤ ρ ≤ 0.99. Nothing when the root is beyond
///               β(1 − ρ)/d = kAnnealedLargestTilt: low dimensions, where β grows as a power of n.
///               d = 2 is included (Λ_1 = cosh) and leaves the domain within some tens of tokens.
///   Accuracy    relative error at most kAnnealedScaleError.
///   Properties  (1) → log(n − 1)/log n as d → ∞: the simplex at finite n.
///               (2) increases with n, decreases with d.
///               (3) ρ = 0: the sphere, c* = sphere_critical_inverse_temperature/log n.
///               (4) is gaussian_critical_scale + ρ(3ρ − 1)/(2d) + log(1 − 1/n)/log n to within
///                   (log n/d)² + 2/(nd) while 2D² log n ≤ 1/4: fluctuations of G_ij, its mean
///                   ρ + ρ(1 − ρ)(3ρ − 1)/(2d), and n − 1 others rather than n.
///               (5) doubling the quadrature changes it by less than the stated error.
///   Reference   derived here; checked by simulation in the tests.
[[nodiscard]] std::optional<double> annealed_critical_scale(
    double log_n, int dimension, double correlation, const AnnealedQuadrature& quadrature = {});

inline constexpr double kAnnealedLargestTilt = 256.0;
inline constexpr double kAnnealedScaleError = 1e-10;

/// The β at which tokens uniform on the sphere of R^d have even odds on average: the root of
///
///     (n − 1) E e^{β(G − 1)} = (n − 1) e^{−β} Λ_d(β) = 1.
///
///   Domain      log 3 ≤ log n ≤ 170 (d − 1), d ≥ 2: the root stays below 1e150.
///   Accuracy    relative error at most kSphereCriticalError · (1 + log n).
///   Properties  (1) at least log(n − 1) (Jensen).
///               (2) → sphere_critical_power_law as n → ∞ at fixed d.
///               (3) d = 3: the root of (n − 1)(1 − e^{−2β}) = 2β.
///               (4) increases with n, decreases with d.
///   Reference   derived here.
[[nodiscard]] double sphere_critical_inverse_temperature(double log_n, int dimension);

inline constexpr double kSphereCriticalError = 1e-13;

/// Leading behaviour of the above at fixed d,
///
///     β ≈ [ n Γ(d/2) 2^{(d−3)/2}/√π ]^{2/(d−1)}.
///
///   Domain      log n > 0, d ≥ 2.
///   Accuracy    rounding as a formula; as an approximation it needs n far beyond e^d.
///   Properties  (1) multiplying n by f multiplies β by f^{2/(d−1)}.
///   Reference   derived here from the large-k limit in sphere_average.hpp.
[[nodiscard]] double sphere_critical_power_law(double log_n, int dimension);

}  // namespace dewpoint::theory
