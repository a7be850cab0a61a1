#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "dewpoint/checkpoint/hugging_face_parts.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using scaling::RopeKind;
using scaling::RopeScaling;

constexpr Range kBase{1.001, 1e15};
constexpr Range kFactor{1, 1e6};
constexpr Range kShare{1e-3, 1};

// The file, the object with the parameters of one rotation, and the object around that: the same
// one, unless rotations are given by type of layer.
struct RopeSource {
  const ConfigReader& config;
  const ConfigReader& parameters;
  const ConfigReader& outer;
};

// Two families have words of their own for frequencies left as they are: Qwen-VL's rotation turns
// by three positions, which are equal in text, and Grok 2 says "original".
std::string usual_name(const std::string& name) {
  return name == "mrope" || name == "original" ? "default" : name;
}

RopeKind rope_kind(const ConfigReader& parameters) {
  const std::string name = parameters.text({"rope_type", "type"}).value_or("default");
  try {
    return scaling::parse_rope_kind(usual_name(name));
  } catch (const Error&) {
    throw parameters.refusal(
        parameters.has("rope_type") ? "rope_type" : "type", fmt::format("'{}'", excerpt(name)),
        "default, linear, dynamic, ntk, llama3, yarn, longrope, su, mrope, original or none");
  }
}

// Phi 3 writes the original length beside the parameters, and transformers believes that first.
void read_original_length(const RopeSource& source, std::size_t max_positions, RopeScaling& rope) {
  constexpr auto key = "original_max_position_embeddings";
  auto given = source.config.count({key}, kLength);
  if (!given) given = source.parameters.count({key}, kLength);
  if (!given && source.outer.has(key)) given = source.outer.count({key}, kLength);
  rope.original_length = given.value_or(max_positions);
  rope.original_length_given = given.has_value();
}

void read_factor(const RopeSource& source, std::size_t max_positions, RopeScaling& rope) {
  if (const auto factor = source.parameters.number({"factor", "scaling_factor"}, kFactor)) {
    rope.factor = *factor;
    rope.factor_given = true;
    return;
  }
  if (rope.kind == RopeKind::none || rope.kind == RopeKind::standard) return;

  // YaRN and LongRoPE without a factor stretch what was trained to what is promised.
  const bool by_lengths = rope.kind == RopeKind::yarn || rope.kind == RopeKind::longrope;
  if (!by_lengths || !rope.original_length_given || max_positions < rope.original_length) {
    throw source.parameters.refusal("factor", "no such key", "a number from 1 to 1000000");
  }
  rope.factor = static_cast<double>(max_positions) / static_cast<double>(rope.original_length);
}

void read_yarn(const RopeSource& source, RopeScaling& rope) {
  const ConfigReader& parameters = source.parameters;
  rope.attention_factor = parameters.number({"attention_factor"}, kNotNegative);
  rope.attn_factor = parameters.number({"attn_factor"}, kNotNegative);
  rope.apply_yarn_scaling =
      parameters.flag({"apply_yarn_scaling"}).value_or(rope.apply_yarn_scaling);
  rope.mscale = parameters.number({"mscale"}, kNotNegative);
  rope.mscale_all_dim = parameters.number({"mscale_all_dim"}, kNotNegative);
  rope.beta_fast = parameters.number({"beta_fast"}, kPositive).value_or(rope.beta_fast);
  rope.beta_slow = parameters.number({"beta_slow"}, kPositive).value_or(rope.beta_slow);
  rope.llama4_beta = parameters.number({"llama_4_scaling_beta"}, kAnyNumber);
  // transformers looks for it in the outer object, also where rotations are given by type.
  rope.truncate = source.outer.flag({"truncate"}).value_or(true);
}

void read_bands(const ConfigReader& parameters, RopeScaling& rope) {
  const auto low = parameters.number({"low_freq_factor"}, kPositive);
  const auto high = parameters.number({"high_freq_factor"}, kPositive);
  if (rope.kind == RopeKind::llama3 && (!low || !high)) {
    throw parameters.refusal(low ? "high_freq_factor" : "low_freq_factor", "no such key",
                             "a number above 0");
  }
  rope.low_frequency_factor = low.value_or(rope.low_frequency_factor);
  rope.high_frequency_factor = high.value_or(rope.high_frequency_factor);
}

void read_factor_lists(const ConfigReader& parameters, RopeScaling& rope) {
  auto short_factor = parameters.numbers({"short_factor"}, kPositive);
  auto long_factor = parameters.numbers({"long_factor"}, kPositive);
  if (rope.kind == RopeKind::longrope && (!short_factor || !long_factor)) {
    throw parameters.refusal(short_factor ? "long_factor" : "short_factor", "no such key",
                             "a list of numbers above 0");
  }
  rope.short_factor = std::move(short_factor).value_or(rope.short_factor);
  rope.long_factor = std::move(long_factor).value_or(rope.long_factor);
  rope.short_mscale = parameters.number({"short_mscale"}, kPositive);
  rope.long_mscale = parameters.number({"long_mscale"}, kPositive);
}

RopeScaling read_one(const RopeSource& source, const ModelFamily& family, double base,
                     std::size_t max_positions) {
  RopeScaling rope;
  rope.kind = rope_kind(source.parameters);
  rope.base = source.parameters.number({"rope_theta"}, kBase).value_or(base);
  const double share = source.config.number({"partial_rotary_factor", "rotary_pct"}, kShare)
                           .value_or(family.rotary_share);
  rope.rotary_share = source.parameters.number({"partial_rotary_factor"}, kShare).value_or(share);
  read_original_length(source, max_positions, rope);
  read_factor(source, max_positions, rope);
  read_yarn(source, rope);
  read_bands(source.parameters, rope);
  read_factor_lists(source.parameters, rope);
  return rope;
}

const ConfigReader::Json& empty_object() {
  static const ConfigReader::Json empty = ConfigReader::Json::object();
  return empty;
}

// transformers 5, transformers 4, Grok 2, or nothing at all.
ConfigReader rope_parameters(const ConfigReader& config) {
  if (auto parameters = config.object({"rope_parameters", "rope_scaling"})) return *parameters;
  if (config.has("rope_type")) return config;
  return {empty_object(), "rope_parameters."};
}

}  // namespace

RopePair read_rope(const ConfigReader& config, const ModelFamily& family,
                   std::size_t max_positions) {
  const double base = config.number({"rope_theta", "rotary_emb_base"}, kBase).value_or(family.base);
  const double local_base =
      config.number({"rope_local_base_freq"}, kBase).value_or(family.local_base);

  const ConfigReader none(empty_object(), "rope_parameters.");
  const ConfigReader outer = rope_parameters(config);
  const bool by_type = outer.has("full_attention") || outer.has("sliding_attention");
  const auto full = by_type ? outer.object({"full_attention"}) : outer;
  const auto local = by_type ? outer.object({"sliding_attention"}) : std::optional<ConfigReader>{};

  RopePair pair;
  pair.full = read_one({config, full ? *full : none, outer}, family, base, max_positions);
  if (local || local_base > 0.0 || family.local_unscaled) {
    pair.local = read_one({config, local ? *local : none, outer}, family,
                          local_base > 0.0 ? local_base : base, max_positions);
  }
  if (pair.local == pair.full) pair.local.reset();
  return pair;
}

}  // namespace dewpoint::checkpoint
