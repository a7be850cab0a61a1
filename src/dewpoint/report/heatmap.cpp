#include "dewpoint/report/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/colour.hpp"
#include "dewpoint/report/gnuplot.hpp"
#include "dewpoint/store/pending_file.hpp"

namespace dewpoint::report {
namespace {

namespace fs = std::filesystem;

// ------------------------------------------------------------------------------------- the page
// Lengths are pixels of the SVG; y points up, as in gnuplot.

constexpr double kPanelWidth = 268;
constexpr double kPanelHeight = 248;
constexpr double kLeft = 58;         // y label and its numbers
constexpr double kGap = 18;          // between columns
constexpr double kTitleRoom = 34;    // figure title
constexpr double kPanelRoom = 26;    // panel title
constexpr double kTicRoom = 22;      // numbers of the x axis
constexpr double kLabelRoom = 24;    // x label
constexpr double kLegendRoom = 22;   // one line of the legend
constexpr double kCaptionRoom = 14;  // one line of the caption
constexpr double kBarGap = 18;
constexpr double kBarWidth = 13;
constexpr double kBarRoom = 62;  // numbers and label of the bar
constexpr double kMargin = 12;   // above and below
constexpr double kSampleWidth = 38;
constexpr double kChipHeight = 12;
constexpr double kChipTone = 0.35;  // place on the colour scale
constexpr int kBarSteps = 128;
constexpr int kPngScale = 2;

constexpr double kTitleSize = 15;
constexpr double kTextSize = 13;
constexpr double kSmallSize = 11;
constexpr double kCaptionSize = 10;

constexpr const char* kInk = "#262626";
constexpr const char* kGrey = "#6b6b6b";
// Generic in CSS and in fontconfig alike; a named font would be missing somewhere.
constexpr const char* kFont = "sans-serif";

struct Box {
  double left;
  double bottom;
  double width;
  double height;
};

struct LegendEntry {
  std::string label;
  std::optional<CurveStyle> style;  // none: a square in the colour of unknown cells
  double left = 0;
  double middle = 0;
};

struct Page {
  double width = 0;
  double height = 0;
  std::vector<Box> panels;
  std::size_t columns = 1;
  Box bar{};
  std::vector<LegendEntry> legend;
  std::vector<std::string> caption;
  double caption_top = 0;
};

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;  // not inside a UTF-8 character
  }));
}

// A guess on the wide side: DejaVu Sans is the widest of the usual fonts.
double text_width(std::string_view text, double size) {
  return 0.58 * size * static_cast<double>(characters(text));
}

std::vector<std::string> wrapped(const std::string& text, double width, double size) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool fits = !lines.empty() && text_width(lines.back() + ' ' + word, size) <= width;
    if (fits) {
      lines.back() += ' ' + word;
    } else {
      lines.push_back(word);
    }
    begin = end + 1;
  }
  return lines;
}

bool has_unknown_cells(const HeatmapFigure& figure) {
  return std::any_of(figure.panels.begin(), figure.panels.end(), [](const HeatmapPanel& panel) {
    return std::any_of(panel.z.begin(), panel.z.end(), [](double z) { return std::isnan(z); });
  });
}

std::vector<LegendEntry> legend_entries(const HeatmapFigure& figure) {
  std::vector<LegendEntry> entries;
  for (const auto& panel : figure.panels) {
    for (const auto& curve : panel.curves) {
      const bool known = std::any_of(entries.begin(), entries.end(), [&](const LegendEntry& e) {
        return e.label == curve.label && e.style == curve.style;
      });
      if (!known && !curve.label.empty()) entries.push_back({curve.label, curve.style});
    }
  }
  if (has_unknown_cells(figure)) entries.push_back({"unknown", std::nullopt});
  return entries;
}

// Places the entries in lines from `top` down and returns the bottom of the last line.
double place_legend(std::vector<LegendEntry>& entries, double top, double right) {
  if (entries.empty()) return top;
  double left = kLeft;
  double bottom = top - kLegendRoom;
  for (auto& entry : entries) {
    const double width = kSampleWidth + 8 + text_width(entry.label, kSmallSize);
    if (left > kLeft && left + width > right) {
      left = kLeft;
      bottom -= kLegendRoom;
    }
    entry.left = left;
    entry.middle = bottom + kLegendRoom / 2;
    left += width + 22;
  }
  return bottom;
}

double lowest_panel(const Page& page) { return page.panels.back().bottom; }

void place_panels(Page& page, std::size_t count, double top) {
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t whole_rows = k / page.columns;
    const auto column = static_cast<double>(k % page.columns);
    const auto row = static_cast<double>(whole_rows);
    page.panels.push_back(
        {kLeft + column * (kPanelWidth + kGap),
         top - (row + 1) * (kPanelRoom + kPanelHeight) - row * (kTicRoom + kLabelRoom), kPanelWidth,
         kPanelHeight});
  }
}

// Heights come from the top down, with the top at 0; then everything moves up by the height.
void move_up(Page& page, double distance) {
  for (auto& panel : page.panels) panel.bottom += distance;
  for (auto& entry : page.legend) entry.middle += distance;
  page.bar.bottom += distance;
  page.caption_top += distance;
}

Page lay_out(const HeatmapFigure& figure) {
  Page page;
  page.columns = std::clamp<std::size_t>(figure.columns, 1, figure.panels.size());
  const double panels_right =
      kLeft + static_cast<double>(page.columns) * (kPanelWidth + kGap) - kGap;
  page.width = panels_right + kBarGap + kBarWidth + kBarRoom;

  const double top = -kMargin / 2 - (figure.title.empty() ? 0.0 : kTitleRoom);
  place_panels(page, figure.panels.size(), top);
  const double panels_top = page.panels.front().bottom + kPanelHeight;
  page.bar = {panels_right + kBarGap, lowest_panel(page), kBarWidth,
              panels_top - lowest_panel(page)};

  const double right = page.width - kMargin;
  page.legend = legend_entries(figure);
  page.caption_top =
      place_legend(page.legend, lowest_panel(page) - kTicRoom - kLabelRoom - 4, right) - 4;
  page.caption = wrapped(figure.caption, right - kLeft, kCaptionSize);
  page.height =
      -page.caption_top + kCaptionRoom * static_cast<double>(page.caption.size()) + kMargin;
  move_up(page, page.height);
  return page;
}

// ----------------------------------------------------------------------------------- the script

// The largest of 1, 2, 5 times a power of ten that divides the span into five to ten or so: tidy
// numbers, none of them crowded.
double tic_step(double span) {
  const double rough = span / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= rough * 0.999) return digit * power;
  }
  return 10.0 * power;
}

class Script {
 public:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

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

void add_cells(Script& script, const std::string& name, const HeatmapPanel& panel,
               const HeatmapFigure& figure, const Box& box) {
  DEWPOINT_EXPECTS(panel.z.size() == panel.x.size() * panel.y.size());
  const std::vector<double> x = cell_edges(panel.x);
  const std::vector<double> y = cell_edges(panel.y);
  const std::vector<double> x_end = painted_ends(x, box.width);
  const std::vector<double> y_end = painted_ends(y, box.height);
  script.line("${} << EOD", name);
  for (std::size_t i = 0; i < panel.x.size(); ++i) {
    for (std::size_t j = 0; j < panel.y.size(); ++j) {
      const double z = panel.z[i * panel.y.size() + j];
      script.line("{} {} {} {} {} {} {}", panel.x[i], panel.y[j], x[i], x_end[i], y[j], y_end[j],
                  viridis((z - figure.z_low) / (figure.z_high - figure.z_low)));
    }
  }
  script.line("EOD");
}

// A blank line interrupts a curve.
void add_curve(Script& script, const std::string& name, const Curve& curve) {
  DEWPOINT_EXPECTS(curve.x.size() == curve.y.size());
  script.line("${} << EOD", name);
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (std::isfinite(curve.x[i]) && std::isfinite(curve.y[i])) {
      script.line("{} {}", curve.x[i], curve.y[i]);
    } else {
      script.line("");
    }
  }
  script.line("EOD");
}

// The bar is a panel of one column, in the colours of its own coordinates.
HeatmapPanel colour_bar(const HeatmapFigure& figure) {
  HeatmapPanel bar;
  bar.x = {0.0};
  for (int k = 0; k < kBarSteps; ++k) {
    bar.y.push_back(figure.z_low + (figure.z_high - figure.z_low) * (k + 0.5) / kBarSteps);
  }
  bar.z = bar.y;
  return bar;
}

std::string cells_name(std::size_t panel) { return fmt::format("cells_{}", panel); }
std::string curve_name(std::size_t panel, std::size_t curve) {
  return fmt::format("curve_{}_{}", panel, curve);
}

void add_data(Script& script, const HeatmapFigure& figure, const Page& page) {
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    add_cells(script, cells_name(k), figure.panels[k], figure, page.panels[k]);
    for (std::size_t m = 0; m < figure.panels[k].curves.size(); ++m) {
      add_curve(script, curve_name(k, m), figure.panels[k].curves[m]);
    }
  }
  add_cells(script, "bar", colour_bar(figure), figure, page.bar);
}

void set_place(Script& script, const Page& page, const Box& box) {
  script.line("set lmargin at screen {}", box.left / page.width);
  script.line("set rmargin at screen {}", (box.left + box.width) / page.width);
  script.line("set bmargin at screen {}", box.bottom / page.height);
  script.line("set tmargin at screen {}", (box.bottom + box.height) / page.height);
}

struct Text {
  double x;
  double y;
  const char* align;  // left, center, right, or "center rotate"
  double size;
  const char* colour = kInk;
};

void add_text(Script& script, const std::string& content, const Text& style) {
  if (content.empty()) return;
  script.line("set label {} at {},{} {} noenhanced font '{},{}' textcolor rgb '{}'",
              quoted_text(content), style.x, style.y, style.align, kFont, style.size, style.colour);
}

std::string halo() { return "lw 3.6 lc rgb '#50101014'"; }
std::string stroke(CurveStyle style) {
  const char* dashes = style == CurveStyle::dashed ? "dt (16,8)" : "dt solid";
  return fmt::format("lw 1.7 lc rgb '#ffffff' {}", dashes);
}

// A sample lies on a chip of the map's own colour, as the curve does.
void add_legend_entry(Script& script, const LegendEntry& entry) {
  const double right = entry.left + kSampleWidth;
  script.line("set object rectangle from {},{} to {},{} back fs solid noborder fc rgb '#{:06x}'",
              entry.left, entry.middle - kChipHeight / 2, right, entry.middle + kChipHeight / 2,
              entry.style ? viridis(kChipTone) : kUnknownColour);
  if (entry.style) {
    for (const auto& look : {halo(), stroke(*entry.style)}) {
      script.line("set arrow from {0},{1} to {2},{1} nohead {3}", entry.left, entry.middle, right,
                  look);
    }
  }
  add_text(script, entry.label, {right + 8, entry.middle, "left", kSmallSize});
}

void add_panel_texts(Script& script, const HeatmapFigure& figure, const Page& page, std::size_t k) {
  const Box& box = page.panels[k];
  const double centre = box.left + box.width / 2;
  add_text(script, figure.panels[k].title,
           {centre, box.bottom + box.height + 12, "center", kTextSize});
  const bool is_last_of_column = k + page.columns >= figure.panels.size();
  if (is_last_of_column) {
    add_text(script, figure.x_label, {centre, box.bottom - kTicRoom - 13, "center", kTextSize});
  }
  if (k % page.columns == 0) {
    add_text(script, figure.y_label,
             {box.left - 42, box.bottom + box.height / 2, "center rotate", kTextSize});
  }
}

// Everything that is not a panel is drawn first, on a plot as large as the page, in pixels.
void add_page(Script& script, const HeatmapFigure& figure, const Page& page) {
  set_place(script, page, {0, 0, page.width, page.height});
  script.line("set xrange [0:{}]; set yrange [0:{}]", page.width, page.height);
  script.line("unset border; unset tics; unset key");
  add_text(script, figure.title, {kLeft, page.height - kMargin - 10, "left", kTitleSize});
  for (std::size_t k = 0; k < figure.panels.size(); ++k) add_panel_texts(script, figure, page, k);
  add_text(script, figure.z_label,
           {page.bar.left + page.bar.width + 46, page.bar.bottom + page.bar.height / 2,
            "center rotate", kTextSize});
  for (const auto& entry : page.legend) add_legend_entry(script, entry);
  for (std::size_t i = 0; i < page.caption.size(); ++i) {
    const double y = page.caption_top - kCaptionRoom * (static_cast<double>(i) + 0.5);
    add_text(script, page.caption[i], {kLeft, y, "left", kCaptionSize, kGrey});
  }
  script.line("plot -1 notitle");
  script.line("unset label; unset arrow; unset object");
}

void set_ranges(Script& script, const HeatmapPanel& panel) {
  const std::vector<double> x = cell_edges(panel.x);
  const std::vector<double> y = cell_edges(panel.y);
  script.line("set xrange [{}:{}]; set yrange [{}:{}]", x.front(), x.back(), y.front(), y.back());
}

void set_tics(Script& script, const char* axis, double span) {
  script.line("set {}tics {} nomirror out scale 0.4 font '{},{}' textcolor rgb '{}' offset 0,0",
              axis, tic_step(span), kFont, kSmallSize, kInk);
}

std::string cells_layer(const std::string& name) {
  return fmt::format(
      "${} using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid noborder notitle", name);
}

// All halos lie under all strokes, so that two curves side by side do not darken each other.
std::string curve_layers(const HeatmapPanel& panel, std::size_t k) {
  std::string halos;
  std::string strokes;
  for (std::size_t m = 0; m < panel.curves.size(); ++m) {
    const std::string layer = fmt::format(", ${} with lines notitle ", curve_name(k, m));
    halos += layer + halo();
    strokes += layer + stroke(panel.curves[m].style);
  }
  return halos + strokes;
}

void add_panel(Script& script, const HeatmapFigure& figure, const Page& page, std::size_t k) {
  const HeatmapPanel& panel = figure.panels[k];
  set_place(script, page, page.panels[k]);
  set_ranges(script, panel);
  set_tics(script, "x", cell_edges(panel.x).back() - cell_edges(panel.x).front());
  set_tics(script, "y", cell_edges(panel.y).back() - cell_edges(panel.y).front());
  script.line("set format y '{}'", k % page.columns == 0 ? "%g" : "");
  script.line("plot {}{}", cells_layer(cells_name(k)), curve_layers(panel, k));
}

void add_colour_bar(Script& script, const HeatmapFigure& figure, const Page& page) {
  set_place(script, page, page.bar);
  set_ranges(script, colour_bar(figure));
  script.line("set y2range [{}:{}]", figure.z_low, figure.z_high);
  script.line("unset xtics; unset ytics");
  set_tics(script, "y2", figure.z_high - figure.z_low);
  script.line("plot {}", cells_layer("bar"));
  script.line("unset y2tics");
}

void add_drawing(Script& script, const HeatmapFigure& figure, const Page& page,
                 const std::string& terminal, const fs::path& output) {
  script.line("set terminal {} noenhanced background '#ffffff'", terminal);
  script.line("set output {}", quoted_path(output));
  script.line("set multiplot");
  add_page(script, figure, page);
  script.line("set border 15 front lw 0.7 lc rgb '{}'; set clip two", kInk);
  script.line("set format x '%g'");
  for (std::size_t k = 0; k < figure.panels.size(); ++k) add_panel(script, figure, page, k);
  add_colour_bar(script, figure, page);
  script.line("unset multiplot; unset output");
}

// `points` is the size of a point of text: SVG takes the sizes for pixels, Cairo for 1/72 inch with
// 96 pixels to the inch.
std::string terminal(const char* name, const Page& page, int scale, double points) {
  return fmt::format("{} size {},{} font '{},{}' fontscale {} linewidth {}", name,
                     std::lround(page.width) * scale, std::lround(page.height) * scale, kFont,
                     kSmallSize, scale * points, scale);
}

// ------------------------------------------------------------------------------------ the files

// Gnuplot does not notice a full disk; a file without its end does.
void expect_ending(const fs::path& file, std::string_view ending, const fs::path& target) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::size_t last = bytes.find_last_not_of('\n');
  const std::string_view content(bytes.data(), last == std::string::npos ? 0 : last + 1);
  if (!content.ends_with(ending)) store::throw_unwritable(target, "gnuplot could not finish it");
}

}  // namespace

std::vector<double> cell_edges(std::span<const double> centres) {
  DEWPOINT_EXPECTS(!centres.empty());
  if (centres.size() == 1) return {centres[0] - 0.5, centres[0] + 0.5};
  std::vector<double> edges(centres.size() + 1);
  for (std::size_t i = 1; i < centres.size(); ++i) {
    DEWPOINT_EXPECTS(centres[i - 1] < centres[i]);
    edges[i] = centres[i - 1] + (centres[i] - centres[i - 1]) / 2;
  }
  edges.front() = centres.front() - (edges[1] - centres.front());
  edges.back() = centres.back() + (centres.back() - edges[centres.size() - 1]);
  return edges;
}

void draw(const HeatmapFigure& figure, const fs::path& stem) {
  DEWPOINT_EXPECTS(!figure.panels.empty() && figure.z_low < figure.z_high);
  const fs::path svg_name = fs::path(stem) += ".svg";
  const fs::path png_name = fs::path(stem) += ".png";
  store::PendingFile svg(svg_name);
  store::PendingFile png(png_name);

  const Page page = lay_out(figure);
  Script script;
  script.line("set encoding utf8");
  add_data(script, figure, page);
  add_drawing(script, figure, page, terminal("svg name 'dewpoint'", page, 1, 1.0), svg.path());
  add_drawing(script, figure, page, terminal("pngcairo", page, kPngScale, 72.0 / 96.0), png.path());

  const std::string complaint = run_gnuplot(script.text());
  if (!complaint.empty()) store::throw_unwritable(svg_name, complaint);
  expect_ending(svg.path(), "</svg>", svg_name);
  expect_ending(png.path(), "IEND\xAE\x42\x60\x82", png_name);
  svg.commit();
  png.commit();
}

}  // namespace dewpoint::report
