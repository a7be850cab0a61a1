#include "dewpoint/report/panel_ranges.hpp"

#include <cmath>

namespace dewpoint::report {
namespace {

std::vector<double> x_places(const LinePanel& panel) {
  std::vector<double> places;
  for (const auto& series : panel.series) {
    for (const double x : series.x) places.push_back(place_on(panel.x.scale, x));
  }
  return places;
}

}  // namespace

ErrorBar error_bar(const LinePanel& panel, const Series& series, std::size_t i) {
  const double error = std::isfinite(series.error[i]) ? series.error[i] : 0.0;
  return {place_on(panel.y.scale, series.y[i] - error),
          place_on(panel.y.scale, series.y[i] + error)};
}

std::vector<double> y_places(const LinePanel& panel) {
  std::vector<double> places;
  for (const auto& series : panel.series) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      places.push_back(place_on(panel.y.scale, series.y[i]));
      if (series.error.empty()) continue;
      const ErrorBar bar = error_bar(panel, series, i);
      places.insert(places.end(), {bar.low, bar.high});
    }
  }
  return places;
}

PanelRanges shown_ranges(const LinePanel& panel) {
  return {shown_range(panel.x, x_places(panel)), shown_range(panel.y, y_places(panel))};
}

}  // namespace dewpoint::report
