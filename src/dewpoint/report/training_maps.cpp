#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/report/training_figures.hpp"
#include "dewpoint/report/training_run.hpp"

namespace dewpoint::report {
namespace {

// At most kMostMoments positions, evenly over all, the first and the last among them.
std::vector<std::size_t> chosen_moments(std::size_t count) {
  const std::size_t shown = std::min(count, kMostMoments);
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < shown; ++k) {
    chosen.push_back(shown == 1 ? 0 : (k * (count - 1) + (shown - 1) / 2) / (shown - 1));
  }
  return chosen;
}

std::string moments_note(std::size_t count) {
  if (count <= kMostMoments) return {};
  return fmt::format("{} of {} moments are shown.", kMostMoments, count);
}

// Columns of a matrix along x, rows along y; its entries come row by row.
std::vector<double> turned(const std::vector<double>& entries, std::size_t rows) {
  const std::size_t columns = entries.size() / rows;
  std::vector<double> turned(entries.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) turned[j * rows + i] = entries[i * columns + j];
  }
  return turned;
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> numbers(count);
  for (std::size_t k = 0; k < count; ++k) numbers[k] = double(k);
  return numbers;
}

std::size_t nearest(const std::vector<double>& times, double moment) {
  const auto closer = [&](double a, double b) {
    return std::abs(a - moment) < std::abs(b - moment);
  };
  return static_cast<std::size_t>(std::min_element(times.begin(), times.end(), closer) -
                                  times.begin());
}

// A boundary belongs to the stage that begins there.
std::string stage_at(const TrainingRun& run, double time) {
  std::string name;
  for (const TrainingStage& stage : run.stages()) {
    if (time >= stage.from) name = "stage " + stage.name;
  }
  return name;
}

}  // namespace

HeatmapFigure figure_of_weight_cosines(const store::StudyRecord& study) {
  const TrainingRun run(study);
  const Frame& frame = study.frame("condensation");
  const Variable& cosine = variable_over(frame, "cosine", {"moment", "matrix", "row", "column"});
  const Variable& mean = variable_over(frame, "mean_cosine", {"moment", "matrix"});
  const auto& moments = increasing(frame, "moment");
  const auto& matrices = frame.dimension("matrix").labels;
  const std::vector<double> units = counted(frame.dimension("row").coordinates.size());
  const std::vector<std::size_t> chosen = chosen_moments(moments.size());

  HeatmapFigure figure;
  figure.look = PanelLook::texture;
  figure.colours = ColourMap::diverging;
  figure.z_label = "cosine between two units";
  figure.z_low = -1.0;
  figure.columns = chosen.size();
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    for (const std::size_t k : chosen) {
      const std::size_t place = k * matrices.size() + m;
      HeatmapPanel panel;
      panel.title = matrices[m] + ", " + run.time_text(moments[k]);
      panel.subtitle = fmt::format("mean |cos| {:.2f}", mean.cells[place].mean);
      panel.x = panel.y = units;
      panel.z = turned(block_of_means(cosine, place, units.size() * units.size()), units.size());
      figure.panels.push_back(std::move(panel));
    }
  }
  figure.caption = run.caption({moments_note(moments.size())});
  return figure;
}

HeatmapFigure figure_of_attention_maps(const store::StudyRecord& study) {
  const TrainingRun run(study);
  const Variable& attention =
      variable_over(run.trajectory(), "attention", {"time", "query", "key"});
  const auto& moments = increasing(study.frame("condensation"), "moment");
  const std::size_t size = run.vocabulary();

  HeatmapFigure figure;
  figure.look = PanelLook::matrix;
  figure.x_label = "key";
  figure.y_label = "query";
  figure.z_label = "attention weight";
  for (const std::size_t k : chosen_moments(moments.size())) {
    const std::size_t at = nearest(run.times(), moments[k]);
    HeatmapPanel panel;
    panel.title = run.time_text(run.times()[at]);
    panel.subtitle = stage_at(run, run.times()[at]);
    panel.x = panel.y = counted(size);
    panel.z = turned(block_of_means(attention, at, size * size), size);
    figure.panels.push_back(std::move(panel));
  }
  figure.caption = run.caption({moments_note(moments.size())});
  return figure;
}

}  // namespace dewpoint::report
