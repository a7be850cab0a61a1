// The model with several layers of attention, one head each, and its loss.
//
// With Z⁰ the embeddings of a context and layers l = 1..L, [FD, D.3] stacks
//
//     A^l = softmax(Z^{l−1} WQ_l WK_lᵀ Z^{l−1}ᵀ),   Z^l = A^l Z^{l−1}   (with residual + Z^{l−1})
//
// and reads the logits Z^L W1 at the last position. There is no value matrix, no mask and no
// position. This makes two collapses exact. Positions with equal tokens have equal states, so a
// context enters through its histogram alone, with one state per token that occurs. And layers only
// mix states: every one of them is a combination of the d embeddings, and the loss depends on the
// weights through L + 1 matrices of d x d numbers,
//
//     Φ_l = W0 WQ_l WK_lᵀ W0ᵀ,   M = W0 W1.
//
// So a step costs passes over the weights and, for each of some hundred histograms, products of
// d x d matrices (layered_pass.hpp). The same written down plainly, one sequence at a time, is
// layered_reference.hpp. L = 1 is the model of token_loss.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/histogram_groups.hpp"
#include "dewpoint/training/histograms.hpp"
#include "dewpoint/training/layered_pass.hpp"

namespace dewpoint::training {

template <class Real>
struct LayeredParameters {
  Matrix<Real> embedding;                // W0: d x m
  Matrix<Real> unembedding;              // W1: m x d
  std::vector<Matrix<Real>> query, key;  // WQ, WK of every layer: m x m

  LayeredParameters() = default;
  LayeredParameters(std::size_t vocabulary, std::size_t width, std::size_t layers)
      : embedding(vocabulary, width),
        unembedding(width, vocabulary),
        query(layers, Matrix<Real>(width, width)),
        key(layers, Matrix<Real>(width, width)) {}

  [[nodiscard]] std::size_t vocabulary() const { return embedding.rows(); }
  [[nodiscard]] std::size_t width() const { return embedding.cols(); }
  [[nodiscard]] std::size_t layers() const { return query.size(); }
};

/// The matrices in their order: W0, W1, then WQ and WK of one layer after the other. Pointers to
/// constant ones where the weights are.
template <class Weights>
[[nodiscard]] auto matrices_of(Weights& weights) {
  std::vector all{&weights.embedding, &weights.unembedding};
  for (std::size_t layer = 0; layer < weights.layers(); ++layer) {
    all.push_back(&weights.query[layer]);
    all.push_back(&weights.key[layer]);
  }
  return all;
}

/// Independent N(0, deviation²) entries in the order of matrices_of(), from the stream (seed,
/// "training/initial", replica): with one layer those of initial_parameters().
template <class Real>
[[nodiscard]] LayeredParameters<Real> initial_layers(std::size_t vocabulary, std::size_t width,
                                                     std::size_t layers, double deviation,
                                                     std::uint64_t seed, std::uint64_t replica);

/// |W0_i| of every token.
template <class Real>
[[nodiscard]] std::vector<double> embedding_norms(const LayeredParameters<Real>& parameters);

/// Attention between tokens in every layer, d x d each, in a context that shows every token once.
/// With one layer it is softmax(Φ).
template <class Real>
[[nodiscard]] std::vector<Matrix<double>> layer_attention(const LayeredParameters<Real>& parameters,
                                                          bool residual);

/// A data set as the model with L layers sees it. Evaluations share a workspace: one object is for
/// one thread at a time. Passes over the weights are in Real, those over the data in double.
template <class Real>
class LayeredModel {
 public:
  /// Domain: at least one row, layers ≥ 1, width ≥ 1.
  LayeredModel(const HistogramRows& rows, std::size_t width, std::size_t layers, bool residual);

  /// The rows it was made from. A minibatch is other label weights for the same rows.
  [[nodiscard]] const HistogramRows& rows() const { return rows_; }

  /// Mean loss over label weights y (rows x d, with a positive sum), and its gradient. Histograms
  /// without weight cost nothing. A weight that is NaN makes a loss that is. No allocation.
  double gradient(const LayeredParameters<Real>& at, const Matrix<double>& labels,
                  LayeredParameters<Real>& gradient);
  /// Mean loss of the whole data set.
  [[nodiscard]] double loss(const LayeredParameters<Real>& at);

 private:
  void project(const LayeredParameters<Real>& at);
  double pass_over(const Matrix<double>& labels, bool with_slopes);
  double add_group(const Range& group, const Matrix<double>& labels, bool with_slopes);
  double add_row(std::size_t row, std::span<const double> labels);
  void pull_back(const LayeredParameters<Real>& at, LayeredParameters<Real>& gradient);

  HistogramRows rows_;
  HistogramGroups histograms_;
  LayeredPass pass_;
  std::vector<Matrix<double>> attention_, attention_slope_;  // Φ of every layer, ∂L/∂Φ
  Matrix<double> value_, value_slope_;                       // M, ∂L/∂M
  std::vector<double> excess_;                               // logits, then ∂L/∂logits
  std::vector<Matrix<Real>> query_, key_;                    // W0 WQ and W0 WK of every layer
  Matrix<Real> slope_, product_;                             // of a projection; d x m
  Matrix<Real> small_;                                       // d x d
};

}  // namespace dewpoint::training
