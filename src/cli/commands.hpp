// The verbs of the command line: one table of them, and the program that they are added to. The
// whole tree is also what the manual and the completions are made from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
  std::map<const CLI::Option*, const question::Field*>
      fields;  // of options that a description made
};

/// The verb has this answer, printed as an object where `json` is set by then.
void set_answer(Program& program, const bool& json, Ask ask);

/// All verbs on an empty program.
void add_commands(Program& program);
/// This one alone, with those below it; nothing where there is none.
void add_command(Program& program, const std::string& name);

// Verbs that declare their options themselves.
void add_phase(Program& program);
void add_condense(Program& program);
void add_query(Program& program);
void add_dew(Program& program);
void add_train(Program& program);

/// Options that every computing verb shares.
struct CommonOptions {
  std::uint64_t seed = 1;
  int threads = 0;
  bool json = false;
};
void add_common(CLI::App& verb, CommonOptions& options);

/// --force, of every verb that writes: whether files that are not ours may be replaced.
void add_force(CLI::App& verb, bool& force);

/// "EXAMPLE" section at the end of a verb's help.
void add_example(CLI::App& verb, const std::string& command);

}  // namespace dewpoint::cli
