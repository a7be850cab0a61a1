#include "dewpoint/server/study_views.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/report/figure_json.hpp"
#include "dewpoint/report/fitting_figures.hpp"
#include "dewpoint/server/question.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "dewpoint/studies/template_text.hpp"

namespace dewpoint::server {
namespace {

std::filesystem::path study_path(const StudyFolder& folder, const std::string& file) {
  return folder.existing(file, {".study"});
}

Json row_of(const store::StudySummary& summary, const std::string& file, const std::string& run) {
  return {{"file", file},
          {"experiment", summary.experiment},
          {"title", summary.title},
          {"state", store::state_of(summary)},
          {"sweep", summary.sweep},
          {"planned", summary.planned},
          {"measured", summary.measured},
          {"fewest_replicas", summary.fewest_replicas},
          {"most_replicas", summary.most_replicas},
          {"work_seconds", summary.seconds},
          {"seed", summary.seed},
          {"version", summary.version},
          {"created", summary.created},
          {"last", store::last_time(summary)},
          {"command", summary.command},
          {"run", run.empty() ? Json() : Json(run)}};
}

/// Runs `read`, with the library's complaints as refusals.
template <typename Read>
auto reading(const StudyFolder& folder, const Read& read) try {
  return read();
} catch (const Error& error) {
  throw Refusal(refusal_of(error).status(), folder.without_root(error.what()), "file");
}

Json sessions_json(const StudyFolder& folder, const store::StudySummary& summary) {
  Json sessions = Json::array();
  for (const auto& one : summary.sessions) {
    sessions.push_back({{"started", one.started},
                        {"stopped", one.stopped},
                        {"outcome", folder.without_root(one.outcome)},
                        {"version", one.version},
                        {"processor", one.processor},
                        {"ranks", one.ranks},
                        {"threads", one.threads}});
  }
  return sessions;
}

Json outline(const Frame& frame) {
  Json dimensions = Json::object(), variables = Json::array();
  for (const Dimension& one : frame.dimensions()) dimensions[one.name] = one.coordinates.size();
  for (const Variable& one : frame.variables()) variables.push_back(one.name);
  return {{"name", frame.name()}, {"dimensions", dimensions}, {"variables", variables}};
}

}  // namespace

Json studies_json(const StudyFolder& folder, const RunOfFile& run_of) {
  const FolderList list = folder.list();
  Json studies = Json::array(), refused = Json::array();
  for (const std::string& file : list.studies) {
    try {
      studies.push_back(row_of(store::summarise(folder.root() / file), file, run_of(file)));
    } catch (const Error& error) {
      refused.push_back({{"file", file}, {"error", folder.without_root(error.what())}});
    }
  }
  return {{"studies", studies}, {"texts", list.texts}, {"dumps", list.dumps}, {"refused", refused}};
}

Json summary_json(const StudyFolder& folder, const std::string& file, const RunOfFile& run_of) {
  const auto path = study_path(folder, file);
  return reading(folder, [&] {
    const store::StudySummary summary = store::summarise(path);
    const store::StudyRecord study = store::read_study(path);
    Json json = row_of(summary, file, run_of(file));
    json["text"] = summary.text;
    json["sessions"] = sessions_json(folder, summary);
    json["parameters"] = Json::object();
    for (const auto& [name, value] : study.parameters) json["parameters"][name] = value;
    json["frames"] = Json::array();
    for (const Frame& frame : study.frames) json["frames"].push_back(outline(frame));
    return json;
  });
}

Json frame_json(const StudyFolder& folder, const std::string& file, const std::string& name) {
  const auto path = study_path(folder, file);
  const store::StudyRecord study = reading(folder, [&] { return store::read_study(path); });
  for (const Frame& frame : study.frames) {
    if (frame.name() != name) continue;
    std::size_t numbers = 0;
    for (const Variable& variable : frame.variables()) numbers += variable.cells.size();
    if (numbers <= kMostFrameNumbers) return dewpoint::to_json(frame);
    throw Refusal(400,
                  fmt::format("frame: '{}' has {} numbers, more than {}", name.substr(0, 80),
                              numbers, kMostFrameNumbers),
                  "frame")
        .with_command(
            fmt::format("dewpoint export {} -o {}", shell_word(folder.prefix() + file),
                        shell_word(std::filesystem::path(file).stem().string() + ".csv")));
  }
  throw Refusal(404, fmt::format("frame: '{}' has no '{}'", file, name.substr(0, 80)), "frame");
}

Json figures_json(const StudyFolder& folder, const std::string& file) {
  const auto path = study_path(folder, file);
  return reading(folder, [&] {
    const store::StudySummary summary = store::summarise(path);
    const bool unfinished = summary.sweep && summary.measured < summary.planned;
    const report::FittingFigures fitting =
        report::fitting_figures(store::read_study(path), unfinished);
    Json figures = Json::array();
    for (const report::FittingFigure& one : fitting.figures) {
      figures.push_back(
          {{"name", one.name}, {"title", one.title}, {"figure", report::to_json(one.figure)}});
    }
    return Json{{"figures", figures}, {"left_out", fitting.left_out}};
  });
}

Json text_json(const StudyFolder& folder, const std::string& file) {
  const auto path = folder.existing(file, {".toml"});
  if (std::filesystem::file_size(path) > studies::kMostFileBytes) {
    throw Refusal(400, fmt::format("file: '{}' is larger than a study file may be", file), "file");
  }
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return {{"file", file}, {"text", text.str()}};
}

Json template_json(const std::string& experiment) {
  try {
    return {{"experiment", experiment},
            {"text", studies::template_text(studies::experiment_named(experiment))}};
  } catch (const Error& error) {
    throw Refusal(400, error.what(), "experiment");
  }
}

}  // namespace dewpoint::server
