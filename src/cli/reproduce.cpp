// dewpoint reproduce: the figures of the papers, measured anew, with the theory on the same axes.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/figure_study.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;
using std::filesystem::path;

struct ReproduceOptions {
  CommonOptions common;
  bool quick = false;
  std::string output = "dewpoint-out";
  std::vector<std::string> only;  // names of studies; none: all
};

std::vector<FigureStudy> all_figures() {
  std::vector<FigureStudy> all = cas_figures();
  for (const auto& list : {cc_figures(), sl_figures(), fd_figures()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

// Those that were asked for, in the order of the papers.
std::vector<FigureStudy> chosen_figures(const std::vector<std::string>& only) {
  std::vector<FigureStudy> studies = all_figures();
  if (only.empty()) return studies;
  std::vector<std::string> names;
  for (const FigureStudy& study : studies) names.push_back(study.name);
  for (const std::string& name : only) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw Error(Code::bad_value,
                fmt::format("only: '{}' is no study; allowed: {}", name, fmt::join(names, ", ")));
  }
  std::erase_if(studies, [&](const FigureStudy& study) {
    return std::find(only.begin(), only.end(), study.name) == only.end();
  });
  return studies;
}

path make_folder(const std::string& output) {
  std::error_code failed;
  std::filesystem::create_directories(output, failed);
  if (failed) throw Error(Code::unwritable_file, fmt::format("{}: {}", output, failed.message()));
  return std::filesystem::absolute(output);
}

path study_file(const path& folder, const FigureStudy& study) {
  return folder / (study.name + ".study");
}

// One study and its figures. The files are added to `made` and, unless `quiet`, named as soon as
// they are there.
void make(const FigureStudy& study, const StudyEffort& effort, const path& folder, bool quiet,
          Json& made) {
  const path file = study_file(folder, study);
  const store::StudyRecord record = study.measure(effort);
  store::write_study(file, record);
  made["studies"].push_back(file.string());
  for (const StudyFigure& figure : study.figures) {
    const std::string stem = (folder / figure.name).string();
    figure.draw(record, figure.title, stem);
    made["figures"].push_back(stem + ".svg");
    made["figures"].push_back(stem + ".png");
    if (quiet) continue;
    fmt::print("{1}\nfigure  {0}.png\nfigure  {0}.svg\nstudy   {2}\n", stem, figure.title,
               file.string());
    std::fflush(stdout);
  }
}

int run_reproduce(const ReproduceOptions& o, const std::string& command) {
  const std::vector<FigureStudy> studies = chosen_figures(o.only);
  const path folder = make_folder(o.output);
  for (const FigureStudy& study : studies) require_writable(study_file(folder, study));
  const StudyEffort effort{o.quick, o.common.seed, o.common.threads, command};
  Json made = {{"figures", Json::array()}, {"studies", Json::array()}};
  for (const FigureStudy& study : studies) make(study, effort, folder, o.common.json, made);
  if (o.common.json) fmt::print("{}\n", made.dump());
  return 0;
}

}  // namespace

void add_reproduce(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "reproduce", "The figures of the papers and of their theorems, measured anew");
  const auto o = std::make_shared<ReproduceOptions>();
  verb->add_flag("--quick", o->quick, "Few replicas: about a minute and a half on two cores");
  verb->add_option("-o,--output", o->output, "Folder for studies and figures")
      ->capture_default_str();
  verb->add_option("--only", o->only, "Only this study, several times if wanted: cc-retrieval, ..")
      ->allow_extra_args(false);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint reproduce --quick -o dewpoint-out");
  verb->callback([&program, o] {
    program.action = [&program, o] { return run_reproduce(*o, program.command_line); };
  });
}

}  // namespace dewpoint::cli
