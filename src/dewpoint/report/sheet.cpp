#include "dewpoint/report/sheet.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <memory>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/report/gnuplot.hpp"

namespace dewpoint::report {
namespace {

namespace fs = std::filesystem;

struct Format {
  const char* extension;
  std::string_view ending;  // of a whole file
  std::string (*terminal)(const Page& page);
};

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
  static const std::vector<Format> formats = {{".svg", "</svg>", svg_terminal},
                                              {".png", "IEND\xAE\x42\x60\x82", png_terminal},
                                              {".pdf", "%%EOF", pdf_terminal}};
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

// Gnuplot does not notice a full disk; a file without its end does.
void expect_ending(const fs::path& file, std::string_view ending, const fs::path& target) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::size_t last = bytes.find_last_not_of('\n');
  const std::string_view content(bytes.data(), last == std::string::npos ? 0 : last + 1);
  if (!content.ends_with(ending)) throw_unwritable(target, "gnuplot could not finish it");
}

void write_text(const fs::path& file, const TextFile& text) {
  std::ofstream out(file, std::ios::binary);
  out << text.content;
  if (!out.flush()) throw_unwritable(text.path, "the disk is full or went away");
}

using PendingFiles = std::vector<std::unique_ptr<PendingFile>>;

}  // namespace

std::vector<fs::path> both_files(const fs::path& stem) {
  return {fs::path(stem) += ".svg", fs::path(stem) += ".png"};
}

std::string sheet_script(const Sheet& sheet, const fs::path& file) {
  Script script;
  script.line("set encoding utf8");
  script.line("{}", sheet.data.text());
  // "./": a name may begin with |, which would be a pipe.
  add_file(script, sheet, format_of(file), quoted_text("./" + file.filename().string()));
  return script.text();
}

void write_sheet(const Sheet& sheet, const std::vector<fs::path>& files,
                 const std::vector<TextFile>& texts) {
  PendingFiles pending;
  Script script;
  script.line("set encoding utf8");
  script.line("{}", sheet.data.text());
  for (const fs::path& file : files) {
    const Format& format = format_of(file);
    pending.push_back(std::make_unique<PendingFile>(file));
    add_file(script, sheet, format, quoted_path(pending.back()->path()));
  }
  const std::string complaint = run_gnuplot(script.text());
  if (!complaint.empty()) throw_unwritable(files.front(), complaint);
  for (std::size_t k = 0; k < files.size(); ++k) {
    expect_ending(pending[k]->path(), format_of(files[k]).ending, files[k]);
  }
  for (const TextFile& text : texts) {
    pending.push_back(std::make_unique<PendingFile>(text.path));
    write_text(pending.back()->path(), text);
  }
  for (const auto& file : pending) file->commit();
}

}  // namespace dewpoint::report
