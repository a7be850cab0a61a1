// Schedules over positions in the keys of the models that have them.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "dewpoint/scaling/engine_phrases.hpp"
#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::phrases {
namespace {

constexpr double kTuningFrom = 32768.0;  // vLLM's length above which Llama 4's tuning is on

constexpr double kSglangLength = 16384.0;  // of Ministral's steps, whatever rope_parameters says

bool is_affine(const Schedule& schedule) { return schedule.kind == ScheduleKind::affine_log; }
bool is_logarithm(const Schedule& schedule) {
  return schedule.kind == ScheduleKind::log_base && !schedule.static_factor;
}

// Whether a layer that sees everything is turned, so that keys for the others do not reach it.
bool turns_full_layers(const AttentionConfig& config) {
  for (std::size_t l = 0; l < config.layers; ++l) {
    const bool turned = l >= config.rotates.size() || config.rotates[l];
    const bool full = l >= config.layer_types.size() || config.layer_types[l] == "full_attention";
    if (turned && full) return true;
  }
  return false;
}

EngineExport llama4_export(const AttentionConfig& config, Engine engine,
                           const ExportRequest& request) {
  EngineExport result{engine, in_words_of(engine, llama4_keys(request.schedule)), true, {}};
  judge_steps(result, request.schedule, 1.0);
  if (turns_full_layers(config)) result.exact = false;
  result.warnings.emplace_back("reaches layers without rotation only");
  if (engine == Engine::vllm) {
    result.text += " --override-generation-config '{\"attn_temperature_tuning\":true}'";
    if (request.target_length <= kTuningFrom)
      result.warnings.emplace_back("without the generation config vLLM leaves the tuning off");
  }
  return result;
}

// The rotation with its own factor taken out, in the key that the engine reads.
Json plain_rotation(const AttentionConfig& config, Engine engine) {
  Json rope = rope_json(config.rope);
  if (config.rope.kind != RopeKind::yarn) return rope;
  if (engine == Engine::hf) rope["attention_factor"] = 1.0;
  if (engine != Engine::hf && config.latent_attention) rope["mscale"] = rope["mscale_all_dim"] = 0;
  if (engine != Engine::hf && !config.latent_attention)
    rope["attn_factor"] = rounded(1.0 / reading::yarn_gain(config.rope.factor, 1.0));
  return rope;
}

// Nested for Hugging Face and SGLang, at the top level for vLLM.
EngineExport ministral_export(const AttentionConfig& config, Engine engine,
                              const ExportRequest& request) {
  const Schedule& schedule = request.schedule;
  Json rope = plain_rotation(config, engine);
  Json keys;
  if (engine == Engine::vllm) {
    keys["llama_4_scaling"] = {{"original_max_position_embeddings", schedule.n0},
                               {"beta", rounded(schedule.slope)}};
  } else {
    rope["llama_4_scaling_beta"] = rounded(schedule.slope);
  }
  keys["rope_parameters"] = rope;
  EngineExport result{engine, in_words_of(engine, keys), true, {}};
  judge_steps(result, schedule, 0.0);
  const double own =
      engine == Engine::sglang ? kSglangLength : static_cast<double>(config.rope.original_length);
  if (engine != Engine::vllm && schedule.n0 != own) {
    result.exact = false;
    result.warnings.push_back(
        fmt::format("steps come every {:.6g} tokens, not every {:.6g}", own, schedule.n0));
  }
  return result;
}

EngineExport mistral3_flags(const AttentionConfig& config, const ExportRequest& request) {
  const Schedule& schedule = request.schedule;
  EngineExport result{Engine::llama_cpp,
                      fmt::format("--override-kv {}.attention.temperature_scale=float:{}",
                                  gguf_architecture(config), rounded(schedule.slope)),
                      true,
                      {}};
  judge_steps(result, schedule, 0.0);
  if (config.latent_attention) {  // deepseek2.cpp:46-47 reads the length too, and needs it
    result.text += fmt::format(" --override-kv {}.attention.temperature_length=int:{:.0f}",
                               gguf_architecture(config), schedule.n0);
  } else if (schedule.n0 != static_cast<double>(config.rope.original_length)) {
    result.exact = false;
    result.warnings.emplace_back("steps come every original context length of the file");
  }
  const double own = reading::read_as_llama_cpp({config, config.max_positions}).rotation;
  if (own != 1.0) {
    result.exact = false;
    result.warnings.push_back(fmt::format("the rotation still multiplies by {:.4g}", own * own));
  }
  return result;
}

EngineExport log_n_flags(const AttentionConfig& config, const ExportRequest& request) {
  EngineExport result{Engine::lmdeploy, "--use-logn-attn", true, {}};
  const std::size_t length =
      config.sequence_length > 0 ? config.sequence_length : config.max_positions;
  if (request.schedule.n0 != static_cast<double>(length)) {
    result.exact = false;
    result.warnings.push_back(
        fmt::format("grows from {} tokens on, not from {:.6g}", length, request.schedule.n0));
  }
  if (config.rope.kind == RopeKind::yarn || config.latent_attention) {
    result.exact = false;
    result.warnings.emplace_back("the factor of the model's rotation still multiplies");
  }
  return result;
}

}  // namespace

std::optional<EngineExport> positional_export(const AttentionConfig& config, Engine engine,
                                              const ExportRequest& request) {
  const Schedule& schedule = request.schedule;
  const bool python = engine == Engine::hf || engine == Engine::vllm || engine == Engine::sglang;
  const bool ministral = config.llama4_scaling || config.rope.llama4_beta;
  if (is_affine(schedule) && config.temperature_tuning && python)
    return llama4_export(config, engine, request);
  if (is_affine(schedule) && ministral && python) return ministral_export(config, engine, request);
  if (is_affine(schedule) && ministral && engine == Engine::llama_cpp)
    return mistral3_flags(config, request);
  if (is_logarithm(schedule) && engine == Engine::lmdeploy) return log_n_flags(config, request);
  return std::nullopt;
}

Json llama4_keys(const Schedule& schedule) {
  return {{"attn_temperature_tuning", true},
          {"floor_scale", schedule.n0},
          {"attn_scale", rounded(schedule.slope)}};
}

void judge_steps(EngineExport& result, const Schedule& schedule, double offset) {
  if (schedule.floor && schedule.offset == offset) return;
  result.exact = false;
  result.warnings.push_back(
      fmt::format("these keys step at whole multiples of {:.6g}: up to {:.3g} above {}",
                  schedule.n0, schedule.slope * std::log(2.0), formula(schedule)));
}

}  // namespace dewpoint::scaling::phrases
