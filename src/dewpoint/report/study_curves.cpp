#include "dewpoint/report/study_curves.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/colour.hpp"
#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/panel_ranges.hpp"
#include "dewpoint/report/study_lines.hpp"

namespace dewpoint::report {
namespace {

constexpr double kSameMarker = 1e-9;  // relative: predictions that differ by rounding only

struct Curves {
  const StudySlice& slice;
  LineRoles roles;
  const Variable* theory;  // null: none
};

Curves curves_of(const StudySlice& slice, const FigureRequest& request) {
  return {slice, line_roles(slice, request),
          slice.frame().find_variable(slice.observable().name + "_theory")};
}

// Points where a line of theory runs beneath them, otherwise joined.
Series measured_series(const Curves& curves, const StudyLine& line, std::size_t index) {
  return {line.name,
          curves.theory != nullptr ? SeriesStyle::points : SeriesStyle::line_and_points,
          line_colour(curves.roles, index),
          line.x,
          line.mean,
          line.error};
}

// Points that are too many to be told apart are a line between the pale ones of its errors.
constexpr std::size_t kMostMarkers = 100;

Series error_edge(const Series& series, double side) {
  Series edge{"", SeriesStyle::solid, pale(series.colour), series.x, series.y, {}};
  for (std::size_t k = 0; k < edge.y.size(); ++k) edge.y[k] += side * series.error[k];
  return edge;
}

void add_measured(LinePanel& panel, Series series) {
  if (series.style == SeriesStyle::line_and_points && series.x.size() > kMostMarkers) {
    panel.series.push_back(error_edge(series, -1.0));
    panel.series.push_back(error_edge(series, 1.0));
    series.style = SeriesStyle::solid;
    series.error.clear();
  }
  panel.series.push_back(std::move(series));
}

Series theory_series(const Curves& curves, const Place& place, std::size_t index) {
  const StudyLine line = line_at(curves.slice, curves.roles, *curves.theory, place);
  return as_theory(
      {"", SeriesStyle::dashed, line_colour(curves.roles, index), line.x, line.mean, {}});
}

// Where the transition is expected on x, if that is one place for the whole panel.
std::vector<Marker> critical_markers(const Curves& curves, const Place& panel) {
  const std::string& name = curves.roles.x->name();
  const Variable* critical = curves.slice.frame().find_variable("critical_" + name);
  if (critical == nullptr) return {};
  std::optional<double> common;
  for (const Place& place : line_places(curves.roles, panel)) {
    for (const double value : line_at(curves.slice, curves.roles, *critical, place).mean) {
      if (!common) common = value;
      if (!(std::abs(value - *common) <= kSameMarker * std::abs(*common))) return {};
    }
  }
  if (!common) return {};
  const double shown = std::stod(fmt::format("{:.4g}", *common));
  return {{*common, value_label(name, shown)}};
}

LinePanel panel_at(const Curves& curves, const FigureRequest& request, const Place& place) {
  LinePanel panel;
  panel.title = curves.slice.place_label(place, curves.roles.panels);
  panel.x = {label_of(curves.roles.x->name()),
             axis_scale(*curves.roles.x, request.log_x, request.linear), std::nullopt};
  panel.y = {label_of(curves.slice.observable().name),
             request.log_y ? AxisScale::logarithmic : AxisScale::linear, std::nullopt};
  const std::vector<Place> lines = line_places(curves.roles, place);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const StudyLine line = line_at(curves.slice, curves.roles, curves.slice.observable(), lines[k]);
    add_measured(panel, measured_series(curves, line, k));
    if (curves.theory != nullptr) panel.series.push_back(theory_series(curves, lines[k], k));
  }
  panel.markers = critical_markers(curves, place);
  return panel;
}

// Panels side by side show the same range of y.
void share_range(LineFigure& figure) {
  const Axis axis = figure.panels.front().y;
  std::vector<double> places;
  for (const LinePanel& panel : figure.panels) {
    const std::vector<double> more = y_places(panel);
    places.insert(places.end(), more.begin(), more.end());
  }
  Range range = shown_range(axis, places);
  if (axis.scale == AxisScale::logarithmic) {
    range = {std::pow(10.0, range.low), std::pow(10.0, range.high)};
  }
  for (LinePanel& panel : figure.panels) panel.y.range = range;
}

void add_theory_entry(LineFigure& figure) {
  figure.panels.front().series.push_back(
      as_theory({"theory", SeriesStyle::dashed, 0x000000, {}, {}, {}}));
}

LineFigure figure_of(const Curves& curves, const FigureRequest& request) {
  LineFigure figure;
  figure.title = request.title;
  figure.caption = curves.slice.caption();
  for (const Place& place : curves.slice.places(curves.roles.panels)) {
    figure.panels.push_back(panel_at(curves, request, place));
  }
  if (figure.panels.size() > 1) share_range(figure);
  return figure;
}

// ------------------------------------------------------------------------------------- scaling

// The law of a figure, and how its slope is called there.
struct DrawnLaw {
  FitLaw law;
  std::string slope;  // "slope", "slope in log n", "exponent of log n"
};

DrawnLaw drawn_law(const FigureRequest& request, const std::string& x) {
  const FitLaw law = fit_law(request.fit);
  if (law == FitLaw::logarithm) return {law, "slope in log " + symbol_of(x)};
  if (law == FitLaw::power_of_logarithm) return {law, "exponent of log " + symbol_of(x)};
  return {law, "slope"};
}

double fitted(const ScalingFit& fit, FitLaw law, double x) {
  const double u = law == FitLaw::power_of_logarithm ? std::log(std::log(x)) : std::log(x);
  const double v = fit.intercept + fit.slope * u;
  return law == FitLaw::logarithm ? v : std::exp(v);
}

std::string fit_label(const ScalingFit& fit, const DrawnLaw& law) {
  const std::string slope = to_string(Estimate{fit.slope, fit.slope_error, 0});
  const std::string line = fit.line.empty() ? "" : fit.line + ": ";
  return fmt::format("{}{} {}, χ²/dof = {:.2g}", line, law.slope, slope, fit.chi2_per_dof);
}

// Two ends of what is straight on its axes, more places of what is bent.
Series fit_series(const ScalingFit& fit, const DrawnLaw& law, Colour colour) {
  Series series{fit_label(fit, law), SeriesStyle::solid, colour, {}, {}, {}};
  const int steps = law.law == FitLaw::power_of_logarithm ? 32 : 1;
  for (int k = 0; k <= steps; ++k) {
    const double share = static_cast<double>(k) / steps;
    const bool end = k == steps;
    series.x.push_back(end ? fit.x.high : fit.x.low * std::pow(fit.x.high / fit.x.low, share));
    series.y.push_back(fitted(fit, law.law, series.x.back()));
  }
  return series;
}

// The fit lies beneath its line, in its colour.
void add_fit(LineFigure& figure, const ScalingFit& fit, const DrawnLaw& law) {
  for (LinePanel& panel : figure.panels) {
    if (panel.title != fit.panel) continue;
    const auto line =
        std::find_if(panel.series.begin(), panel.series.end(), [&](const Series& series) {
          return series.label == fit.line && series.style == SeriesStyle::points;
        });
    if (line == panel.series.end()) continue;
    const Colour colour = line->colour;
    line->label.clear();  // the fit's entry names the line too
    panel.series.push_back(fit_series(fit, law, colour));
    return;
  }
  throw Error(Code::bad_value,
              fmt::format("no line '{}' in panel '{}' for a fit", fit.line, fit.panel));
}

const char* fits_text(FitLaw law) {
  switch (law) {
    case FitLaw::logarithm:
      return "fits of a + b log x";
    case FitLaw::power_of_logarithm:
      return "fits of powers of log x";
    default:
      return "fits of powers";
  }
}

}  // namespace

const std::vector<std::string>& fit_laws() {
  static const std::vector<std::string> names{"power", "log", "log-power"};
  return names;
}

FitLaw fit_law(const std::string& name) {
  const auto& names = fit_laws();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(Code::bad_value,
                fmt::format("fit: '{}' is none of {}", name, fmt::join(names, ", ")));
  }
  return static_cast<FitLaw>(found - names.begin());
}

std::vector<StudyLine> lines_of(const store::StudyRecord& study, const FigureRequest& request) {
  const StudySlice slice(study, request);
  const Curves curves = curves_of(slice, request);
  std::vector<StudyLine> lines;
  for (const Place& panel : slice.places(curves.roles.panels)) {
    for (const Place& place : line_places(curves.roles, panel)) {
      lines.push_back(line_at(slice, curves.roles, slice.observable(), place));
    }
  }
  return lines;
}

LineFigure curve_of_study(const store::StudyRecord& study, const FigureRequest& request) {
  const StudySlice slice(study, request);
  const Curves curves = curves_of(slice, request);
  LineFigure figure = figure_of(curves, request);
  if (curves.theory != nullptr) add_theory_entry(figure);
  return figure;
}

LineFigure scaling_of_study(const store::StudyRecord& study, const FigureRequest& request,
                            const std::vector<ScalingFit>& fits) {
  FigureRequest scaled = request;
  scaled.kind = "scaling";
  scaled.log_x = true;
  scaled.log_y = fit_law(request.fit) != FitLaw::logarithm;
  const StudySlice slice(study, scaled);
  const Curves curves = curves_of(slice, scaled);
  LineFigure figure = figure_of(curves, scaled);
  for (LinePanel& panel : figure.panels) {
    for (Series& series : panel.series) {
      if (!fits.empty() && series.style == SeriesStyle::line_and_points) {
        series.style = SeriesStyle::points;
      }
    }
  }
  const DrawnLaw law = drawn_law(request, curves.roles.x->name());
  for (const ScalingFit& fit : fits) add_fit(figure, fit, law);
  if (curves.theory != nullptr) add_theory_entry(figure);
  if (!fits.empty()) {
    figure.caption =
        fmt::format("{}, ± one standard error\u00a0· {}", fits_text(law.law), figure.caption);
  }
  return figure;
}

}  // namespace dewpoint::report
