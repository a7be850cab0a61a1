// Line figures: curves and measured points over one axis each, in panels, with one legend.
//
// Curves come with an optional error at every point, drawn as a vertical bar of one standard error
// up and down. Panels that show the same y axis (label, scale and given range) share its numbers.
// Texts may hold any Unicode that the fonts of the machine have, drawn as they are.
//
//     +--------------------------------------------+
//     | title                                      |
//     |     panel title         panel title        |
//     |        γ₁  γ₂              γ₁  γ₂          |
//     |   y +---:---:-+       y +---:---:-+        |
//     |     | __:___: |         |   :  _:_|        |
//     |     |/  :   : |         |___:_/ : |        |
//     |     +---------+         +---------+        |
//     |          x                   x             |
//     |     -- series   - - series  o series       |
//     |     caption                                |
//     +--------------------------------------------+
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dewpoint/core/output_file.hpp"
#include "dewpoint/report/axis.hpp"
#include "dewpoint/report/colour.hpp"

namespace dewpoint::report {

enum class SeriesStyle {
  solid,
  dashed,
  dotted,
  points,
  line_and_points,
  dots,  // a cloud of many draws: small points, beneath all lines
};

struct Series {
  std::string label;  // in the legend, once for all series of the figure that look the same; empty:
                      // not in the legend. A series without points is an entry of the legend only
  SeriesStyle style = SeriesStyle::solid;
  Colour colour = 0x000000;
  std::vector<double> x;      // as many as y
  std::vector<double> y;      // what has no place on its axis (NaN, or log of 0) interrupts a line
  std::vector<double> error;  // empty, or as many as y; 0 and NaN draw no bar
  bool theory = false;        // predicted, not measured
};

/// The same, marked as predicted.
[[nodiscard]] inline Series as_theory(Series series) {
  series.theory = true;
  return series;
}

/// A vertical line, dashed and grey, with a label above the panel.
struct Marker {
  double x;
  std::string label;
};

struct LinePanel {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;   // drawn in this order, the last on top; all points above all lines,
                                // all dots beneath them
  std::vector<Marker> markers;  // below everything; those outside the range are left out
};

struct LineFigure {
  std::string title;              // above everything; empty takes no room
  std::vector<LinePanel> panels;  // at least one; left to right, then down
  std::size_t columns = 3;        // panels side by side before a new row begins
  std::string caption;            // small, below: parameters, samples, seed, version
  double stretch = 1.0;           // panels are as many times as wide as usual
};

/// Writes `<stem>.svg` and `<stem>.png` (twice the size in pixels, for print), each whole or not at
/// all. Throws Error{missing_tool} without gnuplot, Error{unwritable_file} when a file cannot be
/// written; neither file is then replaced.
void draw(const LineFigure& figure, const OutputFile& stem);

}  // namespace dewpoint::report
