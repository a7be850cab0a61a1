// The verbs of the command line: one table of them, and the program that they are added to. The
// whole tree is also what the manual and the completions are made from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cli/answer.hpp"
#include "cli/given.hpp"
#include "dewpoint/question/field.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dewpoint::cli {

/// What the parsed command line wants done; returns the exit status.
using Action = std::function<int()>;

/// What a verb that computes can be asked, by the command line or by another program.
using Ask = std::function<Answer()>;

struct Program {
  Program();
  ~Program();

  std::unique_ptr<CLI::App> root;
  CLI::App& app;             // the same
  Action action;             // set by the verb that was named
  Ask ask;                   // set by verbs that have an answer; then `action` prints it
  std::string command_line;  // as typed, with a random seed as its number: for the record
  Given given;               // arrays in the place of files
  std::map<const CLI::Option*, const question::Field*> fields;  // what an option was made from
};

/// All verbs on an empty program.
void add_commands(Program& program);
/// This one alone, with those below it; nothing where there is none.
void add_command(Program& program, const std::string& name);

}  // namespace dewpoint::cli
