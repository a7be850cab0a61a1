// Products with the Jacobian of a layer, or of many layers, without the Jacobian.
//
// J is (n d) x (n d): for a thousand tokens it does not fit into memory, and seldom is it wanted
// itself. A change V of the tokens goes forward as J V, a gradient W with respect to the outputs
// comes back as Jᵀ W, and the two together answer for norms (hutchinson_norm below) and singular
// values (singular_values.hpp). The formulas, J itself and a plain version of both products are in
// jacobian_reference.hpp; here they are done by BLAS in double, a strip of queries against a block
// of keys at a time. Weights are computed anew for every product: memory is O(n d), time O(n² d).
//
// Everything that does not change when all directions are moved by the same vector is computed from
// the offsets o_i = y_i − mean: gaps, rates of scores, and keys seen from the mean of a query. So
// tokens whose directions differ in the ninth digit have their Jacobian to the same relative
// accuracy as spread ones.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/layer.hpp"
#include "dewpoint/attention/mask.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/core/token_cloud.hpp"

namespace dewpoint::attention {

/// A square matrix J of side rows() · dimension(), known by its products with n x d matrices.
class JacobianOperator {
 public:
  JacobianOperator() = default;
  JacobianOperator(const JacobianOperator&) = default;
  JacobianOperator& operator=(const JacobianOperator&) = default;
  JacobianOperator(JacobianOperator&&) = default;
  JacobianOperator& operator=(JacobianOperator&&) = default;
  virtual ~JacobianOperator() = default;

  [[nodiscard]] virtual std::size_t rows() const = 0;       // n
  [[nodiscard]] virtual std::size_t dimension() const = 0;  // d
  /// J V, for a change V (n x d) of the tokens.
  [[nodiscard]] virtual Matrix<double> jvp(const Matrix<double>& change) const = 0;
  /// Jᵀ W, for a gradient W (n x d) with respect to the outputs.
  [[nodiscard]] virtual Matrix<double> vjp(const Matrix<double>& gradient) const = 0;
};

/// The Jacobian of one layer at given tokens.
class LayerJacobian final : public JacobianOperator {
 public:
  /// Partitions and outputs of the layer, in one pass of O(n² d). Later products run on the threads
  /// of `context` and obey its request to stop; they are steps of somebody else's work and report
  /// no progress.
  ///
  ///   Domain      n ≥ 1, d ≥ 1, β ≥ 0, any α, norms > 0.
  LayerJacobian(const TokenCloud& tokens, const Layer& parameters, Mask mask = {},
                const RunContext& context = {});

  [[nodiscard]] std::size_t rows() const override { return directions_.rows(); }
  [[nodiscard]] std::size_t dimension() const override { return directions_.cols(); }

  /// x'_j = m_j + α x_j, as tokens for the next layer. Throws Error{bad_value} if a residual that
  /// cancels the mixed value leaves a token without direction.
  [[nodiscard]] TokenCloud outputs() const;

  /// J V. With ẏ_i = P_i V_i/r_i and the rate s_ji = −⟨ẏ_j − ẏ_i, o_j − o_i⟩ of a score,
  ///
  ///     (J V)_j = Σ_i A_ji ẏ_i + β [Σ_i A_ji s_ji o_i − (Σ_i A_ji s_ji) Σ_i A_ji o_i] + α V_j.
  ///
  ///   Accuracy    relative_error(), relative to the sum of the absolute values of all terms. This
  ///               is at most (1 + 8 β g) max_i ‖ẏ_i‖ + |α| ‖V_j‖, with g the largest ‖o‖².
  ///   Properties  (1) agrees with ReferenceJacobian::jvp, whatever the mask.
  ///               (2) equal bytes for any number of threads.
  ///               (3) of tokens that nearly coincide, agrees as in (1): the error scales with g.
  ///               (4) where every weight falls on the token itself β drops out, however large:
  ///                   J = P_j/r_j + α I in each block, to 2 d + 6 roundings.
  [[nodiscard]] Matrix<double> jvp(const Matrix<double>& change) const override;

  /// Jᵀ W. With t_ji = β A_ji ⟨W_j, y_i − m_j⟩, t_jj left out because its gap is always 0,
  ///
  ///     (Jᵀ W)_i = (P_i/r_i) [Σ_j A_ji W_j + Σ_k (t_ik + t_ki)(o_k − o_i)] + α W_i.
  ///
  ///   Accuracy    relative_error(), relative to the sum of the absolute values of all terms. With
  ///               c_i = Σ_j A_ji it is at most [(1 + 4 β g) c_i + 4 β g] max_j ‖W_j‖/r_i + |α|
  ///               ‖W_i‖.
  ///   Properties  (1)-(4) as jvp.
  ///               (5) ⟨W, J V⟩ = ⟨Jᵀ W, V⟩.
  [[nodiscard]] Matrix<double> vjp(const Matrix<double>& gradient) const override;

  /// Bound on the rounding of a product, to first order in u = 2⁻⁵³: a gap is off by at most
  /// 2 (d + 5) g u, which enters weights, partitions and mixed outputs multiplied by β; sums of n
  /// terms stand in three places one behind the other, those of d terms in four,
  ///
  ///     u [3 n + 4 d + 20 + 8 (d + 5) β g].
  [[nodiscard]] double relative_error() const;

 private:
  // A block of weights A_ji; queries of the strip are its rows.
  using BlockVisitor = std::function<void(Range keys, MatrixView<const double> weights)>;
  struct Rates;
  struct Gradients;

  void centre_directions();
  void mix(Range queries);
  [[nodiscard]] Range keys_of(Range queries) const;
  void visit_weights(Range queries, const BlockVisitor& visit) const;
  void fill_weights(Range queries, Range keys, MatrixView<double> weights) const;
  [[nodiscard]] Rates rates_of(const Matrix<double>& change) const;
  void add_forward(Range queries, const Rates& rates, Matrix<double>& result) const;
  void add_backward(Range queries, const Matrix<double>& gradient, Gradients& sums) const;
  [[nodiscard]] std::size_t groups() const;
  void for_each_strip(const std::function<void(Range queries)>& body) const;

  Layer parameters_;
  Mask mask_;
  RunContext context_;
  std::size_t cluster_size_;
  Matrix<double> directions_;               // y_i
  std::vector<double> norms_;               // r_i
  std::vector<double> centre_;              // mean of the y_i, rounded
  Matrix<double> offsets_;                  // o_i = y_i − centre
  std::vector<double> half_squares_;        // ½‖o_i‖²
  std::vector<double> inverse_partitions_;  // 1/Z_j
  Matrix<double> mixed_;                    // μ_j = Σ_i A_ji o_i
};

/// The Jacobian of L layers one after the other, J = J_L ... J_1, each at the outputs of the one
/// before. Holds the tokens of every depth: memory O(L n d).
class JacobianChain final : public JacobianOperator {
 public:
  /// One Layer for each depth.
  ///
  ///   Domain      L ≥ 1, else Error{bad_value}; otherwise as LayerJacobian.
  ///   Accuracy    outputs are handed on as unit vectors in double: where they collapse to a spread
  ///               s, offsets are known to 1e-16/s, and so is what β s² adds to J.
  JacobianChain(const TokenCloud& tokens, std::span<const Layer> layers, Mask mask = {},
                const RunContext& context = {});

  [[nodiscard]] std::size_t rows() const override { return layers_.front().rows(); }
  [[nodiscard]] std::size_t dimension() const override { return layers_.front().dimension(); }
  [[nodiscard]] std::span<const LayerJacobian> layers() const { return layers_; }

  /// All layers, forward and backward.
  ///
  ///   Properties  (1) are the products with the product of the Jacobians of the layers.
  ///               (2) parts multiply: through [a, b), then [b, c), is through [a, c).
  [[nodiscard]] Matrix<double> jvp(const Matrix<double>& change) const override;
  [[nodiscard]] Matrix<double> vjp(const Matrix<double>& gradient) const override;
  /// Layers [part.begin, part.end) only: from the tokens before the first of them to those after
  /// the last, or back.
  [[nodiscard]] Matrix<double> jvp(const Matrix<double>& change, Range part) const;
  [[nodiscard]] Matrix<double> vjp(const Matrix<double>& gradient, Range part) const;

 private:
  std::vector<LayerJacobian> layers_;
};

/// Estimate of η = ‖J‖_F²/(n d) from probes v of random signs (probe p takes signs p n d .. of the
/// stream): the mean of ‖J v‖²/(n d), with the standard error of that mean.
///
///   Domain      probes ≥ 1, else Error{bad_value}; the error is NaN for one probe.
///   Properties  (1) unbiased.
///               (2) one probe has variance 2 [‖JᵀJ‖_F² − Σ_k (JᵀJ)_kk²]/(n d)²: none if J has
///                   orthogonal columns.
///   Reference   [Hutchinson, Commun. Stat. Simul. Comput. 18 (1989) 1059].
[[nodiscard]] Estimate hutchinson_norm(const JacobianOperator& jacobian, std::size_t probes,
                                       const Stream& stream);
/// The same with as many probes as the options ask for: their number, or as many as a few of them
/// say are needed for the error.
[[nodiscard]] Estimate hutchinson_norm(const JacobianOperator& jacobian,
                                       const NormOptions& options);

}  // namespace dewpoint::attention
