// Heat maps: panels side by side with one colour bar, theory curves on top, a caption below.
//
// Every cell is a rectangle at its coordinates, with edges half-way to its neighbours, so that
// grids need not be uniform and nothing is interpolated. Curves are white on a dark halo, readable
// on all of viridis (black on a light one where the map itself is white in its middle), and clipped
// to their panel. Cells without a value are grey. Axes and colours may be logarithmic: edges are
// then geometric means. Texts may hold any Unicode that the fonts of the machine have; they are
// drawn as they are, without markup.
//
//     +--------------------------------------------+
//     | title                                      |
//     |     panel title   panel title              |
//     |   y +---------+   +---------+  |#| z       |
//     |     |         |   |         |  |#|         |
//     |     +---------+   +---------+  |#|         |
//     |          x             x                   |
//     |     -- curve   - - curve                   |
//     |     caption                                |
//     +--------------------------------------------+
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/output_file.hpp"
#include "dewpoint/report/axis.hpp"
#include "dewpoint/report/colour.hpp"

namespace dewpoint::report {

enum class CurveStyle { solid, dashed };

enum class PanelLook {
  graph,   // y upwards, numbers along both axes
  matrix,  // a small square with row 0 on top, whole numbers along both axes, and the values in the
           // cells where they have room
  texture,  // a small square with the first row on top and no numbers: rows that nobody counts,
            // equally spaced
};

struct Curve {
  std::string label;                     // in the legend, once for all panels that share it
  CurveStyle style = CurveStyle::solid;  // tells two curves of a panel apart
  std::vector<double> x;                 // as many as y
  std::vector<double> y;                 // a point that is not finite interrupts the curve
};

struct HeatmapPanel {
  std::string title;          // above the panel: "n = 512, d = 64"
  std::vector<double> x;      // centres of the columns, increasing
  std::vector<double> y;      // centres of the rows, increasing
  std::vector<double> z;      // z[i * y.size() + j] is the value at x[i], y[j]; NaN is unknown
  std::vector<Curve> curves;  // drawn in this order, the last on top
  std::vector<bool> borrowed = {};  // empty, or as z: nothing was measured in this cell, which
                                    // shows the value of another
  std::string subtitle = {};        // small, between the title and the panel
  std::vector<double> error = {};   // empty, or as z: standard errors
  std::vector<std::string> y_names = {};  // empty, or as y: words in place of numbers, the first on
                                          // top; of a file, as high as its names need
};

struct HeatmapFigure {
  std::string title;                      // above everything; empty takes no room
  std::string x_label;                    // below each column of panels
  std::string y_label;                    // left of each row of panels
  std::string z_label;                    // beside the colour bar
  double z_low = 0.0;                     // value of the darkest colour; lower ones share it
  double z_high = 1.0;                    // value of the brightest colour, above z_low
  std::vector<HeatmapPanel> panels;       // at least one; left to right, then down
  std::size_t columns = 4;                // panels side by side before a new row begins
  std::string caption;                    // small, below: parameters, replicas, seed, version
  AxisScale x_scale = AxisScale::linear;  // of x and of the curves
  AxisScale y_scale = AxisScale::linear;
  AxisScale z_scale = AxisScale::linear;  // of the colours
  ColourMap colours = ColourMap::viridis;
  PanelLook look = PanelLook::graph;  // of a file; on a terminal all panels are graphs
};

/// The colour of a value. NaN is unknown, as is what has no logarithm; infinities have the colours
/// of the ends.
[[nodiscard]] Colour colour_of(const HeatmapFigure& figure, double z);

/// Edges of cells around increasing centres: half-way between neighbours, and as far outside the
/// first and the last as their inner edges are inside. A single centre c has the edges c ± 1/2.
///
///   Properties  (1) one edge more than centres, increasing.
///               (2) each centre lies between its two edges.
///               (3) equal spacing of the centres gives equal spacing of the edges, up to rounding.
[[nodiscard]] std::vector<double> cell_edges(std::span<const double> centres);

/// Writes `<stem>.svg` and `<stem>.png` (twice the size in pixels, for print), each whole or not at
/// all. Throws Error{missing_tool} without gnuplot, Error{unwritable_file} when a file cannot be
/// written; neither file is then replaced.
void draw(const HeatmapFigure& figure, const OutputFile& stem);

}  // namespace dewpoint::report
