// The cells of a heat map as gnuplot is told of them: rectangles, or the pixels of an image.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/report/page.hpp"

namespace dewpoint::report {

/// A panel as gnuplot sees it: all numbers are places.
struct PlacedCells {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<Colour> colours;  // as HeatmapPanel::z
};

[[nodiscard]] PlacedCells placed_cells(const HeatmapFigure& figure, const HeatmapPanel& panel);

/// The colours that a figure shows, as places on their scale.
[[nodiscard]] Range shown_colours(const HeatmapFigure& figure);

/// The bar is a panel of one column, in the colours of its own coordinates.
[[nodiscard]] PlacedCells colour_bar(const HeatmapFigure& figure);

/// The first edge and the last.
[[nodiscard]] Range reach(const std::vector<double>& centres);

/// Data under a name, and the layer of a plot that paints them: a rectangle per cell.
void add_cells(Script& script, const std::string& name, const PlacedCells& cells, const Box& box);
[[nodiscard]] std::string cells_layer(const std::string& name);

/// The same as one image, for the thousands of equally spaced cells of a matrix or a texture: an
/// SVG holds 4 bytes of it per cell and not 110. Panels with at most 1024 cells, or with one cell
/// along an axis, have rectangles.
[[nodiscard]] bool is_image(const HeatmapFigure& figure, const HeatmapPanel& panel);
void add_pixels(Script& script, const std::string& name, const PlacedCells& cells);
[[nodiscard]] std::string pixels_layer(const std::string& name);

}  // namespace dewpoint::report
