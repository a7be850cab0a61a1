// dewpoint scale: the verbs below it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/commands.hpp"
#include "dewpoint/checkpoint/model_config.hpp"

namespace dewpoint::cli {

void add_scale_explain(Program& program, CLI::App& scale);
void add_scale_fit(Program& program, CLI::App& scale);

/// The configuration in a file or a folder, or a preset by its name. Throws Error{bad_value} for
/// what is neither, and for a model that no serving engine runs.
[[nodiscard]] checkpoint::ModelConfig config_of(const std::string& file_or_preset);

}  // namespace dewpoint::cli
