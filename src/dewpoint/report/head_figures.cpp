#include "dewpoint/report/head_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

constexpr std::size_t kMostPanels = 4;

// ---- reading --------------------------------------------------------------------------------

/// A variable of the heads at (layer, head, n, multiplier); one without multipliers ignores that.
class HeadValues {
 public:
  HeadValues(const Frame& frame, const std::string& name)
      : layers_(frame.dimension("layer").coordinates.size()),
        heads_(frame.dimension("head").coordinates.size()),
        lengths_(frame.dimension("n").coordinates.size()) {
    const Variable& found = frame.variable(name);
    multipliers_ = found.dimensions.size() == 4 ? frame.dimension("multiplier").labels.size() : 1;
    Names dimensions = {"layer", "head", "n"};
    if (found.dimensions.size() == 4) dimensions.push_back("multiplier");
    cells_ = &variable_over(frame, name, dimensions).cells;
  }

  [[nodiscard]] std::size_t layers() const { return layers_; }
  [[nodiscard]] std::size_t heads() const { return heads_; }
  [[nodiscard]] std::size_t lengths() const { return lengths_; }
  [[nodiscard]] std::size_t multipliers() const { return multipliers_; }
  [[nodiscard]] const Estimate& at(std::size_t layer, std::size_t head, std::size_t n,
                                   std::size_t multiplier) const {
    return (*cells_)[((layer * heads_ + head) * lengths_ + n) * multipliers_ +
                     std::min(multiplier, multipliers_ - 1)];
  }

 private:
  std::size_t layers_, heads_, lengths_, multipliers_;
  const std::vector<Estimate>* cells_;
};

double median_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return kUnknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

// ---- maps -----------------------------------------------------------------------------------

HeatmapPanel map_panel(const Frame& frame, const HeadValues& values, std::size_t n,
                       std::size_t multiplier, std::string title) {
  HeatmapPanel panel;
  panel.title = std::move(title);
  panel.x = increasing(frame, "head");
  panel.y = increasing(frame, "layer");
  for (std::size_t head = 0; head < values.heads(); ++head) {
    for (std::size_t layer = 0; layer < values.layers(); ++layer) {
      const Estimate& cell = values.at(layer, head, n, multiplier);
      panel.z.push_back(cell.mean);
      panel.error.push_back(cell.standard_error);
    }
  }
  return panel;
}

std::vector<HeatmapPanel> map_panels(const Frame& frame, const HeadValues& values) {
  std::vector<HeatmapPanel> panels;
  const std::size_t longest = values.lengths() - 1;
  if (values.multipliers() > 1) {
    const auto& names = frame.dimension("multiplier").labels;
    for (std::size_t k = 0; k < std::min(values.multipliers(), kMostPanels); ++k) {
      panels.push_back(map_panel(frame, values, longest, k, fmt::format("logits × {}", names[k])));
    }
    return panels;
  }
  const auto& lengths = frame.dimension("n").coordinates;
  const std::size_t count = std::min(values.lengths(), kMostPanels);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t n = count == 1 ? longest : k * longest / (count - 1);
    panels.push_back(map_panel(frame, values, n, 0, fmt::format("up to {:g} keys", lengths[n])));
  }
  return panels;
}

Range range_of(const std::vector<HeatmapPanel>& panels) {
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const HeatmapPanel& panel : panels) {
    for (const double z : panel.z) {
      if (!std::isfinite(z)) continue;
      range.low = std::min(range.low, z);
      range.high = std::max(range.high, z);
    }
  }
  if (!(range.low <= range.high)) return {0.0, 1.0};
  if (range.low == range.high) return {range.low - 0.5, range.high + 0.5};
  return range;
}

// As far on either side of 1 as the farthest head, and at least a factor of 2.
void part_at_one(HeatmapFigure& figure) {
  const Range range = range_of(figure.panels);
  double reach = std::max(2.0, range.high);
  if (range.low > 0.0) reach = std::max(reach, 1.0 / range.low);
  reach = std::min(reach, 100.0);
  figure.z_low = 1.0 / reach;
  figure.z_high = reach;
  figure.z_scale = AxisScale::logarithmic;
  figure.colours = ColourMap::diverging;
}

// ---- curves ---------------------------------------------------------------------------------

struct CurvePanel {
  const char* variable;
  std::string label;
  AxisScale scale;
};

/// One dot per head and length, and the median over heads of every layer.
void add_layers(LinePanel& panel, const Frame& frame, const std::string& variable) {
  const HeadValues values(frame, variable);
  const auto& lengths = increasing(frame, "n");
  const auto& numbers = frame.dimension("layer").coordinates;
  for (std::size_t layer = 0; layer < values.layers(); ++layer) {
    const Colour colour = degree_colour(layer, values.layers());
    Series dots{"", SeriesStyle::dots, colour, {}, {}, {}};
    Series line{fmt::format("layer {:g}", numbers[layer]),
                SeriesStyle::line_and_points,
                colour,
                lengths,
                {},
                {}};
    for (std::size_t n = 0; n < lengths.size(); ++n) {
      std::vector<double> heads;
      for (std::size_t head = 0; head < values.heads(); ++head) {
        heads.push_back(values.at(layer, head, n, 0).mean);
        dots.x.push_back(lengths[n]);
        dots.y.push_back(heads.back());
      }
      line.y.push_back(median_of(std::move(heads)));
    }
    panel.series.push_back(std::move(dots));
    panel.series.push_back(std::move(line));
  }
}

// The median over all heads of what theory says.
void add_prediction(LinePanel& panel, const Frame& frame) {
  if (frame.find_variable("dew_point_gaussian") == nullptr) return;
  const HeadValues values(frame, "dew_point_gaussian");
  Series line{"Gaussian scores of the same variance",
              SeriesStyle::dashed,
              kind_colour(0),
              increasing(frame, "n"),
              {},
              {}};
  for (std::size_t n = 0; n < values.lengths(); ++n) {
    std::vector<double> all;
    for (std::size_t layer = 0; layer < values.layers(); ++layer) {
      for (std::size_t head = 0; head < values.heads(); ++head) {
        all.push_back(values.at(layer, head, n, 0).mean);
      }
    }
    line.y.push_back(median_of(std::move(all)));
  }
  panel.series.push_back(as_theory(std::move(line)));
}

// ---- sweeps ---------------------------------------------------------------------------------

/// What stands beside the losses must be there for the same lengths, and as often for each.
const std::vector<Estimate>& cells_beside(const Frame& frame, const std::string& variable,
                                          const Names& dimensions, const Frame& loss,
                                          std::size_t per_length) {
  const std::vector<Estimate>& cells = variable_over(frame, variable, dimensions).cells;
  const std::vector<double>& lengths = loss.dimension("length").coordinates;
  if (frame.dimension("length").coordinates != lengths ||
      cells.size() != lengths.size() * per_length) {
    throw Error(
        Code::bad_value,
        fmt::format("frame '{}' has other lengths or rotations than the losses", frame.name()));
  }
  return cells;
}

/// The line of one rotation at one length.
Series loss_line(const Frame& loss, std::size_t length, std::size_t rope) {
  const std::vector<double>& multipliers = increasing(loss, "multiplier");
  const Dimension& ropes = loss.dimension("rope");
  const Variable& change = variable_over(loss, "loss_change", {"length", "rope", "multiplier"});
  const std::size_t begin = (length * ropes.labels.size() + rope) * multipliers.size();
  Series line{
      ropes.labels[rope], SeriesStyle::line_and_points, kind_colour(rope + 1), multipliers, {}, {}};
  for (std::size_t k = 0; k < multipliers.size(); ++k) {
    line.y.push_back(change.cells[begin + k].mean);
    line.error.push_back(change.cells[begin + k].standard_error);
  }
  return line;
}

/// Where each rotation keeps the phase of training, as high as the panel.
void add_iso_phases(LinePanel& panel, const store::StudyRecord& study, std::size_t length) {
  const Frame* iso = find_frame(study, "iso_phase");
  if (iso == nullptr) return;
  double low = 0.0, high = 0.0;
  for (const Series& line : panel.series) {
    for (const double y : line.y) {
      if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
    }
  }
  const std::size_t ropes = panel.series.size();
  const std::vector<Estimate>& factors =
      cells_beside(*iso, "iso_phase", {"length", "rope"}, study.frame("loss"), ropes);
  for (std::size_t rope = 0; rope < ropes; ++rope) {
    const double factor = factors[length * ropes + rope].mean;
    panel.series.push_back(as_theory(
        {"", SeriesStyle::dotted, panel.series[rope].colour, {factor, factor}, {low, high}, {}}));
  }
}

void add_schedules(LinePanel& panel, const store::StudyRecord& study, std::size_t length) {
  const Frame* schedules = find_frame(study, "schedules");
  if (schedules == nullptr) return;
  const Dimension& names = schedules->dimension("schedule");
  const std::vector<Estimate>& factors = cells_beside(
      *schedules, "multiplier", {"length", "schedule"}, study.frame("loss"), names.labels.size());
  for (std::size_t k = 0; k < names.labels.size(); ++k) {
    const double factor = factors[length * names.labels.size() + k].mean;
    if (factor != 1.0) panel.markers.push_back({factor, names.labels[k]});
  }
}

}  // namespace

HeatmapFigure figure_of_head_map(const store::StudyRecord& study, const std::string& observable) {
  const Frame& frame = study.frame("heads");
  const HeadValues values(frame, observable);
  HeatmapFigure figure;
  figure.x_label = "head";
  figure.y_label = "layer";
  figure.z_label = label_of(observable);
  figure.panels = map_panels(frame, values);
  figure.caption = caption_of(study, {"layer", "head", "n", "multiplier"}, nullptr);
  if (observable.starts_with("phase")) {
    part_at_one(figure);
  } else {
    const Range range = range_of(figure.panels);
    figure.z_low = range.low;
    figure.z_high = range.high;
  }
  return figure;
}

LineFigure figure_of_head_curves(const store::StudyRecord& study) {
  const Frame& frame = study.frame("heads");
  const Axis keys{"visible keys n", AxisScale::logarithmic, std::nullopt};
  LineFigure figure;
  figure.columns = 2;
  const CurvePanel panels[] = {
      {"dew_point_without_sink", label_of("dew_point"), AxisScale::logarithmic},
      {"phase_without_sink", "phase τ = 1/β_dew", AxisScale::logarithmic},
      {"effective_share_without_sink", label_of("effective_share"), AxisScale::logarithmic},
      {"largest_weight_without_sink", label_of("largest_weight"), AxisScale::linear}};
  for (const CurvePanel& wanted : panels) {
    LinePanel panel{"", keys, {wanted.label, wanted.scale, std::nullopt}, {}, {}};
    add_layers(panel, frame, wanted.variable);
    if (figure.panels.empty()) add_prediction(panel, frame);
    figure.panels.push_back(std::move(panel));
  }
  figure.caption =
      caption_of(study, {"layer", "head", "n", "multiplier"}, nullptr) + " · without sinks";
  return figure;
}

std::vector<std::string> verdicts_on_heads(const store::StudyRecord& study) {
  const Frame* frame = find_frame(study, "heads");
  if (frame == nullptr || frame->find_variable("reason_probability") == nullptr) return {};
  const Variable& probability = variable_over(*frame, "reason_probability", {"reason"});
  std::vector<std::string> verdicts = frame->dimension("reason").labels;
  for (std::size_t row = 0; row < verdicts.size(); ++row) {
    verdicts[row] += fmt::format(" ({:.0f} %)", 100.0 * probability.cells[row].mean);
  }
  return verdicts;
}

LineFigure figure_of_loss_sweep(const store::StudyRecord& study) {
  const Frame& loss = study.frame("loss");
  const std::vector<double>& lengths = increasing(loss, "length");
  LineFigure figure;
  figure.columns = 2;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    LinePanel panel{fmt::format("n = {:g}", lengths[k]),
                    {label_of("multiplier"), AxisScale::linear, std::nullopt},
                    {"loss above m = 1 (nats)", AxisScale::linear, std::nullopt},
                    {},
                    {}};
    for (std::size_t rope = 0; rope < loss.dimension("rope").labels.size(); ++rope) {
      panel.series.push_back(loss_line(loss, k, rope));
    }
    add_iso_phases(panel, study, k);
    add_schedules(panel, study, k);
    figure.panels.push_back(std::move(panel));
  }
  if (find_frame(study, "iso_phase") != nullptr) {
    figure.panels.front().series.push_back(as_theory(
        {"keeps the phase of training", SeriesStyle::dotted, kind_colour(0), {}, {}, {}}));
  }
  figure.caption = caption_of(study, {"length", "rope", "multiplier", "lengths", "multipliers"},
                              &loss.variable("loss"));
  return figure;
}

}  // namespace dewpoint::report
