#include "dewpoint/scaling/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling {
namespace {

using reading::Reading;

constexpr const char* kUnrotated = "no rotation";
constexpr const char* kSliding = "sliding window";
constexpr const char* kChunked = "chunked attention";

Reading read(const reading::Deployment& deployment, Engine engine) {
  switch (engine) {
    case Engine::hf:
      return reading::read_as_hf(deployment);
    case Engine::vllm:
      return reading::read_as_vllm(deployment);
    case Engine::sglang:
      return reading::read_as_sglang(deployment);
    case Engine::llama_cpp:
      return reading::read_as_llama_cpp(deployment);
    case Engine::megatron:
      return reading::read_as_megatron(deployment);
    case Engine::lmdeploy:
      return reading::read_as_lmdeploy(deployment);
  }
  return {};
}

std::string type_of(const AttentionConfig& config, std::size_t layer) {
  if (layer < config.rotates.size() && !config.rotates[layer]) return kUnrotated;
  if (layer >= config.layer_types.size()) return "full attention";
  std::string type = config.layer_types[layer];
  if (type == "sliding_attention") return kSliding;
  std::replace(type.begin(), type.end(), '_', ' ');
  return type;
}

// Qwen3-Next and other hybrids: nothing there has a temperature.
bool has_softmax(const AttentionConfig& config, std::size_t layer) {
  return layer >= config.layer_types.size() || config.layer_types[layer] != "linear_attention";
}

std::size_t most_keys(const AttentionConfig& config, const std::string& type) {
  if (type == kSliding) return config.sliding_window;
  return type == kChunked ? config.attention_chunk : 0;
}

// τ as configurations give it; all engines agree on it, but for llama.cpp's own key.
double base_scale(const AttentionConfig& config, const Reading& reading, std::size_t layer) {
  if (reading.base_scale) return *reading.base_scale;
  if (config.built_in_scale) return *config.built_in_scale;
  if (config.attention_multiplier) return *config.attention_multiplier;
  if (config.query_pre_attn_scalar) return 1.0 / std::sqrt(*config.query_pre_attn_scalar);
  double scale = config.scale_attention_weights
                     ? 1.0 / std::sqrt(static_cast<double>(config.head_dimension))
                     : 1.0;
  if (config.scale_by_inverse_layer) scale /= static_cast<double>(layer + 1);
  return scale;
}

void push(Schedules& schedules, const std::optional<Schedule>& schedule) {
  if (schedule) schedules.push_back(*schedule);
}

void push_static(Schedules& schedules, const char* name, double value) {
  if (value == 1.0) return;
  Schedule schedule;
  schedule.name = name;
  schedule.value = value;
  schedule.static_factor = true;
  schedules.push_back(schedule);
}

// What multiplies the logits of all coordinates in layers of a type.
Schedules common_schedules(const Reading& reading, const std::string& type) {
  Schedules schedules;
  push_static(schedules, "mscale", reading.softmax);
  if (type == kUnrotated) push(schedules, reading.positions.llama4);
  if (type != kSliding) {
    push(schedules, reading.positions.ministral);
    push(schedules, reading.positions.inkling);
  }
  push(schedules, reading.positions.log_n);
  push(schedules, reading.positions.grok);
  push(schedules, reading.positions.ssmax);
  return schedules;
}

LayerScale layer_scale(const AttentionConfig& config, const Reading& reading,
                       const std::string& type, double scale) {
  const std::size_t rotary =
      config.rotary_dimension > 0 ? config.rotary_dimension : config.head_dimension;
  const bool sliding = type == kSliding && config.local_rope;
  const RopeKind kind = sliding ? config.local_rope->kind : config.rope.kind;
  LayerScale layer;
  layer.type = type;
  layer.base_scale = scale;
  layer.has_rotary = type != kUnrotated && kind != RopeKind::none;
  layer.has_other = !layer.has_rotary || rotary < config.head_dimension;
  layer.other = common_schedules(reading, type);
  if (layer.has_rotary) {
    const double factor = sliding ? reading.local_rotation : reading.rotation;
    push_static(layer.rotary, name_of(kind), factor * factor);
    layer.rotary.insert(layer.rotary.end(), layer.other.begin(), layer.other.end());
  }
  layer.most_keys = most_keys(config, type);
  layer.softcap = config.softcap;
  return layer;
}

// The layers of a type and base scale that are known already, or new ones.
template <class Make>
LayerScale& group_of(EngineScale& scale, const std::string& type, double tau, const Make& make) {
  for (LayerScale& known : scale.layers)
    if (known.type == type && known.base_scale == tau) return known;
  return scale.layers.emplace_back(make());
}

}  // namespace

const std::vector<Engine>& engines() {
  static const std::vector<Engine> all = {Engine::hf,        Engine::vllm,     Engine::sglang,
                                          Engine::llama_cpp, Engine::megatron, Engine::lmdeploy};
  return all;
}

const char* name_of(Engine engine) {
  switch (engine) {
    case Engine::hf:
      return "hf";
    case Engine::vllm:
      return "vllm";
    case Engine::sglang:
      return "sglang";
    case Engine::llama_cpp:
      return "llama.cpp";
    case Engine::megatron:
      return "megatron";
    case Engine::lmdeploy:
      return "lmdeploy";
  }
  return "";
}

Engine parse_engine(const std::string& name) {
  std::vector<std::string> names;
  for (const Engine engine : engines()) {
    if (name == name_of(engine)) return engine;
    names.emplace_back(name_of(engine));
  }
  throw Error(Code::bad_value,
              fmt::format("engine: '{}' is unknown", name) + instead_of(name, names));
}

EngineScale engine_scale(const AttentionConfig& config, Engine engine,
                         std::size_t deployed_length) {
  if (config.head_dimension == 0) {
    throw Error(Code::bad_value, "head_dim: 0, where a head has at least one coordinate");
  }
  const std::size_t length = deployed_length > 0 ? deployed_length : config.max_positions;
  const Reading reading = read({config, length}, engine);
  EngineScale scale{engine, {}, reading.notes, reading.unverified};
  for (std::size_t l = 0; l < std::max<std::size_t>(1, config.layers); ++l) {
    if (!has_softmax(config, l)) continue;
    const std::string type = type_of(config, l);
    const double tau = base_scale(config, reading, l);
    group_of(scale, type, tau, [&] {
      return layer_scale(config, reading, type, tau);
    }).layers.push_back(l);
  }
  return scale;
}

}  // namespace dewpoint::scaling
