// llama.cpp, commit b21e4de7, from a GGUF file or from what its converter makes of a config.json.
// Files read:
//   src/llama-context.cpp: with YaRN on, the factor on cos and sin is
//     g(s, mscale)/g(s, log multiplier), or g(s, 1) without one, whatever --yarn-attn-factor says;
//     mscale is taken as 1 (deepseek2: as the log multiplier). rope.scaling.attn_factor multiplies.
//     Without YaRN, --yarn-attn-factor and that key are all there is
//   src/models/deepseek2.cpp: softmax scale times (that factor · g(s, log multiplier))²; the log
//     multiplier is divided by 0.1 on loading [TAG_DEEPSEEK2_YARN_LOG_MUL_FIX]
//   src/models/llama4.cpp:8-17: 8192 and 0.1, not read from the file, and off where the file has a
//     sliding_window of 0 (checkpoint/gguf_config.cpp); src/llama-graph.cpp:168: the formula
//   src/models/olmo2.cpp:121: layers with a window turn without YaRN
//   src/models/gemma2.cpp:27, gemma3.cpp:31, gemma3n.cpp:10: τ (checkpoint/gguf_config.cpp)
//   src/models/mistral3.cpp: temperature_scale, floor at the original length, offset 0
//   src/models/grok.cpp: reads yarn_attn_factor and yarn_ext_factor, which no other model does;
//     temperature_length is loaded and no graph uses it
//   conversion/mistral3.py:32-41: Mistral 4 gets no temperature_scale
//   conversion/base.py, deepseek.py, mistral.py, phi.py: yarn_attn_factor from attention_factor or
//     attn_factor, yarn_log_multiplier for deepseek2 and mistral3 only, attn_factor for LongRoPE
// There is no log-n code.
//
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::reading {
namespace {

constexpr double kDeepseekUnit = 0.1;  // of the log multiplier in files of deepseek2

bool is_grok(const AttentionConfig& config) {
  return config.attn_temperature_len || config.model_type.starts_with("grok");
}

bool is_mistral3(const AttentionConfig& config) {
  return config.llama4_scaling || config.rope.llama4_beta ||
         config.model_type.starts_with("ministral") || config.model_type.starts_with("mistral3");
}

// As the program holds it: mscale_all_dim, 0 for none.
double log_multiplier(const AttentionConfig& config) {
  if (config.gguf_yarn_log_multiplier)
    return *config.gguf_yarn_log_multiplier / (config.latent_attention ? kDeepseekUnit : 1.0);
  const bool converted = config.latent_attention || is_mistral3(config);
  return converted ? config.rope.mscale_all_dim.value_or(0.0) : 0.0;
}

double yarn_rotation(const RopeScaling& rope, const AttentionConfig& config) {
  const double all = log_multiplier(config);
  if (all == 0.0) return yarn_gain(rope.factor, 1.0);
  const double own = config.latent_attention ? all : 1.0;
  return yarn_gain(rope.factor, own) / yarn_gain(rope.factor, all);
}

double rotation_of(const RopeScaling& rope, const AttentionConfig& config) {
  const bool longrope = rope.kind == RopeKind::longrope && !config.gguf_attn_factor;
  const double from_file = longrope ? longrope_factor(rope, config.max_positions)
                                    : config.gguf_attn_factor.value_or(1.0);
  const double extrapolation = is_grok(config) ? config.gguf_yarn_ext_factor.value_or(1.0) : 1.0;
  if (rope.kind == RopeKind::yarn && extrapolation != 0.0)
    return yarn_rotation(rope, config) * from_file;
  return from_file * (is_grok(config) ? config.gguf_yarn_attn_factor.value_or(1.0) : 1.0);
}

double softmax_of(const AttentionConfig& config, double rotation) {
  if (!config.latent_attention) return 1.0;
  const double factor = rotation * yarn_gain(config.rope.factor, log_multiplier(config));
  return factor * factor;
}

void read_ministral(Reading& reading, const AttentionConfig& config) {
  if (is_mistral4(config)) reading.positions.ministral.reset();
  if (config.gguf_temperature_scale && !is_grok(config)) {
    const double own = config.gguf_temperature_length.value_or(0.0);
    const double original = static_cast<double>(original_length(config.rope, config.max_positions));
    reading.positions.ministral =
        ministral_schedule(*config.gguf_temperature_scale, own > 0.0 ? own : original);
  }
}

// The numbers are in the program; a file can switch them off, but not change them.
void read_llama4(Reading& reading, const AttentionConfig& config) {
  reading.positions.llama4.reset();
  if (!config.temperature_tuning) return;
  AttentionConfig built_in;
  built_in.temperature_tuning = TemperatureTuning{};
  reading.positions.llama4 = positions_of(built_in).llama4;
}

}  // namespace

Reading read_as_llama_cpp(const Deployment& deployment) {
  const AttentionConfig& config = deployment.config;
  Reading reading;
  read_rotations(reading, config,
                 [&](const RopeScaling& rope) { return rotation_of(rope, config); });
  reading.softmax = softmax_of(config, reading.rotation);
  reading.base_scale = config.gguf_attention_scale;
  reading.positions = positions_of(config);
  read_ministral(reading, config);
  read_llama4(reading, config);
  reading.positions.log_n.reset();
  reading.positions.grok.reset();
  reading.positions.ssmax.reset();
  if (reading.positions.inkling) reading.unverified = "llama.cpp has no Inkling";
  if (config.rope.kind == RopeKind::yarn)
    reading.notes.push_back("--yarn-attn-factor is overwritten while YaRN is on");
  return reading;
}

}  // namespace dewpoint::scaling::reading
