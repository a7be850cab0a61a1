// A layer in which every row of the batch asks.
//
// Queries, keys and values are one product P = X W, with the matrices side by side in W. With one
// head scores are X (WQ WKᵀ) Xᵀ: where there are more states than columns it is cheaper to multiply
// the two matrices once and to let the states be the keys ("merged"). Without a value matrix the
// states are the values. So W = [WQ | WK | WV], with WQ WKᵀ in the place of the first two where
// they are merged, and without the last where there is none.
//
// Before the first layer there is one state per token: P is made for tokens, and slopes are summed
// over the rows of a token before they go back through W.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/transformer/crew.hpp"
#include "dewpoint/transformer/layer_input.hpp"
#include "dewpoint/transformer/layer_workspace.hpp"
#include "dewpoint/transformer/room.hpp"

namespace dewpoint::transformer {

template <class Real>
class FullLayer {
 public:
  FullLayer(const Shape& shape, const Capacity& capacity, std::size_t layer,
            std::size_t kept_context);

  /// Says how many states there will be; W and its slope belong to this number.
  void expect_states(std::size_t states);
  /// Rows of W, and of the slopes of the weights once backward() is done.
  void fuse(const LayerWeights<Real>& weights, Range rows);
  void separate(const LayerWeights<Real>& weights, LayerWeights<Real>& slope, Range rows);

  /// Z after the layer, for every row; `out` may be input.carried where rows are states.
  void forward(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
               LayerWorkspace<Real>& workspace, const Crew& crew, MatrixView<Real> out);
  /// From workspace.slope after the layer to that before it; before the first layer to
  /// workspace.token_slope.
  void backward(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                LayerWorkspace<Real>& workspace, const Crew& crew);

  /// Weights of a context, [head][query][key]; nothing where they are not kept.
  [[nodiscard]] std::span<Real> kept_of(const IndexedBatch<Real>& batch, std::size_t context);

  /// What the softmax of a head sees in a context, after forward() with the same arguments. Entries
  /// behind a mask mean nothing.
  void scores(const LayerInput<Real>& input, const IndexedBatch<Real>& batch, std::size_t context,
              std::size_t head, LayerWorkspace<Real>& workspace, MatrixView<Real> out);

  /// Operations of its products, forth and back.
  [[nodiscard]] static double operations(const Shape& shape, const Batch& batch,
                                         std::size_t states);

 private:
  // Slopes of every state: of P, of X as far as it does not go through W (this becomes that of Z),
  // and of what a residual carries past the norm.
  struct StateSlopes {
    MatrixView<const Real> projected;
    MatrixView<Real> states;
    MatrixView<const Real> carried;
  };
  using Lane = typename LayerWorkspace<Real>::Lane;

  [[nodiscard]] Operands<const Real> operands(const LayerInput<Real>& input, RowNumbers states,
                                              Range rows, Lane& lane);
  void attend(const LayerInput<Real>& input, const IndexedBatch<Real>& batch, std::size_t context,
              Lane& lane, MatrixView<Real> out);
  void retreat(const LayerInput<Real>& input, const IndexedBatch<Real>& batch, std::size_t context,
               Lane& lane, LayerWorkspace<Real>& workspace);
  void sum_over_tokens(const IndexedBatch<Real>& batch, LayerWorkspace<Real>& workspace,
                       const Crew& crew) const;
  void retreat_projection(const LayerInput<Real>& input, const StateSlopes& slopes,
                          LayerWorkspace<Real>& workspace, const Crew& crew);
  void finish_states(const LayerInput<Real>& input, const StateSlopes& slopes, Range states);
  void add_partials(std::size_t parts, LayerWorkspace<Real>& workspace, const Crew& crew);

  [[nodiscard]] bool carries_slopes() const { return shape_.pre_norm && shape_.residual; }

  Shape shape_;
  bool merged_ = false;
  std::size_t columns_ = 0;  // of W
  Room<Real> fused_, fused_slope_;
  Room<Real> projected_;  // P
  Room<Real> kept_;
};

}  // namespace dewpoint::transformer
