// How large the gradient through one attention layer is on a regular simplex, exactly.
//
// The layer maps n tokens of R^d to n tokens, x'_i = Σ_j A_ij y_j + α x_i with y = x/‖x‖, so its
// Jacobian J is an nd × nd matrix. The normalised norm
//
//     η = ‖J‖_F²/(nd)
//
// is 1 for the identity and 0 when no input is felt. On the simplex of simplex.hpp (weights a, b
// and s there, squared norm q, correlation ρ) it is a polynomial in the weights and in
// B = β(1 − ρ). It jumps at the same c = B/log n = 1 as the tokens do:
//
//     c < 1    α²                        only the skip connection carries a gradient
//     c = 1    α² + α/√q + 1/(4q)        as d → ∞; at finite d it exceeds this by O(log² n/d)
//     c > 1    (α + 1/√q)²               as d → ∞
//
// n tokens on a simplex with ρ > 0 need d ≥ n; the formulas take any d, as a real number, and then
// "log² n/d is small" is an assumption rather than a fact. The tokens themselves are in
// simplex.hpp, bounds for general tokens in layer_bounds.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/theory/simplex.hpp"

namespace dewpoint::theory {

/// What a gradient depends on beside the attention weights.
struct GradientSetting {
  double dimension;           // d; +∞ drops every term in 1/d
  double squared_norm = 1.0;  // q of the incoming tokens
  double residual = 0.0;      // α
};

/// The normalised gradient norm of one layer,
///
///     q d η_0 = (d − 1)(a² + sb) + 2B s [ (1 + ρ) a (a − b) + (s − b)(a − ρb) ]
///             + B² { ρ a² s² + sb [ (2 + ρ)(1 − 2b + sb) + 2(1 + ρ) a² ] },
///     η = η_0 + α² + (2α/√q) [ (d − 1) a + B s (a(1 + ρ) + s − b) ]/d,     B = β(1 − ρ).
///
///   Domain      as simplex_weights, log n ≤ 700 (n = 1e300), d ≥ 1, q > 0, α ≥ 0. Every term is
///               formed as a sum of terms that are not negative: a − b, s − b = (n − 2)b,
///               1 − 2b = (a − b) + (s − b), a − ρb = (a − b) + (1 − ρ)b.
///   Accuracy    relative error at most simplex_gradient_error(log n, β).
///   Properties  (1) equals ‖J‖_F²/(nd) of the Jacobian of explicit tokens.
///               (2) η at α = 0 is proportional to 1/q.
///               (3) n = 1e300, d = n: within rounding of simplex_gradient_crossover(±∞, ...) off
///                   the transition, and of simplex_gradient_crossover(0, ...) at c = 1.
///               (4) c < 1, α = 0: η ≈ n^{−2(1−c)}/q, or 1/(nq) when c < 1/2.
///               (5) c > 1, α = 0: 1 − ηq/(1 − 1/d) ≈ 2n^{1−c} for d = n.
///   Reference   derived here; equations (86)-(109) of [Critical attention scaling in long-context
///               transformers] with the cross term of (90) counted twice.
[[nodiscard]] double simplex_gradient(double log_n, double inverse_temperature, double correlation,
                                      const GradientSetting& setting);

/// Rounding bound of simplex_gradient: a product of at most four weights, and eight roundings.
[[nodiscard]] constexpr double simplex_gradient_error(double log_n, double inverse_temperature) {
  return 5.0 * simplex_error(log_n, inverse_temperature);
}

/// Finite-size scaling form of η in the variable x = (c − 1) log n,
///
///     η = α² + (1 − 1/d) [ a²/q + 2αa/√q ],    a = 1/(1 + e^{−x}).
///
///   Domain      −∞ ≤ x ≤ ∞, d ≥ 1, q > 0, α ≥ 0. The infinite ends are the two phases, x = 0 is
///               the critical point.
///   Accuracy    rounding of a few units in the last place; as an approximation to n tokens,
///               simplex_gradient_crossover_bias.
///   Properties  (1) d = ∞: α² at x = −∞, α² + α/√q + 1/(4q) at 0, (α + 1/√q)² at +∞.
///               (2) α = 0: 0, (1 − 1/d)/(4q), (1 − 1/d)/q.
///               (3) the distance to simplex_gradient is within the stated bias.
///   Reference   limits (19)-(21) of [Critical attention scaling in long-context transformers];
///               with α > 0, derived here.
[[nodiscard]] double simplex_gradient_crossover(double scaling_variable,
                                                const GradientSetting& setting);

/// Largest distance of simplex_gradient_crossover at x = B − log n from simplex_gradient,
///
///     [ 3/(2(n − 1)) + (B + B² (1/16 + 7/(n − 1)))/d ] (1 + 2α√q)/q,    B = β(1 − ρ).
///
/// The odds lose a factor 1 − 1/n, which moves a by at most 1/(4(n − 1)) and a² by twice that;
/// sb ≤ 1/(n − 1). The terms that carry B are dropped: with as ≤ 1/4 the bracket of the first is at
/// most 2a, and the braces of the second at most 1/16 + 7/(n − 1).
///
///   Domain      as simplex_gradient.
///   Accuracy    a bound; rounding is negligible.
///   Properties  (1) property (3) above.
///   Reference   derived here.
[[nodiscard]] double simplex_gradient_crossover_bias(double log_n, double inverse_temperature,
                                                     double correlation,
                                                     const GradientSetting& setting);

/// η at the critical point c = 1 with its corrections in 1/n and log n/d,
///
///     q d η_0 ≈ ((d − 1)/4)(1 + 2/n) + (2 + ρ) log n/4 + ρ log² n/16,
///     η ≈ η_0 + α² + (α/√q) [ (1 − 1/d)(1 + 1/(2n)) + (2 + ρ) log n/(2d) ].
///
///   Domain      log n ≥ log 2, 0 ≤ ρ < 1, d ≥ 1, q > 0, α ≥ 0.
///   Accuracy    with e = 1/(2n − 1), which is b at c = 1, the distance to simplex_gradient is at
///               most kCriticalGradientBias (1 + 2α√q) [e² + e (log n + log² n)/d]/q.
///   Properties  (1) the distance to simplex_gradient at β = log n/(1 − ρ) is within that bound.
///               (2) n = d = 512, ρ = 0.5: 0.2605, where the limit is 0.2495.
///   Reference   derived here; (20) of [Critical attention scaling in long-context transformers]
///               is its limit d ≥ n → ∞.
[[nodiscard]] double simplex_gradient_critical(double log_n, double correlation,
                                               const GradientSetting& setting);

/// At c = 1 the weights are a = (1 + e)/2, s = (1 − e)/2, b = e, and q d η is a polynomial in e.
/// Its terms differ from those kept by at most (d − 1) e², 2 e log n and 2.5 e log² n; those of the
/// skip connection by (d − 1) e²/2 and 1.3 e log n.
inline constexpr double kCriticalGradientBias = 2.5;

}  // namespace dewpoint::theory
