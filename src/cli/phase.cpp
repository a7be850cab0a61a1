// dewpoint phase: the verbs below it are in files of their own.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/phase.hpp"

namespace dewpoint::cli {

void add_phase(Program& program) {
  CLI::App* phase = program.app.add_subcommand(
      "phase", "Self-attention layers on a token cloud: do they collapse it, or freeze?");
  phase->require_subcommand(0, 1);
  phase->callback([&program, phase] {
    if (!phase->get_subcommands().empty()) return;
    program.action = [phase] {
      fmt::print("{}", phase->help("dewpoint"));
      return 0;
    };
  });
  add_phase_point(program, *phase);
  add_phase_map(program, *phase);
  add_phase_depth(program, *phase);
}

}  // namespace dewpoint::cli
