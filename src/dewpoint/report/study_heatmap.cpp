#include "dewpoint/report/study_heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/borrowed_cells.hpp"
#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "dewpoint/report/study_slice.hpp"

namespace dewpoint::report {
namespace {

struct Plane {
  const FreeAxis* x;
  const FreeAxis* y;
};

const FreeAxis* asked_axis(const StudySlice& slice, const std::string& name) {
  return name.empty() ? nullptr : &slice.axis(name, true);
}

Plane plane_of(const StudySlice& slice, const FigureRequest& request) {
  Plane plane{asked_axis(slice, request.x), asked_axis(slice, request.y)};
  if (plane.y == nullptr) plane.y = slice.last_numeric({plane.x});
  if (plane.x == nullptr) plane.x = slice.last_numeric({plane.y});
  if (plane.x == nullptr || plane.y == nullptr || plane.x == plane.y) {
    throw Error(Code::bad_value,
                fmt::format("a heat map of '{}' needs two different axes with two numbers or more; "
                            "ask for a curve instead",
                            slice.observable().name));
  }
  for (const FreeAxis* axis : {plane.x, plane.y}) {
    static_cast<void>(slice.axis(axis->name(), true));  // refuses what does not increase
  }
  return plane;
}

AxisScale checked_scale(const FreeAxis& axis, bool logarithmic, bool linear) {
  const AxisScale scale = axis_scale(axis, logarithmic, linear);
  const double first = axis.values().front();
  if (scale == AxisScale::linear || first > 0) return scale;
  throw Error(Code::bad_value,
              fmt::format("axis '{}' begins at {}, which has no place on a logarithmic axis",
                          axis.name(), first));
}

CellState state_of(const Estimate& cell) {
  if (!std::isnan(cell.mean)) return CellState::measured;
  return cell.samples > 0 ? CellState::unknown : CellState::hole;
}

// In the order of HeatmapPanel::z.
std::vector<Estimate> cells_at(const StudySlice& slice, const Plane& plane, Place place) {
  std::vector<Estimate> cells;
  for (const std::size_t i : plane.x->positions) {
    place[plane.x->name()] = i;
    for (const std::size_t j : plane.y->positions) {
      place[plane.y->name()] = j;
      cells.push_back(slice.value(slice.observable(), place));
    }
  }
  return cells;
}

SparseGrid grid_of(const HeatmapFigure& figure, const Plane& plane,
                   const std::vector<Estimate>& cells) {
  SparseGrid grid{places_on(figure.x_scale, plane.x->values()),
                  places_on(figure.y_scale, plane.y->values()),
                  {},
                  {}};
  for (const Estimate& cell : cells) {
    grid.z.push_back(cell.mean);
    grid.state.push_back(state_of(cell));
  }
  return grid;
}

// A prediction at one place of `along`: the first that is known over `across`, on which it should
// not depend.
double first_known(const StudySlice& slice, const Variable& variable, Place place,
                   const FreeAxis& across) {
  for (const std::size_t k : across.positions) {
    place[across.name()] = k;
    const double value = slice.value(variable, place).mean;
    if (std::isfinite(value)) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> critical_values(const StudySlice& slice, const Variable& variable, Place place,
                                    const FreeAxis& along, const FreeAxis& across) {
  std::vector<double> values;
  for (const std::size_t k : along.positions) {
    place[along.name()] = k;
    values.push_back(first_known(slice, variable, place, across));
  }
  return values;
}

// What is predicted of an axis: "critical_gamma", and others of it, "critical_gamma_at_finite_d".
std::vector<const Variable*> critical_variables(const Frame& frame, const FreeAxis& axis) {
  const std::string name = "critical_" + axis.name();
  std::vector<const Variable*> found;
  for (const Variable& variable : frame.variables()) {
    const bool fits = variable.name == name || variable.name.starts_with(name + "_");
    if (fits) found.push_back(&variable);
  }
  return found;
}

// "critical γ at finite d (theory)".
std::string label_of(const Variable& line, const FreeAxis& axis) {
  std::string which = line.name.substr(std::string("critical_").size() + axis.name().size());
  std::ranges::replace(which, '_', ' ');
  return "critical " + symbol_of(axis.name()) + which + " (theory)";
}

// Those that are known somewhere. Without `upwards` the critical axis is x.
std::vector<Curve> curves_of(const StudySlice& slice, const Place& place, const FreeAxis& critical,
                             const FreeAxis& along, bool upwards) {
  std::vector<Curve> curves;
  for (const Variable* line : critical_variables(slice.frame(), critical)) {
    std::vector<double> values = critical_values(slice, *line, place, along, critical);
    if (std::ranges::none_of(values, [](double v) { return std::isfinite(v); })) continue;
    const bool first = line->name == "critical_" + critical.name();
    Curve curve{label_of(*line, critical), first ? CurveStyle::dashed : CurveStyle::solid,
                along.values(), std::move(values)};
    if (!upwards) std::swap(curve.x, curve.y);
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<Curve> critical_curves(const StudySlice& slice, const Plane& plane,
                                   const Place& place) {
  if (!critical_variables(slice.frame(), *plane.y).empty()) {
    return curves_of(slice, place, *plane.y, *plane.x, true);
  }
  return curves_of(slice, place, *plane.x, *plane.y, false);
}

// All places of the colours, on their axis.
Range data_range(const HeatmapFigure& figure) {
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const HeatmapPanel& panel : figure.panels) {
    for (const double z : panel.z) {
      const double place = place_on(figure.z_scale, z);
      if (!std::isfinite(place)) continue;
      range = {std::min(range.low, place), std::max(range.high, place)};
    }
  }
  if (range.low > range.high) return {0, 1};
  const double least = 1e-6 * std::max(1e-300, std::abs(range.low));
  if (range.high - range.low > least) return range;
  const double room =
      figure.z_scale == AxisScale::linear && range.low != 0 ? std::abs(range.low) / 2 : 0.5;
  return {range.low - room, range.high + room};
}

Range around(double centre, const Range& range) {
  const double half = std::max(range.high - centre, centre - range.low);
  return {centre - half, centre + half};
}

void choose_colours(HeatmapFigure& figure, const FigureRequest& request,
                    const std::string& observable) {
  const Quantity* known = find_quantity(observable);
  const bool fraction = known != nullptr && known->is_fraction();
  const bool from_0_to_1 = fraction && !request.log_colours;
  Range places = from_0_to_1 ? Range{0, 1} : data_range(figure);
  if (request.diverging) {
    figure.colours = ColourMap::diverging;
    const double centre = request.centre.value_or(fraction ? 0.5 : 1.0);
    const double place = place_on(figure.z_scale, centre);
    if (!std::isfinite(place)) {
      throw Error(Code::bad_value,
                  fmt::format("centre {} has no place on a logarithmic axis", centre));
    }
    places = around(place, places);
    figure.z_label += fmt::format(" (white: {})", number_text(centre));
  }
  const bool log = figure.z_scale == AxisScale::logarithmic;
  figure.z_low = log ? std::pow(10.0, places.low) : places.low;
  figure.z_high = log ? std::pow(10.0, places.high) : places.high;
}

}  // namespace

HeatmapFigure heatmap_of_study(const store::StudyRecord& study, const FigureRequest& request) {
  const StudySlice slice(study, request);
  const Plane plane = plane_of(slice, request);
  const auto panel_axes = slice.others({plane.x, plane.y});
  expect_few_panels(panel_axes);
  HeatmapFigure figure;
  figure.title = request.title;
  figure.x_label = dewpoint::label_of(plane.x->name());
  figure.y_label = dewpoint::label_of(plane.y->name());
  figure.z_label = dewpoint::label_of(slice.observable().name);
  figure.x_scale = checked_scale(*plane.x, request.log_x, request.linear);
  figure.y_scale = checked_scale(*plane.y, request.log_y, request.linear);
  figure.z_scale = request.log_colours ? AxisScale::logarithmic : AxisScale::linear;
  figure.caption = slice.caption();
  for (const Place& place : slice.places(panel_axes)) {
    HeatmapPanel panel;
    panel.title = slice.place_label(place, panel_axes);
    panel.x = plane.x->values();
    panel.y = plane.y->values();
    const std::vector<Estimate> cells = cells_at(slice, plane, place);
    SparseGrid grid = grid_of(figure, plane, cells);
    if (!request.unfinished) panel.borrowed = borrow(grid);
    panel.z = std::move(grid.z);
    panel.error = known_errors(cells);
    panel.curves = critical_curves(slice, plane, place);
    figure.panels.push_back(std::move(panel));
  }
  choose_colours(figure, request, slice.observable().name);
  return figure;
}

}  // namespace dewpoint::report
