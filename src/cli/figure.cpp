// dewpoint figure: a study as a picture, in a file or in the terminal.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/fitted_figure.hpp"
#include "cli/printable_study.hpp"
#include "cli/study_record.hpp"
#include "cli/terminal_style.hpp"
#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/report/study_figure.hpp"
#include "dewpoint/report/terminal_figure.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::cli {
namespace {

struct FigureCommand {
  std::string study;
  std::vector<std::string> outputs;  // none: the terminal
  report::FigureRequest request;
  std::vector<std::string> at;
  CollapseChoice collapse;
  bool fit_amplitude = false;
  bool data = false;
  bool force = false;
  bool json = false;
};

report::FigureRequest request_of(const FigureCommand& o) {
  report::FigureRequest request = o.request;
  for (const std::string& place : o.at) request.at.push_back(report::parse_at(place));
  const store::StudySummary summary = printable_summary(store::summarise(o.study));
  request.unfinished = summary.sweep && summary.measured < summary.planned;
  if (request.title.empty()) request.title = summary.title;
  return request;
}

int run_figure(const FigureCommand& o) {
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
  if (o.json) {
    fmt::print("{}\n",
               Json{{"study", o.study}, {"figures", o.outputs}, {"fit", drawn.text}}.dump());
    return 0;
  }
  if (o.outputs.empty()) fmt::print("{}", report::terminal_text(drawn.figure, terminal_style()));
  fmt::print("{}", drawn.text);
  for (const std::string& output : o.outputs) fmt::print("figure  {}\n", output);
  return 0;
}

void add_collapse_options(CLI::App& verb, FigureCommand& o) {
  verb.add_option("--size", o.collapse.size, "Collapse: the size that scales, log-n or n")
      ->capture_default_str();
  verb.add_option("--critical", o.collapse.critical, "Collapse: hold the critical point here");
  verb.add_option("--exponent", o.collapse.exponent,
                  "Collapse: hold the exponent of the width here");
  verb.add_flag("--fit-amplitude", o.fit_amplitude,
                "Collapse: let the height scale with the size too");
}

}  // namespace

void add_figure(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "figure", "A study as a figure: SVG, PNG or PDF, or in the terminal");
  const auto o = std::make_shared<FigureCommand>();
  report::FigureRequest& request = o->request;
  verb->add_option("study", o->study, "Study file")->required();
  verb->add_option("-o,--output", o->outputs,
                   "x.svg, x.png or x.pdf, several if wanted; none: drawn in the terminal")
      ->allow_extra_args(false);
  verb->add_option("--kind", request.kind,
                   fmt::format("{}", fmt::join(report::figure_kinds(), ", ")))
      ->capture_default_str();
  verb->add_option("--observable", request.observable, "What is shown; the first if not given");
  verb->add_option("--x", request.x, "Axis to the right");
  verb->add_option("--y", request.y, "Second axis of a heat map; else one line per value of it");
  verb->add_option("--at", o->at, "Only there: n=512 or n=128,512, several times if wanted")
      ->allow_extra_args(false);
  verb->add_option(
          "--fit", request.fit,
          fmt::format("Scaling: the law that is fitted, {}", fmt::join(report::fit_laws(), ", ")))
      ->capture_default_str();
  verb->add_flag("--log-x", request.log_x, "Logarithmic x axis");
  verb->add_flag("--log-y", request.log_y, "Logarithmic y axis");
  verb->add_flag("--log-colours", request.log_colours, "Logarithmic colours of a heat map");
  verb->add_flag("--diverging", request.diverging, "Colours that part at --centre");
  verb->add_option("--centre", request.centre, "Where diverging colours part: criticality");
  verb->add_option("--title", request.title, "Above the figure; the study's own if not given");
  add_collapse_options(*verb, *o);
  verb->add_flag("--data", o->data, "The points (x.csv) and the gnuplot script (x.gp) beside it");
  add_force(*verb, o->force);
  verb->add_flag("--json", o->json, "One JSON object on standard output");
  add_example(*verb, "dewpoint figure phase.study --kind curve -o phase.svg");
  verb->callback([&program, o] { program.action = [o] { return run_figure(*o); }; });
}

}  // namespace dewpoint::cli
