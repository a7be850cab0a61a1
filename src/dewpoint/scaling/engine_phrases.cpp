#include "dewpoint/scaling/engine_phrases.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace dewpoint::scaling::phrases {

std::string in_words_of(Engine engine, const Json& keys) {
  if (engine == Engine::vllm) return fmt::format("--hf-overrides '{}'", keys.dump());
  if (engine == Engine::sglang) return fmt::format("--json-model-override-args '{}'", keys.dump());
  return keys.dump();
}

Json rope_json(const RopeScaling& rope) {
  Json json = {{"rope_type", name_of(rope.kind)}, {"rope_theta", rope.base}};
  if (rope.rotary_share != 1.0) json["partial_rotary_factor"] = rope.rotary_share;
  if (rope.kind == RopeKind::yarn) {
    json["factor"] = rope.factor;
    if (rope.beta_fast != 32.0) json["beta_fast"] = rope.beta_fast;
    if (rope.beta_slow != 1.0) json["beta_slow"] = rope.beta_slow;
    if (!rope.truncate) json["truncate"] = false;
  }
  if (rope.original_length > 0) json["original_max_position_embeddings"] = rope.original_length;
  if (rope.kind == RopeKind::longrope) {
    if (rope.factor != 1.0) json["factor"] = rope.factor;
    json["short_factor"] = rope.short_factor;
    json["long_factor"] = rope.long_factor;
  }
  return json;
}

Json rope_parameters(const AttentionConfig& config, const Json& rope, const char* key) {
  if (!config.local_rope) return {{key, rope}};
  Json layers = {{"full_attention", rope}, {"sliding_attention", rope_json(*config.local_rope)}};
  return {{key, layers}};
}

double rounded(double value) {
  const double unit = std::pow(10.0, kExportDigits);
  return std::round(value * unit) / unit;
}

// Names of llama.cpp b21e4de7 (src/llama-arch.cpp) for what its converter (conversion/) makes of a
// model_type; a type that is not here has the same name there.
std::string gguf_architecture(const AttentionConfig& config) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kNames = {
      {{"", "llama"},
       {"mistral", "llama"},
       {"mixtral", "llama"},
       {"smollm", "llama"},
       {"llama4_text", "llama4"},
       {"ministral3", "mistral3"},
       {"mistral4", "mistral4"},
       {"qwen2_moe", "qwen2moe"},
       {"qwen3_moe", "qwen3moe"},
       {"qwen3_next", "qwen3next"},
       {"qwen2_5_vl_text", "qwen2vl"},
       {"qwen3_vl_text", "qwen3vl"},
       {"gemma3_text", "gemma3"},
       {"gemma3n_text", "gemma3n"},
       {"gpt_oss", "gpt-oss"},
       {"git", "grok"},
       {"olmo3", "olmo2"},
       {"cohere", "command-r"},
       {"ernie4_5_moe", "ernie4_5-moe"},
       {"deepseek_v2", "deepseek2"},
       {"deepseek_v3", "deepseek2"},
       {"kimi_k2", "deepseek2"},
       {"deepseek_v32", "deepseek32"},
       {"glm_moe_dsa", "glm-dsa"}}};
  const std::string& type = config.model_type;
  for (const auto& [model_type, architecture] : kNames)
    if (type == model_type) return std::string(architecture);
  if (config.latent_attention) return "deepseek2";
  return config.llama4_scaling || config.rope.llama4_beta ? "mistral3" : type;
}

}  // namespace dewpoint::scaling::phrases
