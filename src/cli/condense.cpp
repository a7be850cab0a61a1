// dewpoint condense: softmax over up to 1e300 Gaussian scores, measured beside its theory.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/answer.hpp"
#include "cli/condense_text.hpp"
#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/condense_question.hpp"
#include "dewpoint/studies/condense_theory.hpp"

namespace dewpoint::cli {
namespace {

using experiments::condense_of;
using experiments::CondenseQuestion;

struct CondenseVerb {
  CondenseQuestion question;
  WrittenStudy output;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, CondenseVerb& q) {
  describe(visit, q.question);
  describe(visit, q.output);
  describe(visit, q.common);
}

store::StudyRecord study_of(const experiments::Condense& question, int threads,
                            const Json& parameters, const std::string& command) {
  store::StudyRecord study = begin_study("condense", question.seed, command);
  study.parameters = parameter_texts(parameters);
  {
    ProgressLine progress("condense");
    study.frames.push_back(
        experiments::condense(question, {threads, stop_token(), progress.callback()}));
  }
  ProgressLine progress("theory");
  study.frames.push_back(
      studies::condense_theory(question, {threads, stop_token(), progress.callback()}));
  return study;
}

Answer condense_answer(const CondenseVerb& o, const question::Asked& asked,
                       const Program& program) {
  const experiments::Condense question = condense_of(asked, o.common.seed);
  const Json parameters =
      parameters_json(question::fields_of<CondenseQuestion>(), asked,
                      question::point_of(resolved(asked.first<CondenseQuestion>())));
  const OutputFile output(o.output.file, o.output.force);
  if (o.output.wanted()) require_study_place(output, "condense");
  const store::StudyRecord study =
      study_of(question, o.common.threads, parameters, program.command_line);
  if (o.output.wanted()) store::write_study(output, study);
  std::string text = condense_text(question, study.frames[0], study.frames[1]);
  if (o.output.wanted()) text += fmt::format("study   {}\n", o.output.file);
  return {{{"experiment", "condense"},
           {"version", version()},
           {"seed", question.seed},
           {"parameters", parameters},
           {"study", o.output.wanted() ? Json(o.output.file) : Json()},
           {"result", to_json(study.frames[0])},
           {"theory", to_json(study.frames[1])}},
          text,
          {},
          true};
}

}  // namespace

Verb condense_verb() {
  return verb_of<CondenseVerb>(
      "condense", "Softmax over up to 1e300 Gaussian scores: freezing, and finding a planted key",
      "dewpoint condense --n 1e2,1e6,1e30 --t 0.5,1,1.5,2 --signal 0.9,1.2", condense_answer);
}

}  // namespace dewpoint::cli
