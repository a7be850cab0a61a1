// vLLM, commit a014e35f. Files read (below vllm/model_executor, but where they begin with vllm):
//   layers/rotary_embedding/__init__.py get_rope: which keys reach a rotation. For yarn attn_factor
//     and apply_yarn_scaling:255 but not attention_factor, mscale or mscale_all_dim; for longrope
//     short_mscale and long_mscale
//   layers/rotary_embedding/yarn_scaling_rope.py:40-44: g(s, 1) attn_factor, or attn_factor alone
//     where apply_yarn_scaling is false
//   models/deepseek_v2.py:537-558: the same key turns the factor on the softmax scale off
//   models/olmo3.py:139-142: layers with a window have their own rotation
//   models/gemma3n.py:391: τ = 1; vllm/models/inkling/nvidia/attention.py:92,
//   amd/attention.py:48-93 vllm/transformers_utils/config.py:703-711: params.json before
//   config.json for Mistral's models layers/rotary_embedding/deepseek_scaling_rope.py,
//   models/deepseek_v2.py: mscale and softmax models/llama4.py Llama4ForCausalLM: tuning on by
//   default only if max_model_len > 32768 models/mistral.py: llama_4_scaling at the top level
//   models/grok1.py: no attn_temperature_len
// There is no log-n code in vLLM, and no scaling_softmax_factor outside axolotl.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::reading {
namespace {

constexpr std::size_t kTuningFrom = 32768;  // tokens, exclusive

double rotation_of(const RopeScaling& rope, const Deployment& deployment) {
  const AttentionConfig& config = deployment.config;
  if (rope.kind == RopeKind::longrope) return longrope_factor_or_mscale(rope, deployment);
  if (rope.kind != RopeKind::yarn) return 1.0;
  const double plain = rope.apply_yarn_scaling ? yarn_gain(rope.factor, 1.0) : 1.0;
  const double gain = config.latent_attention ? mscale_ratio(rope) : plain;
  return gain * rope.attn_factor.value_or(1.0);
}

// Of Mistral's models vLLM reads another file, where a repository has it.
void mark_other_file(Reading& reading, const AttentionConfig& config) {
  if (is_mistral4(config)) reading.unverified = "vLLM reads Mistral's params.json instead";
  if (config.model_type == "ministral3")
    reading.notes.emplace_back(
        "this is config.json; with --config-format auto vLLM prefers Mistral's params.json where "
        "the repository has one");
}

// Whatever config.json says: the generation config decides, and says nothing by default.
void switch_llama4(Reading& reading, const Deployment& deployment) {
  if (!deployment.config.temperature_tuning) return;
  AttentionConfig enabled = deployment.config;
  enabled.temperature_tuning->enabled = deployment.length > kTuningFrom;
  reading.positions.llama4 = positions_of(enabled).llama4;
  reading.notes.push_back(fmt::format(
      "temperature tuning is {} for {} tokens unless --override-generation-config says otherwise",
      reading.positions.llama4 ? "on" : "off", deployment.length));
}

}  // namespace

Reading read_as_vllm(const Deployment& deployment) {
  const AttentionConfig& config = deployment.config;
  Reading reading;
  read_rotations(reading, config,
                 [&](const RopeScaling& rope) { return rotation_of(rope, deployment); });
  reading.softmax = config.rope.apply_yarn_scaling ? latent_softmax_gain(config) : 1.0;
  reading.positions = positions_of(config);
  switch_llama4(reading, deployment);
  if (!config.llama4_scaling || config.llama4_scaling->nested) reading.positions.ministral.reset();
  reading.positions.log_n.reset();
  reading.positions.grok.reset();
  reading.positions.ssmax.reset();
  mark_other_file(reading, config);
  return reading;
}

}  // namespace dewpoint::scaling::reading
