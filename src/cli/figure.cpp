// dewpoint figure: a study as a picture, in a file or in the terminal.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/answer.hpp"
#include "cli/fitted_figure.hpp"
#include "cli/printable_study.hpp"
#include "cli/study_record.hpp"
#include "cli/terminal_style.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/report/study_figure.hpp"
#include "dewpoint/report/terminal_figure.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::cli {
namespace {

struct FigureVerb {
  std::string study;
  std::vector<std::string> outputs;  // none: the terminal
  report::FigureRequest request;
  std::vector<std::string> at;
  CollapseChoice collapse;
  bool fit_amplitude = false;
  bool data = false;
  bool force = false;
};

template <class Visitor>
void describe_request(Visitor& visit, FigureVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  report::FigureRequest& request = q.request;
  visit("kind", request.kind, one_of(report::figure_kinds()), "what is drawn");
  visit("observable", request.observable, "what is shown", otherwise("the first"));
  visit("x", request.x, "axis to the right");
  visit("y", request.y, "second axis of a heat map; else one line per value of it");
  visit("at", q.at, "only there: n=512 or n=128,512, several times if wanted");
  visit("fit", request.fit, one_of(report::fit_laws()), "scaling: the law that is fitted");
  visit("log-x", request.log_x, "logarithmic x axis");
  visit("log-y", request.log_y, "logarithmic y axis");
  visit("log-colours", request.log_colours, "logarithmic colours of a heat map");
  visit("diverging", request.diverging, "colours that part at --centre");
  visit("centre", request.centre, "where diverging colours part: criticality");
  visit("title", request.title, "above the figure", otherwise("the study's own"));
}

template <class Visitor>
void describe(Visitor& visit, FigureVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("study", q.study, positional, required, file("study"), "study file");
  visit("output", q.outputs, letter('o'), file("figure"),
        "x.svg, x.png or x.pdf, several if wanted; none: drawn in the terminal");
  describe_request(visit, q);
  visit("size", q.collapse.size, one_of({"log-n", "n"}), "collapse: the size that scales");
  visit("critical", q.collapse.critical, "collapse: hold the critical point here");
  visit("exponent", q.collapse.exponent, "collapse: hold the exponent of the width here");
  visit("fit-amplitude", q.fit_amplitude, "collapse: let the height scale with the size too");
  visit("data", q.data, "the points (x.csv) and the gnuplot script (x.gp) beside it");
  describe_force(visit, q.force);
}

report::FigureRequest request_of(const FigureVerb& o) {
  report::FigureRequest request = o.request;
  for (const std::string& place : o.at) request.at.push_back(report::parse_at(place));
  const store::StudySummary summary = printable_summary(store::summarise(o.study));
  request.unfinished = summary.sweep && summary.measured < summary.planned;
  if (request.title.empty()) request.title = summary.title;
  return request;
}

Answer figure_answer(const FigureVerb& o) {
  const report::Companions companions{o.data, o.data};
  for (const std::string& output : o.outputs) {
    report::require_figure_places({output, o.force}, companions);
  }
  CollapseChoice choice = o.collapse;
  if (o.fit_amplitude) choice.amplitude.reset();
  const FittedFigure drawn =
      fitted_figure(printable_study(store::read_study(o.study)), request_of(o), choice);
  for (const std::string& output : o.outputs) {
    report::write_figure(drawn.figure, {output, o.force}, companions);
  }
  std::string text = o.outputs.empty() ? report::terminal_text(drawn.figure, terminal_style()) : "";
  text += drawn.text;
  for (const std::string& output : o.outputs) text += fmt::format("figure  {}\n", output);
  return {{{"study", o.study}, {"figures", o.outputs}, {"fit", drawn.text}}, text, {}, true};
}

}  // namespace

Verb figure_verb() {
  return verb_of<FigureVerb>("figure", "A study as a figure: SVG, PNG or PDF, or in the terminal",
                             "dewpoint figure phase.study --kind curve -o phase.svg",
                             figure_answer);
}

}  // namespace dewpoint::cli
