// dewpoint export: a study as files that other tools read.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/exports/export.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {
namespace {

struct ExportCommand {
  std::string study;
  std::vector<std::string> outputs;
  std::string frame;
  bool force = false;
  bool json = false;
};

int run_export(const ExportCommand& o) {
  for (const std::string& output : o.outputs) {
    exports::require_export_places({output, o.force}, exports::format_of(output));
  }
  const store::StudyRecord study = store::read_study(o.study);
  std::vector<std::string> files;
  for (const std::string& output : o.outputs) {
    const exports::Format format = exports::format_of(output);
    for (const auto& file : exports::write(study, output, format, {o.frame, o.force})) {
      files.push_back(file.string());
    }
  }
  if (o.json) {
    fmt::print("{}\n", Json{{"study", o.study}, {"files", files}}.dump());
  } else {
    for (const std::string& file : files) fmt::print("export  {}\n", file);
  }
  return 0;
}

}  // namespace

void add_export(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "export", "A study as CSV, JSON lines, NumPy archive or netCDF, by the file's ending");
  const auto o = std::make_shared<ExportCommand>();
  verb->add_option("study", o->study, "Study file")->required();
  verb->add_option("-o,--output", o->outputs, "x.csv, x.jsonl, x.npz or x.nc, several if wanted")
      ->required()
      ->allow_extra_args(false);
  verb->add_option("--frame", o->frame, "Only this frame, where a study has several");
  add_force(*verb, o->force);
  verb->add_flag("--json", o->json, "One JSON object on standard output");
  add_example(*verb, "dewpoint export phase.study -o phase.csv -o phase.nc");
  verb->callback([&program, o] { program.action = [o] { return run_export(*o); }; });
}

}  // namespace dewpoint::cli
