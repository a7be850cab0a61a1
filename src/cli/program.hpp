// The command line as a function: for the program, and for others that carry the verbs inside them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/given.hpp"

namespace dewpoint::cli {

/// The words behind "dewpoint".
using Words = std::vector<std::string>;

/// Parses, runs the verb, prints, and turns failures into one line and an exit status:
///
///   0 done · 1 the environment failed (what was printed did not arrive) or a check did not hold ·
///   2 the user must change the command or a file · 129/130/143 interrupted
///
/// With --json the failure is an object on standard output too: {"error": {"message", "status"}}.
/// From then on signals are ours.
[[nodiscard]] int run_program(Words words);

/// The answer of a verb that computes, unprinted. Progress and stops: console.hpp, Listener. Throws
/// Error; Code::bad_value too for words that cannot be parsed, and for a verb without an answer.
[[nodiscard]] Answer ask_program(Words words, const Given& given = {});

}  // namespace dewpoint::cli
