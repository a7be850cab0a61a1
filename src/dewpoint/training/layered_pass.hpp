// Several layers of attention over one histogram, forwards and backwards, in the space of tokens.
//
// Every state of the model is a combination of embeddings, Z = C W0, because layers only mix states
// (layered_model.hpp). For a context with k different tokens C is k x d, one row per token that
// occurs, and starts as rows of the identity. A layer with Φ = W0 WQ WKᵀ W0ᵀ is
//
//     S = C Φ Cᵀ,   A_ij ∝ n_j exp S_ij,   C' = A C   (with residual C + A C)
//
// and backwards, with D = ∂L/∂C' and U = ∂L/∂S · C,
//
//     ∂L/∂A = D Cᵀ,   ∂L/∂S_ij = A_ij (∂L/∂A_ij − Σ_h A_ih ∂L/∂A_ih),   ∂L/∂Φ = Cᵀ U
//     ∂L/∂C = Aᵀ D + U Φᵀ + (∂L/∂S)ᵀ C Φ   (with residual + D).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::training {

/// The way of one context through the layers. Nothing is allocated after construction.
class LayeredPass {
 public:
  LayeredPass(std::size_t vocabulary, std::size_t layers, bool residual);

  /// To the last layer, for a context with these counts, not all 0.
  void forward(std::span<const double> counts, std::span<const Matrix<double>> attention);

  /// The combination of embeddings that a token of the context has become.
  [[nodiscard]] std::span<const double> state(std::size_t token) const;
  /// ∂L/∂ of it: forward() sets it to 0, the caller adds to it, backward() uses it up.
  [[nodiscard]] std::span<double> state_slope(std::size_t token);
  /// Attention of token i on all tokens j of the context together, k x k, in a layer.
  [[nodiscard]] MatrixView<const double> weights(std::size_t layer) const;

  /// Adds ∂L/∂Φ of every layer to `slope`.
  void backward(std::span<const Matrix<double>> attention, std::span<Matrix<double>> slope);

 private:
  void gather(std::span<const double> counts);
  void attend(std::size_t layer, const Matrix<double>& attention);
  void retreat(std::size_t layer, const Matrix<double>& attention, Matrix<double>& slope);
  [[nodiscard]] double* combinations(std::size_t layer) { return states_.row(layer).data(); }

  std::size_t vocabulary_;
  std::size_t layers_;
  bool residual_;
  std::size_t present_ = 0;         // k
  std::vector<double> counts_;      // of the tokens that occur
  std::vector<std::size_t> place_;  // of every token among them
  Matrix<double> states_;           // C before every layer and after the last, one to a row
  Matrix<double> weights_;          // A of every layer, one to a row
  Matrix<double> slope_;            // D
  Matrix<double> scores_slope_;     // ∂L/∂S
  Matrix<double> scratch_;
};

}  // namespace dewpoint::training
