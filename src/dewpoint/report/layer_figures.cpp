#include "dewpoint/report/layer_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "dewpoint/report/training_run.hpp"

namespace dewpoint::report {
namespace {

/// A variable over (model, run, step), or over these and one more.
class RunValues {
 public:
  RunValues(const Frame& frame, const std::string& variable, const Names& inner)
      : steps_(&increasing(frame, "step")),
        models_(&frame.dimension("model").labels),
        runs_(frame.dimension("run").coordinates.size()) {
    Names dimensions = {"model", "run", "step"};
    dimensions.insert(dimensions.end(), inner.begin(), inner.end());
    cells_ = &variable_over(frame, variable, dimensions).cells;
    if (models_->empty() || runs_ == 0) {
      throw Error(Code::bad_value, "frame 'layer runs' has no model or no run");
    }
    inner_ = cells_->size() / (models_->size() * runs_ * steps_->size());
  }

  [[nodiscard]] const std::vector<double>& steps() const { return *steps_; }
  [[nodiscard]] const Names& models() const { return *models_; }
  [[nodiscard]] std::size_t runs() const { return runs_; }
  [[nodiscard]] std::size_t inner() const { return inner_; }

  [[nodiscard]] std::vector<double> of_run(std::size_t model, std::size_t run,
                                           std::size_t place) const {
    std::vector<double> values;
    for (std::size_t k = 0; k < steps_->size(); ++k) {
      values.push_back(
          (*cells_)[((model * runs_ + run) * steps_->size() + k) * inner_ + place].mean);
    }
    return values;
  }

  /// Mean over the runs that have a value.
  [[nodiscard]] std::vector<double> mean(std::size_t model, std::size_t place) const {
    std::vector<double> sum(steps_->size(), 0.0), count(steps_->size(), 0.0);
    for (std::size_t run = 0; run < runs_; ++run) {
      const std::vector<double> values = of_run(model, run, place);
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (std::isnan(values[k])) continue;
        sum[k] += values[k];
        count[k] += 1.0;
      }
    }
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] = count[k] > 0.0 ? sum[k] / count[k] : kUnknown;
    }
    return sum;
  }

 private:
  const std::vector<double>* steps_;
  const Names* models_;
  std::size_t runs_;
  const std::vector<Estimate>* cells_;
  std::size_t inner_;
};

bool is_known(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return !std::isnan(v); });
}

// Pale lines first, so that no mean lies beneath a run.
void add_runs(LinePanel& panel, const RunValues& values, std::size_t model, std::size_t place,
              Colour colour) {
  if (values.runs() < 2) return;
  for (std::size_t run = 0; run < values.runs(); ++run) {
    std::vector<double> y = values.of_run(model, run, place);
    if (!is_known(y)) continue;
    panel.series.push_back(
        {"", SeriesStyle::solid, pale(colour), values.steps(), std::move(y), {}});
  }
}

void add_mean(LinePanel& panel, const RunValues& values, std::size_t model, std::size_t place,
              Colour colour, const std::string& label) {
  std::vector<double> y = values.mean(model, place);
  if (!is_known(y)) return;
  panel.series.push_back({label, SeriesStyle::solid, colour, values.steps(), std::move(y), {}});
}

using ColourOf = std::function<Colour(std::size_t place)>;
using LabelOf = std::function<std::string(std::size_t place)>;

LinePanel panel_of_model(const RunValues& values, std::size_t model, const Axis& y,
                         const ColourOf& colour, const LabelOf& label, std::size_t places) {
  LinePanel panel{values.models()[model], {"step", AxisScale::linear, std::nullopt}, y, {}, {}};
  for (std::size_t k = 0; k < places; ++k) add_runs(panel, values, model, k, colour(k));
  for (std::size_t k = 0; k < places; ++k) add_mean(panel, values, model, k, colour(k), label(k));
  return panel;
}

std::string runs_note(std::size_t runs) {
  return runs < 2 ? "" : fmt::format("Means over {} runs; pale: the runs. ", runs);
}

LineFigure figure_over_models(const store::StudyRecord& study, const RunValues& values,
                              const Axis& y, const ColourOf& colour, const LabelOf& label,
                              std::size_t places) {
  LineFigure figure;
  for (std::size_t model = 0; model < values.models().size(); ++model) {
    figure.panels.push_back(panel_of_model(values, model, y, colour, label, places));
  }
  if (figure.panels.size() == 4) figure.columns = 2;
  figure.caption = runs_note(values.runs()) + caption_of(study, {}, nullptr);
  return figure;
}

}  // namespace

LineFigure figure_of_layer_norms(const store::StudyRecord& study) {
  const Frame& frame = study.frame("layer runs");
  const RunValues values(frame, "norm", {"token"});
  const auto& tokens = frame.dimension("token").coordinates;
  return figure_over_models(
      study, values, {"norm of the embedding", AxisScale::linear, std::nullopt}, token_colour,
      [&](std::size_t k) { return fmt::format("token {:g}", tokens[k]); },
      std::min(values.inner(), kMostTokensShown));
}

LineFigure figure_of_layer_focus(const store::StudyRecord& study) {
  const Frame& frame = study.frame("layer runs");
  const RunValues values(frame, "focus", {"layer"});
  const auto& layers = frame.dimension("layer").coordinates;
  return figure_over_models(
      study, values,
      {"attention of the rarest token to token 0", AxisScale::linear, Range{-0.03, 1.03}},
      [&](std::size_t k) { return degree_colour(k, values.inner()); },
      [&](std::size_t k) { return fmt::format("layer {:g}", layers[k]); }, values.inner());
}

LineFigure figure_of_layer_losses(const store::StudyRecord& study) {
  const RunValues values(study.frame("layer runs"), "loss", {});
  LinePanel panel{"",
                  {"step", AxisScale::linear, std::nullopt},
                  {"loss (nats)", AxisScale::linear, std::nullopt},
                  {},
                  {}};
  for (std::size_t model = 0; model < values.models().size(); ++model) {
    add_runs(panel, values, model, 0, token_colour(model));
  }
  for (std::size_t model = 0; model < values.models().size(); ++model) {
    add_mean(panel, values, model, 0, token_colour(model), values.models()[model]);
  }
  return {"", {panel}, 1, runs_note(values.runs()) + caption_of(study, {}, nullptr), 2.0};
}

}  // namespace dewpoint::report
