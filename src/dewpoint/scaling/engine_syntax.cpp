#include "dewpoint/scaling/engine_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dewpoint/core/error.hpp"
#include "dewpoint/scaling/engine_phrases.hpp"

namespace dewpoint::scaling {
namespace {

using phrases::Plan;

void require_request(const AttentionConfig& config, const ExportRequest& request) {
  if (!(request.target_length >= 1.0) || !std::isfinite(request.target_length)) {
    throw Error(Code::bad_value,
                fmt::format("target: {} is not a length, 1 or more", request.target_length));
  }
  if (config.max_positions == 0 && config.rope.original_length == 0) {
    throw Error(Code::bad_value, "max_position_embeddings: an export needs the model's length");
  }
  const double m = multiplier(request.schedule, request.target_length);
  if (m > 0.0 && std::isfinite(m)) return;
  throw Error(Code::bad_value, fmt::format("schedule: {} is {} at n = {}, not above 0",
                                           request.schedule.name, m, request.target_length));
}

void warn_of_extrapolation(EngineExport& result, const ExportRequest& request) {
  if (request.fitted_to <= 0.0) return;
  if (request.target_length >= request.fitted_from && request.target_length <= request.fitted_to)
    return;
  result.warnings.push_back(
      fmt::format("extrapolated: fitted on n = {:.6g} to {:.6g}, asked for {:.6g}",
                  request.fitted_from, request.fitted_to, request.target_length));
}

void warn_of_unread(EngineExport& result, const AttentionConfig& config) {
  const std::string why = engine_scale(config, result.engine).unverified;
  if (why.empty()) return;
  result.exact = false;
  result.warnings.push_back("not verified for this model: " + why);
}

void warn_of_one_factor(EngineExport& result, const ExportRequest& request, const Plan& plan) {
  const Schedule& schedule = request.schedule;
  if (schedule.kind == ScheduleKind::constant) return;
  result.warnings.push_back(fmt::format("one factor for all positions: m = {:.4g} as at n = {:.6g}",
                                        plan.multiplier, request.target_length));
  if (!schedule.static_factor) result.exact = false;
}

EngineExport one_factor(const AttentionConfig& config, Engine engine, const Plan& plan) {
  EngineExport result{engine, "", true, {}};
  if (config.rope.kind == RopeKind::none && engine != Engine::megatron) {
    result.exact = false;
    result.warnings.emplace_back("the model has no rotation, and no key scales its logits");
    return result;
  }
  switch (engine) {
    case Engine::hf:
    case Engine::lmdeploy:
      phrases::say_verbatim(result, config, plan);
      break;
    case Engine::vllm:
    case Engine::sglang:
      phrases::say_on_top(result, config, plan);
      break;
    case Engine::llama_cpp:
      phrases::say_llama_cpp(result, config, plan);
      break;
    case Engine::megatron:
      phrases::say_megatron(result, config, plan);
      break;
  }
  return result;
}

EngineExport static_export(const AttentionConfig& config, Engine engine,
                           const ExportRequest& request) {
  const Plan plan = phrases::plan_of(config, request);
  auto base = phrases::base_scale_export(config, engine, request);
  EngineExport result = base ? std::move(*base) : one_factor(config, engine, plan);
  warn_of_one_factor(result, request, plan);
  return result;
}

}  // namespace

EngineExport export_schedule(const AttentionConfig& config, Engine engine,
                             const ExportRequest& request) {
  require_request(config, request);
  auto by_position = phrases::positional_export(config, engine, request);
  EngineExport result =
      by_position ? std::move(*by_position) : static_export(config, engine, request);
  if (config.head_dimension > 0) warn_of_unread(result, config);
  warn_of_extrapolation(result, request);
  return result;
}

std::vector<EngineExport> export_schedules(const AttentionConfig& config,
                                           const ExportRequest& request) {
  std::vector<EngineExport> all;
  for (const Engine engine : engines()) all.push_back(export_schedule(config, engine, request));
  return all;
}

EngineExport export_llama4_keys(const AttentionConfig& config, const ExportRequest& request) {
  require_request(config, request);
  const Schedule& schedule = request.schedule;
  EngineExport result{Engine::hf, "", true, {}};
  if (schedule.kind != ScheduleKind::affine_log) {
    result.exact = false;
    result.warnings.push_back(
        fmt::format("{} is not of the form 1 + slope log u that these keys "
                    "have: {}",
                    schedule.name, formula(schedule)));
  } else {
    result.text = phrases::llama4_keys(schedule).dump();
    phrases::judge_steps(result, schedule, 1.0);
  }
  if (!config.temperature_tuning) {
    result.exact = false;
    result.warnings.push_back("this model does not read Llama 4's keys");
  }
  warn_of_extrapolation(result, request);
  return result;
}

}  // namespace dewpoint::scaling
