// What the verbs below `dewpoint scale` share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/checkpoint/model_config.hpp"

namespace dewpoint::cli {

/// Names of presets, to offer.
[[nodiscard]] std::vector<std::string> preset_words();

/// The configuration in a file or a folder, or a preset by its name. Throws Error{bad_value} for
/// what is neither, and for a model that no serving engine runs.
[[nodiscard]] checkpoint::ModelConfig config_of(const std::string& file_or_preset);

}  // namespace dewpoint::cli
