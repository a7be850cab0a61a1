// dewpoint merge: several studies of one experiment as one.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::cli {
namespace {

struct MergeCommand {
  std::vector<std::string> studies;
  std::string output;
  bool force = false;
  bool json = false;
};

int run_merge(const MergeCommand& o) {
  const OutputFile output(o.output, o.force);
  require_study_place(output);
  store::merge({o.studies.begin(), o.studies.end()}, output);
  const store::StudySummary made = store::summarise(o.output);
  if (o.json) {
    fmt::print("{}\n", Json{{"study", o.output},
                            {"experiment", made.experiment},
                            {"planned", made.planned},
                            {"measured", made.measured}}
                           .dump());
  } else {
    fmt::print("{} studies joined: {} cells, {} of them measured\nstudy   {}\n", o.studies.size(),
               made.planned, made.measured, o.output);
  }
  return 0;
}

}  // namespace

void add_merge(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "merge", "Joins studies of one experiment; of a cell that several have, the most replicas");
  const auto o = std::make_shared<MergeCommand>();
  verb->add_option("studies", o->studies, "Study files")->required();
  verb->add_option("-o,--output", o->output,
                   "Study file to write; one of the same experiment is replaced")
      ->required();
  add_force(*verb, o->force);
  verb->add_flag("--json", o->json, "One JSON object on standard output");
  add_example(*verb, "dewpoint merge phase.study phase.study -o both.study");
  verb->callback([&program, o] { program.action = [o] { return run_merge(*o); }; });
}

}  // namespace dewpoint::cli
