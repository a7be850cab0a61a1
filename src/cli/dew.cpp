// dewpoint dew: where attention condenses and how that point moves with the number of keys, for a
// law of scores at any length or for the scores of a head.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/dew_scores.hpp"
#include "cli/study_record.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/diagnosis/curve_verdict.hpp"
#include "dewpoint/experiments/dew_question.hpp"
#include "dewpoint/studies/law_edge.hpp"

namespace dewpoint::cli {
namespace {

using experiments::DewQuestion;

struct DewVerb {
  DewQuestion question;
  WrittenStudy output;
  DewScoresQuestion scores;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, DewVerb& q) {
  describe(visit, q.question);
  describe(visit, q.output, "keep the curves of laws as a study in this file");
  describe(visit, q.scores);
  describe(visit, q.common);
}

// ---- one law --------------------------------------------------------------------------------

Json edge_of(const scores::TopLaw& law, double n) {
  const auto edge = studies::edge_of(law, n);
  return edge ? Json(*edge) : Json();
}

struct LawReport {
  std::string name;
  Frame frame;
  Json edges = Json::array();
  diagnosis::GrowthVerdict participation, dew;
};

LawReport measure(const scores::TopLaw& law, const experiments::DewCurve& curve,
                  const RunContext& context) {
  LawReport report;
  report.name = law.name();
  report.frame = experiments::dew_curve(law, curve, context);
  for (const double n : curve.n) report.edges.push_back(edge_of(law, n));
  report.participation = diagnosis::judge_curve(report.frame, true);
  report.dew = diagnosis::judge_curve(report.frame, false);
  return report;
}

std::string report_text(const LawReport& report) {
  const std::vector<double>& n = report.frame.dimension("n").coordinates;
  const auto cell = [&](const char* name, std::size_t i) -> const Estimate& {
    return report.frame.variable(name).cells[i];
  };
  Json records = Json::array();
  for (std::size_t i = 0; i < n.size(); ++i) {
    records.push_back({{"n", fmt::format("{:.4g}", n[i])},
                       {"dew", short_text(cell("beta_dew_median", i))},
                       {"quartiles", fmt::format("{:.4g} .. {:.4g}", cell("beta_dew_lower", i).mean,
                                                 cell("beta_dew_upper", i).mean)},
                       {"pr", short_text(cell("beta_pr", i))},
                       {"edge", report.edges[i].is_null()
                                    ? Json("-")
                                    : Json(fmt::format("{:.6g}", report.edges[i].get<double>()))},
                       {"accumulation", short_text(cell("accumulation", i))},
                       {"slope", n.size() > 1 ? short_text(cell("slope_pr", i)) : ""}});
  }
  return fmt::format("{}\n{}{}{}", report.name,
                     to_text(records, {{"n", "n"},
                                       {"dew", "β_dew median"},
                                       {"quartiles", "quartiles"},
                                       {"pr", "β_PR"},
                                       {"edge", "β_edge"},
                                       {"accumulation", "Λ median"},
                                       {"slope", "d log β_PR/d log n"}}),
                     verdict_text("β_PR ", report.participation),
                     verdict_text("β_dew", report.dew));
}

Json report_json(const LawReport& report) {
  return {{"law", report.name},
          {"result", to_json(report.frame)},
          {"beta_edge", report.edges},
          {"growth",
           {{"beta_pr", diagnosis::to_json(report.participation)},
            {"beta_dew", diagnosis::to_json(report.dew)}}}};
}

// ---- the verb -------------------------------------------------------------------------------

void write_study(const DewVerb& o, const std::vector<LawReport>& reports, const Json& parameters,
                 const std::string& command) {
  store::StudyRecord study = begin_study("dew", o.common.seed, command);
  study.parameters = parameter_texts(parameters);
  for (const LawReport& report : reports) {
    study.frames.push_back(report.frame.renamed("dew " + report.name));
  }
  store::write_study({o.output.file, o.output.force}, study);
}

Answer dew_of_laws(const DewVerb& o, const question::Asked& asked, const std::string& command) {
  if (o.output.wanted()) require_study_place({o.output.file, o.output.force}, "dew");
  const auto [laws, curve] = experiments::dew_of(asked, o.common.seed);
  const Json parameters = parameters_json(question::fields_of<DewQuestion>(), asked,
                                          question::point_of(asked.first<DewQuestion>()));
  Answer answer;
  std::vector<LawReport> found;
  Json reports = Json::array();
  answer.text = fmt::format("{} draws per length, seed {}; slopes and quartiles over draws\n",
                            curve.draws, o.common.seed);
  for (const auto& law : laws) {
    ProgressLine progress("dew " + law->name());
    found.push_back(measure(*law, curve, {o.common.threads, stop_token(), progress.callback()}));
    answer.text += "\n" + report_text(found.back());
    reports.push_back(report_json(found.back()));
  }
  if (o.output.wanted()) {
    write_study(o, found, parameters, command);
    answer.text += fmt::format("\nstudy {}\n", o.output.file);
  }
  answer.json = {{"experiment", "dew"},
                 {"version", version()},
                 {"seed", o.common.seed},
                 {"parameters", parameters},
                 {"study", o.output.wanted() ? Json(o.output.file) : Json()},
                 {"laws", reports}};
  return answer;
}

Answer dew_answer(const QuestionOptions& options, const Program& program) {
  const question::Asked asked = options.asked();
  const auto o = asked.first<DewVerb>();
  const auto& of_laws = question::fields_of<DewQuestion>();
  const auto& of_scores = question::fields_of<DewScoresQuestion>();
  if (!o.scores.given(program.given)) {
    options.refuse(of_scores, "is given without the scores of a head");
    return dew_of_laws(o, asked, program.command_line);
  }
  options.refuse(of_laws, "is given beside the scores of a head");
  if (o.output.wanted()) {
    throw Error(Code::bad_value, "output: a study is kept of laws only, not of a head's scores");
  }
  ProgressLine progress("dew");
  return dew_of_scores(o.scores, program.given, o.common,
                       {o.common.threads, stop_token(), progress.callback()});
}

}  // namespace

Verb dew_verb() {
  return verb_of(
      "dew", "Dew point of a score law or of a head's scores, over n, and the law of its growth",
      "dewpoint dew --law gaussian --law sphere:d=5 --n 1e2:1e15:14:log",
      question::fields_of<DewVerb>(), dew_answer);
}

}  // namespace dewpoint::cli
