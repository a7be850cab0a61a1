// dewpoint report: studies as one interactive page.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/report/report_page.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/console.hpp"
#include "cli/report_data.hpp"
#include "cli/study_record.hpp"
#include "cli/text_file.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/report/fitting_figures.hpp"
#include "dewpoint/report/head_figures.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::cli {
namespace {

struct ReportVerb {
  std::vector<std::string> studies;
  std::string output;
  std::string title;
  bool force = false;
};

template <class Visitor>
void describe(Visitor& visit, ReportVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("studies", q.studies, positional, required, file("study"), "study files");
  visit("output", q.output, letter('o'), required, file("page"), "page to write: x.html");
  visit("title", q.title, "of the page", otherwise("the study's own, if there is one study"));
  describe_force(visit, q.force);
}

std::string title_of(const store::StudySummary& summary, const std::string& file) {
  return summary.title.empty() ? std::filesystem::path(file).stem().string() : summary.title;
}

bool is_unfinished(const store::StudySummary& summary) {
  return summary.sweep && summary.measured < summary.planned;
}

// What a reader must know before he believes the figures.
std::string note_on(const store::StudySummary& summary, std::size_t left_out) {
  std::string note;
  if (is_unfinished(summary)) {
    note =
        fmt::format("Unfinished: {} of {} cells are measured.", summary.measured, summary.planned);
  }
  if (left_out > 0) {
    note += fmt::format("{}The study has {} observables more: dewpoint figure --observable.",
                        note.empty() ? "" : " ", left_out);
  }
  return note;
}

// A name that nobody has: x, x-2, x-3.
std::string unique_name(const std::string& wanted, std::set<std::string>& taken) {
  std::string name = wanted;
  for (int k = 2; !taken.insert(name).second; ++k) name = fmt::format("{}-{}", wanted, k);
  return name;
}

// Returns the title of the study.
std::string add_study(ReportPage& page, const std::string& file, std::set<std::string>& ids) {
  const store::StudySummary summary = store::summarise(file);
  const store::StudyRecord study = store::read_study(file);
  const report::FittingFigures fitting = report::fitting_figures(study, is_unfinished(summary));
  if (fitting.figures.empty()) {
    throw Error(Code::bad_value,
                fmt::format("{}: holds nothing over an axis, so there is nothing to draw", file));
  }
  const std::string title = title_of(summary, file);
  const std::string stem = std::filesystem::path(file).stem().string();
  for (const report::FittingFigure& one : fitting.figures) {
    FigureText text{unique_name(stem + "-" + one.name, ids), title, one.title,
                    note_on(summary, fitting.left_out)};
    if (one.name == "phase") text.verdicts = report::verdicts_on_heads(study);
    page.figures.push_back(figure_entry(text, one.figure, study, file));
  }
  return title;
}

Answer report_answer(const ReportVerb& o, const Program& program) {
  const OutputFile output(o.output, o.force);
  require_writable(output, report::page_kind());
  ReportPage page;
  std::set<std::string> ids;
  std::vector<std::string> titles;
  for (const std::string& file : o.studies) titles.push_back(add_study(page, file, ids));
  page.title = !o.title.empty() ? o.title : titles.size() == 1 ? titles[0] : "Dewpoint report";
  page.footer = {version_line(), {"Written", utc_now()}, {"Command", program.command_line}};
  write_text_file(output, report::page_kind(), report::report_page(page_data(page)));
  const std::string written = std::filesystem::absolute(o.output).string();
  return {{{"report", written}, {"studies", o.studies}, {"figures", ids}},
          fmt::format("{} figures of {} {}\nreport  {}\n", ids.size(), o.studies.size(),
                      o.studies.size() == 1 ? "study" : "studies", written),
          {},
          true};
}

}  // namespace

Verb report_verb() {
  return verb_of<ReportVerb>(
      "report", "Studies as one interactive page, which opens anywhere and asks no network",
      "dewpoint report phase.study -o phase.html", report_answer);
}

}  // namespace dewpoint::cli
