#include "dewpoint/models/architecture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::models {
namespace {

using checkpoint::ModelConfig;
using checkpoint::Refusal;

constexpr const char* kFull = "full_attention";
constexpr const char* kSliding = "sliding_attention";

[[noreturn]] void refuse(const ModelConfig& config, const Refusal& refusal) {
  throw checkpoint::to_error(Code::bad_value, config.file, refusal);
}

void check_type(const ModelConfig& config) {
  const auto& known = supported_model_types();
  if (config.source == checkpoint::Source::gguf) {
    refuse(config, {"source", "a GGUF file, of which only the metadata is read",
                    "a Hugging Face folder with safetensors, or a llama2.c .bin"});
  }
  if (std::find(known.begin(), known.end(), config.model_type) == known.end()) {
    refuse(config, {"model_type", "'" + checkpoint::excerpt(config.model_type) + "'",
                    fmt::format("{}", fmt::join(known, ", "))});
  }
}

void check_layer_types(const ModelConfig& config) {
  for (const std::string& type : config.attention.layer_types) {
    if (type == kFull || (type == kSliding && config.parts.causal)) continue;
    refuse(config,
           {"layer_types", "'" + checkpoint::excerpt(type) + "'",
            config.parts.causal ? fmt::format("{}, {}", kFull, kSliding)
                                : fmt::format("{}, as the model has no causal mask", kFull)});
  }
}

void check_parts(const ModelConfig& config) {
  if (config.attention.latent_attention) {
    refuse(config, {"attention", "latent attention", "queries, keys and values by head"});
  }
  if (config.attention.learned_sinks) {
    refuse(config, {"attention", "learned sinks", "softmax over keys only"});
  }
  if (!config.parts.residual && config.parts.branch != 1.0) {
    refuse(config, {"branch", fmt::format("{}", config.parts.branch),
                    "1, as the model has no residual connection"});
  }
  check_layer_types(config);
}

// Where no matrix stands between the heads and the hidden vector, its coordinates are theirs.
void check_columns(const ModelConfig& config, const Architecture& made) {
  const auto check = [&](const char* field, std::size_t heads) {
    if (heads * made.head_dimension == made.hidden) return;
    refuse(config, {field, fmt::format("{} of {} coordinates", heads, made.head_dimension),
                    fmt::format("together the hidden size {}", made.hidden)});
  };
  if (!made.parts.output_matrix) check("heads", made.heads);
  if (!made.parts.value_matrix) check("key heads", made.key_heads);
}

constexpr std::size_t kLargestSize = 1'000'000'000;

void check_sizes(const ModelConfig& config, const Architecture& made) {
  // Products of two sizes must not overflow before tensors are compared with them.
  const auto positive = [&](const char* field, std::size_t value) {
    if (value >= 1 && value <= kLargestSize) return;
    refuse(config, {field, fmt::format("{}", value), fmt::format("1 to {}", kLargestSize)});
  };
  positive("layers", made.layers);
  positive("hidden size", made.hidden);
  if (made.parts.feed_forward) positive("intermediate size", made.intermediate);
  positive("vocabulary", made.vocabulary);
  positive("heads", made.heads);
  positive("key heads", made.key_heads);
  positive("head dimension", made.head_dimension);
  if (made.family == Family::gpt2) positive("positions", made.learned_positions);
  if (made.heads % made.key_heads != 0) {
    refuse(config, {"key heads", fmt::format("{}", made.key_heads),
                    fmt::format("a divisor of the {} heads", made.heads)});
  }
  if (made.family == Family::gpt2 && made.heads * made.head_dimension != made.hidden) {
    refuse(config, {"heads", fmt::format("{}", made.heads),
                    fmt::format("a divisor of the hidden size {}", made.hidden)});
  }
  check_columns(config, made);
}

Activation activation_of(const ModelConfig& config) {
  try {
    return parse_activation(config.activation);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", config.file, error.what()));
  }
}

void fill_llama(const ModelConfig& config, Architecture& made) {
  made.query_bias = config.attention_bias || config.model_type == "qwen2";
  made.output_bias = config.attention_bias && config.model_type != "qwen2";
  made.feed_forward_bias = config.mlp_bias;
  made.query_key_norm = config.query_key_norm || config.model_type == "qwen3";
  if (config.rotates_pairs) made.planes = RotationPlanes::neighbours;
}

void fill_gpt2(const ModelConfig& config, Architecture& made) {
  made.family = Family::gpt2;
  made.norm = NormKind::layer;
  made.learned_positions = config.attention.max_positions;
  made.query_bias = made.output_bias = made.feed_forward_bias = true;
}

}  // namespace

const std::vector<std::string>& supported_model_types() {
  static const std::vector<std::string> types{"llama",   "mistral", "qwen2",   "qwen3",
                                              "smollm3", "gpt2",    "dewpoint"};
  return types;
}

Architecture architecture_of(const ModelConfig& config) {
  check_type(config);
  check_parts(config);
  Architecture made;
  made.layers = config.layers;
  made.hidden = config.hidden_size;
  made.intermediate = config.intermediate_size;
  made.vocabulary = config.vocabulary;
  made.heads = config.attention.heads;
  made.key_heads = config.attention.key_heads;
  made.head_dimension = config.attention.head_dimension;
  made.norm_epsilon = config.norm_epsilon;
  made.activation = activation_of(config);
  made.tied_embeddings = config.tied_embeddings;
  made.parts = config.parts;
  config.model_type == "gpt2" ? fill_gpt2(config, made) : fill_llama(config, made);
  check_sizes(config, made);
  return made;
}

attention::Mask mask_of(const ModelConfig& config, std::size_t layer) {
  if (!config.parts.causal) return attention::Mask::none();
  const auto& types = config.attention.layer_types;
  const bool slides = layer < types.size() && types[layer] == kSliding;
  return slides ? attention::Mask::window(config.attention.sliding_window)
                : attention::Mask::causal();
}

void require_causal(const ModelConfig& config) {
  if (config.parts.causal) return;
  refuse(config, {"causal", "false",
                  "true, for losses of next tokens: this model sees the token it would predict"});
}

}  // namespace dewpoint::models
