// dewpoint phase map.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/console.hpp"
#include "cli/phase_options.hpp"
#include "cli/phase_study.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/experiments/phase_replica.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;

struct MapOptions {
  CommonOptions common;
  CloudOptions cloud;
  FormOptions form;
  NormCliOptions norm;
  std::string n = "512";
  std::string d = "64";
  std::string rho = "0:0.95:20";
  std::string gamma = "0.25:8:32";
  std::string output = "phase-map.study";
  bool no_figure = false;
  bool force = false;
};

experiments::PhaseMap map_parameters(MapOptions& o, const Given& given) {
  o.cloud.resolve(given);
  experiments::PhaseMap map;
  map.cloud = o.cloud.cloud;
  map.n = parse_counts("n", o.n);
  map.d = parse_counts("d", o.d);
  map.rho = parse_grid("rho", o.rho);
  map.gamma = parse_grid("gamma", o.gamma);
  map.residual = o.cloud.residual;
  map.form = o.form.resolved();
  map.norm = o.norm.resolved();
  map.replication = o.cloud.replication;
  map.seed = o.common.seed;
  return experiments::resolved(map);
}

// Says what a long map will cost at a typical 50 Gflop/s per core.
void announce_cost(const experiments::PhaseMap& map, int threads) {
  double work = 0.0;
  for (const std::size_t n : map.n) {
    for (const std::size_t d : map.d) {
      work += experiments::phase_cell_work(n, d, map.norm.has_value());
    }
  }
  work *= static_cast<double>(map.rho.size() * map.gamma.size() * map.replication.replicas);
  const double cores = threads > 0 ? threads : std::thread::hardware_concurrency();
  const double seconds = work / (50e9 * cores);
  if (seconds > 20.0) {
    tell(fmt::format("About {} of work on {} thread(s).", duration_text(seconds), cores));
  }
}

OutputFile stem_of(const OutputFile& study) {
  return study.beside(std::filesystem::path(study.path).replace_extension());
}

// Draws the figures if it can; a missing gnuplot is said, not fatal: the study is complete.
std::vector<std::string> draw_if_possible(const store::StudyRecord& study,
                                          const OutputFile& output) {
  try {
    return draw_phase_map(study, stem_of(output));
  } catch (const Error& error) {
    if (error.code() != Code::missing_tool) throw;
    tell(fmt::format("dewpoint: no figure: {}", error.what()));
    return {};
  }
}

Answer map_answer(MapOptions& o, const Program& program) {
  const experiments::PhaseMap map = map_parameters(o, program.given);
  const bool kept = !o.output.empty();
  const OutputFile output(o.output, o.force);
  if (kept) require_study_place(output, kPhaseMap);
  if (kept && !o.no_figure) require_phase_map_places(map, stem_of(output));
  announce_cost(map, o.common.threads);
  const store::StudyRecord study = phase_map_study(map, o.common.threads, program.command_line);
  if (kept) store::write_study(output, study);
  const std::vector<std::string> figures =
      kept && !o.no_figure ? draw_if_possible(study, output) : std::vector<std::string>{};
  std::string text = fmt::format("{} cells, {} replica(s) each\n",
                                 study.frames[0].variable("contraction").cells.size(),
                                 study.frames[0].variable("contraction").cells[0].samples);
  if (kept) text += fmt::format("study   {}\n", o.output);
  for (const std::string& figure : figures) text += fmt::format("figure  {}\n", figure);
  return {{{"experiment", "phase map"},
           {"version", version()},
           {"seed", map.seed},
           {"study", kept ? Json(o.output) : Json()},
           {"figures", figures},
           {"result", to_json(study.frames[0])},
           {"theory", to_json(study.frames[1])}},
          text,
          {},
          true};
}

}  // namespace

void add_phase_map(Program& program, CLI::App& phase) {
  CLI::App* verb =
      phase.add_subcommand("map", "The phase diagram over rho and gamma: a study and its figures");
  const auto o = std::make_shared<MapOptions>();
  verb->add_option("--n", o->n, "Tokens, a list: 512,1024")->capture_default_str();
  verb->add_option("--d", o->d, "Dimensions, a list; 0: the law's own")->capture_default_str();
  verb->add_option("--rho", o->rho, "Correlations: a list, or first:last:count[:log]")
      ->capture_default_str();
  verb->add_option(
          "--gamma", o->gamma,
          "beta = gamma log n: a list, or first:last:count[:log]; multiples of 1/4 are fastest")
      ->capture_default_str();
  verb->add_option("-o,--output", o->output, "Study file; the figures get its name; \"\": neither")
      ->capture_default_str();
  verb->add_flag("--no-figure", o->no_figure, "Write the study only");
  add_force(*verb, o->force);
  o->form.add_to(*verb);
  o->norm.add_to(*verb);
  o->cloud.add_to(*verb);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint phase map --n 512 --d 8,64 --replicas 2 -o map.study");
  verb->callback([&program, o] {
    set_answer(program, o->common.json, [&program, o] { return map_answer(*o, program); });
  });
}

}  // namespace dewpoint::cli
