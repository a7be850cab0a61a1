#include "dewpoint/scaling/engine_phrases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

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

std::string gguf_architecture(const AttentionConfig& config) {
  const std::string& type = config.model_type;
  if (config.latent_attention) return "deepseek2";
  if (config.llama4_scaling || config.rope.llama4_beta) return "mistral3";
  if (type == "mistral" || type == "smollm" || type.empty()) return "llama";
  if (type.starts_with("llama4")) return "llama4";
  return type;
}

}  // namespace dewpoint::scaling::phrases
