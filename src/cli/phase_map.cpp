// dewpoint phase map: a study of the experiment "phase", run as `dewpoint run` does, and its
// figures.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <variant>

#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "cli/study_run.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/phase_question.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/report/study_figure.hpp"
#include "dewpoint/studies/phase_map_study.hpp"

namespace dewpoint::cli {
namespace {

struct MapVerb {
  WrittenStudy output{.file = "phase-map.study"};
  bool no_figure = false;
  bool replace = false;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, MapVerb& q) {
  describe(visit, q.output,
           "study file, continued where there is one; the figures get its name; \"\": neither");
  visit("no-figure", q.no_figure, "write the study only");
  visit("replace", q.replace,
        "delete finished cells of the file that hold other observables than this map");
  describe(visit, q.common);
}

const std::vector<question::Field>& asked_fields() {
  static const std::vector<question::Field> fields =
      experiments::of_verb(experiments::map_fields());
  return fields;
}

const std::vector<question::Field>& map_verb_fields() {
  static const std::vector<question::Field> fields =
      joined(asked_fields(), question::fields_of<MapVerb>());
  return fields;
}

studies::StudyText asked_map(const QuestionOptions& options, const MapVerb& o, const Given& given) {
  const question::Asked asked = options.asked(asked_fields());
  auto layer = asked.first<experiments::PhaseQuestion>().layer;
  layer.cloud.rows = given.tokens;
  layer.form = {};  // fits the first n and d, or others
  experiments::refuse_idle(options.given(), experiments::completed(layer));
  studies::StudyText study = studies::phase_map_study(asked, o.common.seed, given.tokens);
  const std::size_t left_out = asked.numbers("rho").size() - study.grid[2].size();
  if (left_out > 0) {
    tell(fmt::format("dewpoint: rho: {} above rho-inner = {} left out", left_out,
                     layer.cloud.rho_inner.value()));
  }
  study.study = o.output.file;
  return study;
}

// Says what a long map will cost at a typical 50 Gflop/s per core.
void announce_cost(const studies::StudyText& map, int threads) {
  const double cores = threads > 0 ? threads : std::thread::hardware_concurrency();
  const double seconds = studies::work_of_map(map) / (50e9 * cores);
  if (seconds > 20.0) {
    tell(fmt::format("About {} of work on {} thread(s).", duration_text(seconds), cores));
  }
}

// ---- figures ------------------------------------------------------------------------------------

struct MapFigure {
  std::string observable;
  OutputFile stem;
};

std::vector<MapFigure> map_figures(const MapVerb& o, const studies::StudyText& map) {
  if (!o.output.wanted() || o.no_figure) return {};
  const OutputFile study(o.output.file, o.output.force);
  const auto stem = std::filesystem::path(o.output.file).replace_extension();
  std::vector<MapFigure> figures = {{"contraction", study.beside(stem)}};
  if (studies::measures_norm(map)) {
    figures.push_back({"jacobian_norm", study.beside(std::filesystem::path(stem) += "-eta")});
  }
  return figures;
}

// A missing gnuplot, and a map that no figure shows, are said and not fatal: the study is complete.
std::vector<std::string> draw_if_possible(const std::vector<MapFigure>& figures,
                                          const studies::StudyText& map,
                                          const store::StudyRecord& study) {
  const bool plane = map.grid[2].size() > 1 && map.grid[3].size() > 1;
  std::vector<std::string> files;
  try {
    for (const auto& [observable, stem] : figures) {
      report::FigureRequest request;
      request.kind = plane ? "heatmap" : "auto";
      request.observable = observable;
      std::visit([&](const auto& figure) { report::draw(figure, stem); },
                 report::figure_of_study(study, request));
      for (const OutputFile& file : report::both_files(stem)) files.push_back(file.path.string());
    }
  } catch (const Error& error) {
    if (error.code() != Code::missing_tool && error.code() != Code::bad_value) throw;
    tell(fmt::format("dewpoint: no figure: {}", error.what()));
  }
  return files;
}

// ---- the verb -----------------------------------------------------------------------------------

store::StudyRecord measured(const MapVerb& o, const studies::StudyText& map,
                            const std::string& command) {
  if (!o.output.wanted()) return run_in_memory(map, o.common.threads, command, "phase map");
  studies::RunOptions options;
  options.replace = o.replace;
  options.force = o.output.force;
  const studies::RunOutcome outcome = run_on_threads(map, o.common.threads, command, options);
  if (outcome.stopped) throw_interrupted(map, outcome, command);
  return store::read_study(map.study);
}

// A target error may ask for more in some cells than in others.
std::string counts_text(const std::vector<Estimate>& cells) {
  const auto [least, most] = std::ranges::minmax(cells, {}, &Estimate::samples);
  if (least.samples == most.samples) {
    return fmt::format("{} cells, {} replica(s) each\n", cells.size(), least.samples);
  }
  return fmt::format("{} cells, {} to {} replicas each\n", cells.size(), least.samples,
                     most.samples);
}

Answer map_answer(const QuestionOptions& options, const Program& program) {
  const auto o = options.asked(question::fields_of<MapVerb>()).first<MapVerb>();
  const studies::StudyText map = asked_map(options, o, program.given);
  const bool kept = o.output.wanted();
  const std::vector<MapFigure> figures = map_figures(o, map);
  if (kept) require_study_place({o.output.file, o.output.force}, map.experiment);
  for (const MapFigure& figure : figures) report::require_both_files(figure.stem);
  announce_cost(map, o.common.threads);
  const store::StudyRecord study = measured(o, map, program.command_line);
  const std::vector<std::string> files = draw_if_possible(figures, map, study);
  const Frame& frame = study.frames.at(0);
  std::string text = counts_text(frame.variable("contraction").cells);
  if (kept) text += fmt::format("study   {}\n", o.output.file);
  for (const std::string& file : files) text += fmt::format("figure  {}\n", file);
  return {{{"experiment", "phase map"},
           {"version", version()},
           {"seed", map.seed},
           {"study", kept ? Json(o.output.file) : Json()},
           {"figures", files},
           {"result", to_json(frame)}},
          text,
          {},
          true};
}

}  // namespace

Verb phase_map_verb() {
  return verb_of("phase map", "The phase diagram over rho and gamma: a study and its figures",
                 "dewpoint phase map --n 512 --d 8,64 --replicas 2 -o map.study", map_verb_fields(),
                 map_answer);
}

}  // namespace dewpoint::cli
