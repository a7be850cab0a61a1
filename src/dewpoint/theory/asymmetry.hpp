// What unequal rare tokens do to the degenerate critical point: a direction of the width that was
// not used before starts to grow, at a rate proportional to the asymmetry.
//
// Three tokens, P = λI + (1 − λ)1πᵀ with the law of [FD, Eq (161)]
//
//     π = (π_1, (1 − π_1)/2 + δ, (1 − π_1)/2 − δ),
//
// and a point of the rank-one manifold near the one of degenerate_point.hpp. R_i = P_i − p_i are
// the residuals of token i's prediction p_i = softmax(m_iβ).
//
// **Critical points.** (γ, β, η) is a critical point of the loss, with every direction counted,
// where
//
//     R_i·β = 0  for each i,     Σ_i π_i m_i R_i = 0.
//
// These are four equations (R_i sums to 0, and the second along β repeats the first) for six
// unknowns. So a family of two parameters persists at δ ≠ 0, with ∂L/∂Φ = 0. On it
// ∂L/∂M = −Σ_i π_i A_iᵀR_i is orthogonal to γ from the left, and to β and 1 from the right: of rank
// one, and not 0.
//
// **Off the manifold.** At such a point perturb by u α_⊥ᵀ in W0 and α_⊥ wᵀ in W1 with α_⊥ ⟂ α. The
// loss changes by uᵀ(∂L/∂M)w and by nothing else to second order, so −∇²L has the eigenvalues
//
//     ±μ,   μ = ‖∂L/∂M‖_F = Θ(δ),     m − 1 times each,
//
// and 0 otherwise: exactly, at any δ.
//
// **First order at finite η.** With x, y, s, v, H_yy, Δ of degenerate_point.hpp the point moves by
// (ξ, υ)(0, 1, −1) in (γ, β), per unit of δ,
//
//     υ = F v/Δ,   ξ = F λ/(sΔ),   F = λm_2 + (1 − λ)(π_1m_1 + (1 − π_1)m_2),
//
// and ∂L/∂M = δ a (0, 1, −1) + O(δ²) with, for p_1 = (1 − P_11)/2 and p_2 = (1 − P_21)/2,
//
//     −a = [λ + (1 − π_1)(1 − λ − m_2υp_2)] A_2ᵀ + π_1[1 − λ − m_1υp_1] A_1ᵀ
//        + π_2λ²F/(ΔΔγ) (1, −½, −½)ᵀ,          μ = √2 ‖a‖ δ.
//
// **First order in the focused limit.** With s = 0 the block H loses x: γ need not move (ξ = 0),
// nothing ties it, and υ is another one. This is the case of [FD, Theorem 4.9 and appendix C]:
//
//     υ = c = F/C,    C = π_1γ_1²p_1 + (1 − π_1)γ_2²p_2,       m_i = γ_i,
//     a = w (−γ_2/γ_1, ½, ½),    w = c(1 − π_1)γ_2p_2 − (λ + (1 − π_1)(1 − λ)).
//
// The limits do not commute: for η → ∞ after δ → 0 one has υ = Fv/Δ, whatever η.
//
// Corrected here, against [FD]:
//   Theorem 4.9, Eq (24)   the gradient at the first-order point (167) is O(δ²), not O(δ³); only
//                          its part in the kernel is. At the exact solution of the range equation
//                          (166) the whole gradient is 0: it is a critical point.
//   Theorem 4.9, item 1    "slow tangential instability, at most O(δ²)": in the focused limit the
//                          kernel eigenvalues are 0 at every δ, the bound is vacuous. At finite η
//                          the tangential growth is that of degenerate_stability plus O(δ²). When
//                          Δ < 0 it does not vanish with δ, and is the faster one for small δ.
//                          (The coefficient of δ² depends on the member of the family.)
//   Theorem 4.9, item 2    right, with the constants above.
//   Proposition C.1        q_3 is for ‖γ‖ = ‖β‖; below is the form for any norms.
//   Lemma C.17             c is defined with δ and without; here without.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/theory/degenerate_point.hpp"
#include "dewpoint/theory/rank_one_flow.hpp"

namespace dewpoint::theory {

/// (π_1, (1 − π_1)/2 + δ, (1 − π_1)/2 − δ).
///
///   Domain      0 < π_1 < 1, |δ| < (1 − π_1)/2.
///   Reference   [FD, Eq (161)].
[[nodiscard]] std::vector<double> asymmetric_law(double top, double asymmetry);

/// A point of the manifold together with the chain it belongs to. The weights are
/// W0 = γαᵀ, W1 = αβᵀ, WQ = WK = √η αα̃ᵀ, √η = state.query = state.key.
struct AsymmetricPoint {
  std::vector<double> law;   // π, with δ
  double persistence = 0.0;  // λ
  RankOneState state;
};

// ---- finite η --------------------------------------------------------------------------------

struct AsymmetrySlopes {
  double embedding = 0.0;            // ξ: (γ_2 − γ_3)/2 per unit of δ
  double output = 0.0;               // υ: (β_2 − β_3)/2 per unit of δ
  std::array<double, 3> gradient{};  // a: ∂L/∂M = δ a (0, 1, −1)
  double transverse = 0.0;           // μ/δ = √2 ‖a‖
};

/// First-order response at finite η.
///
///   Domain      d = 3, s > 0, Δ ≠ 0.
///   Accuracy    rounding, relative to what Δ loses to cancellation.
///   Properties  (1) the derivative at δ = 0 of asymmetric_point and of its ∂L/∂M.
///               (2) aᵀγ = 0.
///               (3) ξs does not depend on the scale: (γ_2 − γ_3) grows without bound as s → 0.
///   Reference   derived here.
[[nodiscard]] AsymmetrySlopes asymmetry_slopes(const DegeneratePoint& point);

/// The exact critical point with the same η and the same ‖γ‖² − ‖β‖², followed from δ = 0.
///
///   Domain      d = 3, finite η, |δ| < (1 − π_1)/2. Nothing when Newton's method does not converge
///               along the way, or when γ would have to move by kLongestBranch times |γ_2|: s is
///               too small for this δ.
///   Accuracy    residuals to rounding.
///   Properties  (1) the gradient of the population loss vanishes, and so does ∂L/∂Φ.
///               (2) η and ‖γ‖² − ‖β‖² are those of the degenerate point, and Σβ = 0.
///               (3) −∇²L has the eigenvalue transverse_rate off the manifold.
///   Reference   derived here.
[[nodiscard]] std::optional<AsymmetricPoint> asymmetric_point(const DegeneratePoint& point,
                                                              double asymmetry);

inline constexpr double kLongestBranch = 50.0;

// ---- the focused limit -----------------------------------------------------------------------
//
// Attention is (1, 0, 0) and (0, π_2, π_3)/(1 − π_1). Every function takes a point with
// ξ_2 ≤ kFocusedAttention: focused_degenerate_point, or degenerate_point at large η. The η of the
// point goes into the result as it is.

inline constexpr double kFocusedAttention = 1e-17;

/// Kernel and range of ∇²L in θ = (γ, β), η fixed, at δ = 0: orthonormal,
///
///     k_1 = (0, 1, −1; 0, 0, 0)/√2,   k_2 = (0, 0, 0; 1, 1, 1)/√3,   k_3 ∝ (−γ; β),
///     q_1 ∝ (−2γ_2, γ_1, γ_1; 0, 0, 0),   q_2 = (0, 0, 0; 0, 1, −1)/√2,   q_3 ∝ (gγ; β/g),
///
/// g = ‖β‖/‖γ‖.
///
///   Properties  (1) orthonormal. (2) the Hessian annihilates each k, and maps the q's into their
///                   span.
///   Reference   [FD, Proposition C.1], with g = 1.
struct LyapunovSchmidtBasis {
  using Vector = std::array<double, 6>;
  std::array<Vector, 3> kernel{};
  std::array<Vector, 3> range{};
};
[[nodiscard]] LyapunovSchmidtBasis lyapunov_schmidt_basis(const DegeneratePoint& point);

struct FocusedSlopes {
  double output = 0.0;  // c of Lemma C.17: (β_2 − β_3)/2 per unit of δ; √2c is ζ_2/δ of (167)
  double mismatch = 0.0;    // w: the left side of (230)
  double transverse = 0.0;  // μ/δ = √2 |w| √((γ_2/γ_1)² + ½)
};

/// First-order response in the focused limit.
///
///   Domain      d = 3.
///   Accuracy    rounding; relative to λ + (1 − π_1)(1 − λ) in w.
///   Properties  (1) the derivative at δ = 0 of range_point and of its ∂L/∂M.
///   Reference   [FD, Eq (167), (230)]; the constant of the eigenvalue is derived here.
[[nodiscard]] FocusedSlopes focused_slopes(const DegeneratePoint& point);

/// θ + δ√2c q_2: the point to first order.
///
///   Properties  (1) its gradient is O(δ²), the projection of it on the kernel O(δ³).
///   Reference   [FD, Eq (167)].
[[nodiscard]] AsymmetricPoint leading_order_point(const DegeneratePoint& point, double asymmetry);

/// θ + Σ ζ_k q_k with the exact ζ: the solution of Q_Rᵀ∇L = 0.
///
///   Domain      d = 3, |δ| < (1 − π_1)/2. Nothing when Newton's method from leading_order_point
///               does not converge.
///   Accuracy    residuals to rounding.
///   Properties  (1) the whole gradient is 0, not only its projection on the range.
///               (2) its distance to leading_order_point is O(δ²).
///               (3) the Hessian has 0 as an eigenvalue as often along the manifold as at δ = 0.
///   Reference   [FD, Eq (166), Proposition C.2], where only its first order is used.
[[nodiscard]] std::optional<AsymmetricPoint> range_point(const DegeneratePoint& point,
                                                         double asymmetry);

// ---- both ------------------------------------------------------------------------------------

/// ∂L/∂M at a point, with the limit of attention for η = ∞.
[[nodiscard]] Matrix<double> readout_gradient(const AsymmetricPoint& point);

/// μ = ‖∂L/∂M‖_F: the growth rate off the manifold at an exact critical point.
///
///   Domain      points of asymmetric_point and range_point.
///   Properties  (1) −∇²L of the population loss has ±μ, each m − 1 times.
///               (2) transverse of the slopes times δ, up to O(δ²).
[[nodiscard]] double transverse_rate(const AsymmetricPoint& point);

}  // namespace dewpoint::theory
