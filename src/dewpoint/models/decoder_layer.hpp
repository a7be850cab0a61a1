// One layer over all tokens: attention head by head, then the feed-forward.
//
// Queries, keys and values exist for one head at a time, so a layer needs two matrices of the size
// of the hidden states besides them (normed states, outputs of the heads), three of n x d, and per
// thread a block of feed-forward vectors (row_blocks.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/models/architecture.hpp"
#include "dewpoint/models/layer_scheme.hpp"
#include "dewpoint/models/rotation.hpp"
#include "dewpoint/models/weights.hpp"

namespace dewpoint::models {

/// What a layer works with besides its weights.
struct LayerTask {
  const Architecture* architecture;
  const LayerScheme* scheme;
  const RotationTable* rotation;  // of the scheme; null: none
  const attention::LogitMultiplier* multiplier;
  std::function<void(std::size_t head, const attention::Head&)> visit;  // before its attention
  bool attend = true;  // false: heads are visited, outputs not computed
};

/// Matrices that all layers share.
struct Workspace {
  Workspace(const Architecture& architecture, std::size_t n);

  Matrix<float> normed;                 // n x hidden
  Matrix<float> mixed;                  // n x heads·d, outputs of the heads side by side
  Matrix<float> queries, keys, values;  // n x d, of one head
};

/// x ← x + W_o attention(norm(x)), then x ← x + mlp(norm(x)), without the parts that the model does
/// not have. With task.attend false x stays.
///
///   Properties  (1) equal bytes for any number of threads.
///               (2) heads are visited in order, on the calling thread.
void run_layer(const LayerWeights& weights, const LayerTask& task, Workspace& space,
               MatrixView<float> x, const RunContext& context);

}  // namespace dewpoint::models
