// What transformers assumes of a model where its config.json is silent, by model_type; and what the
// models trained here have in common.
//
// A config.json leaves out what equals the default of its configuration class, and some facts (the
// biases of Qwen 2, the sinks of gpt-oss) have no key at all. The table holds the defaults that
// decide a forward pass or the scale of logits; a family that is not in it gets those of Llama, but
// for its embeddings, which transformers ties where nobody says otherwise. Its logits may be scaled
// in any way: who asks about them must ask is_known_family() first.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace dewpoint::checkpoint {

struct ModelFamily {
  std::string_view model_type;
  bool tied = false;            // tie_word_embeddings
  bool attention_bias = false;  // on q, k, v
  bool always_biased = false;   // the bias is there, whatever attention_bias says
  bool mlp_bias = false;
  bool query_key_norm = false;
  bool rotates = true;          // false: learned, relative or no positions
  bool attention_only = false;  // trained here: attention and what the file says of DecoderParts
  bool learned_sinks = false;
  bool temperature_tuning = false;    // on where attn_temperature_tuning is absent
  bool windows_by_switch = false;     // use_sliding_window, off where it is absent
  bool windows_without_rope = false;  // ... and then only in layers without rotation
  bool ignores_window = false;        // sliding_window is there and means nothing
  bool chunked = false;               // layers that rotate see chunks of attention_chunk_size
  bool local_unscaled = false;        // rope_scaling is for layers without a window
  bool inverse_dimension = false;     // τ is 1/d, in the model's code
  std::optional<std::size_t> heads{}, key_heads{}, head_dimension{};
  std::optional<std::size_t> max_positions{}, window{}, chunk{};
  std::size_t window_pattern = 0;    // every so many layers is full, the others have the window
  std::size_t no_rope_interval = 0;  // every so many layers has no rotation
  std::size_t linear_pattern = 0;    // every so many layers has a softmax, the others none
  double base = 10000.0;             // rope_theta
  double local_base = 0.0;           // of layers with a window, where it differs
  double rotary_share = 1.0;         // partial_rotary_factor
  double norm_epsilon = 1e-6;
  std::string_view activation = "silu";
  std::optional<double> built_in_scale{};           // τ that is in the model's code
  std::optional<double> score_scale{};              // attention_multiplier
  std::optional<double> query_scalar{}, softcap{};  // query_pre_attn_scalar, attn_logit_softcapping
};

/// Of any model_type.
[[nodiscard]] const ModelFamily& model_family(std::string_view model_type);

/// Whether its attention was read in transformers: the families of the table, and those that are as
/// Llama there but for sizes.
[[nodiscard]] bool is_known_family(std::string_view model_type);

}  // namespace dewpoint::checkpoint
