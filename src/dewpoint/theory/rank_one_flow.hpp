// Training on the rank-one manifold: focus and dilution in 2d + 2 variables.
//
// Weights of the form
//
//     W0 = γ αᵀ,   W1 = α βᵀ,   WQ = λ_Q α α̃ᵀ,   WK = λ_K α α̃ᵀ       (α, α̃ fixed unit vectors)
//
// keep it under gradient flow, for every law π and chain P. Then M = γβᵀ and Φ = η γγᵀ with
// η = λ_Q λ_K. Writing A_ij ∝ π_j e^{ηγ_iγ_j} for the attention, m_i = Σ_j A_ij γ_j for what token
// i reads, p_i = softmax(m_i β) for what it predicts, R_i = π_i(P_i − p_i) for the residuals and
//
//     s_i = R_i·β,   v_i = Σ_j A_ij (γ_j − m_i)²,   D = Σ_i s_i γ_i v_i  (= −γᵀ(∂L/∂Φ)γ),
//
// the flow is
//
//     γ_j' = Σ_i s_i A_ij + η [ s_j v_j + Σ_i s_i γ_i A_ij (γ_j − m_i) ],
//     β'   = Σ_i m_i R_i,      λ_Q' = λ_K D,      λ_K' = λ_Q D.
//
// It conserves ‖γ‖² − ‖β‖² − λ_Q² − λ_K² and λ_Q² − λ_K².
//
// Near the second critical point γ = κ₁q, β = κ₁ū, η = 0 (second_critical_point.hpp) the product η
// grows as e^{2|c|t} and drags γ and β along: (γ, β) = κ₁(q, ū) + η r, with a response r that
// solves (2|c| − J) r = f, where J is the block of W0 and W1 and
//
//     f_γ = κ₁³ [2(qᵀKū) Vq + (qᵀVq) Kū] − κ₁⁵ ‖π‖ (qᵀVq)(ūᵀVū) π,
//     f_β = κ₁³ (qᵀVq) Kᵀq − κ₁⁵ ‖π‖² (qᵀVq) Vū.
//
// J moves γ along π only. So any contrast wᵀγ with wᵀπ = 0 obeys wᵀγ' = (wᵀf_γ) η to first order:
// the redistribution of mass in [FD, Theorem 4.7].
//
// Corrected here, against [FD]:
//   Eq (20)            η' = (λ_Q² + λ_K²) D. The printed 2ηD is that only for λ_Q = λ_K, and η
//                      closes the system only once λ_Q² − λ_K² is known.
//   Theorem 4.7        the rate is 2c, with the c of Proposition 4.4; from a start on the critical
//                      point the contrast goes as e^{2ct} − 1.
//                      "Cannot move in the same direction": all of γ may shrink (many rare tokens).
//   Proposition C.1    assumes ‖γ‖ = ‖β‖; from small weights ‖γ‖² − ‖β‖² = λ_Q² + λ_K².
//
// The two-group form, with the whole excursion, is in two_group_flow.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::theory {

/// A point of the manifold.
struct RankOneState {
  std::vector<double> embedding;  // γ
  std::vector<double> output;     // β
  double query = 0.0;             // λ_Q
  double key = 0.0;               // λ_K

  [[nodiscard]] double amplitude() const { return query * key; }  // η
};

/// The flow of one law and chain, which it copies.
class RankOneFlow {
 public:
  RankOneFlow(std::span<const double> law, MatrixView<const double> transition);

  [[nodiscard]] std::size_t tokens() const { return law_.size(); }
  [[nodiscard]] std::span<const double> law() const { return law_; }
  [[nodiscard]] MatrixView<const double> transition() const { return transition_; }

  /// The velocity (γ', β', λ_Q', λ_K').
  ///
  ///   Accuracy    rounding.
  ///   Properties  (1) the gradient of the population loss on the manifold has no part off it, and
  ///                   its part along it is minus this.
  ///               (2) the two conserved quantities stand still.
  ///               (3) 0 at the second critical point.
  ///   Reference   [FD, Proposition 4.6, Eq (20)], corrected.
  [[nodiscard]] RankOneState velocity(const RankOneState& state) const;

  /// L.
  [[nodiscard]] double loss(const RankOneState& state) const;

  /// A: row i is how token i distributes its attention over the tokens of a long context.
  [[nodiscard]] Matrix<double> attention(const RankOneState& state) const;

  /// The states at the given times, which must not decrease, from `start` at time 0.
  ///
  ///   Accuracy    the relative tolerance, by Adams' method; suited to times before the flow gets
  ///               stiff.
  [[nodiscard]] std::vector<RankOneState> trajectory(const RankOneState& start,
                                                     std::span<const double> times,
                                                     double relative_tolerance = 1e-12) const;

 private:
  std::vector<double> law_;
  Matrix<double> transition_;
};

/// What the flow conserves.
struct RankOneInvariants {
  double norms = 0.0;      // ‖γ‖² − ‖β‖² − λ_Q² − λ_K²
  double attention = 0.0;  // λ_Q² − λ_K²
};
[[nodiscard]] RankOneInvariants invariants(const RankOneState& state);

/// η' = (λ_Q² + λ_K²) D.
[[nodiscard]] double amplitude_velocity(const RankOneFlow& flow, const RankOneState& state);
/// 2ηD, which is η' for λ_Q = λ_K.
///
///   Reference   [FD, Eq (20)].
[[nodiscard]] double published_amplitude_velocity(const RankOneFlow& flow,
                                                  const RankOneState& state);

/// The unstable direction at the second critical point, and what pushes along it.
struct RankOneResponse {
  double rate = 0.0;                     // 2|c|
  std::vector<double> embedding_drive;   // f_γ
  std::vector<double> output_drive;      // f_β
  std::vector<double> embedding_change;  // r_γ, per unit of η
  std::vector<double> output_change;     // r_β
};

/// The response of γ and β to attention.
///
///   Domain      c ≠ 0. (c = 0 for the uniform law and when P forgets at once.)
///   Accuracy    rounding, times the condition of 2|c| − J, at most 1 + ‖J‖/2|c|.
///   Properties  (1) (r, 1) is an eigenvector of the velocity in (γ, β, η), with eigenvalue 2|c|.
///               (2) for two groups, (1 − π_1)f_γ1 − (d − 1)π_1 f_γ2 is
///                   redistribution_coefficient (two_group_flow.hpp).
///   Reference   [FD, Theorem 4.7]; the form for any chain is derived here.
[[nodiscard]] RankOneResponse rank_one_response(std::span<const double> law,
                                                MatrixView<const double> transition);

/// The second critical point moved along its unstable direction to λ_Q = `attention` and λ_K = ±λ_Q
/// with the sign of c: a start whose distance from the orbit that leaves the point is O(η²).
///
///   Properties  (1) ‖γ‖² − ‖β‖² = λ_Q² + λ_K² up to O(η²).
[[nodiscard]] RankOneState unstable_start(std::span<const double> law,
                                          MatrixView<const double> transition, double attention);

}  // namespace dewpoint::theory
