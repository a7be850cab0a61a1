#include "dewpoint/report/condensation.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Parameters that an axis, a legend or the number of samples tells.
const Names kShown{"n", "t", "signal", "draws"};

// What a point of a curve knows.
struct Place {
  double log_n;
  double load;
  double beside;  // NaN when the plot reads nothing beside its variable
};

using Coordinate = std::function<double(const Place&)>;
using Height = std::function<double(const Place&, double)>;  // of a value

double load_of(const Place& place) { return place.load; }
double itself(const Place&, double value) { return value; }

/// A panel of one quantity, and how place and value become x and y.
struct Plot {
  std::string variable;
  Coordinate x = load_of;
  Height y = itself;
  std::string beside{};  // a variable of the theory that x or y needs
};

class Condensation {
 public:
  explicit Condensation(const store::StudyRecord& study)
      : measured_(study.frame("condense")),
        theory_(study.frame("condense_theory")),
        law_(study.frame("condense_law")),
        lengths_(all_coordinates({&theory_, &measured_}, "n")) {
    if (!(lengths_.front() > 1.0 && std::isfinite(lengths_.back()))) {
      throw Error(Code::bad_value, "n: " + number_text(lengths_.front()) + " to " +
                                       number_text(lengths_.back()) + " is not above 1 and finite");
    }
    for (const char* dimension : {"n", "t"}) {
      if (increasing(law_, dimension) == increasing(measured_, dimension)) continue;
      throw Error(Code::bad_value, std::string("dimension '") + dimension +
                                       "' of frame 'condense_law' must be that of 'condense'");
    }
  }

  // One curve per n of a variable of the theory.
  void add_curves(LinePanel& panel, const Plot& plot) const {
    for (const double n : increasing(theory_, "n")) {
      add(panel, plot, {theory_, theory_}, n,
          as_theory({label_of(n), SeriesStyle::solid, colour_of(n), {}, {}, {}}));
    }
  }

  // Points name their n in the legend where no curve does.
  void add_points(LinePanel& panel, const Plot& plot) const {
    for (const double n : increasing(measured_, "n")) {
      const bool has_curve = index_of(increasing(theory_, "n"), n).has_value();
      add(panel, plot, {measured_, law_}, n,
          {has_curve ? "" : label_of(n), SeriesStyle::points, colour_of(n), {}, {}, {}});
    }
  }

  // A law that does not depend on n, in black.
  void add_limit(LinePanel& panel, const Plot& plot, SeriesStyle style,
                 const std::string& label) const {
    add(panel, plot, {theory_, theory_}, increasing(theory_, "n").back(),
        as_theory({label, style, kind_colour(0), {}, {}, {}}));
  }

  [[nodiscard]] std::string caption(const store::StudyRecord& study,
                                    const std::string& variable) const {
    return caption_of(study, kShown, &variable_over(measured_, variable, {"n", "t"}));
  }

 private:
  // Values, and what theory has at the same n and t.
  struct Source {
    const Frame& values;
    const Frame& theory;
  };

  static std::string label_of(double n) { return "N = " + length_text(n); }

  [[nodiscard]] Colour colour_of(double n) const {
    return degree_colour(*index_of(lengths_, n), lengths_.size());
  }

  static std::vector<double> beside(const Plot& plot, const Source& source, std::size_t position) {
    if (!plot.beside.empty()) return row_of(source.theory, plot.beside, "n", position, "t").mean;
    return std::vector<double>(increasing(source.values, "t").size(), kUnknown);
  }

  // Errors pass through the height, which is monotone: half the height of the bar.
  static void add(LinePanel& panel, const Plot& plot, const Source& source, double n,
                  Series series) {
    const std::size_t position = *index_of(increasing(source.values, "n"), n);
    const Row row = row_of(source.values, plot.variable, "n", position, "t");
    const std::vector<double> other = beside(plot, source, position);
    for (std::size_t i = 0; i < row.x.size(); ++i) {
      const Place place{std::log(n), row.x[i], other[i]};
      series.x.push_back(plot.x(place));
      series.y.push_back(plot.y(place, row.mean[i]));
      if (series.style != SeriesStyle::points) continue;
      series.error.push_back(0.5 * std::abs(plot.y(place, row.mean[i] + row.error[i]) -
                                            plot.y(place, row.mean[i] - row.error[i])));
    }
    panel.series.push_back(std::move(series));
  }

  const Frame& measured_;
  const Frame& theory_;
  const Frame& law_;             // theory at the n and t of the measured frame
  std::vector<double> lengths_;  // n of the first two
};

Series points_in_legend() { return {"measured", SeriesStyle::points, kind_colour(0), {}, {}, {}}; }

Axis linear(const std::string& label, std::optional<Range> range = std::nullopt) {
  return {label, AxisScale::linear, range};
}

// A stored law in black, without what is above `highest`.
Series curve(const Row& row, SeriesStyle style, const std::string& label,
             double highest = kInfinity) {
  Series series = as_theory({label, style, kind_colour(0), {}, {}, {}});
  for (std::size_t i = 0; i < row.x.size(); ++i) {
    if (row.mean[i] > highest) continue;
    series.x.push_back(row.x[i]);
    series.y.push_back(row.mean[i]);
  }
  return series;
}

double exponent(const Place& place, double weight) { return -std::log(weight) / place.log_n; }

double only_above_freezing(const Place& place, double value) {
  return place.load > 1.0 ? value : kUnknown;
}

double over_log_n(const Place& place, double value) { return value / place.log_n; }

double over_law(const Place& place, double weight) { return weight / place.beside; }

// The boundary is left out where theory does not have this n.
std::vector<Curve> retrieval_curves(const Frame& theory, double n) {
  std::vector<Curve> curves;
  if (const auto position = index_of(increasing(theory, "n"), n)) {
    const Row boundary = row_of(theory, "retrieval_signal", "n", *position, "t");
    curves.push_back({"retrieved above s_c(t)", CurveStyle::solid, boundary.x, boundary.mean});
  }
  curves.push_back({"best t = s, below the boundary", CurveStyle::dashed, {0.0, 1.0}, {0.0, 1.0}});
  return curves;
}

}  // namespace

LineFigure figure_of_condensation(const store::StudyRecord& study) {
  const Condensation frames(study);
  LinePanel weight{"",
                   linear(dewpoint::label_of("t")),
                   linear("mean largest weight", Range{-0.02, 1.0}),
                   {},
                   {}};
  frames.add_curves(weight, {"largest_weight"});
  frames.add_limit(weight, {"limit_largest_weight"}, SeriesStyle::dashed,
                   "N → ∞: Poisson-Dirichlet");
  frames.add_limit(weight, {"series_largest_weight"}, SeriesStyle::dotted,
                   "CAS (118), does not hold");
  frames.add_points(weight, {"largest_weight"});
  weight.series.push_back(points_in_legend());
  weight.markers = {{1.0, "freezing"}};

  LinePanel decay{"",
                  linear(dewpoint::label_of("t")),
                  linear("−log E w_max / log N", Range{-0.02, 1.02}),
                  {},
                  {}};
  frames.add_curves(decay, {"largest_weight", load_of, exponent});
  decay.series.push_back(curve(row_of(study.frame("condense_limits"), "decay_exponent", "t"),
                               SeriesStyle::dashed, "N → ∞: (1 − t)² up to freezing"));
  frames.add_points(decay, {"largest_weight", load_of, exponent});
  decay.markers = weight.markers;
  return {"", {weight, decay}, 2, frames.caption(study, "largest_weight")};
}

LineFigure figure_of_weight_collapse(const store::StudyRecord& study) {
  const Condensation frames(study);
  const Coordinate edge_load = [](const Place& place) { return place.beside; };
  LinePanel above{"above freezing",
                  linear("load at the edge t_e = β/b_N"),
                  linear("mean largest weight", Range{-0.02, 1.0}),
                  {},
                  {}};
  frames.add_curves(above, {"largest_weight", edge_load, itself, "edge_load"});
  frames.add_limit(above, {"limit_largest_weight"}, SeriesStyle::dashed,
                   "N → ∞: Poisson-Dirichlet");
  frames.add_points(above, {"largest_weight", edge_load, only_above_freezing, "edge_load"});
  above.series.push_back(points_in_legend());

  LinePanel below{"below freezing",
                  linear(dewpoint::label_of("t"), Range{0.0, 1.0}),
                  linear("E w_max over its law with prefactor", Range{0.0, 1.1}),
                  {},
                  {}};
  frames.add_curves(below, {"largest_weight", load_of, over_law, "largest_weight_law"});
  below.series.push_back(
      as_theory({"", SeriesStyle::dashed, kind_colour(0), {0.0, 1.0}, {1.0, 1.0}, {}}));
  frames.add_points(below, {"largest_weight", load_of, over_law, "largest_weight_law"});
  return {"", {above, below}, 2, frames.caption(study, "largest_weight")};
}

LineFigure figure_of_free_energies(const store::StudyRecord& study) {
  const Condensation frames(study);
  LinePanel energy{"", linear(dewpoint::label_of("t")), linear("free energy / log N"), {}, {}};
  frames.add_curves(energy, {"log_partition", load_of, over_log_n});
  const Frame& limits = study.frame("condense_limits");
  const Row quenched = row_of(limits, "quenched_free_energy", "t");
  // The annealed curve ends as high as the quenched one.
  energy.series.push_back(curve(row_of(limits, "annealed_free_energy", "t"), SeriesStyle::dotted,
                                "annealed: 1 + t²", quenched.mean.back()));
  energy.series.push_back(
      curve(quenched, SeriesStyle::dashed, "quenched, N → ∞: 2t above freezing"));
  frames.add_points(energy, {"log_partition", load_of, over_log_n});
  energy.series.push_back(points_in_legend());
  energy.markers = {{1.0, "freezing"}};

  const Coordinate distance = [](const Place& p) {
    return (1.0 - p.load) * std::sqrt(2.0 * p.log_n);
  };
  const Height loss = [](const Place& p, double value) { return value - p.beside; };
  LinePanel window{"",
                   linear("(1 − t) √(2 log N)", Range{-1.5, 4.0}),
                   linear("E log Z − log E Z", Range{-2.5, 0.1}),
                   {},
                   {}};
  frames.add_curves(window, {"log_partition", distance, loss, "log_mean_partition"});
  window.series.push_back(
      curve(row_of(study.frame("freezing_window"), "log_ratio", "scaling_variable"),
            SeriesStyle::dashed, "log Φ, N → ∞"));
  frames.add_points(window, {"log_partition", distance, loss, "log_mean_partition"});
  window.markers = {{0.0, "freezing"}};
  return {"", {energy, window}, 2, frames.caption(study, "log_partition")};
}

HeatmapFigure figure_of_retrieval(const store::StudyRecord& study) {
  const Frame& measured = study.frame("condense");
  const Frame& theory = study.frame("condense_theory");
  const Variable& weight = variable_over(measured, "planted_weight", {"n", "t", "signal"});
  const auto& lengths = increasing(measured, "n");
  const auto& loads = increasing(measured, "t");
  const auto& signals = increasing(measured, "signal");
  HeatmapFigure figure;
  figure.x_label = dewpoint::label_of("t");
  figure.y_label = "signal s = m/(σ √(2 log N))";
  figure.z_label = "mean weight of the planted key";
  const std::size_t cells = loads.size() * signals.size();
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    HeatmapPanel panel{"N = " + length_text(lengths[k]), loads, signals,
                       block_of_means(weight, k, cells), retrieval_curves(theory, lengths[k])};
    panel.error = known_errors(std::span(weight.cells).subspan(k * cells, cells));
    figure.panels.push_back(std::move(panel));
  }
  figure.caption = caption_of(study, kShown, &weight);
  return figure;
}

}  // namespace dewpoint::report
