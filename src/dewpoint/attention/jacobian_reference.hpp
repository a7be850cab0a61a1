// How a small change of the tokens passes through one layer: the Jacobian, as one would write it on
// a blackboard. Double, every sum in full.
//
// The layer (layer.hpp) is x'_j = m_j + α x_j with m_j = Σ_i A_ji y_i and y_i = x_i/r_i. Let
// P_i = I − y_i y_iᵀ be the projection on what is tangent to the sphere at y_i, and C_j the
// covariance of the keys under the weights of query j,
//
//     C_j = Σ_i A_ji (y_i − m_j)(y_i − m_j)ᵀ.
//
// The derivative of output j with respect to token i is the d x d block (rows: output)
//
//     J_ji = (A_ji/r_i) [P_i + β (y_i − m_j)(P_i y_j)ᵀ]          i ≠ j,
//     J_jj = (1/r_j) [A_jj P_j + β C_j P_j] + α I.
//
// A mask only sets weights to zero, so the formulas stay. How much of a random change
// survives is one number, the Jacobian norm η = ‖J‖_F²/(n d) of [CAS], Eq 27.
//
// Tokens may be close to each other: scores enter as gaps ½‖y_i − y_j‖², not as one minus a cosine,
// and C_j, which does not see translations, is taken about the mean direction.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/layer.hpp"
#include "dewpoint/attention/mask.hpp"

namespace dewpoint::attention {

/// The covariance of the keys of one query, seen by directions tangent at the query.
struct TangentCovariance {
  double trace;   // τ_j = tr(C_j P_j) ≥ 0
  double square;  // φ_j = ‖C_j P_j‖_F² ≥ 0
};

/// The Jacobian of one layer at given tokens. Holds A and M: memory O(n² + n d).
class ReferenceJacobian {
 public:
  /// Weights and outputs of the layer, O(n² d).
  ///
  ///   Domain      n ≥ 1, d ≥ 1, β ≥ 0, any α, norms > 0.
  ReferenceJacobian(const TokenCloud& tokens, const Layer& parameters, Mask mask = {});

  /// A, n x n: zero where the mask hides a key.
  [[nodiscard]] const Matrix<double>& weights() const { return weights_; }
  /// x'_j = m_j + α x_j, n x d.
  [[nodiscard]] Matrix<double> outputs() const;

  /// J itself, (n d) x (n d): entry (j d + v, i d + u) is the derivative of coordinate v of output
  /// j with respect to coordinate u of token i. O(n² d²); for small n d.
  ///
  ///   Accuracy    an entry is off by at most kJacobianError times the largest one while β ≤ 12,
  ///               n ≤ 10 and 2 ≤ d ≤ 10; for d = 1 J = α I exactly.
  ///   Properties  (1) is the derivative of the layer.
  ///               (2) for α = 0 lengthening a token changes nothing: J (0, .., x_i, .., 0) = 0.
  ///               (3) a causal mask makes it block lower triangular.
  ///   Reference   [CAS], Lemmas B.1-B.3, where it stands transposed and Eq 58 has ‖x_i‖^{-1/2}:
  ///               the power is −1.
  [[nodiscard]] Matrix<double> dense() const;

  /// J V for a change V (n x d) of the tokens, O(n² d). With ẏ_i = P_i V_i/r_i,
  ///
  ///     (J V)_j = Σ_i A_ji [ẏ_i + β (⟨ẏ_j, y_i⟩ + ⟨y_j, ẏ_i⟩)(y_i − m_j)] + α V_j.
  ///
  ///   Accuracy    as dense().
  ///   Properties  (4) is dense() times V.
  [[nodiscard]] Matrix<double> jvp(const Matrix<double>& change) const;

  /// Jᵀ W for a gradient W (n x d) with respect to the outputs, O(n² d). With
  /// t_ji = β A_ji ⟨W_j, y_i − m_j⟩, the gradient with respect to the score of query j and key i,
  ///
  ///     (Jᵀ W)_i = (P_i/r_i) [Σ_j A_ji W_j + Σ_k t_ik y_k + Σ_j t_ji y_j] + α W_i.
  ///
  ///   Accuracy    as dense().
  ///   Properties  (5) is the transpose of dense() times W: ⟨W, J V⟩ = ⟨Jᵀ W, V⟩.
  [[nodiscard]] Matrix<double> vjp(const Matrix<double>& gradient) const;

  /// τ_j and φ_j of every query. With z_i = y_i − mean, μ_j = Σ_i A_ji z_i,
  ///
  ///     φ_j = ‖C_j‖_F² − ‖C_j y_j‖²,
  ///     ‖C_j‖_F² = ‖Σ_i A_ji z_i z_iᵀ‖_F² − 2 Σ_i A_ji ⟨z_i, μ_j⟩² + ‖μ_j‖⁴.
  ///
  ///   Accuracy    relative to the largest ‖z‖⁴: kJacobianNormError.
  ///   Properties  (6) the two ways of the second moment agree.
  [[nodiscard]] std::vector<TangentCovariance> tangent_covariances(SecondMoment way) const;

  /// The parts of η = ‖J‖_F²/(n d) without forming J, from
  ///
  ///     r_i² ‖J_ji‖_F² = A_ji² {d−1 + 2β ⟨y_i − m_j, P_i y_j⟩ + β² ‖y_i − m_j‖² ‖P_i y_j‖²}
  ///
  /// for i ≠ j and the tangent covariances for i = j. O(n² d) and the cost of `way`.
  ///
  ///   Accuracy    η is off by at most kJacobianNormError (η + (β g)²/(n d) Σ_i 1/r_i²), with g the
  ///               largest gap, while β g ≤ 24 and n, d ≤ 32: where C_j P_j is small, its square is
  ///               a difference of larger numbers.
  ///   Properties  (7) is the mean squared length of a column of dense().
  ///               (8) on a regular simplex it has a closed form, whose limit is Theorem 2.4 of
  ///                   [CAS].
  ///   Reference   [CAS], Eq 17 and 27.
  [[nodiscard]] JacobianNorm norm(SecondMoment way) const;
  /// η at the tokens' own norms and the layer's own residual.
  [[nodiscard]] JacobianNorm::Parts eta(SecondMoment way) const;

 private:
  [[nodiscard]] std::vector<double> from_mean(std::size_t key, std::size_t query) const;
  [[nodiscard]] std::vector<double> tangent_part(std::size_t at, std::size_t token) const;
  void fill_weights(std::size_t query);
  void fill_mixed(std::size_t query);
  void add_query_to_dense(std::size_t query, Matrix<double>& jacobian) const;
  [[nodiscard]] std::vector<double> second_moments(SecondMoment way) const;
  [[nodiscard]] double covariance_square(std::size_t query, double second_moment) const;
  [[nodiscard]] TangentCovariance tangent_covariance(std::size_t query, double second_moment) const;
  [[nodiscard]] double off_diagonal_square(std::size_t query, std::size_t key) const;

  Layer parameters_;
  Mask mask_;
  Matrix<double> directions_;  // y_i
  std::vector<double> norms_;  // r_i
  std::vector<double> mean_;   // (1/n) Σ_i y_i
  Matrix<double> centred_;     // z_i = y_i − mean
  Matrix<double> weights_;     // A_ji
  Matrix<double> mixed_;       // μ_j = m_j − mean
};

inline constexpr double kJacobianError = 1e-13;
inline constexpr double kJacobianNormError = 1e-12;

}  // namespace dewpoint::attention
