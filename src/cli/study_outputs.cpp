#include "cli/study_outputs.hpp"

#include <fmt/format.h>

#include "cli/console.hpp"
#include "cli/fitted_figure.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/exports/export.hpp"

namespace dewpoint::cli {
namespace {

report::FigureRequest request_of(const studies::FigureOutput& output, const std::string& title) {
  report::FigureRequest request;
  request.kind = output.kind;
  request.observable = output.observable;
  request.x = output.x;
  request.y = output.y;
  for (const std::string& place : output.at) request.at.push_back(report::parse_at(place));
  request.fit = output.fit;
  request.log_x = output.log_x;
  request.log_y = output.log_y;
  request.title = title;
  return request;
}

std::vector<std::string> draw_figures(const studies::StudyText& study,
                                      const store::StudyRecord& record, bool force) {
  std::vector<std::string> files;
  for (const studies::FigureOutput& output : study.figures) {
    report::write_figure(figure_of_output(output, record, study.title), {output.file, force});
    files.push_back(output.file);
  }
  return files;
}

}  // namespace

report::Figure figure_of_output(const studies::FigureOutput& output,
                                const store::StudyRecord& record, const std::string& title) {
  return fitted_figure(record, request_of(output, title)).figure;
}

void require_output_places(const studies::StudyText& study, bool force) {
  for (const std::string& target : study.exports) {
    exports::require_export_places({target, force}, exports::format_of(target));
  }
  for (const studies::FigureOutput& output : study.figures) {
    report::require_figure_places({output.file, force});
  }
}

Files write_outputs(const studies::StudyText& study, bool force) {
  Files files;
  if (study.exports.empty() && study.figures.empty()) return files;
  const store::StudyRecord record = store::read_study(study.study);
  for (const std::string& target : study.exports) {
    const exports::Format format = exports::format_of(target);
    for (const auto& file : exports::write(record, target, format, {.frame = {}, .force = force})) {
      files.exports.push_back(file.string());
    }
  }
  try {
    files.figures = draw_figures(study, record, force);
  } catch (const Error& error) {
    if (error.code() != Code::missing_tool) throw;
    tell(fmt::format("dewpoint: no figure: {}", error.what()));
  }
  return files;
}

}  // namespace dewpoint::cli
