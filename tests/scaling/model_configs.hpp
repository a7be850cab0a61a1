// Configurations that the tests of engines share, reduced to what scales logits. Numbers are those
// of the published models named.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/scaling/attention_config.hpp"

namespace dewpoint::scaling::configs {

inline AttentionConfig plain() {
  AttentionConfig config;
  config.model_type = "llama";
  config.layers = 4;
  config.heads = config.key_heads = 8;
  config.head_dimension = config.rotary_dimension = 128;
  config.max_positions = 8192;
  return config;
}

inline AttentionConfig yarn(double factor, std::size_t original = 8192) {
  AttentionConfig config = plain();
  config.rope.kind = RopeKind::yarn;
  config.rope.factor = factor;
  config.rope.original_length = original;
  config.rope.original_length_given = true;
  config.max_positions = static_cast<std::size_t>(factor * static_cast<double>(original));
  return config;
}

inline AttentionConfig longrope(double factor, std::size_t original = 8192) {
  AttentionConfig config = yarn(factor, original);
  config.rope.kind = RopeKind::longrope;
  config.rope.factor = 1.0;
  config.rope.short_factor.assign(64, 1.0);
  config.rope.long_factor.assign(64, 2.0);
  return config;
}

// V3: mscale 1; V2: 0.707. 128 + 64 coordinates, extended from 4096 by 40.
inline AttentionConfig deepseek(double mscale) {
  AttentionConfig config = yarn(40.0, 4096);
  config.model_type = mscale == 1.0 ? "deepseek_v3" : "deepseek_v2";
  config.latent_attention = true;
  config.head_dimension = 192;
  config.rotary_dimension = 64;
  config.rope.mscale = config.rope.mscale_all_dim = mscale;
  return config;
}

inline AttentionConfig ministral3() {
  AttentionConfig config = yarn(16.0, 16384);
  config.model_type = "ministral3";
  config.rope.mscale = config.rope.mscale_all_dim = 1.0;
  config.rope.llama4_beta = 0.1;
  config.llama4_scaling = Llama4Scaling{0.1, 16384.0, true};
  return config;
}

inline AttentionConfig laguna() {
  AttentionConfig config = yarn(64.0, 4096);
  config.model_type = "laguna";
  config.rope.attention_factor = 1.0;
  return config;
}

// Three layers in four turn and see chunks, the fourth does neither.
inline AttentionConfig llama4() {
  AttentionConfig config = plain();
  config.model_type = "llama4_text";
  config.layers = 8;
  config.max_positions = 1048576;
  for (std::size_t l = 0; l < config.layers; ++l) {
    const bool global = l % 4 == 3;
    config.rotates.push_back(!global);
    config.layer_types.emplace_back(global ? "full_attention" : "chunked_attention");
  }
  config.temperature_tuning = TemperatureTuning{};
  return config;
}

inline AttentionConfig qwen1() {
  AttentionConfig config = plain();
  config.model_type = "qwen";
  config.use_logn_attn = true;
  config.sequence_length = 8192;
  config.max_positions = 32768;
  return config;
}

inline AttentionConfig grok2() {
  AttentionConfig config = plain();
  config.model_type = "grok-1";
  config.max_positions = 131072;
  config.attn_temperature_len = 1024.0;
  config.softcap = 30.0;
  return config;
}

inline AttentionConfig ssmax() {
  AttentionConfig config = plain();
  config.scaling_softmax_factor = 0.43;
  return config;
}

inline AttentionConfig inkling() {
  AttentionConfig config = plain();
  config.log_scaling_n_floor = 128000.0;
  config.max_positions = 1048576;
  config.layer_types = {"sliding_attention", "full_attention", "sliding_attention",
                        "full_attention"};
  return config;
}

}  // namespace dewpoint::scaling::configs
