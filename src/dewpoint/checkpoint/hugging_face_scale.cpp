#include <fmt/format.h>

#include "dewpoint/checkpoint/hugging_face_parts.hpp"

namespace dewpoint::checkpoint {
namespace {

using scaling::AttentionConfig;

// A number above 0; 0 and less mean that there is none.
std::optional<double> positive_or_none(const ConfigReader& config, std::string_view key) {
  const auto value = config.number({key}, kAnyNumber);
  return value && *value > 0.0 ? value : std::nullopt;
}

// Layers with a window may have heads of another size, and then a τ of their own.
double inverse_dimension(const ConfigReader& config, const AttentionConfig& attention) {
  const auto local = config.count({"swa_head_dim"}, kDimension);
  if (local && *local != attention.head_dimension) {
    throw config.refusal("swa_head_dim", fmt::format("{}", *local),
                         fmt::format("head_dim, {}", attention.head_dimension));
  }
  return 1.0 / static_cast<double>(attention.head_dimension);
}

void read_base_scale(const ConfigReader& config, const ModelFamily& family,
                     AttentionConfig& attention) {
  attention.attention_multiplier = config.number({"attention_multiplier"}, kPositive);
  if (!attention.attention_multiplier) attention.attention_multiplier = family.score_scale;
  attention.query_pre_attn_scalar = config.number({"query_pre_attn_scalar"}, kPositive);
  if (!attention.query_pre_attn_scalar) attention.query_pre_attn_scalar = family.query_scalar;
  attention.built_in_scale = family.built_in_scale;
  if (family.inverse_dimension) attention.built_in_scale = inverse_dimension(config, attention);
  attention.scale_attention_weights = config.flag({"scale_attn_weights"}).value_or(true);
  attention.scale_by_inverse_layer =
      config.flag({"scale_attn_by_inverse_layer_idx"}).value_or(false);
  attention.softcap = positive_or_none(config, "attn_logit_softcapping");
  if (!attention.softcap && !config.has("attn_logit_softcapping")) {
    attention.softcap = family.softcap;
  }
  attention.learned_sinks = family.learned_sinks;
}

// The first files of Llama 4 had a number in attn_temperature_tuning where later ones have true.
void read_temperature_tuning(const ConfigReader& config, const ModelFamily& family,
                             AttentionConfig& attention) {
  const auto enabled = config.flag_or_number({"attn_temperature_tuning"});
  if (!enabled && !family.temperature_tuning) return;
  scaling::TemperatureTuning tuning;
  tuning.enabled = enabled.value_or(true);
  tuning.floor_scale = config.number({"floor_scale"}, kPositive).value_or(tuning.floor_scale);
  tuning.attn_scale = config.number({"attn_scale"}, kAnyNumber).value_or(tuning.attn_scale);
  attention.temperature_tuning = tuning;
}

void read_llama4_scaling(const ConfigReader& config, AttentionConfig& attention) {
  scaling::Llama4Scaling scaling;
  if (const auto object = config.object({"llama_4_scaling"})) {
    scaling.beta = object->number({"beta"}, kAnyNumber).value_or(scaling.beta);
    scaling.original_length =
        static_cast<double>(object->required_count({"original_max_position_embeddings"}, kLength));
  } else if (attention.rope.llama4_beta) {
    scaling.beta = *attention.rope.llama4_beta;
    scaling.original_length = static_cast<double>(attention.rope.original_length);
    scaling.nested = true;
  } else {
    return;
  }
  attention.llama4_scaling = scaling;
}

// axolotl turns scaled softmax on with one key and sets its slope, 0.43 by default, with another.
void read_scaled_softmax(const ConfigReader& config, AttentionConfig& attention) {
  const auto factor = config.number({"scaling_softmax_factor"}, kAnyNumber);
  const bool on = config.flag({"scaling_softmax"}).value_or(factor.has_value());
  if (!on) return;
  attention.scaling_softmax_factor = factor.value_or(0.43);
  attention.scaling_softmax_bias =
      config.number({"scaling_softmax_bias"}, kAnyNumber).value_or(0.0);
}

}  // namespace

void read_logit_scale(const ConfigReader& config, const ModelFamily& family,
                      AttentionConfig& attention) {
  read_base_scale(config, family, attention);
  read_temperature_tuning(config, family, attention);
  read_llama4_scaling(config, attention);
  read_scaled_softmax(config, attention);
  attention.log_scaling_n_floor = config.number({"log_scaling_n_floor"}, kPositive);
  attention.log_scaling_alpha =
      config.number({"log_scaling_alpha"}, kAnyNumber).value_or(attention.log_scaling_alpha);
  attention.use_logn_attn = config.flag_or_number({"use_logn_attn"}).value_or(false);
  attention.sequence_length = config.count({"seq_length"}, kLength).value_or(0);
  attention.attn_temperature_len = positive_or_none(config, "attn_temperature_len");
}

}  // namespace dewpoint::checkpoint
