// The verbs below `dewpoint phase`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace dewpoint::cli {

void add_phase_point(Program& program, CLI::App& phase);
void add_phase_map(Program& program, CLI::App& phase);
void add_phase_depth(Program& program, CLI::App& phase);

}  // namespace dewpoint::cli
