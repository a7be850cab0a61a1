// Numbers on the command line are read alike by every verb: 1e3 is a count, and what is none gets
// one short line, "draws: 1 is not a whole number in [2, 1e8]".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "dewpoint/question/field.hpp"

namespace dewpoint::cli {

/// For transform() of an option of whole numbers that has a range.
[[nodiscard]] CLI::Validator whole_number(const question::Range& range);

/// The options of the app and of all verbs below it whose members are numbers, those without
/// whole_number() too.
void read_numbers_alike(CLI::App& app);

}  // namespace dewpoint::cli
