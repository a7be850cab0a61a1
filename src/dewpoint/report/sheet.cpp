#include "dewpoint/report/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/report/gnuplot.hpp"

namespace dewpoint::report {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

struct Format {
  const char* extension;
  std::string_view beginning;
  std::string_view ending;  // of a whole file, as gnuplot leaves it
  std::string_view mark;    // that it is ours
  std::size_t mark_place;   // where it is put in; npos: at the end, 0: the terminal has put it in
  std::string (*terminal)(const Page& page);
};

constexpr std::string_view kSvgMark = "<title>dewpoint</title>";  // the name of svg_terminal
// A whole chunk, with its length and its CRC, that follows the header's.
constexpr std::string_view kPngMark =
    "\0\0\0\x11tEXtSoftware\0Dewpoint"
    "\x3B\x41\x4A\x42"sv;
constexpr std::size_t kPngMarkPlace = 33;
constexpr std::string_view kPdfMark = "% Dewpoint\n";
constexpr std::string_view kScriptMark = "# Dewpoint figure\n";

constexpr int kPngScale = 2;
constexpr double kPixelsPerInch = 96;
constexpr double kPoints = 72 / kPixelsPerInch;  // in a pixel

// SVG takes the size of a font for pixels.
std::string svg_terminal(const Page& page) {
  return fmt::format("svg name 'dewpoint' size {},{} font '{},{}' fontscale 1 linewidth 1",
                     std::lround(page.width), std::lround(page.height), kFont, kSmallSize);
}

// Cairo takes it for points.
std::string png_terminal(const Page& page) {
  return fmt::format(
      "pngcairo pointscale {0} size {1},{2} font '{3},{4}' fontscale {5} linewidth {0}", kPngScale,
      std::lround(page.width) * kPngScale, std::lround(page.height) * kPngScale, kFont, kSmallSize,
      kPngScale * kPoints);
}

// On PDF pages gnuplot makes fonts larger by 96/72 once more, lines half a point thick, and dashes
// 0.55 times as long as on an SVG of the same size.
std::string pdf_terminal(const Page& page) {
  return fmt::format("pdfcairo size {}in,{}in font '{},{}' fontscale {} linewidth {} dashlength {}",
                     page.width / kPixelsPerInch, page.height / kPixelsPerInch, kFont, kSmallSize,
                     kPoints * kPoints, 2 * kPoints, 1 / 0.55);
}

const Format& format_of(const fs::path& file) {
  static const std::vector<Format> formats = {
      {".svg", "<?xml", "</svg>", kSvgMark, 0, svg_terminal},
      {".png", "\x89PNG", "IEND\xAE\x42\x60\x82", kPngMark, kPngMarkPlace, png_terminal},
      {".pdf", "%PDF", "%%EOF", kPdfMark, std::string::npos, pdf_terminal}};
  for (const Format& format : formats) {
    if (file.extension() == format.extension) return format;
  }
  throw Error(Code::bad_value,
              fmt::format("figure '{}' must end in .svg, .png or .pdf", file.string()));
}

void add_file(Script& script, const Sheet& sheet, const Format& format, const std::string& output) {
  script.line("set terminal {} noenhanced background '#ffffff'", format.terminal(sheet.page));
  script.line("set output {}", output);
  script.line("set multiplot");
  sheet.add_drawing(script);
  script.line("unset multiplot; unset output");
}

void write_bytes(const fs::path& file, const std::string& bytes, const fs::path& target) {
  std::ofstream out(file, std::ios::binary);
  out << bytes;
  if (!out.flush()) throw_unwritable(target, "the disk is full or went away");
}

// Gnuplot does not notice a full disk; a file without its end does.
void finish(const fs::path& file, const fs::path& target) {
  const Format& format = format_of(target);
  std::ifstream in(file, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::size_t last = bytes.find_last_not_of('\n');
  const std::string_view content(bytes.data(), last == std::string::npos ? 0 : last + 1);
  if (!content.ends_with(format.ending)) throw_unwritable(target, "gnuplot could not finish it");
  if (format.mark_place == 0) return;
  bytes.insert(std::min(format.mark_place, bytes.size()), format.mark);
  write_bytes(file, bytes, target);
}

using PendingFiles = std::vector<std::unique_ptr<PendingFile>>;

}  // namespace

std::vector<OutputFile> both_files(const OutputFile& stem) {
  return {stem.beside(fs::path(stem.path) += ".svg"), stem.beside(fs::path(stem.path) += ".png")};
}

FileKind figure_kind(const fs::path& file) {
  const Format& format = format_of(file);
  return marked_kind("a figure of Dewpoint", std::string(format.beginning),
                     std::string(format.mark));
}

FolderKind figure_folder_kind() {
  return {"a folder of Dewpoint's figures", {figure_kind("x.svg"), figure_kind("x.png")}};
}

void require_both_files(const OutputFile& stem) {
  for (const OutputFile& file : both_files(stem)) require_writable(file, figure_kind(file.path));
}

FileKind script_kind() {
  return marked_kind("the script of a figure", std::string(kScriptMark), std::string(kScriptMark));
}

std::string sheet_script(const Sheet& sheet, const fs::path& file) {
  Script script;
  script.line("{}set encoding utf8", kScriptMark);
  script.line("{}", sheet.data.text());
  // "./": a name may begin with |, which would be a pipe.
  add_file(script, sheet, format_of(file), quoted_text("./" + file.filename().string()));
  return script.text();
}

void write_sheet(const Sheet& sheet, const std::vector<OutputFile>& files,
                 const std::vector<TextFile>& texts) {
  PendingFiles pending;
  Script script;
  script.line("set encoding utf8");
  script.line("{}", sheet.data.text());
  for (const OutputFile& file : files) {
    pending.push_back(std::make_unique<PendingFile>(file, figure_kind(file.path)));
    add_file(script, sheet, format_of(file.path), quoted_path(pending.back()->path()));
  }
  for (const TextFile& text : texts) {
    pending.push_back(std::make_unique<PendingFile>(files.front().beside(text.path), text.kind));
    write_bytes(pending.back()->path(), text.content, text.path);
  }
  const std::string complaint = run_gnuplot(script.text());
  if (!complaint.empty()) throw_unwritable(files.front().path, complaint);
  for (std::size_t k = 0; k < files.size(); ++k) {
    finish(pending[k]->path(), files[k].path);
  }
  for (const auto& file : pending) file->commit();
}

}  // namespace dewpoint::report
