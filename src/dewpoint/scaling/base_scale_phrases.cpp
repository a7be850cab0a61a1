// Models whose base scale is a key of its own: Granite's attention_multiplier, Gemma's
// query_pre_attn_scalar. The multiplier goes there, and reaches all coordinates of all layers.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "dewpoint/scaling/engine_phrases.hpp"

namespace dewpoint::scaling::phrases {
namespace {

bool has_key(const AttentionConfig& config) {
  return config.attention_multiplier || config.query_pre_attn_scalar;
}

// A rotation that brings a factor of its own is told through that factor.
bool carries_factor(const AttentionConfig& config) {
  return config.rope.kind == RopeKind::yarn || config.rope.kind == RopeKind::longrope;
}

}  // namespace

std::optional<EngineExport> base_scale_export(const AttentionConfig& config, Engine engine,
                                              const ExportRequest& request) {
  const double m = multiplier(request.schedule, request.target_length);
  const bool no_flag = engine == Engine::megatron || engine == Engine::lmdeploy;
  if (!has_key(config) || carries_factor(config) || no_flag) return std::nullopt;
  EngineExport result{engine, "", true, {}};
  if (engine == Engine::llama_cpp) {
    if (!config.attention_multiplier) return std::nullopt;
    result.text = fmt::format("--override-kv {}.attention.scale=float:{}",
                              gguf_architecture(config), *config.attention_multiplier * m);
  } else if (config.attention_multiplier) {
    result.text = in_words_of(engine, {{"attention_multiplier", *config.attention_multiplier * m}});
  } else {
    result.text =
        in_words_of(engine, {{"query_pre_attn_scalar", *config.query_pre_attn_scalar / (m * m)}});
  }
  result.warnings.push_back(
      fmt::format("reaches every layer{}", config.local_rope ? ", sliding windows too" : ""));
  warn_of_positions(result, config);
  return result;
}

}  // namespace dewpoint::scaling::phrases
