#include "cli/reproduced_studies.hpp"

#include <fmt/format.h>

#include <variant>

#include "cli/study_record.hpp"
#include "cli/text_file.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::cli {
namespace {

using std::filesystem::path;
using store::StudyRecord;

// What cannot be read is not there: it will be measured, or is said not to have been run.
template <typename Read>
auto if_readable(const Read& read) -> decltype(read()) try {
  return read();
} catch (const Error& error) {
  if (error.code() != Code::unreadable_file && error.code() != Code::malformed_file) throw;
  return std::nullopt;
}

bool is_complete(const store::StudySummary& summary, const studies::StudyText& study) {
  return summary.sweep && summary.experiment == study.experiment && summary.seed == study.seed &&
         !summary.sessions.empty() && summary.sessions.back().outcome == "finished" &&
         summary.measured == summary.planned;
}

}  // namespace

std::vector<FigureStudy> all_figure_studies() {
  std::vector<FigureStudy> all = cas_figures();
  for (const auto& list : {cc_figures(), sl_figures(), fd_figures()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

std::string effort_name(const StudyEffort& effort) { return effort.quick ? "quick" : "full"; }

std::string command_of(const std::string& study, const StudyEffort& effort) {
  std::string command =
      fmt::format("dewpoint reproduce --{} --only {}", effort_name(effort), study);
  if (effort.seed != 1) command += fmt::format(" --seed {}", effort.seed);
  return command;
}

std::optional<StudyRecord> found_study(const path& file, const FigureStudy& study,
                                       const StudyEffort& effort) {
  return if_readable([&]() -> std::optional<StudyRecord> {
    StudyRecord record = store::read_study(file);
    const bool same = record.version == full_version() && record.seed == effort.seed &&
                      record.command == command_of(study.name, effort);
    return same ? std::optional(std::move(record)) : std::nullopt;
  });
}

StudyRecord measured_study(const OutputFile& file, const FigureStudy& study, StudyEffort effort) {
  effort.command = command_of(study.name, effort);
  StudyRecord record = study.measure(effort);
  record.parameters.emplace_back("effort", effort_name(effort));
  store::write_study(file, record);
  return record;
}

studies::StudyText text_of(const LongStudy& study, const path& file, std::uint64_t seed) {
  studies::StudyText text = studies::parse_study_text(study.text, study.name);
  text.study = file.string();
  text.seed = seed;
  return text;
}

std::optional<StudyRecord> found_long_study(const studies::StudyText& study) {
  return if_readable([&]() -> std::optional<StudyRecord> {
    if (!is_complete(store::summarise(study.study), study)) return std::nullopt;
    return store::read_study(study.study);
  });
}

void write_figure_files(const report::Figure& figure, const OutputFile& stem, bool pictures) {
  const path table = path(stem.path) += ".csv";
  if (!pictures) {
    return write_text_file(stem.beside(table), report::points_kind(), report::points_csv(figure));
  }
  const report::Sheet sheet =
      std::visit([](const auto& any) { return report::sheet_of(any); }, figure);
  report::write_sheet(sheet, report::both_files(stem),
                      {{table, report::points_csv(figure), report::points_kind()}});
}

}  // namespace dewpoint::cli
