// The angle between a noisy token and the direction all tokens share.
//
// A token is x = √ρ e + √(1 − ρ) z with a unit vector e common to all and z ~ N(0, I_d/d) its own.
// Its direction is (cos θ, sin θ · u): the angle θ to e, and u uniform on the sphere of the other
// d − 1 dimensions, independent of θ. So everything about the correlations of such tokens is the
// law of θ, here, and the average over a sphere, sphere_average.hpp. With the signal-to-noise
// amplitude m = √(ρ d/(1 − ρ)) the density on [0, π] is proportional to
//
//     f(θ) = sin^{d−2}θ · J(m cos θ),        J(a) = ∫_0^∞ t^{d−1} e^{−t²/2 + at} dt,
//
// t being the length of x in units of the noise. For d ≫ 1 the angle is close to arctan √((1−ρ)/ρ)
// with variance at most (1 − ρ)/d.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/theory/gauss_legendre.hpp"

namespace dewpoint::theory {

/// log J(a), the radial integral. The exponent has one maximum, at t_0 = (a + √(a² + 4(d − 1)))/2,
/// and with y = (t − t_0)/t_0 falls from it exactly as
///
///     −(d − 1)(y − log(1 + y)) − (t − t_0)²/2,
///
/// which is what is integrated, by the given rule, over the stretch where it is above −41.
///
///   Domain      d ≥ 2, |a| ≤ 1e4; for a < −8 only a rough value (such angles have no weight).
///   Accuracy    absolute error at most kRadialError · (1 + |log J|) with kRadialNodes nodes.
///   Properties  (1) ∫ t^{d} = a ∫ t^{d−1} + (d − 1) ∫ t^{d−2}: J obeys a three-term recurrence.
///               (2) increasing and convex in a.
///   Reference   J(a) = Γ(d) e^{a²/4} U(d − ½, −a), a parabolic cylinder function [DLMF, 12.5.1].
[[nodiscard]] double log_radial_integral(int dimension, double drift, const QuadratureRule& rule);

inline constexpr int kRadialNodes = 56;
inline constexpr double kRadialError = 1e-14;

/// A discrete law with the averages of θ: Σ weight[i] g(angle[i]) ≈ E g(θ), weights of sum 1. The
/// nodes are those of Gauss and Legendre on the interval where f is above e^{−depth} times its
/// value at arctan √((1−ρ)/ρ).
///
///   Domain      d ≥ 2, 0 ≤ ρ < 1, depth > 0. At d = 2 the sphere of u is the two points ±1.
///   Accuracy    left out is a probability of order e^{−depth}; functions wider than about three
///               spacings of the nodes are averaged to rounding.
///   Properties  (1) ρ = 0: the density is sin^{d−2}θ, that of a uniform direction.
///               (2) E⟨x, e⟩/|x|, the first moment of cos θ, agrees with simulation.
///   Reference   projected normal law, [Mardia and Jupp, Directional Statistics, 2000].
[[nodiscard]] QuadratureRule token_angle_law(int dimension, double correlation, int nodes,
                                             double depth);

}  // namespace dewpoint::theory
