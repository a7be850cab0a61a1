// SGLang. Files read (below python/sglang/srt):
//   layers/rotary_embedding/factory.py get_rope: the same keys as in vLLM, attn_factor on top of
//     g(s, 1), no attention_factor, mscale only for deepseek_yarn
//   configs/laguna.py: divides g(s, 1) out, so that this one model gets its attention_factor
//   models/deepseek_v2.py: softmax scale times g(s, mscale_all_dim)²
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
  const double gain = config.latent_attention ? mscale_ratio(rope) : yarn_gain(rope.factor, 1.0);
  return gain * rope.attn_factor.value_or(1.0);
}

void read_ministral(Reading& reading, const AttentionConfig& config) {
  if (!reading.positions.ministral) return;
  const bool nested = config.rope.llama4_beta || config.llama4_scaling->nested;
  if (!nested || config.latent_attention) {
    reading.notes.push_back("llama_4_scaling not checked: assumed as the model defines it");
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
  reading.softmax = latent_softmax_gain(config);
  reading.positions = positions_of(config);
  read_ministral(reading, config);
  reading.positions.log_n.reset();
  reading.positions.ssmax.reset();
  if (reading.positions.llama4) reading.notes.push_back("llama-4 not checked: assumed as hf");
  if (reading.positions.inkling) reading.notes.push_back("inkling not checked: assumed as hf");
  return reading;
}

}  // namespace dewpoint::scaling::reading
