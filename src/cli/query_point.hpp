// `dewpoint query point` and its text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/commands.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/experiments/query.hpp"

namespace dewpoint::cli {

void add_query_point(Program& program, CLI::App& query);

/// One block per n and temperature: measured values with errors beside what theory says.
[[nodiscard]] std::string query_point_text(const experiments::Query& question,
                                           const Frame& measured, const Frame& theory);

}  // namespace dewpoint::cli
