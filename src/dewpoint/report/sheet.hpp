// A figure as gnuplot is told of it, and the files it becomes: SVG, PNG or PDF.
//
// All three show the same page. A pixel of the SVG is a pixel of 1/96 inch: the PNG has twice as
// many, for print, and the PDF is as large as the SVG on paper.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "dewpoint/report/page.hpp"

namespace dewpoint::report {

struct HeatmapFigure;
struct LineFigure;

struct Sheet {
  Page page;
  Script data;                               // comes once, before all files
  std::function<void(Script&)> add_drawing;  // is called for each file
};

/// What gnuplot draws of a figure, which must outlive its sheet. Implemented beside the figures.
[[nodiscard]] Sheet sheet_of(const HeatmapFigure& figure);
[[nodiscard]] Sheet sheet_of(const LineFigure& figure);

/// `<stem>.svg` and `<stem>.png`.
[[nodiscard]] std::vector<std::filesystem::path> both_files(const std::filesystem::path& stem);

/// A file that is written together with a figure.
struct TextFile {
  std::filesystem::path path;
  std::string content;
};

/// Writes the page to files that end in .svg, .png or .pdf, and `texts` beside them; all of them
/// whole or none. Throws Error{bad_value} on another ending, Error{missing_tool} without gnuplot,
/// Error{unwritable_file} when a file cannot be written; no file is then replaced.
void write_sheet(const Sheet& sheet, const std::vector<std::filesystem::path>& files,
                 const std::vector<TextFile>& texts = {});

/// A script with its data inside: `gnuplot script.gp` writes `file`, under its bare name, into the
/// current folder.
[[nodiscard]] std::string sheet_script(const Sheet& sheet, const std::filesystem::path& file);

}  // namespace dewpoint::report
