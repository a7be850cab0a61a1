// A figure of either kind, as a file: .svg, .png or .pdf; on request with what it was drawn from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/report/line_figure.hpp"

namespace dewpoint::report {

using Figure = std::variant<HeatmapFigure, LineFigure>;

void set_title(Figure& figure, const std::string& title);

/// The points of a figure as CSV (RFC 4180, UTF-8, shortest digits that give the number back):
///
///     heat maps   panel, curve, x, y, value, standard_error
///     lines       panel, series, x, y, standard_error
///
/// Cells have no curve, curves no value and no error. Numbers are values, not places on axes. What
/// is not known is empty. Cells that borrow their value are left out.
[[nodiscard]] std::string points_csv(const Figure& figure);

/// Files of such points.
[[nodiscard]] FileKind points_kind();

/// What else is written beside x.svg.
struct Companions {
  bool script = false;  // x.gp: `gnuplot x.gp` draws x.svg again; the data are inside
  bool points = false;  // x.csv
};

/// Asked before long work: require_writable() for the figure and its companions.
void require_figure_places(const OutputFile& file, const Companions& companions = {});

/// Writes the figure in the format that the file's name ends in, and its companions; all of them
/// whole or none. Throws what write_sheet() throws (sheet.hpp); no file is then replaced.
void write_figure(const Figure& figure, const OutputFile& file, const Companions& companions = {});

}  // namespace dewpoint::report
