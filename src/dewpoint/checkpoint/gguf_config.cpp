// A GGUF file names a model by its architecture, which is also the first word of its keys:
// "llama.block_count". The names after that word are the same for all.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "dewpoint/checkpoint/config_reader.hpp"
#include "dewpoint/checkpoint/gguf.hpp"
#include "dewpoint/checkpoint/model_config.hpp"

namespace dewpoint::checkpoint {
namespace {

using scaling::AttentionConfig;
using scaling::RopeKind;
using Json = ConfigReader::Json;

constexpr Range kAnyLength{0, kLength.most};

// --- what the architecture means -----------------------------------------------------------------

// Facts that llama.cpp (commit b21e4de7, src/models/) has in its code and not in the file:
// gemma2.cpp:22-29, gemma3.cpp:26-33, gemma3n.cpp:10, llama4.cpp:8-17, olmo2.cpp:6-15 and 121.
struct Architecture {
  std::string_view name;
  std::string_view activation = "silu";
  std::size_t window_pattern = 0;    // every so many layers is full, where there is a window
  std::size_t no_rope_interval = 0;  // every so many layers has no rotation
  bool attention_bias = false;
  bool query_key_norm = false;
  bool learned_sinks = false;
  bool rotates = true;
  bool temperature_tuning = false;
  bool local_unscaled = false;  // layers with a window turn without YaRN
  std::size_t wide_at = 0;      // layers of the size whose τ is (embedding/heads)^{−1/2}
  std::optional<double> built_in_scale{};  // τ
};

constexpr std::array kArchitectures{
    Architecture{.name = "gpt2", .activation = "gelu", .attention_bias = true, .rotates = false},
    Architecture{.name = "qwen", .attention_bias = true},
    Architecture{.name = "qwen2", .attention_bias = true},
    Architecture{.name = "qwen2moe", .attention_bias = true},
    Architecture{.name = "qwen3", .query_key_norm = true},
    Architecture{.name = "qwen3moe", .query_key_norm = true},
    Architecture{.name = "gemma", .activation = "gelu_pytorch_tanh"},
    Architecture{
        .name = "gemma2", .activation = "gelu_pytorch_tanh", .window_pattern = 2, .wide_at = 46},
    Architecture{.name = "gemma3",
                 .activation = "gelu_pytorch_tanh",
                 .window_pattern = 6,
                 .query_key_norm = true,
                 .wide_at = 62},
    Architecture{.name = "gemma3n",
                 .activation = "gelu_pytorch_tanh",
                 .window_pattern = 5,
                 .query_key_norm = true,
                 .built_in_scale = 1.0},
    Architecture{.name = "olmo2", .window_pattern = 4, .local_unscaled = true},
    Architecture{
        .name = "gpt-oss", .window_pattern = 2, .attention_bias = true, .learned_sinks = true},
    Architecture{.name = "grok", .activation = "gelu"},
    Architecture{.name = "smollm3", .no_rope_interval = 4},
    Architecture{.name = "llama4", .no_rope_interval = 4, .temperature_tuning = true},
};

// Read as well, with nothing to note: τ = d^{−1/2} or attention.scale, rotations as in the file.
constexpr std::array<std::string_view, 19> kPlainArchitectures = {
    "apertus",      "arcee",   "command-r", "deepseek2",  "deepseek32", "dots1", "ernie4_5",
    "ernie4_5-moe", "glm-dsa", "granite",   "granitemoe", "laguna",     "llama", "mistral3",
    "mistral4",     "olmo",    "olmoe",     "phi3",       "phimoe"};

bool is_known(std::string_view name) {
  const auto is_it = [&](const auto& known) { return std::string_view(known) == name; };
  return std::any_of(kPlainArchitectures.begin(), kPlainArchitectures.end(), is_it) ||
         std::any_of(kArchitectures.begin(), kArchitectures.end(),
                     [&](const Architecture& known) { return is_it(known.name); });
}

Architecture architecture(std::string_view name) {
  for (const Architecture& known : kArchitectures) {
    if (known.name == name) return known;
  }
  return {.name = name};
}

// --- metadata as an object -----------------------------------------------------------------------

// Long arrays and arrays of texts are left out: no key that is read here has one.
Json json_of(const GgufValue& value) {
  if (const auto* array = std::get_if<GgufArray>(&value)) {
    return array->numbers.empty() ? Json() : Json(array->numbers);
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::get<std::string>(value);
}

// The keys that begin with `prefix`, without it.
Json object_of(const GgufMetadata& metadata, const std::string& prefix) {
  Json::object_t object;
  for (auto it = metadata.values.lower_bound(prefix);
       it != metadata.values.end() && it->first.starts_with(prefix); ++it) {
    // The keys of a map are different, so there is no need to look for each before it goes in.
    static_cast<Json::object_t::Container&>(object).emplace_back(it->first.substr(prefix.size()),
                                                                 json_of(it->second));
  }
  return object;
}

std::string architecture_name(const GgufMetadata& metadata) {
  const auto it = metadata.values.find("general.architecture");
  const auto* name = it == metadata.values.end() ? nullptr : std::get_if<std::string>(&it->second);
  if (name == nullptr || name->empty() || name->size() > 64) {
    throw Refusal{"general.architecture", name == nullptr ? "no such text" : excerpt(*name),
                  "a name such as 'llama'"};
  }
  return *name;
}

// --- the parts of a configuration ----------------------------------------------------------------

void read_sizes(const ConfigReader& keys, const GgufMetadata& metadata, ModelConfig& config) {
  config.layers = keys.required_count({"block_count"}, kLayers);
  config.hidden_size = keys.required_count({"embedding_length"}, kDimension);
  config.intermediate_size = keys.first_count({"feed_forward_length"}, kDimension).value_or(0);
  config.norm_epsilon =
      keys.number({"attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon"}, {0, 1})
          .value_or(config.norm_epsilon);
  config.vocabulary = keys.count({"vocab_size"}, kVocabulary).value_or(0);
  const auto tokens = metadata.values.find("tokenizer.ggml.tokens");
  if (config.vocabulary == 0 && tokens != metadata.values.end()) {
    const auto* array = std::get_if<GgufArray>(&tokens->second);
    if (array != nullptr) config.vocabulary = static_cast<std::size_t>(array->length);
  }
}

void read_tokens(const GgufMetadata& metadata, ModelConfig& config) {
  const std::string prefix = "tokenizer.ggml.";
  const Json object = object_of(metadata, prefix);
  const ConfigReader keys(object, prefix);
  if (const auto token = keys.count({"bos_token_id"}, kToken)) {
    config.beginning_token = static_cast<int>(*token);
  }
  if (const auto token = keys.count({"eos_token_id"}, kToken)) {
    config.end_token = static_cast<int>(*token);
  }
}

// Some models give one number per layer; the first stands for all, as everywhere in this project.
void read_heads(const ConfigReader& keys, std::size_t hidden_size, AttentionConfig& attention) {
  const auto heads = keys.first_count({"attention.head_count"}, kHeads);
  if (!heads) throw keys.refusal("attention.head_count", "no such key", "a whole number");
  attention.heads = *heads;
  attention.key_heads =
      keys.first_count({"attention.head_count_kv"}, kHeads).value_or(attention.heads);

  // Newer files of latent models say how wide a head is under a name of its own, and keep their
  // single compressed key, which all heads share, under the usual one.
  const bool latent = keys.has("attention.kv_lora_rank");
  attention.latent_attention = latent;
  if (latent) attention.key_heads = attention.heads;
  if (attention.heads % attention.key_heads != 0) {
    throw keys.refusal("attention.head_count_kv", fmt::format("{}", attention.key_heads),
                       fmt::format("a divisor of the {} heads", attention.heads));
  }
  auto dimension = keys.count({"attention.key_length_mla", "attention.key_length"}, kDimension);
  if (!dimension && hidden_size % attention.heads == 0) dimension = hidden_size / attention.heads;
  if (!dimension) throw keys.refusal("attention.key_length", "no such key", "a whole number");
  attention.head_dimension = *dimension;
  attention.value_dimension =
      keys.count({"attention.value_length_mla", "attention.value_length"}, kDimension)
          .value_or(*dimension);
}

// llama.cpp takes a file that names no kind for linear, and a factor of 0 for none.
RopeKind scaling_kind(const ConfigReader& keys, double factor) {
  const auto name = keys.text({"rope.scaling.type"});
  if (name == "none" || (!name && factor == 1.0)) return RopeKind::standard;
  if (!name || name == "linear") return RopeKind::linear;
  if (name == "yarn") return RopeKind::yarn;
  if (name == "longrope") return RopeKind::longrope;
  throw keys.refusal("rope.scaling.type", fmt::format("'{}'", excerpt(*name)),
                     "none, linear, yarn or longrope");
}

double scaling_factor(const ConfigReader& keys) {
  const double factor =
      keys.number({"rope.scaling.factor", "rope.scale_linear"}, {0, 1e6}).value_or(0.0);
  if (factor > 0.0 && factor < 1.0) {
    throw keys.refusal("rope.scaling.factor", fmt::format("{}", factor), "0, or a number from 1");
  }
  return factor == 0.0 ? 1.0 : factor;
}

void read_scaling(const ConfigReader& keys, AttentionConfig& attention) {
  scaling::RopeScaling& rope = attention.rope;
  rope.factor = scaling_factor(keys);
  rope.kind = scaling_kind(keys, rope.factor);
  const auto original = keys.count({"rope.scaling.original_context_length"}, kLength);
  rope.original_length = original.value_or(attention.max_positions);
  rope.original_length_given = original.has_value();
  rope.beta_fast = keys.number({"rope.scaling.yarn_beta_fast"}, kPositive).value_or(rope.beta_fast);
  rope.beta_slow = keys.number({"rope.scaling.yarn_beta_slow"}, kPositive).value_or(rope.beta_slow);
  attention.gguf_attn_factor = keys.number({"rope.scaling.attn_factor"}, kAnyNumber);
  attention.gguf_yarn_attn_factor = keys.number({"rope.scaling.yarn_attn_factor"}, kAnyNumber);
  attention.gguf_yarn_ext_factor = keys.number({"rope.scaling.yarn_ext_factor"}, kAnyNumber);
  attention.gguf_yarn_log_multiplier =
      keys.number({"rope.scaling.yarn_log_multiplier"}, kAnyNumber);
}

void read_rotation(const ConfigReader& keys, const Architecture& facts,
                   AttentionConfig& attention) {
  if (!facts.rotates) {
    attention.rope.kind = RopeKind::none;
    attention.rope.original_length = attention.max_positions;
    return;
  }
  read_scaling(keys, attention);
  attention.rope.base = keys.number({"rope.freq_base"}, {1.001, 1e15}).value_or(10000.0);
  attention.rotary_dimension =
      keys.count({"rope.dimension_count"}, kDimension).value_or(attention.head_dimension);
  if (attention.rotary_dimension < 2 || attention.rotary_dimension % 2 != 0 ||
      attention.rotary_dimension > attention.head_dimension) {
    throw keys.refusal("rope.dimension_count", fmt::format("{}", attention.rotary_dimension),
                       fmt::format("an even number from 2 to {}", attention.head_dimension));
  }
  if (!attention.latent_attention) {
    attention.rope.rotary_share = static_cast<double>(attention.rotary_dimension) /
                                  static_cast<double>(attention.head_dimension);
  }
  const auto local_base = keys.number({"rope.freq_base_swa"}, {1.001, 1e15});
  if (attention.sliding_window == 0 || (!local_base && !facts.local_unscaled)) return;
  scaling::RopeScaling local;
  local.base = local_base.value_or(attention.rope.base);
  local.rotary_share = attention.rope.rotary_share;
  local.original_length = attention.max_positions;
  if (local != attention.rope) attention.local_rope = local;
}

// An array says per layer whether it has the window; a number is the distance of full layers.
std::vector<std::string> window_types(const ConfigReader& keys, const Architecture& facts,
                                      std::size_t layers) {
  constexpr auto key = "attention.sliding_window_pattern";
  const bool listed = keys.has_list(key);
  const std::size_t pattern =
      listed ? 0 : keys.count({key}, kLayers).value_or(facts.window_pattern);
  const std::vector<double> sliding =
      listed ? keys.numbers({key}, {0, 1}).value() : std::vector<double>(layers, 1.0);
  if (sliding.size() != layers) {
    throw keys.refusal(key, fmt::format("{} entries", sliding.size()),
                       fmt::format("one per layer, {} of them", layers));
  }
  std::vector<std::string> types(layers, "full_attention");
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const bool full = pattern > 0 ? (layer + 1) % pattern == 0 : sliding[layer] == 0.0;
    if (!full) types[layer] = "sliding_attention";
  }
  return types;
}

// Llama 4 (MobileLLM): a window of 0 in the file means rotation in every layer and no tuning.
bool never_tuned(const ConfigReader& keys, const Architecture& facts) {
  return facts.temperature_tuning && keys.count({"attention.sliding_window"}, kAnyLength) == 0;
}

void read_layers(const ConfigReader& keys, const Architecture& facts, AttentionConfig& attention) {
  attention.sliding_window = keys.count({"attention.sliding_window"}, kAnyLength).value_or(0);
  if (attention.sliding_window > 0) {
    attention.layer_types = window_types(keys, facts, attention.layers);
  }
  if (facts.no_rope_interval == 0 || never_tuned(keys, facts)) return;
  attention.rotates.resize(attention.layers);
  for (std::size_t layer = 0; layer < attention.layers; ++layer) {
    attention.rotates[layer] = (layer + 1) % facts.no_rope_interval != 0;
  }
}

void read_scale(const ConfigReader& keys, const Architecture& facts, AttentionConfig& attention) {
  attention.gguf_attention_scale = keys.number({"attention.scale"}, kNotNegative);
  attention.gguf_temperature_length = keys.number({"attention.temperature_length"}, kNotNegative);
  attention.gguf_temperature_scale = keys.number({"attention.temperature_scale"}, kAnyNumber);
  attention.softcap = keys.number({"attn_logit_softcapping"}, kPositive);
  attention.learned_sinks = facts.learned_sinks;
  attention.built_in_scale = facts.built_in_scale;
  if (facts.temperature_tuning && !never_tuned(keys, facts))
    attention.temperature_tuning = scaling::TemperatureTuning{};
}

// Gemma 2 and 3 of 27 billion parameters, which llama.cpp tells by their number of layers.
void read_wide_scale(const Architecture& facts, ModelConfig& config) {
  if (facts.wide_at == 0 || config.layers != facts.wide_at) return;
  const std::size_t width = config.hidden_size / config.attention.heads;
  config.attention.built_in_scale = 1.0 / std::sqrt(static_cast<double>(width));
}

ModelConfig read_config(const GgufMetadata& metadata, std::string_view name) {
  ModelConfig config;
  config.source = Source::gguf;
  config.file = name;
  config.model_type = architecture_name(metadata);
  config.known = is_known(config.model_type);
  const Architecture facts = architecture(config.model_type);
  config.activation = facts.activation;
  config.attention_bias = facts.attention_bias;
  config.query_key_norm = facts.query_key_norm;

  const std::string prefix = config.model_type + ".";
  const Json object = object_of(metadata, prefix);
  const ConfigReader keys(object, excerpt(prefix));
  read_sizes(keys, metadata, config);
  read_tokens(metadata, config);

  AttentionConfig& attention = config.attention;
  attention.model_type = config.model_type;
  attention.layers = config.layers;
  attention.max_positions = keys.required_count({"context_length"}, kLength);
  read_heads(keys, config.hidden_size, attention);
  read_layers(keys, facts, attention);
  read_rotation(keys, facts, attention);
  read_scale(keys, facts, attention);
  read_wide_scale(facts, config);
  return config;
}

}  // namespace

ModelConfig parse_gguf_config(const ByteSource& bytes, std::string_view name) {
  try {
    return read_config(parse_gguf(bytes), name);
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace dewpoint::checkpoint
