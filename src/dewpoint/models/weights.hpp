// The weights of a decoder, layer by layer, as float32.
//
// Numbers stay in the file until a layer's turn comes; then that layer is converted, used
// and dropped. Embeddings are read row by row, the output head block by block, so a large
// vocabulary costs no memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/models/architecture.hpp"
#include "dewpoint/models/norms.hpp"
#include "dewpoint/models/tensor_reader.hpp"

namespace dewpoint::models {

/// y = W x + b.
struct Linear {
  Matrix<float> weight;     // [out, in]
  std::vector<float> bias;  // empty: 0
};

/// out = in Wᵀ + b for the outputs of a range, rows being vectors.
void apply(const Linear& linear, Range outputs, MatrixView<const float> in, MatrixView<float> out);
/// For all outputs.
void apply(const Linear& linear, MatrixView<const float> in, MatrixView<float> out);

struct FeedForward {
  std::optional<Norm> norm;
  std::optional<Linear> gate;  // absent: not gated
  Linear up, down;
};

/// What is absent is left out: the vector stays as it is.
struct LayerWeights {
  std::optional<Norm> attention_norm;
  Linear query, key;                         // heads one below the other
  std::optional<Linear> value;               // the same; absent: values are the inputs
  std::optional<Norm> query_norm, key_norm;  // of one head's vector
  std::optional<Linear> output;
  std::optional<FeedForward> feed_forward;
};

class Weights {
 public:
  /// Looks up every tensor that the architecture asks for. Throws Error{malformed_file} for one
  /// that is missing, has another shape, or should not be there (a bias that nothing would add, a
  /// matrix that the configuration says is not there).
  Weights(NamedTensors tensors, const Architecture& architecture);

  [[nodiscard]] LayerWeights layer(std::size_t number, const RunContext& context = {}) const;
  [[nodiscard]] std::optional<Norm> last_norm() const;
  /// Embeddings of tokens at the positions 0..n−1: the token's, plus the position's where positions
  /// are learned.
  void embed(std::span<const int> tokens, MatrixView<float> out) const;
  /// Rows of the matrix that makes logits, those of a range of the vocabulary.
  [[nodiscard]] Matrix<float> head(Range vocabulary) const;

  /// All tensors that the model uses, each once.
  [[nodiscard]] const std::vector<checkpoint::Tensor>& used() const { return used_; }

 private:
  Architecture architecture_;
  NamedTensors tensors_;
  std::string prefix_;  // "model.", "transformer.", or none: a base model saved without a head
  std::vector<checkpoint::Tensor> used_;
};

}  // namespace dewpoint::models
