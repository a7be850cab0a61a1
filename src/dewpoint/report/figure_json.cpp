#include "dewpoint/report/figure_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/base64.hpp"
#include "dewpoint/report/panel_ranges.hpp"

namespace dewpoint::report {
namespace {

using Json = nlohmann::ordered_json;

// --------------------------------------------------------------------------------------- words

const char* word_of(AxisScale scale) {
  switch (scale) {
    case AxisScale::linear:
      return "linear";
    case AxisScale::logarithmic:
      return "logarithmic";
    case AxisScale::exponent:
      return "exponent";
  }
  return "";
}

const char* word_of(SeriesStyle style) {
  switch (style) {
    case SeriesStyle::solid:
      return "solid";
    case SeriesStyle::dashed:
      return "dashed";
    case SeriesStyle::dotted:
      return "dotted";
    case SeriesStyle::points:
      return "points";
    case SeriesStyle::line_and_points:
      return "line-and-points";
    case SeriesStyle::dots:
      return "dots";
  }
  return "";
}

const char* word_of(PanelLook look) {
  switch (look) {
    case PanelLook::graph:
      return "graph";
    case PanelLook::matrix:
      return "matrix";
    case PanelLook::texture:
      return "texture";
  }
  return "";
}

const char* word_of(CurveStyle style) { return style == CurveStyle::solid ? "solid" : "dashed"; }

const char* word_of(ColourMap map) { return map == ColourMap::viridis ? "viridis" : "diverging"; }

// ------------------------------------------------------------------------------------- numbers

Json cell(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json packed(const std::vector<double>& numbers) {
  if (numbers.size() > kMostPlainNumbers) {
    return {{"float64", base64_of(numbers)}};
  }
  Json cells = Json::array();
  for (const double number : numbers) cells.push_back(cell(number));
  return cells;
}

// --------------------------------------------------------------------------------------- lines

Json json_of(const Axis& axis, const Range& places) {
  return {{"label", axis.label},
          {"scale", word_of(axis.scale)},
          {"range", Json::array({places.low, places.high})}};
}

Json json_of(const Series& series) {
  DEWPOINT_EXPECTS(series.x.size() == series.y.size());
  DEWPOINT_EXPECTS(series.error.empty() || series.error.size() == series.y.size());
  return {{"label", series.label},
          {"style", word_of(series.style)},
          {"colour", fmt::format("#{:06x}", series.colour)},
          {"theory", series.theory},
          {"x", packed(series.x)},
          {"y", packed(series.y)},
          {"error", packed(series.error)}};
}

// Those that have no place on the axis are left out, as no zoom would show them.
Json markers(const LinePanel& panel) {
  Json all = Json::array();
  for (const Marker& marker : panel.markers) {
    if (std::isnan(place_on(panel.x.scale, marker.x))) continue;
    all.push_back({{"x", marker.x}, {"label", marker.label}});
  }
  return all;
}

Json json_of(const LinePanel& panel) {
  const auto [x, y] = shown_ranges(panel);
  Json all = Json::array();
  for (const Series& one : panel.series) all.push_back(json_of(one));
  return {{"title", panel.title},
          {"x", json_of(panel.x, x)},
          {"y", json_of(panel.y, y)},
          {"series", std::move(all)},
          {"markers", markers(panel)}};
}

Json json_of(const LineFigure& figure) {
  Json panels = Json::array();
  for (const LinePanel& one : figure.panels) panels.push_back(json_of(one));
  return {{"kind", "lines"}, {"columns", figure.columns}, {"panels", std::move(panels)}};
}

// ----------------------------------------------------------------------------------- heat maps

Json json_of(const Curve& curve) {
  DEWPOINT_EXPECTS(curve.x.size() == curve.y.size());
  return {{"label", curve.label},
          {"style", word_of(curve.style)},
          {"x", packed(curve.x)},
          {"y", packed(curve.y)}};
}

Json indices(const std::vector<bool>& chosen) {
  Json all = Json::array();
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    if (chosen[k]) all.push_back(k);
  }
  return all;
}

Json json_of(const HeatmapPanel& panel) {
  DEWPOINT_EXPECTS(panel.z.size() == panel.x.size() * panel.y.size());
  DEWPOINT_EXPECTS(panel.error.empty() || panel.error.size() == panel.z.size());
  Json curves = Json::array();
  for (const Curve& one : panel.curves) curves.push_back(json_of(one));
  return {{"title", panel.title},
          {"subtitle", panel.subtitle},
          {"x", packed(panel.x)},
          {"y", packed(panel.y)},
          {"z", packed(panel.z)},
          {"error", packed(panel.error)},
          {"borrowed", indices(panel.borrowed)},
          {"curves", std::move(curves)}};
}

Json json_of(const HeatmapFigure& figure) {
  Json panels = Json::array();
  for (const HeatmapPanel& one : figure.panels) panels.push_back(json_of(one));
  return {{"kind", "heatmap"},
          {"columns", figure.columns},
          {"x_label", figure.x_label},
          {"y_label", figure.y_label},
          {"z_label", figure.z_label},
          {"x_scale", word_of(figure.x_scale)},
          {"y_scale", word_of(figure.y_scale)},
          {"z_scale", word_of(figure.z_scale)},
          {"z_low", figure.z_low},
          {"z_high", figure.z_high},
          {"colours", word_of(figure.colours)},
          {"look", word_of(figure.look)},
          {"panels", std::move(panels)}};
}

}  // namespace

Json to_json(const Figure& figure) {
  return std::visit([](const auto& any) { return json_of(any); }, figure);
}

}  // namespace dewpoint::report
