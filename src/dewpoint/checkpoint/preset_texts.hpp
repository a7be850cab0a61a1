// The configurations behind presets(), as config.json texts with the keys that are read.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace dewpoint::checkpoint {

struct PresetText {
  std::string_view name;
  std::string_view description;
  std::string_view json;
};

[[nodiscard]] std::span<const PresetText> preset_texts();

}  // namespace dewpoint::checkpoint
