// dewpoint query point.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/query_point.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/predict_options.hpp"
#include "cli/query_keys.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/studies/query_theory.hpp"

namespace dewpoint::cli {
namespace {

struct QueryPointOptions {
  CommonOptions common;
  double d = 5.0;
  std::string n = "1e3,1e6,1e15";
  std::string theta = "0.2,1,5";
  std::string beta;
  std::string edge;
  double draws = 4000.0;
  double top = 0.0;
  double bound = 0.0;
  bool keep_draws = false;
  std::string output;
  bool force = false;
  const CLI::Option* beta_option = nullptr;
  const CLI::Option* edge_option = nullptr;
  const CLI::Option* top_option = nullptr;
  const CLI::Option* bound_option = nullptr;
};

void set_temperatures(experiments::Query& question, const QueryPointOptions& o) {
  using experiments::TemperatureUnit;
  question.unit = o.beta_option->count() > 0   ? TemperatureUnit::beta
                  : o.edge_option->count() > 0 ? TemperatureUnit::edge
                                               : TemperatureUnit::theta;
  const std::string& text = question.unit == TemperatureUnit::beta   ? o.beta
                            : question.unit == TemperatureUnit::edge ? o.edge
                                                                     : o.theta;
  question.temperatures = parse_grid(experiments::name_of(question.unit), text);
}

experiments::Query question_of(const QueryPointOptions& o) {
  experiments::Query question;
  question.dimension = static_cast<int>(whole_number("d", o.d, 2.0, 512.0));
  question.n = parse_grid("n", o.n);
  set_temperatures(question, o);
  question.draws = whole_number("draws", o.draws, 2.0, 1e8);
  if (o.top_option->count() > 0) question.top = whole_number("top", o.top, 1.0, 1e6);
  if (o.bound_option->count() > 0) {
    require(o.bound > 0.0 && std::isfinite(o.bound), "bound", o.bound, "a number > 0");
    question.bound = o.bound;
  }
  question.keep_draws = o.keep_draws;
  question.seed = o.common.seed;
  return experiments::resolved(question);
}

Json parameters_json(const experiments::Query& q) {
  return {{"d", q.dimension},
          {"n", q.n},
          {experiments::name_of(q.unit), q.temperatures},
          {"draws", q.draws},
          {"top", q.top > 0 ? Json(q.top) : Json()},
          {"bound", q.bound > 0.0 ? Json(q.bound) : Json()}};
}

store::StudyRecord study_of(const experiments::Query& question, int threads,
                            const std::string& command) {
  store::StudyRecord study = begin_study("query point", question.seed, command);
  const Json parameters = parameters_json(question);
  for (const auto& [name, value] : parameters.items()) {
    study.parameters.emplace_back(name, value.dump());
  }
  experiments::QueryResult result;
  {
    ProgressLine progress("query point");
    result = experiments::query(question, {threads, stop_token(), progress.callback()});
  }
  ProgressLine progress("theory");
  study.frames = {result.means,
                  studies::query_theory(question, {threads, stop_token(), progress.callback()})};
  if (question.keep_draws) study.frames.push_back(result.draws);
  return study;
}

Answer point_answer(const QueryPointOptions& o, const std::string& command) {
  const experiments::Query question = question_of(o);
  const OutputFile output(o.output, o.force);
  if (!o.output.empty()) require_study_place(output, "query point");
  const store::StudyRecord study = study_of(question, o.common.threads, command);
  if (!o.output.empty()) store::write_study(output, study);
  std::string text = query_point_text(question, study.frames[0], study.frames[1]);
  if (!o.output.empty()) text += fmt::format("study   {}\n", o.output);
  Json out = {{"experiment", "query point"},
              {"version", version()},
              {"seed", question.seed},
              {"parameters", parameters_json(question)},
              {"study", o.output.empty() ? Json() : Json(o.output)},
              {"regime", studies::query_regimes(study.frames[0], study.frames[1])},
              {"result", to_json(study.frames[0])},
              {"theory", to_json(study.frames[1])}};
  if (question.keep_draws) out["draws"] = to_json(study.frames[2]);
  return {out, text, {}, true};
}

void add_options(CLI::App& verb, QueryPointOptions& o) {
  verb.add_option("--d", o.d, "Dimension of query and keys, on the sphere S^(d-1)")
      ->capture_default_str();
  verb.add_option("--n", o.n, "Keys: a list, up to 1e300 (1e145 at d = 2)")->capture_default_str();
  CLI::Option* theta =
      verb.add_option("--theta", o.theta, "beta/beta*, beta* = (c_d n)^(2/(d-1)): a list")
          ->capture_default_str();
  CLI::Option* beta = verb.add_option("--beta", o.beta, "Inverse temperature itself: a list");
  CLI::Option* edge = verb.add_option(
      "--edge", o.edge, "Multiples of beta_edge = n F'(t_n), the unit for large d: a list");
  verb.add_option("--draws", o.draws, "Sets of keys to average over")->capture_default_str();
  CLI::Option* top = verb.add_option(
      "--top", o.top, "Nearest keys drawn one by one; default 64, or n if that is less");
  CLI::Option* bound = verb.add_option("--bound", o.bound,
                                       "Instead: so many that the law of log Z is right to this");
  verb.add_flag("--keep-draws", o.keep_draws,
                "Keep w_1, w_2 and the output of every draw, in the JSON and the study");
  verb.add_option("-o,--output", o.output, "Study file");
  add_force(verb, o.force);
  beta->excludes(theta);
  edge->excludes(theta)->excludes(beta);
  bound->excludes(top);
  o.beta_option = beta;
  o.edge_option = edge;
  o.top_option = top;
  o.bound_option = bound;
}

}  // namespace

void add_query_point(Program& program, CLI::App& query) {
  CLI::App* verb = query.add_subcommand(
      "point", "Uniform keys on a sphere, up to 1e300 of them: weights and output, three regimes");
  const auto o = std::make_shared<QueryPointOptions>();
  add_options(*verb, *o);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint query point --d 5 --n 1e3,1e6,1e15 --theta 0.2,1,5");
  verb->callback([&program, o] {
    set_answer(program, o->common.json,
               [&program, o] { return point_answer(*o, program.command_line); });
  });
}

}  // namespace dewpoint::cli
