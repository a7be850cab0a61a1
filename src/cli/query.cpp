// dewpoint query: attention of one fixed query. The verbs below it are in files of their own:
//
//   point       uniform keys on a sphere, any number of them: weights and output in three regimes
//   heat        keys of a density: attention as a step of the backward heat equation
//   harmonics   particles that all attend to each other: the same for their density
//   output      explicit keys of any law, and values V k
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/query_keys.hpp"
#include "cli/query_point.hpp"

namespace dewpoint::cli {

void add_query(Program& program) {
  CLI::App* query = program.app.add_subcommand(
      "query", "One query over n keys: who gets the weight, and what attention returns");
  query->require_subcommand(0, 1);
  query->callback([&program, query] {
    if (!query->get_subcommands().empty()) return;
    program.action = [query] {
      fmt::print("{}", query->help("dewpoint"));
      return 0;
    };
  });
  add_query_point(program, *query);
  add_query_heat(program, *query);
  add_query_harmonics(program, *query);
  add_query_output(program, *query);
}

}  // namespace dewpoint::cli
