// dewpoint phase map.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/console.hpp"
#include "cli/phase.hpp"
#include "cli/phase_study.hpp"
#include "cli/question_options.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/phase_question.hpp"
#include "dewpoint/experiments/phase_replica.hpp"

namespace dewpoint::cli {
namespace {

struct MapOptions {
  CommonOptions common;
  std::optional<QuestionOptions> question;
  std::string output = "phase-map.study";
  bool no_figure = false;
  bool force = false;
};

const std::vector<question::Field>& verb_fields() {
  static const std::vector<question::Field> fields =
      experiments::of_verb(experiments::map_fields());
  return fields;
}

experiments::PhaseMap asked_map(const MapOptions& o, const Given& given) {
  const question::Asked asked = o.question->asked();
  auto layer = asked.first<experiments::PhaseQuestion>().layer;
  layer.cloud.rows = given.tokens;
  layer.form = {};  // fits the first n and d, or others
  experiments::refuse_idle(o.question->given(), experiments::completed(layer));
  const experiments::PhaseMap map = experiments::phase_map_of(asked, o.common.seed, given.tokens);
  const std::size_t left_out = asked.numbers("rho").size() - map.rho.size();
  if (left_out > 0) {
    tell(fmt::format("dewpoint: rho: {} above rho-inner = {} left out", left_out,
                     map.cloud.rho_inner));
  }
  return map;
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

Answer map_answer(const MapOptions& o, const Program& program) {
  const experiments::PhaseMap map = asked_map(o, program.given);
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
  o->question.emplace(program, *verb, verb_fields());
  verb->add_option("-o,--output", o->output, "Study file; the figures get its name; \"\": neither")
      ->capture_default_str();
  verb->add_flag("--no-figure", o->no_figure, "Write the study only");
  add_force(*verb, o->force);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint phase map --n 512 --d 8,64 --replicas 2 -o map.study");
  verb->callback([&program, o] {
    set_answer(program, o->common.json, [&program, o] { return map_answer(*o, program); });
  });
}

}  // namespace dewpoint::cli
