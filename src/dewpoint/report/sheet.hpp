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

#include "dewpoint/core/output_file.hpp"
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

/// `<stem>.svg` and `<stem>.png`, forced as the stem is.
[[nodiscard]] std::vector<OutputFile> both_files(const OutputFile& stem);

/// Figures in the format that the name of the file ends in: every figure says in its file who drew
/// it. Throws Error{bad_value} unless it ends in .svg, .png or .pdf.
[[nodiscard]] FileKind figure_kind(const std::filesystem::path& file);
/// Folders that hold a figure of ours.
[[nodiscard]] FolderKind figure_folder_kind();
/// Asked before long work: require_writable() for both files of a figure.
void require_both_files(const OutputFile& stem);
/// Scripts of figures.
[[nodiscard]] FileKind script_kind();

/// A file that is written together with a figure.
struct TextFile {
  std::filesystem::path path;
  std::string content;
  FileKind kind;  // what it may replace
};

/// Writes the page to files that end in .svg, .png or .pdf, and `texts` beside them, forced as the
/// first file is; all of them whole or none. Throws Error{bad_value} on another ending and for
/// files of others in the way, Error{missing_tool} without gnuplot, Error{unwritable_file} when a
/// file cannot be written; no file is then replaced.
void write_sheet(const Sheet& sheet, const std::vector<OutputFile>& files,
                 const std::vector<TextFile>& texts = {});

/// A script with its data inside: `gnuplot script.gp` writes `file`, under its bare name, into the
/// current folder.
[[nodiscard]] std::string sheet_script(const Sheet& sheet, const std::filesystem::path& file);

}  // namespace dewpoint::report
