// The verbs of the command line. Each adds its options to the program and leaves an action to run;
// the whole tree is also what the manual and the completions are made from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

#include "cli/answer.hpp"
#include "cli/given.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::cli {

/// What the parsed command line wants done; returns the exit status.
using Action = std::function<int()>;

/// What a verb that computes can be asked, by the command line or by another program.
using Ask = std::function<Answer()>;

struct Program {
  CLI::App app{"An instrument for the phase transitions of softmax attention."};
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

void add_phase(Program& program);
void add_condense(Program& program);
void add_query(Program& program);
void add_dew(Program& program);
void add_train(Program& program);
void add_heads(Program& program);
void add_scale(Program& program);
void add_checkpoint(Program& program);
void add_predict(Program& program);
void add_run(Program& program);
void add_runs(Program& program);
void add_show(Program& program);
void add_export(Program& program);
void add_merge(Program& program);
void add_figure(Program& program);
void add_report(Program& program);
void add_reproduce(Program& program);
void add_verify(Program& program);
void add_serve(Program& program);
void add_doctor(Program& program);
void add_manual(Program& program);

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
