#include "dewpoint/report/heatmap_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

constexpr int kBarSteps = 128;
constexpr std::size_t kMostRectangles = 1024;

// Ends of the cells' rectangles: a cell reaches one pixel over its next neighbour, which is painted
// later and covers it. The visible edge stays exact, and where it falls inside a pixel the two
// colours mix with each other instead of with the paper, which would show as a light seam.
std::vector<double> painted_ends(const std::vector<double>& edges, double pixels) {
  const double pixel = (edges.back() - edges.front()) / pixels;
  std::vector<double> ends(edges.size() - 1, edges.back());
  for (std::size_t i = 0; i + 2 < edges.size(); ++i) {
    ends[i] = std::min(edges[i + 1] + pixel, edges[i + 2]);
  }
  return ends;
}

}  // namespace

PlacedCells placed_cells(const HeatmapFigure& figure, const HeatmapPanel& panel) {
  DEWPOINT_EXPECTS(panel.z.size() == panel.x.size() * panel.y.size());
  PlacedCells cells{places_on(figure.x_scale, panel.x), places_on(figure.y_scale, panel.y), {}};
  for (const double z : panel.z) cells.colours.push_back(colour_of(figure, z));
  return cells;
}

Range shown_colours(const HeatmapFigure& figure) {
  return {place_on(figure.z_scale, figure.z_low), place_on(figure.z_scale, figure.z_high)};
}

PlacedCells colour_bar(const HeatmapFigure& figure) {
  const Range range = shown_colours(figure);
  PlacedCells bar{{0.0}, {}, {}};
  for (int k = 0; k < kBarSteps; ++k) {
    const double share = (k + 0.5) / kBarSteps;
    bar.y.push_back(range.low + (range.high - range.low) * share);
    bar.colours.push_back(mapped_colour(figure.colours, share));
  }
  return bar;
}

Range reach(const std::vector<double>& centres) {
  const std::vector<double> edges = cell_edges(centres);
  return {edges.front(), edges.back()};
}

void add_cells(Script& script, const std::string& name, const PlacedCells& cells, const Box& box) {
  const std::vector<double> x = cell_edges(cells.x);
  const std::vector<double> y = cell_edges(cells.y);
  const std::vector<double> x_end = painted_ends(x, box.width);
  const std::vector<double> y_end = painted_ends(y, box.height);
  script.line("${} << EOD", name);
  for (std::size_t i = 0; i < cells.x.size(); ++i) {
    for (std::size_t j = 0; j < cells.y.size(); ++j) {
      script.line("{} {} {} {} {} {} {}", cells.x[i], cells.y[j], x[i], x_end[i], y[j], y_end[j],
                  cells.colours[i * cells.y.size() + j]);
    }
  }
  script.line("EOD");
}

std::string cells_layer(const std::string& name) {
  return fmt::format(
      "${} using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid noborder notitle", name);
}

bool is_image(const HeatmapFigure& figure, const HeatmapPanel& panel) {
  return figure.look != PanelLook::graph && std::min(panel.x.size(), panel.y.size()) >= 2 &&
         panel.z.size() > kMostRectangles;
}

void add_pixels(Script& script, const std::string& name, const PlacedCells& cells) {
  script.line("${} << EOD", name);
  for (std::size_t i = 0; i < cells.x.size(); ++i) {
    for (std::size_t j = 0; j < cells.y.size(); ++j) {
      const Colour colour = cells.colours[i * cells.y.size() + j];
      script.line("{} {} {} {} {}", cells.x[i], cells.y[j], (colour >> 16U) & 0xffU,
                  (colour >> 8U) & 0xffU, colour & 0xffU);
    }
  }
  script.line("EOD");
}

std::string pixels_layer(const std::string& name) {
  return fmt::format("${} using 1:2:3:4:5 with rgbimage notitle", name);
}

}  // namespace dewpoint::report
