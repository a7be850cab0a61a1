// The last layer where few rows are asked for: only these have queries and outputs.
//
// Keys and values are then not made at all. A score ⟨q, WKᵀx⟩ is ⟨WK q, x⟩, so the key matrix is
// taken to the query, and with a value matrix Σ A_j (x_j WV) is (Σ A_j x_j) WV: products with m x m
// matrices are as many as asked rows (with one layer, as different tokens among them). What is left
// of a context are inner products with its states and sums of them, read where they are.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/transformer/crew.hpp"
#include "dewpoint/transformer/layer_input.hpp"
#include "dewpoint/transformer/logit_multipliers.hpp"
#include "dewpoint/transformer/room.hpp"

namespace dewpoint::transformer {

/// Rows of one product, and asked rows of one job.
inline constexpr std::size_t kProductRows = 64, kAskedBlock = 8;

/// Nothing is allocated after construction.
template <class Real>
class AskedLayer {
 public:
  AskedLayer(const Shape& shape, const Capacity& capacity);

  /// Z after the layer, for every asked row.
  void forward(const LayerWeights<Real>& weights, const LayerInput<Real>& input,
               const IndexedBatch<Real>& batch, const Crew& crew, MatrixView<Real> out);

  /// From ∂L/∂out to the slopes of the weights and to ∂L/∂Z before the layer, of every state.
  void backward(const LayerWeights<Real>& weights, const LayerInput<Real>& input,
                const IndexedBatch<Real>& batch, MatrixView<const Real> out_slope, const Crew& crew,
                LayerWeights<Real>& slope, MatrixView<Real> state_slope);

  /// Operations of its products, forth and back, for so many different states among the asked.
  [[nodiscard]] static double operations(const Shape& shape, const Batch& batch,
                                         std::size_t groups);

 private:
  // The rooms at the sizes of a batch.
  struct View {
    MatrixView<Real> group_states, queries, absorbed;
    MatrixView<Real> weights, score_slopes;  // a row per asked row and head
    MatrixView<Real> mixed, mixed_slopes, branch_slopes, absorbed_slopes;
    MatrixView<Real> group_absorbed_slopes, query_slopes, group_state_slopes;
  };
  // What an asked row sees.
  struct Reach {
    Range rows;           // of the batch
    RowNumbers states;    // of these rows
    std::size_t context;  // rows of all of it
  };

  [[nodiscard]] View view(const IndexedBatch<Real>& batch);
  [[nodiscard]] Reach reach(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                            std::size_t asked) const;
  /// Columns of X that a head mixes, and where they are among all that are mixed.
  [[nodiscard]] Range value_columns(std::size_t head) const;
  [[nodiscard]] Range mixed_columns(std::size_t head) const;
  [[nodiscard]] Range head_columns(std::size_t head) const;
  /// Columns of WK q of a head.
  [[nodiscard]] Range absorbed_columns(std::size_t head) const;

  void make_queries(const LayerWeights<Real>& weights, const LayerInput<Real>& input,
                    const IndexedBatch<Real>& batch, Range groups);
  void attend(const LayerInput<Real>& input, const IndexedBatch<Real>& batch, std::size_t asked);
  void write_out(const LayerWeights<Real>& weights, const LayerInput<Real>& input,
                 const IndexedBatch<Real>& batch, Range asked, MatrixView<Real> out);

  void make_mixed_slopes(const LayerWeights<Real>& weights, const IndexedBatch<Real>& batch,
                         MatrixView<const Real> out_slope, Range asked);
  void retreat(const LayerInput<Real>& input, const IndexedBatch<Real>& batch, std::size_t asked);
  void retreat_queries(const LayerWeights<Real>& weights, const IndexedBatch<Real>& batch,
                       Range groups);
  void make_weight_slopes(const IndexedBatch<Real>& batch, Range rows, LayerWeights<Real>& slope);
  void make_state_slope(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                        MatrixView<const Real> out_slope, std::size_t state, std::span<Real> sum);
  void add_context_slopes(const IndexedBatch<Real>& batch, RowNumbers rows, std::span<Real> sum);
  void number_groups(const LayerInput<Real>& input, const IndexedBatch<Real>& batch);

  Shape shape_;
  LogitMultipliers<Real> multipliers_;
  std::size_t longest_;
  std::size_t mixed_width_;                       // columns of all heads together
  Room<Real> group_states_, queries_, absorbed_;  // X, Q and WK q of every group of asked rows
  Room<Real> weights_, score_slopes_;             // A and ∂L/∂S: [asked][head][row of context]
  Room<Real> mixed_, mixed_slopes_;               // Σ A_j x_j and ∂L/∂ of it
  Room<Real> branch_slopes_;                      // ∂L/∂O
  Room<Real> absorbed_slopes_;                    // ∂L/∂(WK q) of every asked row
  Room<Real> group_absorbed_slopes_, query_slopes_, group_state_slopes_;
  std::vector<std::uint32_t> group_of_state_;  // kNoGroup: not asked for
};

}  // namespace dewpoint::transformer
