#include "dewpoint/scaling/engine_reading.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace dewpoint::scaling::reading {
namespace {

Schedule affine_log(const char* name, double slope, double n0, double offset, bool floor) {
  Schedule schedule;
  schedule.name = name;
  schedule.kind = ScheduleKind::affine_log;
  schedule.slope = slope;
  schedule.n0 = n0;
  schedule.offset = offset;
  schedule.floor = floor;
  return schedule;
}

Schedule log_base(const char* name, double n0) {
  Schedule schedule;
  schedule.name = name;
  schedule.kind = ScheduleKind::log_base;
  schedule.n0 = n0;
  return schedule;
}

Schedule linear_log(const char* name, double slope, double value) {
  Schedule schedule;
  schedule.name = name;
  schedule.kind = ScheduleKind::linear_log;
  schedule.slope = slope;
  schedule.value = value;
  return schedule;
}

std::size_t log_n_length(const AttentionConfig& config) {
  return config.sequence_length > 0 ? config.sequence_length : config.max_positions;
}

}  // namespace

double yarn_gain(double extension, double weight) {
  return extension <= 1.0 ? 1.0 : 1.0 + 0.1 * weight * std::log(extension);
}

double mscale_ratio(const RopeScaling& rope) {
  return yarn_gain(rope.factor, rope.mscale.value_or(1.0)) /
         yarn_gain(rope.factor, rope.mscale_all_dim.value_or(0.0));
}

double mscale_ratio_if_both(const RopeScaling& rope) {
  const bool both = rope.mscale.value_or(0.0) != 0.0 && rope.mscale_all_dim.value_or(0.0) != 0.0;
  return both ? mscale_ratio(rope) : yarn_gain(rope.factor, 1.0);
}

double longrope_factor(const RopeScaling& rope, std::size_t max_positions) {
  const double original = static_cast<double>(original_length(rope, max_positions));
  return longrope_gain(rope, static_cast<double>(max_positions) / original, max_positions);
}

double longrope_gain(const RopeScaling& rope, double extension, std::size_t max_positions) {
  const double original = static_cast<double>(original_length(rope, max_positions));
  if (extension <= 1.0 || original <= 1.0) return 1.0;
  return std::sqrt(1.0 + std::log(extension) / std::log(original));
}

double longrope_factor_or_mscale(const RopeScaling& rope, const Deployment& deployment) {
  const std::size_t longest = deployment.config.max_positions;
  const bool beyond = deployment.length > original_length(rope, longest);
  const std::optional<double>& given = beyond ? rope.long_mscale : rope.short_mscale;
  return given ? *given : longrope_factor(rope, longest);
}

double latent_softmax_gain(const AttentionConfig& config) {
  if (!config.latent_attention || config.rope.kind != RopeKind::yarn) return 1.0;
  const double gain = yarn_gain(config.rope.factor, config.rope.mscale_all_dim.value_or(0.0));
  return gain * gain;
}

Schedule ministral_schedule(double beta, double n0) {
  return affine_log("ministral", beta, n0, 0.0, true);
}

PositionSchedules positions_of(const AttentionConfig& config) {
  PositionSchedules positions;
  if (const auto& tuning = config.temperature_tuning; tuning && tuning->enabled)
    positions.llama4 = affine_log("llama-4", tuning->attn_scale, tuning->floor_scale, 1.0, true);
  const double original = static_cast<double>(
      config.rope.original_length > 0 ? config.rope.original_length : config.max_positions);
  if (config.llama4_scaling) {
    const double own = config.llama4_scaling->original_length;
    positions.ministral = ministral_schedule(config.llama4_scaling->beta, own > 0 ? own : original);
  } else if (config.rope.llama4_beta) {
    positions.ministral = ministral_schedule(*config.rope.llama4_beta, original);
  }
  if (config.log_scaling_n_floor)
    positions.inkling =
        affine_log("inkling", config.log_scaling_alpha, *config.log_scaling_n_floor, 1.0, false);
  if (config.use_logn_attn)
    positions.log_n = log_base("qwen", static_cast<double>(log_n_length(config)));
  if (config.attn_temperature_len) positions.grok = log_base("grok", *config.attn_temperature_len);
  if (config.scaling_softmax_factor)
    positions.ssmax =
        linear_log("ssmax", *config.scaling_softmax_factor, config.scaling_softmax_bias);
  return positions;
}

bool is_mistral4(const AttentionConfig& config) { return config.model_type == "mistral4"; }

void mark_unread(Reading& reading, const AttentionConfig& config) {
  std::vector<const char*> names;
  if (config.built_in_scale) names.push_back("base scale");
  const PositionSchedules& positions = reading.positions;
  for (const auto* schedule : {&positions.llama4, &positions.ministral, &positions.inkling,
                               &positions.log_n, &positions.grok})
    if (*schedule) names.push_back((*schedule)->name.c_str());
  if (!names.empty()) reading.unverified = fmt::format("{} not read there", fmt::join(names, ", "));
}

}  // namespace dewpoint::scaling::reading
