#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/panel_ranges.hpp"
#include "dewpoint/report/terminal_figure.hpp"

namespace dewpoint::report {
namespace {

constexpr double kDarkest = 110;  // luma that still shows on a black terminal
constexpr std::array<const char*, 8> kMarks = {"●", "▲", "■", "◆", "▼", "○", "△", "□"};
constexpr std::uint32_t kBraille = 0x2800;

// -------------------------------------------------------------------------------------- looks

double luma(Colour colour) {
  return 0.2126 * double((colour >> 16U) & 0xffU) + 0.7152 * double((colour >> 8U) & 0xffU) +
         0.0722 * double(colour & 0xffU);
}

Colour lighter(Colour colour, double share) {
  Colour mixed = 0;
  for (const unsigned shift : {16U, 8U, 0U}) {
    const double from = double((colour >> shift) & 0xffU);
    mixed |= static_cast<Colour>(std::lround(from + share * (255 - from))) << shift;
  }
  return mixed;
}

// Black is the terminal's own ink; other dark colours are mixed with white.
std::optional<Colour> readable(Colour colour) {
  if (colour == 0) return std::nullopt;
  const double dark = luma(colour);
  return dark >= kDarkest ? colour : lighter(colour, (kDarkest - dark) / (255 - dark));
}

// One mark per colour, in the order in which the colours come.
class Marks {
 public:
  Marks(const LineFigure& figure, bool unicode) : unicode_(unicode) {
    for (const LinePanel& panel : figure.panels) {
      for (const Series& series : panel.series) {
        if (!has_mark(series)) continue;
        if (std::find(colours_.begin(), colours_.end(), series.colour) == colours_.end()) {
          colours_.push_back(series.colour);
        }
      }
    }
  }
  static bool has_mark(const Series& series) {
    return series.style == SeriesStyle::points || series.style == SeriesStyle::line_and_points;
  }
  [[nodiscard]] std::string of(const Series& series) const {
    const auto found = std::find(colours_.begin(), colours_.end(), series.colour);
    const auto k = static_cast<std::size_t>(found - colours_.begin());
    if (unicode_) return kMarks.at(k % kMarks.size());
    return std::string(1, static_cast<char>('a' + k % 26));
  }

 private:
  std::vector<Colour> colours_;
  bool unicode_;
};

// ---------------------------------------------------------------------------------- the field

// Dots within the characters of a plot: 2 × 4 in Braille, one in ASCII.
class Dots {
 public:
  Dots(TextPlot& plot, const Range& x, const Range& y, bool unicode)
      : plot_(plot),
        x_(x),
        y_(y),
        across_(unicode ? 2 : 1),
        down_(unicode ? 4 : 1),
        bits_(plot.width * plot.height) {}

  void add(double x, double y, std::optional<Colour> ink) {
    const auto column = part_of(x_, x, plot_.width * across_);
    const auto part = part_of(y_, y, plot_.height * down_);
    if (!column || !part) return;
    const std::size_t row = plot_.height * down_ - 1 - *part;
    const std::size_t character = row / down_ * plot_.width + *column / across_;
    bits_[character] |= bit(*column % across_, row % down_);
    Glyph& glyph = plot_.canvas.at(plot_.left + *column / across_, plot_.top + row / down_);
    glyph.text = across_ == 1 ? "." : braille(bits_[character]);
    glyph.ink = ink;
  }

  // Every dot of a straight line; what is outside of the field is not drawn.
  void add_line(double x0, double y0, double x1, double y1, std::optional<Colour> ink) {
    const double columns = std::abs(x1 - x0) / (x_.high - x_.low) * double(plot_.width * across_);
    const double rows = std::abs(y1 - y0) / (y_.high - y_.low) * double(plot_.height * down_);
    const double longest = std::max(columns, rows);
    if (!std::isfinite(longest)) return;
    const int steps = static_cast<int>(std::min(2 * longest + 1, 1e5));
    for (int k = 0; k <= steps; ++k) {
      const double share = double(k) / steps;
      add(x0 + share * (x1 - x0), y0 + share * (y1 - y0), ink);
    }
  }

  void add_mark(double x, double y, const std::string& mark, std::optional<Colour> ink) {
    const auto column = part_of(x_, x, plot_.width);
    const auto row = part_of(y_, y, plot_.height);
    if (!column || !row) return;
    plot_.canvas.at(plot_.left + *column, plot_.top + plot_.height - 1 - *row) = {mark, ink, {}};
  }

 private:
  // Unicode numbers the dots 1 2 3 7 down the left column and 4 5 6 8 down the right one.
  [[nodiscard]] std::uint32_t bit(std::size_t column, std::size_t row) const {
    if (across_ == 1) return 1;
    if (row == 3) return column == 0 ? 0x40U : 0x80U;
    return 1U << (row + 3 * column);
  }
  static std::string braille(std::uint32_t bits) {
    const std::uint32_t point = kBraille + bits;  // three bytes in UTF-8
    return {static_cast<char>(0xe0U | (point >> 12U)),
            static_cast<char>(0x80U | ((point >> 6U) & 0x3fU)),
            static_cast<char>(0x80U | (point & 0x3fU))};
  }

  TextPlot& plot_;
  Range x_;
  Range y_;
  std::size_t across_;
  std::size_t down_;
  std::vector<std::uint32_t> bits_;
};

void add_strokes(Dots& dots, const LinePanel& panel, const Series& series) {
  const auto ink = readable(series.colour);
  const bool joined = series.style != SeriesStyle::points && series.style != SeriesStyle::dots;
  const std::vector<double> x = places_on(panel.x.scale, series.x);
  const std::vector<double> y = places_on(panel.y.scale, series.y);
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (joined && k > 0) dots.add_line(x[k - 1], y[k - 1], x[k], y[k], ink);
    dots.add(x[k], y[k], ink);
    if (k >= series.error.size() || !std::isfinite(series.error[k])) continue;
    const double low = place_on(panel.y.scale, series.y[k] - series.error[k]);
    const double high = place_on(panel.y.scale, series.y[k] + series.error[k]);
    dots.add_line(x[k], std::isnan(low) ? y[k] : low, x[k], high, ink);
  }
}

void add_marks(Dots& dots, const LinePanel& panel, const Series& series, const Marks& marks) {
  if (!Marks::has_mark(series)) return;
  for (std::size_t k = 0; k < series.x.size(); ++k) {
    dots.add_mark(place_on(panel.x.scale, series.x[k]), place_on(panel.y.scale, series.y[k]),
                  marks.of(series), readable(series.colour));
  }
}

// A column of strokes beneath everything.
void add_markers(TextPlot& plot, const LinePanel& panel, const Range& x, bool unicode) {
  for (const Marker& marker : panel.markers) {
    const auto column = part_of(x, place_on(panel.x.scale, marker.x), plot.width);
    if (!column) continue;
    for (std::size_t row = 0; row < plot.height; ++row) {
      plot.canvas.write(plot.left + *column, plot.top + row, unicode ? "┊" : ":");
    }
    plot.canvas.write(plot.left + *column + 1, plot.top, marker.label);
  }
}

// --------------------------------------------------------------------------------- the figure

TextCanvas panel_page(const LinePanel& panel, const Marks& marks, const TerminalStyle& style) {
  const auto [x, y] = shown_ranges(panel);
  TextPlot plot = text_plot(panel.title, {panel.x.label, panel.x.scale, x},
                            {panel.y.label, panel.y.scale, y}, style);
  add_markers(plot, panel, x, style.unicode);
  Dots dots(plot, x, y, style.unicode);
  for (const Series& series : panel.series) add_strokes(dots, panel, series);
  for (const Series& series : panel.series) add_marks(dots, panel, series, marks);
  return std::move(plot.canvas);
}

struct LegendItem {
  std::string sample;
  std::string label;
  Colour colour;
  bool operator==(const LegendItem&) const = default;
  [[nodiscard]] std::size_t width() const {
    return characters_of(sample).size() + 1 + characters_of(label).size();
  }
};

// Each look once.
std::vector<LegendItem> legend_items(const LineFigure& figure, const Marks& marks, bool unicode) {
  std::vector<LegendItem> items;
  for (const LinePanel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      const std::string stroke = unicode ? "⠒⠒" : "..";
      const LegendItem item{Marks::has_mark(series) ? marks.of(series) : stroke, series.label,
                            series.colour};
      const bool known = std::find(items.begin(), items.end(), item) != items.end();
      if (!known && !series.label.empty()) items.push_back(item);
    }
  }
  return items;
}

// "● n = 64   ▲ n = 128   ⠒⠒ theory", on as many lines as it takes.
std::string legend_text(const LineFigure& figure, const Marks& marks, const TerminalStyle& style) {
  const std::size_t width = std::max(style.width, kNarrowest);
  std::string text;
  TextCanvas line(width, 1);
  std::size_t column = 0;
  for (const LegendItem& item : legend_items(figure, marks, style.unicode)) {
    if (column > 0 && column + item.width() > width) {
      text += line.text(style.colours);
      line = TextCanvas(width, 1);
      column = 0;
    }
    line.write(column, 0, item.sample, readable(item.colour));
    line.write(column + characters_of(item.sample).size() + 1, 0, item.label);
    column += item.width() + 3;
  }
  return column > 0 ? text + line.text(style.colours) : text;
}

}  // namespace

TextCanvas terminal_panel(const LinePanel& panel, const TerminalStyle& style) {
  LineFigure figure;
  figure.panels = {panel};
  return panel_page(panel, Marks(figure, style.unicode), style);
}

std::string terminal_text(const LineFigure& figure, const TerminalStyle& style) {
  DEWPOINT_EXPECTS(!figure.panels.empty());
  const std::size_t width = std::max(style.width, kNarrowest);
  const Marks marks(figure, style.unicode);
  std::string text = wrapped_text(figure.title, width);
  for (const LinePanel& panel : figure.panels) {
    text += panel_page(panel, marks, style).text(style.colours) + '\n';
  }
  text += legend_text(figure, marks, style);
  return text + wrapped_text(figure.caption, width);
}

}  // namespace dewpoint::report
