// Hugging Face transformers 5. Files read:
//   modeling_rope_utils.py _compute_yarn_parameters, _compute_longrope_parameters
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

double rotation_of(const RopeScaling& rope, std::size_t max_positions) {
  if (rope.kind != RopeKind::yarn && rope.kind != RopeKind::longrope) return 1.0;
  if (rope.attention_factor) return *rope.attention_factor;
  return rope.kind == RopeKind::yarn ? mscale_ratio_if_both(rope)
                                     : longrope_factor(rope, max_positions);
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
                 [&](const RopeScaling& rope) { return rotation_of(rope, config.max_positions); });
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
