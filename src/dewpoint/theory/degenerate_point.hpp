// Where training with two groups of tokens comes to rest, and whether it stays there.
//
// On the rank-one manifold (rank_one_flow.hpp) with two groups (two_group_flow.hpp) the model can
// predict right, for each token read, how often the frequent token follows, and nothing else. With
//
//     P_11 = λ + (1 − λ)π_1,              P_21 = (1 − λ)π_1          how often it does follow,
//     ℓ_1 = log((d−1) P_11/(1 − P_11)),   ℓ_2 = log((d−1) P_21/(1 − P_21)),
//
// it does so where m_1 Δβ = ℓ_1 and m_2 Δβ = ℓ_2. There ∂L/∂M = ∂L/∂Φ = 0: the degenerate
// critical point of [FD, Proposition 4.8]. Only m_2/m_1 = ℓ_2/ℓ_1 restricts γ and η: with
// ρ = γ_2/γ_1 and k = ηγ_1² it reads
//
//     ρ + ξ_2(1 − ρ) = (ℓ_2/ℓ_1)(ρ + ξ_1(1 − ρ)),
//     ξ_1 = 1/(1 + ((1 − π_1)/π_1) e^{−k(1−ρ)}),   ξ_2 = 1/(1 + ((1 − π_1)/π_1) e^{−kρ(1−ρ)}),
//
// which has a solution ρ < 1 for every k > 0. So the points are a family of two parameters: k, and
// the scale t of (γ, β, η) → (tγ, β/t, η/t²), which changes neither M nor Φ. Here η and the surplus
//
//     S = ‖γ‖² − ‖β‖²
//
// choose one. S falls without bound as k → 0 and rises without bound as k → ∞, so that every pair
// has a point. Training started from small weights conserves ‖γ‖² − ‖β‖² − λ_Q² − λ_K², hence has
// S = 2η there; S = 0 is the normalisation of [FD, Proposition C.1].
//
// The loss is the same all over the family. So is the verdict on stability. Split two rare tokens
// by x(e_i − e_j)/√2 in γ and y(e_i − e_j)/√2 in β. To second order the loss changes by ½ of
//
//     H = [ π_2 s² v    −π_2 λ s ]       s = ηξ_2(1 − ξ_2)(Δγ)²,    v = P_21(1 − P_21)(Δβ)²,
//         [ −π_2 λ s     H_yy    ]
//     H_yy = [π_1 m_1² (1 − P_11) + (1 − π_1) m_2² (1 − P_21)]/(d − 1),
//
// d − 2 times over. All other directions along the manifold have curvature ≥ 0, and all directions
// off it exactly 0. det H = π_2 s² Δ with
//
//     Δ = v H_yy − π_2λ²
//       = P_21(1 − P_21)[π_1 (1 − P_11) ℓ_1² + (1 − π_1)(1 − P_21) ℓ_2²]/(d − 1) − π_2λ²,
//
// a number of the chain alone. Δ < 0: each member of the family is a saddle, and rare tokens part
// without any asymmetry of the data. Δ > 0: each is stable along the manifold.
//
// If ℓ_2 < 0, that is (1 − λ)π_1 d < 1, there is a limit k → ∞ in which the frequent token reads
// itself alone and the others read the rare tokens alone: m_1 = γ_1, m_2 = γ_2. Towards it s
// vanishes as e^{−k|ρ|(1−ρ)}, and the growth of a saddle as its square. Otherwise ρ → 0 as k → ∞,
// ξ_2 → ℓ_2/ℓ_1, and s grows.
//
// Corrected here, against [FD]:
//   Proposition 4.8    asks for η large and gives a critical point in the limit. It exists exactly,
//                      for every η > 0. What is to be large is ηγ_1²: η alone is a matter of scale.
//   Proposition 4.8    "neutrally stable": at finite η it is a saddle (Δ < 0) or stable (Δ > 0);
//                      Eq (178) has s = 0. The limit itself needs (1 − λ)π_1 d < 1.
//   Proposition C.1    assumes ‖γ‖ = ‖β‖, which the flow from small weights does not have.
//
// What unequal rare tokens do to this point is in asymmetry.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/two_group_flow.hpp"

namespace dewpoint::theory {

/// One point of the family.
struct DegeneratePoint {
  TwoGroups groups;
  TwoGroupState state;          // γ_1, γ_2, Δβ and l = √η; l = +∞ in the limit
  TwoGroupAttention attention;  // ξ_1, ξ_2
  double sensitivity = 0.0;     // s: what m_i − m_j gains from γ_i − γ_j of two rare tokens
};

/// The point with given η and S.
///
///   Domain      1/d < π_1 < 1, 0 < λ < 1, d ≥ 2, η > 0. Nothing when k is outside
///               [kSmallestFocus, kLargestFocus].
///   Accuracy    r_1 = r_2 = 0, and with them ∂L/∂M and ∂L/∂Φ, to rounding; S to
///               kDegeneratePointError(|γ|² + |β|²).
///   Properties  (1) the gradient of the population loss vanishes, and so do ∂L/∂M and ∂L/∂Φ.
///               (2) ‖γ‖² − ‖β‖² = S.
///               (3) for λ ≥ 0.05 and S = 0 or 2η there is one: no other was found for 400 random
///                   chains with d < 60 and seven η from 0.1 to 100. (For λ below about 0.003 there
///                   may be several ρ with one k.)
///               (4) S = 2η, η where the excursion ends: the end of the excursion.
///   Reference   [FD, Proposition 4.8], made exact.
[[nodiscard]] std::optional<DegeneratePoint> degenerate_point(const TwoGroups& groups,
                                                              double amplitude, double surplus);

inline constexpr double kSmallestFocus = 1e-8;  // of k = ηγ_1²
inline constexpr double kLargestFocus = 1e26;
inline constexpr double kDegeneratePointError = 1e-13;

/// The limit k → ∞ with S fixed,
///
///     γ_1 Δβ = ℓ_1,   γ_2 Δβ = ℓ_2,   ξ_1 = 1,   ξ_2 = 0,   η = ∞,
///     γ_1² = [S + √(S² + 4ℓ_1² n(d − 1)/d)]/(2n),   n = 1 + (d − 1)(ℓ_2/ℓ_1)².
///
///   Domain      as degenerate_point; nothing when (1 − λ)π_1 d ≥ 1.
///   Accuracy    rounding.
///   Properties  (1) degenerate_point at large η and the same S, up to e^{−η|γ_2|Δγ}.
///               (2) ‖γ‖² − ‖β‖² = S.
///   Reference   [FD, proof of Proposition 4.8].
[[nodiscard]] std::optional<DegeneratePoint> focused_degenerate_point(const TwoGroups& groups,
                                                                      double surplus);

/// (tγ, β/t, η/t²): the same M and Φ.
///
///   Domain      t > 0.
///   Properties  (1) attention, sensitivity, loss and the sign of growth do not change.
[[nodiscard]] DegeneratePoint rescaled(const DegeneratePoint& point, double scale);

/// The loss, the same at every point of the family: with p̄ = (1 − p)/(d − 1),
///
///     L = π_1 h(P_11) + (1 − π_1) h(P_21),    h(p) = −p log p − (1 − p) log p̄.
///
///   Properties  (1) two_group_loss at the point.
///               (2) for d = 2 the entropy rate of the chain, above it otherwise.
[[nodiscard]] double degenerate_loss(const TwoGroups& groups);

/// Δ. Negative: a saddle at every finite η; positive: stable along the manifold.
///
///   Domain      d ≥ 3.
///   Properties  (1) det H = π_2 s² Δ.
///   Reference   derived here.
[[nodiscard]] double stability_margin(const TwoGroups& groups);

/// H and the eigenvalues of −H.
struct DegenerateStability {
  double embedding_curvature = 0.0;  // H_xx
  double coupling = 0.0;             // H_xy
  double output_curvature = 0.0;     // H_yy
  double growth = 0.0;               // the larger eigenvalue of −H; above 0: unstable
  double decay = 0.0;                // the smaller one, always below 0
  std::size_t multiplicity = 0;      // d − 2, of each
};

/// Stability of a point against differences between rare tokens.
///
///   Domain      d ≥ 3.
///   Accuracy    rounding, except that `growth` loses what Δ loses to cancellation. It is formed as
///               det/decay, and so keeps its digits when s is small.
///   Properties  (1) H is that block of the Hessian of the population loss.
///               (2) growth has the sign of −Δ, and is 0 in the focused limit.
///               (3) the other eigenvalues of −∇²L are ≤ 0 along the manifold and 0 off it.
///   Reference   derived here.
[[nodiscard]] DegenerateStability degenerate_stability(const DegeneratePoint& point);

}  // namespace dewpoint::theory
