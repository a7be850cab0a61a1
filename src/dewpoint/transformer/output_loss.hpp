// From states to the loss: logits, softmax, cross-entropy, and back.
//
// Logits exist for a block of asked rows at a time. Of a row with questions of weights w_q and
// labels y_q, the loss is Σ_q w_q (log Σ e^z − z_{y_q}), and its slope in the logits
// (Σ_q w_q) softmax(z) − Σ_q w_q e_{y_q}.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/transformer/crew.hpp"
#include "dewpoint/transformer/layer_input.hpp"
#include "dewpoint/transformer/room.hpp"

namespace dewpoint::transformer {

/// Nothing is allocated after construction.
template <class Real>
class OutputLoss {
 public:
  OutputLoss(const Shape& shape, const Capacity& capacity);

  /// The loss, from a state per asked row.
  [[nodiscard]] double loss(const Matrix<Real>& unembedding, MatrixView<const Real> states,
                            const IndexedBatch<Real>& batch, const Crew& crew);
  /// The loss with its slopes.
  double gradient(const Matrix<Real>& unembedding, MatrixView<const Real> states,
                  const IndexedBatch<Real>& batch, const Crew& crew,
                  Matrix<Real>& unembedding_slope, MatrixView<Real> state_slope);

  /// Operations of its products, forth and back.
  [[nodiscard]] static double operations(const Shape& shape, std::size_t asked);

 private:
  void make_losses(const IndexedBatch<Real>& batch, Range asked, MatrixView<Real> logits);

  std::size_t vocabulary_;
  Room<Real> logits_;
  std::vector<double> losses_;  // of every asked row
};

}  // namespace dewpoint::transformer
