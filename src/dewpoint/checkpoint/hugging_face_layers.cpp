#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/hugging_face_parts.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr auto kFull = "full_attention";
constexpr auto kSliding = "sliding_attention";
constexpr auto kChunked = "chunked_attention";
constexpr auto kLinear = "linear_attention";

// --- rotation --------------------------------------------------------------------------------

// True where a layer turns its queries and keys. In no_rope_layers a 1 means that it does.
std::vector<bool> read_rotates(const ConfigReader& config, const ModelFamily& family,
                               std::size_t layers) {
  std::vector<bool> rotates(layers, true);
  const auto list = config.numbers({"no_rope_layers"}, {0, 1});
  if (list && !list->empty()) {
    if (list->size() < layers) {
      throw config.refusal("no_rope_layers", fmt::format("{} entries", list->size()),
                           fmt::format("one per layer, {} of them", layers));
    }
    for (std::size_t layer = 0; layer < layers; ++layer) rotates[layer] = (*list)[layer] != 0.0;
    return rotates;
  }
  const std::size_t interval =
      config.count({"no_rope_layer_interval"}, kLayers).value_or(family.no_rope_interval);
  for (std::size_t layer = 0; interval > 0 && layer < layers; ++layer) {
    rotates[layer] = (layer + 1) % interval != 0;
  }
  return rotates;
}

// --- windows ---------------------------------------------------------------------------------

// Keys that a layer with a window sees; 0 where no layer has one. Some files write -1 for none.
std::size_t read_window(const ConfigReader& config, const ModelFamily& family) {
  if (family.ignores_window) return 0;
  if (!config.flag({"use_sliding_window"}).value_or(!family.windows_by_switch)) return 0;
  const auto given = config.number({"sliding_window", "sliding_window_size"}, {-1, kLength.most});
  if (given && *given < 0.0) return 0;
  if (given)
    return config.count({"sliding_window", "sliding_window_size"}, {0, kLength.most}).value();
  return family.window.value_or(0);
}

// What transformers fills in where layer_types is absent.
std::vector<std::string> default_layer_types(const ConfigReader& config, const ModelFamily& family,
                                             const std::vector<bool>& rotates, bool window) {
  const std::size_t layers = rotates.size();
  std::vector<std::string> types(layers, kFull);
  if (family.chunked) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      if (rotates[layer]) types[layer] = kChunked;
    }
  }
  if (family.linear_pattern > 0) {
    const std::size_t softmax =
        config.count({"full_attention_interval"}, kLayers).value_or(family.linear_pattern);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      if ((layer + 1) % softmax != 0) types[layer] = kLinear;
    }
  }
  if (!window) return types;

  const std::size_t pattern =
      config.count({"sliding_window_pattern", "_sliding_window_pattern"}, kLayers)
          .value_or(family.window_pattern);
  const std::size_t first = config.count({"max_window_layers"}, {0, kLayers.most}).value_or(0);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const bool full = family.windows_without_rope ? rotates[layer]
                      : pattern > 0               ? (layer + 1) % pattern == 0
                                                  : layer < first;
    if (!full) types[layer] = kSliding;
  }
  return types;
}

std::vector<std::string> given_layer_types(const ConfigReader& config,
                                           std::vector<std::string> types, std::size_t layers) {
  if (types.size() != layers) {
    throw config.refusal("layer_types", fmt::format("{} entries", types.size()),
                         fmt::format("one per layer, {} of them", layers));
  }
  for (std::string& type : types) {
    // Inkling's layers are hybrids of attention and convolution; only attention counts here.
    if (type == "hybrid") type = kFull;
    if (type == "hybrid_sliding") type = kSliding;
  }
  return types;
}

bool contains(const std::vector<std::string>& types, const char* type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool all_full(const std::vector<std::string>& types) {
  return std::all_of(types.begin(), types.end(),
                     [](const std::string& type) { return type == kFull; });
}

}  // namespace

void read_layer_types(const ConfigReader& config, const ModelFamily& family,
                      scaling::AttentionConfig& attention) {
  const std::vector<bool> rotates = read_rotates(config, family, attention.layers);
  const std::size_t window = read_window(config, family);
  auto given = config.texts({"layer_types"});
  std::vector<std::string> types =
      given ? given_layer_types(config, std::move(*given), attention.layers)
            : default_layer_types(config, family, rotates, window > 0);
  if (contains(types, kSliding)) {
    if (window == 0) {
      throw config.refusal("sliding_window", "none", "a whole number, as some layers are sliding");
    }
    attention.sliding_window = window;
  }
  if (contains(types, kChunked)) {
    attention.attention_chunk =
        config.count({"attention_chunk_size"}, kLength).value_or(family.chunk.value_or(0));
  }
  if (!all_full(types)) attention.layer_types = std::move(types);
  if (std::find(rotates.begin(), rotates.end(), false) != rotates.end()) {
    attention.rotates = rotates;
  }
}

}  // namespace dewpoint::checkpoint
