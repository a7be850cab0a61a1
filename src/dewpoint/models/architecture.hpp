// What kind of decoder a configuration describes: its sizes, and which of the parts that families
// differ in it has.
//
//   model_type   norm        positions   feed-forward       besides
//   llama        RMSNorm     rotary      gated              SmolLM and SmolLM2 are of this type
//   mistral      RMSNorm     rotary      gated              sliding window
//   qwen2        RMSNorm     rotary      gated              bias on queries, keys and values
//   qwen3        RMSNorm     rotary      gated              queries and keys normed per head
//   smollm3      RMSNorm     rotary      gated              some layers without rotation
//   gpt2         LayerNorm   learned     two products       bias everywhere
//   dewpoint     RMS, bare   none        none               trained here (transformer/shape.hpp)
//
// A model of the last type may also lack its norms, its values' matrix, the residual connection or
// the causal mask, as its file says; it has no matrix after attention. Other types are refused by
// name: a forward pass that is nearly right is wrong.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dewpoint/attention/mask.hpp"
#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/models/activation.hpp"
#include "dewpoint/models/norms.hpp"
#include "dewpoint/models/rotation.hpp"

namespace dewpoint::models {

/// How the tensors are called and how their matrices lie.
enum class Family { llama, gpt2 };

struct Architecture {
  Family family = Family::llama;
  std::size_t layers = 0;
  std::size_t hidden = 0;
  std::size_t intermediate = 0;
  std::size_t vocabulary = 0;
  std::size_t heads = 0;
  std::size_t key_heads = 0;
  std::size_t head_dimension = 0;
  std::size_t learned_positions = 0;  // 0: positions are not learned

  NormKind norm = NormKind::root_mean_square;
  double norm_epsilon = 1e-5;
  Activation activation = Activation::silu;
  bool query_bias = false;   // on queries, keys and values
  bool output_bias = false;  // on the product after attention
  bool feed_forward_bias = false;
  bool query_key_norm = false;
  bool tied_embeddings = false;
  checkpoint::DecoderParts parts;  // which of them there are
  RotationPlanes planes = RotationPlanes::halves;

  /// Query heads that share one key head.
  [[nodiscard]] std::size_t group() const { return heads / key_heads; }
};

/// The types of the table.
[[nodiscard]] const std::vector<std::string>& supported_model_types();

/// Throws Error{bad_value}, one line with the file, the key, what was found and what is allowed:
/// for a model type that is not in the table, for sizes that do not fit each other, for parts
/// (latent attention, learned sinks, an activation) that no model of the table has, and for parts
/// that contradict each other (a window without a causal mask).
[[nodiscard]] Architecture architecture_of(const checkpoint::ModelConfig& config);

/// Which keys the queries of a layer see: all before them, a window, or all there are.
[[nodiscard]] attention::Mask mask_of(const checkpoint::ModelConfig& config, std::size_t layer);

/// Throws Error{bad_value} with one line where tokens see those after them: the loss of a next
/// token would be that of a token the model has read.
void require_causal(const checkpoint::ModelConfig& config);

}  // namespace dewpoint::models
