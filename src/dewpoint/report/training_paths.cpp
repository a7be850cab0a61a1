#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dewpoint/report/page.hpp"
#include "dewpoint/report/training_figures.hpp"
#include "dewpoint/report/training_run.hpp"

namespace dewpoint::report {
namespace {

constexpr Colour kBefore = 0xc8c8c8;
constexpr double kRoom = 1.12;  // of the larger span, with room for the marks at the ends

struct Path {
  std::vector<double> x;
  std::vector<double> y;
};

// One path per token, at the times from..until.
std::vector<Path> paths_between(const TrainingRun& run, double from, double until) {
  std::vector<Path> paths;
  for (std::size_t k = 0; k < run.tokens(); ++k) {
    const auto x = run.over_time("path", {"token", "component"}, 2 * k);
    const auto y = run.over_time("path", {"token", "component"}, 2 * k + 1);
    Path path;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (run.times()[i] < from || run.times()[i] > until) continue;
      path.x.push_back(x[i]);
      path.y.push_back(y[i]);
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(const std::vector<double>& values) {
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  [[nodiscard]] bool is_empty() const { return low > high; }
  [[nodiscard]] double span() const { return high - low; }
  [[nodiscard]] Range of_width(double width) const {
    const double middle = low + span() / 2;
    return {middle - width / 2, middle + width / 2};
  }
};

// A unit is as long on one axis as on the other.
void set_equal_axes(LinePanel& panel, const std::vector<Path>& paths) {
  Extent x;
  Extent y;
  for (const Path& path : paths) {
    x.add(path.x);
    y.add(path.y);
  }
  if (x.is_empty() || y.is_empty()) return;
  const double pixel = kRoom * std::max(x.span() / kPanelWidth, y.span() / kPanelHeight);
  if (!(pixel > 0)) return;
  panel.x.range = x.of_width(pixel * kPanelWidth);
  panel.y.range = y.of_width(pixel * kPanelHeight);
}

void add_paths(LinePanel& panel, const TrainingRun& run, const std::vector<Path>& paths) {
  for (std::size_t k = 0; k < paths.size(); ++k) {
    panel.series.push_back(
        {run.label("token", k), SeriesStyle::solid, token_colour(k), paths[k].x, paths[k].y, {}});
  }
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (paths[k].x.empty()) continue;
    panel.series.push_back(
        {"", SeriesStyle::points, token_colour(k), {paths[k].x.back()}, {paths[k].y.back()}, {}});
  }
}

LinePanel empty_panel(const TrainingRun& run, const std::string& title) {
  const auto& explained = variable_over(run.trajectory(), "path_explained", {"component"}).cells;
  const auto label = [&](std::size_t k) {
    return fmt::format("principal component {} ({:.0f} %)", k + 1, 100 * explained.at(k).mean);
  };
  return {title, {label(0), AxisScale::linear, {}}, {label(1), AxisScale::linear, {}}, {}, {}};
}

LinePanel whole_run(const TrainingRun& run) {
  LinePanel panel = empty_panel(run, "whole run");
  const auto paths = paths_between(run, run.times().front(), run.times().back());
  add_paths(panel, run, paths);
  set_equal_axes(panel, paths);
  return panel;
}

// A stage in close-up, on what was before.
LinePanel close_up(const TrainingRun& run, const std::string& title, double from, double until) {
  LinePanel panel = empty_panel(run, title);
  for (const Path& path : paths_between(run, run.times().front(), from)) {
    if (from > run.times().front()) {
      panel.series.push_back({"before", SeriesStyle::solid, kBefore, path.x, path.y, {}});
    }
  }
  const auto paths = paths_between(run, from, until);
  add_paths(panel, run, paths);
  set_equal_axes(panel, paths);
  return panel;
}

}  // namespace

LineFigure figure_of_embedding_paths(const store::StudyRecord& study) {
  const TrainingRun run(study);
  LineFigure figure;
  figure.panels.push_back(whole_run(run));
  const auto stages = run.stages();
  if (stages.size() > 2) {
    figure.panels.push_back(
        close_up(run, "I and II: until focus peaks", stages[0].from, stages[1].until));
    figure.panels.push_back(close_up(run, "III: dilution", stages[2].from, stages[2].until));
  }
  if (stages.size() > 3) {
    figure.panels.push_back(
        close_up(run, "IV: new direction, and after", stages[3].from, stages[3].until));
  }
  figure.columns = 2;
  figure.caption = run.caption({"Discs: ends of the paths.", run.token_note()});
  return figure;
}

}  // namespace dewpoint::report
