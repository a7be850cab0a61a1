// What a reproduction tells: the page, and the lines on the terminal.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/reproduction.hpp"
#include "cli/study_outputs.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTitle = "The phase transitions of softmax attention, measured";
constexpr const char* kIntro =
    "Softmax attention changes its phase. Below a certain temperature, which sinks with the length "
    "of the context, a token looks at itself or at a few others; above it, at everybody alike. "
    "Four "
    "papers have theorems about where this happens, how sharply, and what it does to a network "
    "that "
    "learns.\n\n"
    "Every figure of this page was measured anew, with what theory predicts on the same axes, and "
    "names the command that does it again. Every row of the certificate asks nature about one "
    "statement of a paper; the errata list what had to be corrected, each with its evidence.";
constexpr const char* kLongGroup = "Long studies";

std::string counted(std::size_t number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

Json verdicts(const std::vector<Examined>& rows) {
  Json counts = {{"rows", rows.size()}};
  for (const auto verdict : {claims::Verdict::holds, claims::Verdict::holds_as_corrected,
                             claims::Verdict::does_not_reproduce, claims::Verdict::fails}) {
    counts[claims::name_of(verdict)] = std::count_if(
        rows.begin(), rows.end(),
        [verdict](const Examined& row) { return claims::verdict(row.evidence) == verdict; });
  }
  return counts;
}

}  // namespace

// -------------------------------------------------------------------------------------- page

void Reproduction::add_figures(ReportPage& page, const Study& study) const {
  const FigureStudy& question = study.question;
  const bool examined = certificates_.front().rows.has_value();  // else names would lead nowhere
  for (const StudyFigure& one : question.figures) {
    const FigureText text{one.name,  question.group,
                          one.title, one.see,
                          one.paper, examined ? one.claims : std::vector<std::string>{}};
    page.figures.push_back(
        figure_entry(text, one.figure_of(*study.record), *study.record, study_file(question.name)));
  }
}

void Reproduction::add_figures(ReportPage& page, const Long& study) const {
  for (const studies::FigureOutput& output : study.text.figures) {
    const FigureText text{std::filesystem::path(output.file).stem().string(), kLongGroup,
                          study.question.title, study.question.about};
    page.figures.push_back(
        figure_entry(text, figure_of_output(output, *study.record, study.question.title),
                     *study.record, study.text.study));
  }
}

ReportPage Reproduction::page() const {
  ReportPage page;
  page.title = kTitle;
  page.intro = kIntro;
  for (const Study& study : studies_) {
    const FigureStudy& question = study.question;
    if (study.record) {
      add_figures(page, study);
    } else {
      page.not_run.push_back(
          {question.name, question.figures.front().title, command_of(question.name, effort_)});
    }
  }
  for (const Long& study : long_) {
    const LongStudy& question = study.question;
    if (study.record) {
      add_figures(page, study);
    } else {
      page.not_run.push_back({question.name, question.title, command_of(question.name, effort_)});
    }
  }
  if (certificates_[0].rows) {
    page.certificate = certificate_entry(certificates_[0].examination, *certificates_[0].rows);
  }
  if (certificates_[1].rows) {
    page.errata = certificate_entry(certificates_[1].examination, *certificates_[1].rows);
  }
  page.footer = footer();
  return page;
}

std::vector<std::pair<std::string, std::string>> Reproduction::footer() const {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
  const auto found = std::count_if(studies_.begin(), studies_.end(),
                                   [](const Study& study) { return study.found; });
  std::string taken = duration_text(time.count());
  if (found > 0) taken += fmt::format(", {} of {} studies found", found, studies_.size());
  return {version_line(),
          {"Seed", std::to_string(options_.seed)},
          {"Effort", effort_name(effort_)},
          machine_line(),
          {"Time", taken},
          {"Written", utc_now()},
          {"Command", options_.command}};
}

// ---------------------------------------------------------------------------------- terminal

std::vector<std::string> Reproduction::figures_of(const Study& study) {
  std::vector<std::string> names;
  for (const StudyFigure& figure : study.question.figures) names.push_back(figure.name);
  return names;
}

std::vector<std::string> Reproduction::figures_of(const Long& study) {
  std::vector<std::string> names;
  for (const studies::FigureOutput& output : study.text.figures) {
    names.push_back(std::filesystem::path(output.file).stem().string());
  }
  return names;
}

// Studies that were asked for, with the names of their figures.
std::vector<Reproduction::Made> Reproduction::made() const {
  std::vector<Made> all;
  for (const Study& study : studies_) {
    if (study.chosen && study.record) {
      all.push_back({study_file(study.question.name).string(), figures_of(study)});
    }
  }
  for (const Long& study : long_) {
    if (study.record) all.push_back({study.text.study, figures_of(study)});
  }
  return all;
}

std::string Reproduction::text() const {
  std::string text;
  std::size_t figures = 0;
  for (const Made& study : made()) {
    figures += study.figures.size();
    text += fmt::format("study   {} ({})\n", study.file, fmt::join(study.figures, ", "));
  }
  text += fmt::format("{} in {}: {}\n", counted(figures, "figure", "figures"), folder_.string(),
                      pictures_ ? "NAME.svg, NAME.png, and NAME.csv with its points" : "NAME.csv");
  for (const Rows& rows : certificates_) {
    if (!rows.rows) continue;
    for (const Examined& row : *rows.rows) {
      if (claims::verdict(row.evidence) == claims::Verdict::fails) text += as_text(row);
    }
    text += fmt::format("{}: {}\n", rows.files.name, summary(*rows.rows));
  }
  if (reported_) text += fmt::format("report  {}\n", report_file().string());
  return text;
}

Json Reproduction::json() const {
  Json out = {{"effort", effort_name(effort_)},
              {"seed", options_.seed},
              {"studies", Json::array()},
              {"figures", Json::array()},
              {"data", Json::array()}};
  for (const Made& study : made()) {
    out["studies"].push_back(study.file);
    for (const std::string& name : study.figures) {
      const std::string stem = (folder_ / name).string();
      if (pictures_) out["figures"].push_back(stem + ".svg");
      if (pictures_) out["figures"].push_back(stem + ".png");
      out["data"].push_back(stem + ".csv");
    }
  }
  for (const Rows& rows : certificates_) {
    out[rows.files.name] = rows.rows ? verdicts(*rows.rows) : Json();
  }
  out["report"] = reported_ ? Json(report_file().string()) : Json();
  return out;
}

std::string Reproduction::kept() const {
  const auto chosen = std::count_if(studies_.begin(), studies_.end(),
                                    [](const Study& study) { return study.chosen; });
  const auto finished = std::count_if(studies_.begin(), studies_.end(), [](const Study& study) {
    return study.chosen && study.record.has_value();
  });
  return fmt::format("{} of {} are finished and kept in {}", finished,
                     counted(static_cast<std::size_t>(chosen), "study", "studies"),
                     folder_.string());
}

}  // namespace dewpoint::cli
