#include "cli/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console.hpp"
#include "cli/study_outputs.hpp"
#include "cli/study_record.hpp"
#include "cli/study_run.hpp"
#include "cli/text_file.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/report/report_page.hpp"

namespace dewpoint::cli {
namespace {

using std::filesystem::path;

// On two cores of 2021, in seconds: only their ratio to the studies' matters.
constexpr StudyCost kCertificateCost{30.0, 200.0};
constexpr StudyCost kErrataCost{4.0, 45.0};

path make_folder(const OutputFile& output) {
  make_own_folder(output, {"a folder of dewpoint reproduce",
                           {report::page_kind(), certificate_kind(), store::study_kind()}});
  return std::filesystem::absolute(output.path).lexically_normal();
}

void expect_known(const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const FigureStudy& study : all_figure_studies()) names.push_back(study.name);
  for (const LongStudy& study : long_studies()) names.push_back(study.name);
  for (const std::string& name : only) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw Error(Code::bad_value,
                fmt::format("only: '{}' is no study", name) + instead_of(name, names));
  }
}

}  // namespace

// ---------------------------------------------------------------------------- what is there

Reproduction::Reproduction(const ReproduceOptions& options) : options_(options) {
  expect_known(options_.only);
  folder_ = make_folder({options_.output, options_.force});
  effort_ = {options_.quick, options_.seed, options_.threads, {}};
  const auto cost = [&](const StudyCost& of) { return options_.quick ? of.quick : of.full; };
  for (FigureStudy& study : all_figure_studies()) {
    studies_.push_back({study, options_.only.empty() || is_named(study.name), {}, false});
  }
  for (const LongStudy& study : long_studies()) {
    long_.push_back({study,
                     text_of(study, study_file(study.name), options_.seed),
                     options_.run_long || is_named(study.name),
                     {}});
  }
  Examination papers{claims::all_claims, "dewpoint verify", !options_.quick, options_.seed,
                     options_.threads};
  Examination errata = papers;
  errata.claims = claims::all_errata;
  errata.verb = "dewpoint verify errata";
  certificates_ = {{{folder_, "certificate", options_.force}, papers, cost(kCertificateCost), {}},
                   {{folder_, "errata", options_.force}, errata, cost(kErrataCost), {}}};
  expect_places();
  look_into_folder();
}

// Asked before hours of work.
void Reproduction::expect_places() const {
  for (const Study& study : studies_) {
    if (study.chosen) require_study_place(place(study_file(study.question.name)));
  }
  for (const Long& study : long_) {
    if (study.chosen) require_study_place(place(study.text.study));
  }
  for (const Rows& rows : certificates_) {
    require_writable(place(rows.files.json()), certificate_kind());
  }
  require_writable(place(report_file()), report::page_kind());
}

void Reproduction::look_into_folder() {
  for (Study& study : studies_) {
    if (options_.fresh && study.chosen) continue;
    study.record = found_study(study_file(study.question.name), study.question, effort_);
    study.found = study.record.has_value();
  }
  for (Long& study : long_) study.record = found_long_study(study.text);
  for (Rows& rows : certificates_) {
    if (!options_.fresh || !examines()) rows.rows = read_certificate(rows.files, rows.examination);
  }
}

path Reproduction::study_file(const std::string& name) const { return folder_ / (name + ".study"); }

OutputFile Reproduction::place(path file) const { return {std::move(file), options_.force}; }

path Reproduction::report_file() const { return folder_ / "report.html"; }

bool Reproduction::is_named(const std::string& study) const {
  return std::find(options_.only.begin(), options_.only.end(), study) != options_.only.end();
}

bool Reproduction::examines() const { return options_.verify && options_.only.empty(); }

double Reproduction::cost_of(const Study& study) const {
  return options_.quick ? study.question.cost.quick : study.question.cost.full;
}

double Reproduction::missing_cost() const {
  double cost = 0.0;
  for (const Study& study : studies_) {
    if (study.chosen && !study.record) cost += cost_of(study);
  }
  for (const Rows& rows : certificates_) {
    if (examines() && !rows.rows) cost += rows.cost;
  }
  return cost;
}

// ------------------------------------------------------------------------------ what is made

void Reproduction::make_studies_and_certificate() {
  WholeProgress progress("reproduce", missing_cost());
  for (Study& study : studies_) {
    if (!study.chosen) continue;
    if (!study.record) {
      progress.begin(study.question.name, cost_of(study));
      study.record =
          measured_study(place(study_file(study.question.name)), study.question, effort_);
    }
    write_figures(study);
  }
  for (const Long& study : long_) {
    if (study.record) write_figures(study);
  }
  for (Rows& rows : certificates_) {
    if (!examines() || rows.rows) continue;
    progress.begin(rows.files.name, rows.cost);
    rows.rows = complete_certificate(rows.files, rows.examination, options_.fresh);
  }
}

bool Reproduction::run_long_studies() {
  bool any = false;
  for (Long& study : long_) {
    if (!study.chosen) continue;
    any = true;
    const std::string command = command_of(study.question.name, effort_);
    studies::RunOptions options;
    options.force = options_.force;
    studies::RunOutcome outcome;
    try {
      outcome = run_on_threads(study.text, options_.threads, command, options);
    } catch (const Error& error) {
      // A study of a text that is not here: the others can still be made.
      if (error.code() != Code::unreadable_file || is_named(study.question.name)) throw;
      tell(fmt::format("dewpoint: {} is left out: {}", study.question.name, error.what()));
      continue;
    }
    study.record = found_long_study(study.text);
    if (outcome.stopped) throw Error(Code::stopped, kStoppedOnRequest);
    write_figures(study);
  }
  return any;
}

void Reproduction::write_figures(const Study& study) {
  for (const StudyFigure& figure : study.question.figures) {
    write_files(figure.figure_of(*study.record), figure.title, figure.name);
  }
}

void Reproduction::write_figures(const Long& study) {
  for (const studies::FigureOutput& output : study.text.figures) {
    write_files(figure_of_output(output, *study.record, study.text.title), study.text.title,
                path(output.file).stem().string());
  }
}

// Without gnuplot everything else is still made.
void Reproduction::write_files(report::Figure figure, const std::string& title,
                               const std::string& name) {
  report::set_title(figure, title);
  try {
    write_figure_files(figure, place(folder_ / name), pictures_);
  } catch (const Error& error) {
    if (error.code() != Code::missing_tool || !pictures_) throw;
    pictures_ = false;
    tell(fmt::format("dewpoint: no pictures, only data and the report: {}", error.what()));
    write_figure_files(figure, place(folder_ / name), pictures_);
  }
}

void Reproduction::write_report() {
  try {
    write_text_file(place(report_file()), report::page_kind(),
                    report::report_page(page_data(page())));
    reported_ = true;
  } catch (const Error& error) {
    if (error.code() != Code::missing_tool) throw;
    tell(fmt::format("dewpoint: no report: {}", error.what()));
  }
}

bool Reproduction::good() const {
  const auto fails = [](const Rows& rows) { return rows.rows && any_fails(*rows.rows); };
  return pictures_ && reported_ && std::none_of(certificates_.begin(), certificates_.end(), fails);
}

}  // namespace dewpoint::cli
