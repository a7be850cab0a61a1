// dewpoint condense: softmax over up to 1e300 Gaussian scores, measured beside its theory.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/answer.hpp"
#include "cli/condense_text.hpp"
#include "cli/console.hpp"
#include "cli/question_options.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/condense_question.hpp"
#include "dewpoint/studies/condense_theory.hpp"

namespace dewpoint::cli {
namespace {

using experiments::condense_of;
using experiments::CondenseQuestion;

struct CondenseOptions {
  CommonOptions common;
  std::optional<QuestionOptions> question;
  std::string output;
  bool force = false;
};

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

Answer condense_answer(const CondenseOptions& o, const std::string& command) {
  const question::Asked asked = o.question->asked();
  const experiments::Condense question = condense_of(asked, o.common.seed);
  const Json parameters =
      parameters_json(question::fields_of<CondenseQuestion>(), asked,
                      question::point_of(resolved(asked.first<CondenseQuestion>())));
  const OutputFile output(o.output, o.force);
  if (!o.output.empty()) require_study_place(output, "condense");
  const store::StudyRecord study = study_of(question, o.common.threads, parameters, command);
  if (!o.output.empty()) store::write_study(output, study);
  std::string text = condense_text(question, study.frames[0], study.frames[1]);
  if (!o.output.empty()) text += fmt::format("study   {}\n", o.output);
  return {{{"experiment", "condense"},
           {"version", version()},
           {"seed", question.seed},
           {"parameters", parameters},
           {"study", o.output.empty() ? Json() : Json(o.output)},
           {"result", to_json(study.frames[0])},
           {"theory", to_json(study.frames[1])}},
          text,
          {},
          true};
}

}  // namespace

void add_condense(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "condense", "Softmax over up to 1e300 Gaussian scores: freezing, and finding a planted key");
  const auto o = std::make_shared<CondenseOptions>();
  o->question.emplace(program, *verb, question::fields_of<CondenseQuestion>());
  verb->add_option("-o,--output", o->output, "Study file");
  add_force(*verb, o->force);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint condense --n 1e2,1e6,1e30 --t 0.5,1,1.5,2 --signal 0.9,1.2");
  verb->callback([&program, o] {
    set_answer(program, o->common.json,
               [&program, o] { return condense_answer(*o, program.command_line); });
  });
}

}  // namespace dewpoint::cli
