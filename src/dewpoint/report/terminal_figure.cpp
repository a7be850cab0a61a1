#include "dewpoint/report/terminal_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/number_text.hpp"

namespace dewpoint::report {
namespace {

constexpr std::string_view kRamp = " .:-=+*#%@";
constexpr char kUnknownMark = '?';
constexpr char kCurveMark = 'o';
constexpr std::size_t kBarWidth = 20;

// ------------------------------------------------------------------------------------- pixels

// A panel in pixels, row by row from the top.
struct Pixels {
  std::size_t width;
  std::size_t height;
  Range x;
  Range y;
  std::vector<double> z;
  std::vector<bool> curve;  // a curve passes here

  [[nodiscard]] std::size_t index(std::size_t column, std::size_t row) const {
    return row * width + column;
  }
};

std::size_t cell_at(const std::vector<double>& edges, double place) {
  const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, place);
  return static_cast<std::size_t>(above - edges.begin()) - 1;
}

double middle(const Range& range, std::size_t part, std::size_t count) {
  const double share = (static_cast<double>(part) + 0.5) / static_cast<double>(count);
  return range.low + (range.high - range.low) * share;
}

void add_curve(Pixels& pixels, const HeatmapFigure& figure, const Curve& curve) {
  const std::vector<double> x = places_on(figure.x_scale, curve.x);
  const std::vector<double> y = places_on(figure.y_scale, curve.y);
  const std::size_t steps = 4 * (pixels.width + pixels.height);
  for (std::size_t k = 0; k + 1 < x.size(); ++k) {
    for (std::size_t m = 0; m <= steps; ++m) {
      const double share = static_cast<double>(m) / static_cast<double>(steps);
      const auto column = part_of(pixels.x, x[k] + share * (x[k + 1] - x[k]), pixels.width);
      const auto row = part_of(pixels.y, y[k] + share * (y[k + 1] - y[k]), pixels.height);
      if (column && row) pixels.curve[pixels.index(*column, pixels.height - 1 - *row)] = true;
    }
  }
}

Pixels pixels_of(const HeatmapFigure& figure, const HeatmapPanel& panel, std::size_t width,
                 std::size_t height) {
  const std::vector<double> x = cell_edges(places_on(figure.x_scale, panel.x));
  const std::vector<double> y = cell_edges(places_on(figure.y_scale, panel.y));
  Pixels pixels{width, height, {x.front(), x.back()}, {y.front(), y.back()}, {}, {}};
  for (std::size_t row = 0; row < height; ++row) {
    const std::size_t j = cell_at(y, middle(pixels.y, height - 1 - row, height));
    for (std::size_t column = 0; column < width; ++column) {
      const std::size_t i = cell_at(x, middle(pixels.x, column, width));
      pixels.z.push_back(panel.z[i * panel.y.size() + j]);
    }
  }
  pixels.curve.resize(pixels.z.size());
  for (const Curve& curve : panel.curves) add_curve(pixels, figure, curve);
  return pixels;
}

// -------------------------------------------------------------------------------------- looks

double place_of_colour(const HeatmapFigure& figure, double z) {
  const double low = place_on(figure.z_scale, figure.z_low);
  const double high = place_on(figure.z_scale, figure.z_high);
  return (place_on(figure.z_scale, z) - low) / (high - low);
}

char ramp_mark(double t) {
  if (std::isnan(t)) return kUnknownMark;
  const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(kRamp.size());
  return kRamp[std::min(static_cast<std::size_t>(place), kRamp.size() - 1)];
}

Colour pixel_colour(const HeatmapFigure& figure, const Pixels& pixels, std::size_t k) {
  const Colour line = figure.colours == ColourMap::viridis ? 0xffffff : 0x101014;
  return pixels.curve[k] ? line : colour_of(figure, pixels.z[k]);
}

void paint_colours(TextPlot& plot, const HeatmapFigure& figure, const HeatmapPanel& panel) {
  const Pixels pixels = pixels_of(figure, panel, plot.width, 2 * plot.height);
  for (std::size_t row = 0; row < plot.height; ++row) {
    for (std::size_t column = 0; column < plot.width; ++column) {
      plot.canvas.at(plot.left + column, plot.top + row) = {
          "▀", pixel_colour(figure, pixels, pixels.index(column, 2 * row)),
          pixel_colour(figure, pixels, pixels.index(column, 2 * row + 1))};
    }
  }
}

void paint_marks(TextPlot& plot, const HeatmapFigure& figure, const HeatmapPanel& panel) {
  const Pixels pixels = pixels_of(figure, panel, plot.width, plot.height);
  for (std::size_t k = 0; k < pixels.z.size(); ++k) {
    const char mark =
        pixels.curve[k] ? kCurveMark : ramp_mark(place_of_colour(figure, pixels.z[k]));
    plot.canvas.at(plot.left + k % pixels.width, plot.top + k / pixels.width).text = mark;
  }
}

std::string panel_text(const HeatmapFigure& figure, const HeatmapPanel& panel,
                       const TerminalStyle& style) {
  const std::vector<double> x = cell_edges(places_on(figure.x_scale, panel.x));
  const std::vector<double> y = cell_edges(places_on(figure.y_scale, panel.y));
  TextPlot plot = text_plot(panel.title, {figure.x_label, figure.x_scale, {x.front(), x.back()}},
                            {figure.y_label, figure.y_scale, {y.front(), y.back()}}, style);
  const bool coloured = style.colours != TerminalColours::none && style.unicode;
  if (coloured) {
    paint_colours(plot, figure, panel);
  } else {
    paint_marks(plot, figure, panel);
  }
  return plot.canvas.text(style.colours);
}

// "0 [ .:-=+*#%@] 1  contraction λ"
std::string bar_text(const HeatmapFigure& figure, const TerminalStyle& style) {
  const bool coloured = style.colours != TerminalColours::none && style.unicode;
  const auto rounded = [](double value) {
    return number_text(std::stod(fmt::format("{:.4g}", value)));
  };
  const std::size_t width = coloured ? kBarWidth : kRamp.size();
  const std::string low = rounded(figure.z_low) + " [";
  const std::size_t begin = characters_of(low).size();
  TextCanvas bar(std::max(style.width, kNarrowest), 1);
  bar.write(0, 0, low);
  for (std::size_t k = 0; k < width; ++k) {
    const double share = middle({0, 1}, k, width);
    bar.at(begin + k, 0) = coloured ? Glyph{"█", mapped_colour(figure.colours, share), {}}
                                    : Glyph{std::string(1, kRamp[k]), {}, {}};
  }
  bar.write(begin + width, 0, "] " + rounded(figure.z_high) + "  " + figure.z_label);
  return bar.text(style.colours);
}

// Each label once.
std::string curve_names(const HeatmapFigure& figure, const TerminalStyle& style) {
  const bool coloured = style.colours != TerminalColours::none && style.unicode;
  std::vector<std::string> labels;
  for (const HeatmapPanel& panel : figure.panels) {
    for (const Curve& curve : panel.curves) {
      const bool known = std::find(labels.begin(), labels.end(), curve.label) != labels.end();
      if (!known && !curve.label.empty()) labels.push_back(curve.label);
    }
  }
  std::string text;
  for (const std::string& label : labels) {
    text += fmt::format("{} {}\n", coloured ? "line:" : std::string(1, kCurveMark), label);
  }
  return text;
}

}  // namespace

TerminalColours terminal_colours(bool is_terminal, const char* no_color, const char* colorterm,
                                 const char* term) {
  const std::string_view off = no_color != nullptr ? no_color : "";
  const std::string_view depth = colorterm != nullptr ? colorterm : "";
  const std::string_view kind = term != nullptr ? term : "dumb";
  if (!is_terminal || !off.empty() || kind == "dumb") return TerminalColours::none;
  const bool full = depth == "truecolor" || depth == "24bit";
  return full ? TerminalColours::full : TerminalColours::palette;
}

std::string terminal_text(const HeatmapFigure& figure, const TerminalStyle& style) {
  DEWPOINT_EXPECTS(!figure.panels.empty() && figure.z_low < figure.z_high);
  const std::size_t width = std::max(style.width, kNarrowest);
  std::string text = wrapped_text(figure.title, width);
  for (const HeatmapPanel& panel : figure.panels) text += panel_text(figure, panel, style) + '\n';
  text += bar_text(figure, style) + curve_names(figure, style);
  return text + wrapped_text(figure.caption, width);
}

std::string terminal_text(const Figure& figure, const TerminalStyle& style) {
  return std::visit([&](const auto& any) { return terminal_text(any, style); }, figure);
}

}  // namespace dewpoint::report
