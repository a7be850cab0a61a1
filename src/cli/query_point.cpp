// dewpoint query point.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/query_point.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/question_options.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/query_question.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/studies/query_theory.hpp"

namespace dewpoint::cli {
namespace {

using experiments::query_of;
using experiments::QueryQuestion;

struct QueryPointOptions {
  CommonOptions common;
  std::optional<QuestionOptions> question;
  bool keep_draws = false;
  std::string output;
  bool force = false;
};

store::StudyRecord study_of(const experiments::Query& question, int threads, const Json& parameters,
                            const std::string& command) {
  store::StudyRecord study = begin_study("query point", question.seed, command);
  study.parameters = parameter_texts(parameters);
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
  const question::Asked asked = o.question->asked();
  experiments::Query question = query_of(asked, o.common.seed);
  question.keep_draws = o.keep_draws;
  const Json parameters =
      parameters_json(question::fields_of<QueryQuestion>(), asked,
                      question::point_of(resolved(asked.first<QueryQuestion>())));
  const OutputFile output(o.output, o.force);
  if (!o.output.empty()) require_study_place(output, "query point");
  const store::StudyRecord study = study_of(question, o.common.threads, parameters, command);
  if (!o.output.empty()) store::write_study(output, study);
  std::string text = query_point_text(question, study.frames[0], study.frames[1]);
  if (!o.output.empty()) text += fmt::format("study   {}\n", o.output);
  Json out = {{"experiment", "query point"},
              {"version", version()},
              {"seed", question.seed},
              {"parameters", parameters},
              {"study", o.output.empty() ? Json() : Json(o.output)},
              {"regime", studies::query_regimes(study.frames[0], study.frames[1])},
              {"result", to_json(study.frames[0])},
              {"theory", to_json(study.frames[1])}};
  if (question.keep_draws) out["draws"] = to_json(study.frames[2]);
  return {out, text, {}, true};
}

}  // namespace

void add_query_point(Program& program, CLI::App& query) {
  CLI::App* verb = query.add_subcommand(
      "point", "Uniform keys on a sphere, up to 1e300 of them: weights and output, three regimes");
  const auto o = std::make_shared<QueryPointOptions>();
  o->question.emplace(program, *verb, question::fields_of<QueryQuestion>());
  verb->add_flag("--keep-draws", o->keep_draws,
                 "Keep w_1, w_2 and the output of every draw, in the JSON and the study");
  verb->add_option("-o,--output", o->output, "Study file");
  add_force(*verb, o->force);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint query point --d 5 --n 1e3,1e6,1e15 --theta 0.2,1,5");
  verb->callback([&program, o] {
    set_answer(program, o->common.json,
               [&program, o] { return point_answer(*o, program.command_line); });
  });
}

}  // namespace dewpoint::cli
