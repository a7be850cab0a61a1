// Hugging Face transformers 5, commit d56c55bf. Files read (below src/transformers):
//   modeling_rope_utils.py _compute_yarn_parameters, _compute_longrope_parameters:559, where a
//     factor in the file counts before the ratio of the lengths
//   models/phimoe/modeling_phimoe.py:85-94: short_mscale and long_mscale, which no other model
//   reads models/olmo3/configuration_olmo3.py:101-112: rope_scaling is for layers without a window
//   models/inkling/modeling_inkling.py:198, models/gemma3n/modeling_gemma3n.py:1174: their τ
//   models/deepseek_v3/modeling_deepseek_v3.py yarn_apply_mscale (also deepseek_v2, mistral4, GLM)
//   models/llama4/modeling_llama4.py Llama4TextAttention.forward
//   models/ministral3/modeling_ministral3.py get_llama_4_attn_scale
//   models/inkling/modeling_inkling.py (layers that do not slide)
// Of models that bring their own code: modeling_qwen.py of the first Qwen. SSMax is a patch that
// axolotl makes, monkeypatch/scaled_softmax_attn.py.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::reading {
namespace {

double longrope_rotation(const RopeScaling& rope, const Deployment& deployment) {
  const std::size_t longest = deployment.config.max_positions;
  if (deployment.config.model_type == "phimoe") return longrope_factor_or_mscale(rope, deployment);
  if (rope.attention_factor) return *rope.attention_factor;
  return rope.factor_given ? longrope_gain(rope, rope.factor, longest)
                           : longrope_factor(rope, longest);
}

double rotation_of(const RopeScaling& rope, const Deployment& deployment) {
  if (rope.kind == RopeKind::longrope) return longrope_rotation(rope, deployment);
  if (rope.kind != RopeKind::yarn) return 1.0;
  return rope.attention_factor ? *rope.attention_factor : mscale_ratio_if_both(rope);
}

// Mistral's own files say it outside rope_parameters, where transformers does not look.
bool outside_rope_parameters(const AttentionConfig& config) {
  return config.llama4_scaling && !config.llama4_scaling->nested && !config.rope.llama4_beta;
}

}  // namespace

Reading read_as_hf(const Deployment& deployment) {
  const AttentionConfig& config = deployment.config;
  Reading reading;
  read_rotations(reading, config,
                 [&](const RopeScaling& rope) { return rotation_of(rope, deployment); });
  reading.softmax = latent_softmax_gain(config);
  reading.positions = positions_of(config);
  if (outside_rope_parameters(config)) reading.positions.ministral.reset();
  if (reading.positions.log_n)
    reading.notes.push_back(
        "use_logn_attn is read by the model's own code only (trust_remote_code), whose table ends "
        "at 32768 tokens");
  if (reading.positions.grok)
    reading.notes.push_back(
        "attn_temperature_len is as the model defines it; transformers has no Grok of its own");
  if (reading.positions.ssmax)
    reading.notes.push_back("scaling_softmax_factor needs axolotl's patch and flex attention");
  return reading;
}

}  // namespace dewpoint::scaling::reading
