#include <fmt/format.h>

#include <algorithm>

#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/checkpoint/preset_texts.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"

namespace dewpoint::checkpoint {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = [] {
    std::vector<Preset> result;
    for (const PresetText& text : preset_texts()) {
      result.push_back({std::string(text.name), std::string(text.description)});
    }
    return result;
  }();
  return all;
}

ModelConfig preset_config(std::string_view name) {
  for (const PresetText& text : preset_texts()) {
    if (text.name != name) continue;
    ModelConfig config = parse_hugging_face_config(text.json, name);
    config.source = Source::preset;
    return config;
  }
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  throw Error(Code::bad_value,
              fmt::format("preset '{}' is not known{}", excerpt(name), instead_of(name, names)));
}

}  // namespace dewpoint::checkpoint
