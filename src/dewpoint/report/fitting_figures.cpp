#include "dewpoint/report/fitting_figures.hpp"

#include <algorithm>
#include <optional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/study_figure.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "dewpoint/report/training_figures.hpp"

namespace dewpoint::report {
namespace {

using store::StudyRecord;

// A study that holds less than a figure shows has no such figure.
template <typename MakeFigure>
std::optional<Figure> unless_refused(const MakeFigure& make_figure) try {
  return make_figure();
} catch (const Error& error) {
  if (error.code() != Code::bad_value) throw;
  return std::nullopt;
}

std::vector<FittingFigure> figures_of_training(const StudyRecord& study) {
  std::vector<FittingFigure> figures;
  if (find_frame(study, "trajectory") == nullptr) return figures;
  for (const TrainingFigure& one : training_figures()) {
    auto figure = unless_refused([&] { return one.figure_of(study); });
    if (figure) figures.push_back({one.name, one.title, std::move(*figure)});
  }
  return figures;
}

bool is_measured(const Variable& variable) {
  return !variable.name.ends_with("_theory") && !variable.name.starts_with("critical_");
}

// Each name once, in the order of the study.
std::vector<std::string> observables_of(const StudyRecord& study) {
  std::vector<std::string> names;
  for (const Frame& frame : study.frames) {
    for (const Variable& variable : frame.variables()) {
      const bool known = std::find(names.begin(), names.end(), variable.name) != names.end();
      if (!known && is_measured(variable)) names.push_back(variable.name);
    }
  }
  return names;
}

std::vector<FittingFigure> special_figures(const StudyRecord& study) {
  std::vector<FittingFigure> figures;
  for (const std::string& name : observables_of(study)) {
    auto figure = specialised_figure(study, name);
    if (figure) figures.push_back({name, label_of(name), std::move(*figure)});
  }
  return figures;
}

FittingFigures automatic_figures(const StudyRecord& study, bool unfinished) {
  FittingFigures found;
  for (const std::string& name : observables_of(study)) {
    FigureRequest request;
    request.observable = name;
    request.unfinished = unfinished;
    auto figure = unless_refused([&] { return figure_of_study(study, request); });
    if (!figure) continue;
    if (found.figures.size() < kMostFittingFigures) {
      found.figures.push_back({name, label_of(name), std::move(*figure)});
    } else {
      ++found.left_out;
    }
  }
  return found;
}

}  // namespace

FittingFigures fitting_figures(const StudyRecord& study, bool unfinished) {
  if (auto figures = figures_of_training(study); !figures.empty()) return {std::move(figures), 0};
  if (auto figures = special_figures(study); !figures.empty()) return {std::move(figures), 0};
  return automatic_figures(study, unfinished);
}

}  // namespace dewpoint::report
