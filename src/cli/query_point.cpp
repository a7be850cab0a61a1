// dewpoint query point.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/query_point.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/query_question.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/studies/query_theory.hpp"

namespace dewpoint::cli {
namespace {

using experiments::query_of;
using experiments::QueryQuestion;

struct QueryPointVerb {
  QueryQuestion question;
  bool keep_draws = false;
  WrittenStudy output;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, QueryPointVerb& q) {
  describe(visit, q.question);
  visit("keep-draws", q.keep_draws,
        "keep w_1, w_2 and the output of every draw, in the JSON and the study");
  describe(visit, q.output);
  describe(visit, q.common);
}

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

Answer query_point_answer(const QueryPointVerb& o, const question::Asked& asked,
                          const Program& program) {
  experiments::Query question = query_of(asked, o.common.seed);
  question.keep_draws = o.keep_draws;
  const Json parameters =
      parameters_json(question::fields_of<QueryQuestion>(), asked,
                      question::point_of(resolved(asked.first<QueryQuestion>())));
  const OutputFile output(o.output.file, o.output.force);
  if (o.output.wanted()) require_study_place(output, "query point");
  const store::StudyRecord study =
      study_of(question, o.common.threads, parameters, program.command_line);
  if (o.output.wanted()) store::write_study(output, study);
  std::string text = query_point_text(question, study.frames[0], study.frames[1]);
  if (o.output.wanted()) text += fmt::format("study   {}\n", o.output.file);
  Json out = {{"experiment", "query point"},
              {"version", version()},
              {"seed", question.seed},
              {"parameters", parameters},
              {"study", o.output.wanted() ? Json(o.output.file) : Json()},
              {"regime", studies::query_regimes(study.frames[0], study.frames[1])},
              {"result", to_json(study.frames[0])},
              {"theory", to_json(study.frames[1])}};
  if (question.keep_draws) out["draws"] = to_json(study.frames[2]);
  return {out, text, {}, true};
}

}  // namespace

Verb query_point_verb() {
  return verb_of<QueryPointVerb>(
      "query point",
      "Uniform keys on a sphere, up to 1e300 of them: weights and output, three regimes",
      "dewpoint query point --d 5 --n 1e3,1e6,1e15 --theta 0.2,1,5", query_point_answer);
}

}  // namespace dewpoint::cli
