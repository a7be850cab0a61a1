// SGLang, commit cce0a124. Files read (below python/sglang/srt):
//   layers/rotary_embedding/factory.py:284 get_rope: attn_factor, mscale and mscale_all_dim for
//     yarn and deepseek_yarn, no attention_factor
//   layers/rotary_embedding/yarn.py:96-105: attn_factor on top of g(s, mscale)/g(s, mscale_all_dim)
//     where both are there (zero or not), of g(s, 1) otherwise
//   layers/rotary_embedding/rope_variant.py:141: LongRoPE's long factors and long_mscale for a
//     batch in which any position is beyond the original length
//   configs/laguna.py: divides g(s, 1) out, so that this one model gets its attention_factor
//   configs/model_config.py:2070, models/deepseek_v2.py:1890: softmax scale times
//     g(s, mscale_all_dim)², unless apply_yarn_scaling is false
//   models/llama4.py:314-317, 367: temperature tuning as the model defines it
//   models/inkling_common/attn.py:92-96, 288; models/gemma3n_causal.py:351; models/olmo2.py:131-137
//   models/ministral3.py: nested llama_4_scaling_beta, with the original length taken from outside
//     rope_parameters, where configurations do not have it: 16384
//   models/grok.py, kernels of attention: xai_temperature_len, one position earlier than n
//   models/qwen.py: no log-n
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::reading {
namespace {

constexpr double kMinistralLength = 16384.0;

double rotation_of(const RopeScaling& rope, const Deployment& deployment) {
  const AttentionConfig& config = deployment.config;
  if (rope.kind == RopeKind::longrope) return longrope_factor_or_mscale(rope, deployment);
  if (rope.kind != RopeKind::yarn) return 1.0;
  if (config.model_type == "laguna" && rope.attention_factor) return *rope.attention_factor;
  const bool ratio = config.latent_attention || (rope.mscale && rope.mscale_all_dim);
  const double gain = ratio ? mscale_ratio(rope) : yarn_gain(rope.factor, 1.0);
  return gain * rope.attn_factor.value_or(1.0);
}

void read_ministral(Reading& reading, const AttentionConfig& config) {
  if (!reading.positions.ministral) return;
  const bool nested = config.rope.llama4_beta || config.llama4_scaling->nested;
  if (!nested || config.latent_attention) {
    reading.unverified = "llama_4_scaling not read there for this model";
    return;
  }
  reading.positions.ministral->n0 = kMinistralLength;
}

}  // namespace

Reading read_as_sglang(const Deployment& deployment) {
  const AttentionConfig& config = deployment.config;
  Reading reading;
  read_rotations(reading, config,
                 [&](const RopeScaling& rope) { return rotation_of(rope, deployment); });
  reading.softmax = config.rope.apply_yarn_scaling ? latent_softmax_gain(config) : 1.0;
  reading.positions = positions_of(config);
  read_ministral(reading, config);
  reading.positions.log_n.reset();
  reading.positions.ssmax.reset();
  if (is_mistral4(config)) reading.unverified = "Mistral 4 not read there";
  if (config.rope.kind == RopeKind::longrope)
    reading.notes.emplace_back(
        "LongRoPE's long factors are for batches with a position beyond the original length; "
        "here the longest context decides");
  return reading;
}

}  // namespace dewpoint::scaling::reading
