// One layer on tokens with any kind of attention: directions, projections, heads, residual.
//
//     x'_j = (o_j of head 1, .., o_j of head H) + α x_j,    o from y_i = x_i/‖x_i‖
//
// Projections (projections.hpp) make queries, keys and values of each head from the directions y,
// as layer.hpp does with Q = K = V = I; attention (attention_variant.hpp) makes the outputs. With
// one head, no matrices and plain softmax this is the layer of layer.hpp, whose paths are faster
// and keep the angles of tokens that collapse: use those where they apply.
//
// All heads share β, mask, kind and, with random features, the features.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/attention/jacobian_products.hpp"
#include "dewpoint/attention/variants/attention_variant.hpp"
#include "dewpoint/attention/variants/projections.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/core/token_cloud.hpp"

namespace dewpoint::attention {

struct LayerVariant {
  AttentionVariant attention;
  Projections projections;
  double residual = 0.0;  // α
};

struct LayerVariantResult {
  Matrix<double> outputs;                        // x', a row per token that was asked for
  std::vector<std::vector<RowStatistics>> rows;  // of each head, as AttentionResult::rows
};

/// The layer's outputs for some tokens, increasing.
///
///   Domain      n ≥ 1, d ≥ 1, norms > 0; what both check() let pass, else Error{bad_value}.
///   Accuracy    variant_error(n, d/H, β) of the largest |v| of a head, at most 1, as ‖q‖ ≤ 1 and
///               ‖k‖ ≤ 1 with orthogonal matrices; linear kinds as LinearAttention.
///   Properties  (1) equals reference_variant_layer within that accuracy.
///               (2) one head, no matrices, softmax: equals reference_layer.
///               (3) the same bytes for any number of threads.
[[nodiscard]] LayerVariantResult variant_layer(const TokenCloud& tokens,
                                               const LayerVariant& parameters,
                                               std::span<const std::size_t> queries,
                                               const RunContext& context = {});
/// For every token.
[[nodiscard]] LayerVariantResult variant_layer(const TokenCloud& tokens,
                                               const LayerVariant& parameters,
                                               const RunContext& context = {});

/// The rows of a linear kind, which its layer does without: LinearAttention::rows of each head.
[[nodiscard]] std::vector<std::vector<RowStatistics>> linear_rows(
    const TokenCloud& tokens, const LayerVariant& parameters, std::span<const std::size_t> queries,
    const RunContext& context = {});

/// The Jacobian of that layer with respect to the tokens x, in double: for hutchinson_norm and
/// singular values. Holds queries, keys and values of all heads, O(n d).
class VariantJacobian final : public JacobianOperator {
 public:
  /// Domain as variant_layer. Products run on the threads of `context` and obey its request to
  /// stop; they report no progress.
  VariantJacobian(const TokenCloud& tokens, LayerVariant parameters,
                  const RunContext& context = {});

  [[nodiscard]] std::size_t rows() const override { return directions_.rows(); }
  [[nodiscard]] std::size_t dimension() const override { return directions_.cols(); }

  /// J V: ẏ_i = P_i V_i/r_i with P_i = I − y_i y_iᵀ, through projections and variant_jvp, and α V.
  ///
  ///   Properties  (1) is the derivative of reference_variant_layer.
  ///               (2) one head, no matrices, softmax: is ReferenceJacobian::jvp.
  [[nodiscard]] Matrix<double> jvp(const Matrix<double>& change) const override;
  /// Jᵀ W.
  ///
  ///   Properties  (3) ⟨W, J V⟩ = ⟨Jᵀ W, V⟩.
  [[nodiscard]] Matrix<double> vjp(const Matrix<double>& gradient) const override;

 private:
  LayerVariant parameters_;
  RunContext context_;
  Matrix<double> directions_;             // y_i
  std::vector<double> norms_;             // r_i
  std::vector<AttentionMatrices> heads_;  // queries, keys and values
};

/// The layer as one would write it on a blackboard, for Scalar = double or std::complex<double>
/// (variant_reference.hpp says why); `tokens` are the x, n x d.
template <class Scalar>
[[nodiscard]] Matrix<Scalar> reference_variant_layer(const Matrix<Scalar>& tokens,
                                                     const LayerVariant& parameters);

}  // namespace dewpoint::attention
