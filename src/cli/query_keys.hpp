// What the verbs of `dewpoint query` on explicit keys share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>

#include "cli/commands.hpp"

namespace dewpoint::cli {

/// A count that may be written as 2e5. Throws Error{bad_value} naming the field.
[[nodiscard]] std::size_t whole_number(const char* field, double value, double least, double most);

void add_query_heat(Program& program, CLI::App& query);
void add_query_output(Program& program, CLI::App& query);

}  // namespace dewpoint::cli
