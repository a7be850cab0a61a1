#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "dewpoint/checkpoint/config_reader.hpp"
#include "dewpoint/checkpoint/hugging_face_parts.hpp"
#include "dewpoint/checkpoint/json_text.hpp"
#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/checkpoint/model_family.hpp"

namespace dewpoint::checkpoint {
namespace {

using scaling::AttentionConfig;
using scaling::RopeKind;

// A config.json has at most some thousand values; the largest hold names of labels.
constexpr JsonLimits kConfigLimits{
    .bytes = std::size_t{16} << 20, .depth = 32, .values = 1'000'000};

// The whole file, and the part of it about the language model: the same, but in multimodal models.
struct ConfigFile {
  ConfigReader whole;
  ConfigReader text;
};

ConfigFile parts_of(const ConfigReader::Json& json) {
  if (!json.is_object()) throw Refusal{"file", "a value that is not an object", "{...}"};
  ConfigReader whole(json, "");
  auto text = whole.object({"text_config", "llm_config", "language_config"});
  return {whole, text ? *text : whole};
}

std::string read_model_type(const ConfigFile& file) {
  auto name = file.text.text({"model_type"});
  if (!name) name = file.whole.text({"model_type"});
  if (!name || name->empty()) {
    throw file.text.refusal("model_type", "no such key", "a text such as 'llama'");
  }
  return *name;
}

std::string read_architecture(const ConfigFile& file) {
  const auto names = file.whole.texts({"architectures"});
  return names && !names->empty() ? names->front() : "";
}

std::optional<int> read_token(const ConfigFile& file, std::string_view key) {
  auto token = file.text.first_count({key}, kToken);
  if (!token) token = file.whole.first_count({key}, kToken);
  return token ? std::optional(static_cast<int>(*token)) : std::nullopt;
}

void read_sizes(const ConfigReader& text, ModelConfig& config) {
  config.layers = text.required_count({"num_hidden_layers", "n_layer", "num_layers"}, kLayers);
  config.hidden_size = text.required_count({"hidden_size", "n_embd"}, kDimension);
  config.vocabulary = text.count({"vocab_size", "padded_vocab_size"}, kVocabulary).value_or(0);
  const bool gpt2 = config.model_type == "gpt2";
  config.intermediate_size =
      text.count({"intermediate_size", "n_inner", "ffn_hidden_size"}, kDimension)
          .value_or(gpt2 ? 4 * config.hidden_size : 0);
}

void read_details(const ConfigFile& file, const ModelFamily& family, ModelConfig& config) {
  const ConfigReader& text = file.text;
  config.beginning_token = read_token(file, "bos_token_id");
  config.end_token = read_token(file, "eos_token_id");
  config.norm_epsilon =
      text.number({"rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps", "norm_epsilon"}, {0, 1})
          .value_or(family.norm_epsilon);
  config.activation = text.text({"hidden_activation", "hidden_act", "activation_function"})
                          .value_or(std::string(family.activation));
  auto tied = text.flag({"tie_word_embeddings"});
  if (!tied) tied = file.whole.flag({"tie_word_embeddings"});
  config.tied_embeddings = tied.value_or(family.tied);
  config.attention_bias =
      text.flag({"attention_bias"}).value_or(family.attention_bias) || family.always_biased;
  config.mlp_bias = text.flag({"mlp_bias"}).value_or(family.mlp_bias);
  config.query_key_norm = family.query_key_norm;
}

// Nothing is assumed: a model without a mask that is run with one gives numbers, and wrong ones.
DecoderParts read_parts(const ConfigReader& text, const ModelFamily& family) {
  if (!family.attention_only) return {};
  return {.residual = text.required_flag("residual"),
          .branch = text.number({"branch"}, kPositive).value_or(1.0),
          .norms = text.required_flag("pre_norm"),
          .norm_weights = false,
          .value_matrix = text.required_flag("value_matrix"),
          .output_matrix = false,
          .feed_forward = false,
          .causal = text.required_flag("causal")};
}

// --- attention ---------------------------------------------------------------------------------

std::size_t head_dimension(const ConfigReader& text, const ModelFamily& family,
                           std::size_t hidden_size, std::size_t heads) {
  if (const auto given = text.count({"head_dim", "kv_channels"}, kDimension)) return *given;
  if (family.head_dimension) return *family.head_dimension;
  if (hidden_size % heads != 0) {
    throw text.refusal("head_dim", "no such key",
                       fmt::format("a whole number, as hidden_size {} is no multiple of {} heads",
                                   hidden_size, heads));
  }
  return hidden_size / heads;
}

void read_heads(const ConfigReader& text, const ModelFamily& family, std::size_t hidden_size,
                AttentionConfig& attention) {
  attention.heads = text.required_count({"num_attention_heads", "n_head"}, kHeads, family.heads);
  attention.key_heads = text.required_count({"num_key_value_heads"}, kHeads,
                                            family.key_heads.value_or(attention.heads));
  if (attention.heads % attention.key_heads != 0) {
    throw text.refusal("num_key_value_heads", fmt::format("{}", attention.key_heads),
                       fmt::format("a divisor of the {} heads", attention.heads));
  }
  attention.head_dimension = head_dimension(text, family, hidden_size, attention.heads);
  attention.value_dimension = attention.head_dimension;
}

// Latent attention: a head is a part that does not rotate and one that does, and every query head
// has keys of its own, whatever num_key_value_heads says.
void read_latent_attention(const ConfigReader& text, AttentionConfig& attention) {
  const auto rotating = text.count({"qk_rope_head_dim"}, kDimension);
  if (!rotating) return;
  const std::size_t still = text.required_count({"qk_nope_head_dim"}, {0, kDimension.most});
  attention.latent_attention = true;
  attention.key_heads = attention.heads;
  attention.head_dimension = still + *rotating;
  attention.rotary_dimension = *rotating;
  attention.value_dimension = text.required_count({"v_head_dim"}, kDimension, *rotating + still);
}

void check_factor_list(const ConfigReader& text, const char* key, std::size_t found,
                       std::size_t rotary_dimension) {
  if (found == rotary_dimension / 2) return;
  throw text.refusal(
      key, fmt::format("a list of {}", found),
      fmt::format("a list of {}, one per pair of rotary coordinates", rotary_dimension / 2));
}

void read_rotation(const ConfigReader& text, const ModelFamily& family,
                   AttentionConfig& attention) {
  if (!family.rotates) {
    attention.rope.kind = RopeKind::none;
    attention.rope.original_length = attention.max_positions;
    return;
  }
  RopePair rope = read_rope(text, family, attention.max_positions);
  attention.rope = std::move(rope.full);
  if (attention.sliding_window > 0) attention.local_rope = std::move(rope.local);
  if (attention.rope.kind == RopeKind::none) {
    attention.rotary_dimension = 0;
    return;
  }
  if (!attention.latent_attention) {
    attention.rotary_dimension = static_cast<std::size_t>(
        static_cast<double>(attention.head_dimension) * attention.rope.rotary_share);
  }
  if (attention.rotary_dimension < 2 || attention.rotary_dimension % 2 != 0) {
    throw text.refusal("head_dim", fmt::format("{} rotary coordinates", attention.rotary_dimension),
                       "an even number of them, at least 2");
  }
  if (attention.rope.kind != RopeKind::longrope) return;
  check_factor_list(text, "short_factor", attention.rope.short_factor.size(),
                    attention.rotary_dimension);
  check_factor_list(text, "long_factor", attention.rope.long_factor.size(),
                    attention.rotary_dimension);
}

void read_attention(const ConfigFile& file, const ModelFamily& family, ModelConfig& config) {
  AttentionConfig& attention = config.attention;
  attention.model_type = config.model_type;
  attention.architecture = read_architecture(file);
  attention.layers = config.layers;
  attention.max_positions = file.text.required_count(
      {"max_position_embeddings", "n_positions", "n_ctx", "model_max_length"}, kLength,
      family.max_positions);
  read_heads(file.text, family, config.hidden_size, attention);
  read_latent_attention(file.text, attention);
  read_layer_types(file.text, family, attention);
  read_rotation(file.text, family, attention);
  read_logit_scale(file.text, family, attention);
}

ModelConfig read_config(const ConfigReader::Json& json, std::string_view name) {
  const ConfigFile file = parts_of(json);
  ModelConfig config;
  config.file = name;
  config.model_type = read_model_type(file);
  config.known = is_known_family(config.model_type);
  const ModelFamily& family = model_family(config.model_type);
  read_sizes(file.text, config);
  read_details(file, family, config);
  config.parts = read_parts(file.text, family);
  read_attention(file, family, config);
  return config;
}

}  // namespace

ModelConfig parse_hugging_face_config(std::string_view json, std::string_view name) {
  try {
    return read_config(parse_json(json, kConfigLimits), name);
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace dewpoint::checkpoint
