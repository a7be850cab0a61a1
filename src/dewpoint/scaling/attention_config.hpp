// Everything in a model's configuration that decides how large its logits are.
//
// Fields hold what the file says, not what follows from it: engines read the same keys differently,
// and engine.hpp says what each makes of them. An absent key is an empty optional.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/scaling/rope.hpp"

namespace dewpoint::scaling {

/// Llama-4: q ← q (1 + scale log(1 + ⌊(p+1)/floor⌋)) in layers without rotation.
struct TemperatureTuning {
  bool enabled = true;
  double floor_scale = 8192.0;
  double attn_scale = 0.1;

  bool operator==(const TemperatureTuning&) const = default;
};

/// Ministral 3, Mistral 4: q ← q (1 + beta log(1 + ⌊p/n0⌋)), as
/// rope_parameters.llama_4_scaling_beta (Hugging Face) or as a top-level object llama_4_scaling
/// (Mistral's own files).
struct Llama4Scaling {
  double beta = 0.1;
  double original_length = 0.0;
  bool nested = false;  // inside rope_parameters

  bool operator==(const Llama4Scaling&) const = default;
};

struct AttentionConfig {
  std::string model_type;
  std::string architecture;  // architectures[0], may be empty
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t key_heads = 0;
  std::size_t head_dimension = 0;    // of queries and keys
  std::size_t rotary_dimension = 0;  // MLA: qk_rope_head_dim; else head dimension · share
  std::size_t value_dimension = 0;   // of values: MLA's v_head_dim; else the head dimension
  bool latent_attention = false;     // MLA: DeepSeek V2/V3, Kimi, Mistral 4
  std::size_t max_positions = 0;     // max_position_embeddings

  RopeScaling rope;                       // of full-attention layers
  std::optional<RopeScaling> local_rope;  // of sliding layers, where it differs

  std::vector<std::string> layer_types;  // "full_attention", "sliding_attention",
                                         // "chunked_attention", "linear_attention", per
                                         // layer; empty: all full
  std::vector<bool> rotates;             // no_rope_layers: false where a layer has no
                                         // rotation; empty: all rotate
  std::size_t sliding_window = 0;        // 0: none
  std::size_t attention_chunk = 0;       // Llama 4: "chunked_attention" layers see their own
                                         // chunk of so many keys; 0: none

  // The base scale τ and what is applied to the scores.
  std::optional<double> attention_multiplier;   // Granite: τ itself
  std::optional<double> query_pre_attn_scalar;  // Gemma 2 and 3: τ = x^{−1/2}
  std::optional<double> built_in_scale;         // τ in the model's code: Inkling, Gemma 3n
  bool scale_attention_weights = true;          // GPT-2: false leaves τ = 1
  bool scale_by_inverse_layer = false;          // GPT-2: τ /= layer + 1
  std::optional<double> softcap;                // attn_logit_softcapping
  bool learned_sinks = false;                   // gpt-oss

  // Schedules over positions.
  std::optional<TemperatureTuning> temperature_tuning;  // Llama 4
  std::optional<Llama4Scaling> llama4_scaling;          // Ministral 3, Mistral 4
  std::optional<double> log_scaling_n_floor;            // Inkling
  double log_scaling_alpha = 0.1;
  bool use_logn_attn = false;                    // Qwen 1, LMDeploy
  std::size_t sequence_length = 0;               // Qwen 1: seq_length
  std::optional<double> attn_temperature_len;    // Grok 2
  std::optional<double> scaling_softmax_factor;  // SSMax as axolotl writes it
  double scaling_softmax_bias = 0.0;

  // What only a GGUF file says; absent in other sources.
  std::optional<double> gguf_attn_factor;       // {arch}.rope.scaling.attn_factor
  std::optional<double> gguf_yarn_attn_factor;  // {arch}.rope.scaling.yarn_attn_factor
  std::optional<double> gguf_yarn_ext_factor;
  std::optional<double> gguf_yarn_log_multiplier;
  std::optional<double> gguf_attention_scale;     // {arch}.attention.scale
  std::optional<double> gguf_temperature_length;  // {arch}.attention.temperature_length
  std::optional<double> gguf_temperature_scale;

  bool operator==(const AttentionConfig&) const = default;
};

}  // namespace dewpoint::scaling
