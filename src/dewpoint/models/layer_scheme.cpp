#include "dewpoint/models/layer_scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/checkpoint/model_family.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/models/architecture.hpp"

namespace dewpoint::models {
namespace {

using checkpoint::ModelConfig;
using scaling::Schedule;
using scaling::Schedules;

bool set_once(const Schedule& schedule) {
  return schedule.static_factor || schedule.kind == scaling::ScheduleKind::constant;
}

// The product of what is set once, for a text of n tokens; the rest stays in `schedules`.
double take_static_factor(Schedules& schedules, std::size_t n) {
  double factor = 1.0;
  for (const Schedule& schedule : schedules) {
    if (set_once(schedule)) factor *= scaling::multiplier(schedule, static_cast<double>(n));
  }
  std::erase_if(schedules, set_once);
  return factor;
}

const scaling::LayerScale& scale_of(const scaling::EngineScale& engine, std::size_t layer) {
  for (const auto& scale : engine.layers) {
    if (std::find(scale.layers.begin(), scale.layers.end(), layer) != scale.layers.end()) {
      return scale;
    }
  }
  throw Error(Code::bad_value, fmt::format("layer {}: no scale of its logits is known", layer));
}

bool family_rotates(const ModelConfig& config) {
  return checkpoint::model_family(config.model_type).rotates;
}

bool rotates(const ModelConfig& config, std::size_t layer) {
  const auto& flags = config.attention.rotates;
  return family_rotates(config) && (layer >= flags.size() || flags[layer]);
}

const scaling::RopeScaling& rope_of(const ModelConfig& config, const attention::Mask& mask) {
  const auto& local = config.attention.local_rope;
  return local && mask != attention::Mask::causal() ? *local : config.attention.rope;
}

std::vector<double> frequencies_of(const ModelConfig& config, const attention::Mask& mask,
                                   std::size_t n) {
  const auto& rope = rope_of(config, mask);
  if (rope.kind == scaling::RopeKind::none) return {};
  return scaling::rope_frequencies(rope, config.attention.head_dimension,
                                   config.attention.max_positions, n);
}

// Rotary coordinates take their static factor on cos and sin. What the others take, if anything,
// cannot be seen by a rotation and stays with the query.
LayerScheme scheme_of(const ModelConfig& config, const scaling::LayerScale& scale,
                      std::size_t layer, std::size_t n) {
  LayerScheme scheme{.mask = mask_of(config, layer),
                     .rotation = {},
                     .rotary = scale.rotary,
                     .other = scale.other,
                     .scale = scale.base_scale,
                     .softcap = scale.softcap.value_or(0.0)};
  if (rotates(config, layer)) {
    scheme.rotation.frequencies = frequencies_of(config, scheme.mask, n);
    scheme.rotation.factor = std::sqrt(take_static_factor(scheme.rotary, n));
  }
  if (config.rotates_pairs) scheme.rotation.planes = RotationPlanes::neighbours;
  return scheme;
}

}  // namespace

std::vector<LayerScheme> layer_schemes(const ModelConfig& config,
                                       const std::optional<scaling::RopeScaling>& rope,
                                       std::size_t n) {
  ModelConfig served = config;
  if (rope) {
    if (!family_rotates(config)) {
      throw Error(Code::bad_value,
                  fmt::format("{}: found another rotation, allowed: none, the model has learned "
                              "positions or none at all",
                              config.file));
    }
    served.attention.rope = *rope;
    served.attention.local_rope.reset();
  }
  const auto engine = scaling::engine_scale(served.attention, scaling::Engine::hf);
  std::vector<LayerScheme> schemes;
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    schemes.push_back(scheme_of(served, scale_of(engine, layer), layer, n));
  }
  return schemes;
}

QueryFactors query_factors(const LayerScheme& scheme, std::size_t position) {
  const auto n = static_cast<double>(position + 1);
  return {scaling::multiplier(scheme.rotary, n), scaling::multiplier(scheme.other, n)};
}

}  // namespace dewpoint::models
