// How long the first stages of training last, from weights of size ε.
//
//     leave the origin        (1/μ) log 1/ε          μ: training_origin.hpp
//     wait for attention      (1/c) log 1/ε          c: second_critical_point.hpp
//
// plus times that do not grow as ε → 0. For two groups the way from the origin to the second
// critical point is one-dimensional: with a = W0ᵀq, b = W1u the product z = aᵀb follows
//
//     z' = 2‖π‖√(d/(d−1)) z G(z),    G(z) = π_1 − 1/(1 + (d−1)e^{−c_π z}),    c_π = ‖π‖√(d/(d−1))
//
// from z(0) = amplitude² (condensate, training_origin.hpp) to the critical product θ_c with
// G(θ_c) = 0. G is the distance of the predicted probability of the first token from π_1. The time
// to G = δ is an integral, computed here; the paper gives its two logarithms and a bounded rest.
//
// [FD, Eq (75), (112)-(114)] are correct. Their n, the exponent of an intermediate scale ε^{1/n},
// drops out of the sum.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace dewpoint::theory {

// ---- any saddle: how long its linearisation holds --------------------------------------------

/// A saddle of a gradient flow θ' = F(θ): J = DF is symmetric, its largest eigenvalue is the rate
/// μ ≥ 0, and ‖F(θ) − JΔθ‖ ≤ curvature · ‖Δθ‖² for ‖Δθ‖ ≤ radius.
struct Saddle {
  double rate = 0.0;
  double curvature = 0.0;
  double radius = 0.0;
};

/// Bound of the distance between the flow and its linearisation after time t, from distance ε,
///
///     4 · curvature · ε² e^{μt} (e^{μt} − 1)/μ,
///
/// with (e^{μt} − 1)/μ = t for μ = 0.
///
///   Domain      0 ≤ t ≤ linear_window(saddle, ε).
///   Properties  (1) x' = μx + x² keeps it.
///               (2) O(ε²e^{2μt}) for μ > 0, and ε²t, not ε², for μ = 0.
///   Reference   [FD, Lemma 4.1] with its constant; Eq (7) leaves out the factor t at μ = 0.
[[nodiscard]] double linear_error(const Saddle& saddle, double distance, double time);

/// The time for which that bound is proved: while 2εe^{μt} ≤ radius and the bound is at most
/// εe^{μt},
///
///     min( log(radius/2ε), log(1 + μ/(4 · curvature · ε)) )/μ = (1/μ) log 1/ε + O(1).
///
/// Lemma 4.1 states the first condition only; its proof uses the second as well.
///
///   Domain      0 < ε ≤ radius/2. At μ = 0 it is 1/(4 · curvature · ε).
///   Properties  (1) grows by log(10)/μ when ε falls tenfold, for small ε.
[[nodiscard]] double linear_window(const Saddle& saddle, double distance);

// ---- from the origin to the second critical point --------------------------------------------

/// T_p = (1 − 1/n) (1/μ) log 1/ε, when the weights are of size ε^{1/n}.
///
///   Domain      a law that is not uniform, 0 < ε < 1, n ≥ 1.
///   Reference   [FD, Eq (75)].
[[nodiscard]] double plateau_time(std::span<const double> law, double size, double n);

/// θ_c = (1/c_π) log((d − 1)π_1/(1 − π_1)), the value of z at the second critical point: κ₁².
///
///   Domain      two groups, 1/d < π_1 < 1.
///   Reference   [FD, Eq (104)].
[[nodiscard]] double critical_product(double top, std::size_t tokens);

/// I = ∫ dz/(z G(z)) from z_0 to the z with G = δ; the time is I/(2‖π‖√(d/(d−1))).
///
///   Domain      two groups; 0 < z_0 < θ_c, 0 < δ < G(z_0).
///   Accuracy    relative error kCondensationError: the poles at 0 and θ_c are integrated exactly,
///               the rest is smooth.
///   Properties  (1) its derivative with respect to log 1/z_0 tends to 1/(π_1 − 1/d).
///               (2) the population flow from weights of size ε reaches G = δ after this time from
///                   z_0 = amplitude², up to O(ε² log 1/ε).
///   Reference   [FD, Eq (111)].
[[nodiscard]] double condensation_integral(double top, std::size_t tokens, double initial_product,
                                           double gap);
[[nodiscard]] double condensation_time(double top, std::size_t tokens, double initial_product,
                                       double gap);

inline constexpr double kCondensationError = 1e-11;

/// The two logarithms of I, log(1/z_0)/(π_1 − 1/d) + log(1/δ)/(θ_c c_π π_1(1 − π_1)).
///
///   Reference   [FD, Eq (112)].
[[nodiscard]] double condensation_logarithms(double top, std::size_t tokens, double initial_product,
                                             double gap);

/// What the bounded rest of Eq (112) tends to as z_0 and δ tend to 0,
///
///     ∫₀^θ R dz + log θ_c/(π_1 − 1/d) + log(g)/g,   g = θ_c c_π π_1(1 − π_1),
///
/// R being 1/(zG) without its poles. With it Eq (113) has no O(1) left.
///
///   Accuracy    absolute error kCondensationError times the larger of 1/(π_1 − 1/d) and 1/g.
///   Properties  (1) the limit of condensation_integral − condensation_logarithms.
///               (2) −1.1774 for π_1 = 3/4, d = 4 and −4.292 for 3/5, 3.
[[nodiscard]] double condensation_constant(double top, std::size_t tokens);

/// T_2 without its O(1), from weights of size ε to G = δ,
///
///     (1/μ) log 1/ε + log(1/δ)/r,   r = 2κ₁²‖π‖²π_1(1 − π_1)d/(d − 1).
///
///   Properties  (1) T_p of Eq (75) plus T_2 − T_p of Eq (113), whatever n is.
///               (2) r is −two_group_decay(π_1, d).along.
///   Reference   [FD, Eq (75), (113)].
[[nodiscard]] double arrival_time(double top, std::size_t tokens, double size, double gap);

// ---- at the second critical point ------------------------------------------------------------

/// Time for WQ and WK to grow from size ε to a given size along α α̃ᵀ, (1/|c|) log(size/ε); the
/// scores Φ are of size κ₁²‖WQ‖‖WK‖.
///
///   Domain      c ≠ 0, 0 < ε ≤ size.
///   Reference   [FD, Proposition 4.4].
[[nodiscard]] double attention_time(double attention_rate, double initial_size, double size);

}  // namespace dewpoint::theory
