// One factor for a deployment, engine by engine.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dewpoint/scaling/engine_phrases.hpp"
#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::phrases {
namespace {

void warn_of_other_layers(EngineExport& result, const AttentionConfig& config) {
  if (std::find(config.rotates.begin(), config.rotates.end(), false) != config.rotates.end()) {
    result.exact = false;
    result.warnings.push_back("layers without rotation are not reached");
  }
  if (config.local_rope) result.warnings.push_back("sliding layers keep their own rotation");
}

void warn_of_new_rotation(EngineExport& result, const AttentionConfig& config, const Plan& plan) {
  if (config.rope.kind == RopeKind::standard && plan.extension > 1.0)
    result.warnings.push_back(
        fmt::format("extends the rotation with YaRN, factor {:.6g}", plan.extension));
  if (!plan.new_rotation) return;
  result.exact = false;
  result.warnings.push_back(
      fmt::format("rope_type {} has no key for a factor: this replaces its frequencies by YaRN's",
                  name_of(config.rope.kind)));
}

void warn_in_common(EngineExport& result, const AttentionConfig& config, const Plan& plan) {
  if (!config.latent_attention) warn_of_partial_rotation(result, config);
  warn_of_other_layers(result, config);
  warn_of_new_rotation(result, config, plan);
  warn_of_positions(result, config);
}

// Latent attention turns few of its coordinates; its softmax scale reaches all, through mscale.
void warn_of_missing_mscale(EngineExport& result) {
  result.exact = false;
  result.warnings.push_back(
      "latent attention is scaled through mscale_all_dim, which an extension by 1 does not feel");
}

void say_softmax_scale(EngineExport& result, const AttentionConfig& config, const Plan& plan) {
  if (config.head_dimension == 0) {
    result.exact = false;
    result.warnings.emplace_back("a softmax_scale needs the head dimension, which is not known");
    return;
  }
  const double scale = plan.multiplier / std::sqrt(static_cast<double>(config.head_dimension));
  result.text = fmt::format("softmax_scale={}", rounded(scale));
  result.exact = plan.rope.kind != RopeKind::longrope;
  result.warnings.emplace_back("a field of TransformerConfig, which some layers do not read");
  warn_of_positions(result, config);
}

}  // namespace

void warn_of_partial_rotation(EngineExport& result, const AttentionConfig& config) {
  if (config.rotary_dimension == 0 || config.rotary_dimension >= config.head_dimension) return;
  result.exact = false;
  result.warnings.push_back(
      fmt::format("acts on {} of {} coordinates only: the others are not rotated",
                  config.rotary_dimension, config.head_dimension));
}

void warn_of_positions(EngineExport& result, const AttentionConfig& config) {
  if (config.temperature_tuning || config.llama4_scaling || config.rope.llama4_beta ||
      config.log_scaling_n_floor || config.use_logn_attn || config.attn_temperature_len) {
    result.exact = false;
    result.warnings.push_back("the model's own schedule over positions still multiplies");
  }
}

Plan plan_of(const AttentionConfig& config, const ExportRequest& request) {
  Plan plan;
  plan.multiplier = multiplier(request.schedule, request.target_length);
  plan.rope = config.rope;
  const bool has_room =
      config.rope.kind == RopeKind::yarn || config.rope.kind == RopeKind::longrope;
  const double original = static_cast<double>(original_length(config.rope, config.max_positions));
  const double reach = std::max(1.0, request.target_length / original);
  if (!has_room) {
    plan.new_rotation = config.rope.kind != RopeKind::standard;
    plan.rope.kind = RopeKind::yarn;
    plan.rope.original_length = static_cast<std::size_t>(original);
    plan.rope.factor = reach;
  } else if (config.rope.kind == RopeKind::yarn) {
    plan.rope.factor = std::max(config.rope.factor, reach);
  }
  plan.rope.factor = rounded(plan.rope.factor);
  plan.extension = plan.rope.factor;
  plan.has_mscale = plan.rope.kind == RopeKind::yarn && plan.extension > 1.0;
  if (plan.has_mscale)
    plan.mscale = (std::sqrt(plan.multiplier) - 1.0) / (0.1 * std::log(plan.extension));
  return plan;
}

void say_verbatim(EngineExport& result, const AttentionConfig& config, const Plan& plan) {
  Json rope = rope_json(plan.rope);
  if (config.latent_attention) {
    rope["attention_factor"] = 1.0;
    if (plan.has_mscale) rope["mscale_all_dim"] = rounded(plan.mscale);
    if (!plan.has_mscale) warn_of_missing_mscale(result);
  } else {
    rope["attention_factor"] = rounded(std::sqrt(plan.multiplier));
  }
  result.text = rope_parameters(config, rope, "rope_parameters").dump();
  result.warnings.emplace_back("goes into config.json");
  if (result.engine == Engine::lmdeploy && plan.rope.kind == RopeKind::longrope) {
    result.text.clear();
    result.exact = false;
    result.warnings = {"TurboMind refuses rope_type longrope"};
    return;
  }
  if (result.engine == Engine::lmdeploy && plan.extension > 1.0)
    result.warnings.push_back(fmt::format(
        "set max_position_embeddings to {:.0f} too: frequencies follow it and not factor",
        plan.extension * static_cast<double>(plan.rope.original_length)));
  warn_in_common(result, config, plan);
}

void say_on_top(EngineExport& result, const AttentionConfig& config, const Plan& plan) {
  Json rope = rope_json(plan.rope);
  if (plan.rope.kind == RopeKind::longrope) {
    rope["short_mscale"] = rope["long_mscale"] = rounded(std::sqrt(plan.multiplier));
  } else if (config.latent_attention) {
    if (plan.has_mscale) rope["mscale"] = rope["mscale_all_dim"] = rounded(plan.mscale);
    if (!plan.has_mscale) warn_of_missing_mscale(result);
  } else if (result.engine == Engine::sglang && config.model_type == "laguna") {
    rope["attention_factor"] = rounded(std::sqrt(plan.multiplier));
  } else {
    rope["attn_factor"] =
        rounded(std::sqrt(plan.multiplier) / reading::yarn_gain(plan.extension, 1.0));
    result.warnings.push_back(
        fmt::format("attn_factor multiplies the engine's own {:.6g}; attention_factor would be "
                    "dropped",
                    reading::yarn_gain(plan.extension, 1.0)));
  }
  const char* key = result.engine == Engine::vllm ? "rope_parameters" : "rope_scaling";
  result.text = in_words_of(result.engine, rope_parameters(config, rope, key));
  warn_in_common(result, config, plan);
}

void say_megatron(EngineExport& result, const AttentionConfig& config, const Plan& plan) {
  if (plan.rope.kind == RopeKind::longrope || !plan.has_mscale) {
    say_softmax_scale(result, config, plan);
    return;
  }
  const double mscale = rounded(plan.mscale);
  result.text = config.latent_attention
                    ? fmt::format("rotary_scaling_factor={} mscale={} mscale_all_dim={}",
                                  plan.extension, mscale, mscale)
                    : fmt::format(
                          "position_embedding_type=yarn yarn_rotary_scaling_factor={} "
                          "yarn_mscale={} yarn_mscale_all_dim=0",
                          plan.extension, mscale);
  result.warnings.emplace_back("fields of TransformerConfig");
  warn_in_common(result, config, plan);
}

}  // namespace dewpoint::scaling::phrases
