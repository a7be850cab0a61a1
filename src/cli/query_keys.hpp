// What the verbs of `dewpoint query` on explicit keys share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "dewpoint/experiments/option_checks.hpp"

namespace dewpoint::cli {

using experiments::whole_number;

void add_query_heat(Program& program, CLI::App& query);
void add_query_harmonics(Program& program, CLI::App& query);
void add_query_output(Program& program, CLI::App& query);

}  // namespace dewpoint::cli
