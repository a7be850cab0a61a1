// dewpoint reproduce: the figures of the papers, measured anew, with the theory on the same axes.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/phase_study.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

struct ReproduceOptions {
  CommonOptions common;
  bool quick = false;
  std::string output = "dewpoint-out";
};

// Figure 1 of [CAS]: contraction over ρ and γ for three dimensions. Quick: as in the paper's
// setting, few clouds; otherwise enough of them for errors below the colour steps.
experiments::PhaseMap figure_one(bool quick, std::uint64_t seed) {
  experiments::PhaseMap map;
  map.n = {512};
  map.d = {8, 64, 512};
  map.replication.replicas = quick ? 4 : 32;
  map.seed = seed;
  return map;
}

int run_reproduce(const ReproduceOptions& o, const std::string& command) {
  const std::filesystem::path folder = o.output;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(Code::unwritable_file, fmt::format("{}: {}", o.output, failed.message()));
  }
  const std::filesystem::path stem = folder / "cas-figure-1";
  const std::filesystem::path file = stem.string() + ".study";
  require_writable(file);
  const store::StudyRecord study =
      phase_map_study(figure_one(o.quick, o.common.seed), o.common.threads, command);
  store::write_study(file, study);
  draw_phase_map(study, stem);
  const std::string base = std::filesystem::absolute(stem).string();
  if (o.common.json) {
    fmt::print("{{\"figures\": [\"{0}.svg\", \"{0}.png\"], \"studies\": [\"{0}.study\"]}}\n", base);
    return 0;
  }
  fmt::print(
      "Figure 1 of 'Critical attention scaling': contraction of angles in one layer\n"
      "figure  {0}.png\nfigure  {0}.svg\nstudy   {0}.study\n",
      base);
  return 0;
}

}  // namespace

void add_reproduce(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "reproduce", "The figures of the papers, measured anew (so far: Figure 1 of CAS)");
  const auto o = std::make_shared<ReproduceOptions>();
  verb->add_flag("--quick", o->quick, "Few replicas: under a minute");
  verb->add_option("-o,--output", o->output, "Folder for studies and figures")
      ->capture_default_str();
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint reproduce --quick -o dewpoint-out");
  verb->callback([&program, o] {
    program.action = [&program, o] { return run_reproduce(*o, program.command_line); };
  });
}

}  // namespace dewpoint::cli
