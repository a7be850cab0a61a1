// A batch on its way through a network and back: the memory of all of it, and the order of things.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dewpoint/transformer/asked_layer.hpp"
#include "dewpoint/transformer/full_layer.hpp"
#include "dewpoint/transformer/output_loss.hpp"

namespace dewpoint::transformer {

/// Nothing is allocated after construction.
template <class Real>
class NetworkPass {
 public:
  /// Contexts of up to `kept_context` rows keep their weights. Where `few_asked`, the last layer is
  /// an AskedLayer; otherwise its weights are kept like those of all others.
  NetworkPass(const Shape& shape, const Capacity& capacity, std::size_t kept_context,
              bool few_asked);

  [[nodiscard]] const Shape& shape() const { return shape_; }

  /// To a state for every asked row.
  void forward(const Weights<Real>& at, const Batch& batch, const Crew& crew);
  /// What follows forward() with the same arguments.
  [[nodiscard]] double loss(const Weights<Real>& at, const Batch& batch, const Crew& crew);
  double backward(const Weights<Real>& at, const Batch& batch, const Crew& crew,
                  Weights<Real>& gradient);

  /// Weights that were kept in a layer, [head][query][key].
  [[nodiscard]] std::span<const Real> kept_weights(const Batch& batch, std::size_t layer,
                                                   std::size_t context) {
    return full_[layer].kept_of(indexed(batch), context);
  }
  /// What the softmax of a head of such a layer sees, after forward(). Entries behind a mask mean
  /// nothing.
  void scores(const Batch& batch, std::size_t layer, std::size_t context, std::size_t head,
              MatrixView<Real> out) {
    full_[layer].scores(input(layer), indexed(batch), context, head, workspace_, out);
  }
  [[nodiscard]] double operations(const Batch& batch) const;

 private:
  // What a layer reads.
  struct Level {
    Room<Real> states;
    std::vector<Real> factors;  // with pre-norm
  };
  [[nodiscard]] IndexedBatch<Real> indexed(const Batch& batch) const;
  [[nodiscard]] LayerInput<Real> input(std::size_t layer);
  [[nodiscard]] MatrixView<Real> asked_states(const Batch& batch);
  void take_in(const Batch& batch);
  void fuse(const Weights<Real>& at, const Crew& crew);
  void embed(const Weights<Real>& at, const Crew& crew);
  void normalise_level(std::size_t layer, const Crew& crew);
  void finish_asked(const Batch& batch, const Crew& crew);
  void retreat_asked_norms(const Batch& batch, const Crew& crew);
  void spread_asked_slopes(const Batch& batch, const Crew& crew);
  void start_back(const Weights<Real>& at, const Batch& batch, const Crew& crew,
                  Weights<Real>& gradient);
  void write_embedding_slope(const Crew& crew, Matrix<Real>& slope);
  void separate(const Weights<Real>& at, const Crew& crew, Weights<Real>& gradient);

  Shape shape_;
  Capacity capacity_;
  BatchIndex index_;
  std::vector<Real> log_counts_;
  std::vector<Level> levels_;  // one per layer
  Room<Real> token_carried_;   // Z before the first layer, with pre-norm
  Room<Real> row_carried_;     // Z after a layer, where that is not what the next one reads
  std::vector<FullLayer<Real>> full_;
  std::optional<AskedLayer<Real>> last_;
  LayerWorkspace<Real> workspace_;
  OutputLoss<Real> output_;
  Room<Real> asked_states_, asked_slope_;
  std::vector<Real> asked_factors_;
};

}  // namespace dewpoint::transformer
