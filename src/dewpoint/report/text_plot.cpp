#include "dewpoint/report/text_plot.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dewpoint::report {
namespace {

constexpr std::size_t kAround = 5;  // rows of title, y label, axis, numbers and x label

struct Strokes {
  const char* vertical;
  const char* tic_left;
  const char* corner;
  const char* horizontal;
  const char* tic_below;
};

Strokes strokes_of(const TerminalStyle& style) {
  if (style.unicode) return {"│", "┤", "└", "─", "┬"};
  return {"|", "+", "+", "-", "+"};
}

std::size_t length(const std::string& text) { return characters_of(text).size(); }

std::size_t widest_label(const std::vector<Tic>& tics) {
  std::size_t width = 1;
  for (const Tic& tic : tics) width = std::max(width, length(tic.label));
  return width;
}

void add_y_axis(TextPlot& plot, const TextAxis& axis, const std::vector<Tic>& tics,
                const Strokes& strokes) {
  for (std::size_t row = 0; row < plot.height; ++row) {
    plot.canvas.write(plot.left - 1, plot.top + row, strokes.vertical);
  }
  for (const Tic& tic : tics) {
    const auto part = part_of(axis.range, tic.place, plot.height);
    if (!part || tic.label.empty()) continue;
    const std::size_t row = plot.top + plot.height - 1 - *part;
    plot.canvas.write(plot.left - 2 - length(tic.label), row, tic.label);
    plot.canvas.write(plot.left - 1, row, strokes.tic_left);
  }
}

// A number that would touch the one before it is left out.
void add_x_axis(TextPlot& plot, const TextAxis& axis, const std::vector<Tic>& tics,
                const Strokes& strokes) {
  const std::size_t row = plot.top + plot.height;
  plot.canvas.write(plot.left - 1, row, strokes.corner);
  for (std::size_t k = 0; k < plot.width; ++k) {
    plot.canvas.write(plot.left + k, row, strokes.horizontal);
  }
  std::size_t free_from = 0;
  for (const Tic& tic : tics) {
    const auto part = part_of(axis.range, tic.place, plot.width);
    if (!part || tic.label.empty()) continue;
    const std::size_t column = plot.left + *part;
    const std::size_t begin = column - std::min(column, length(tic.label) / 2);
    if (begin < free_from || begin + length(tic.label) > plot.canvas.columns()) continue;
    plot.canvas.write(column, row, strokes.tic_below);
    plot.canvas.write(begin, row + 1, tic.label);
    free_from = begin + length(tic.label) + 1;
  }
}

std::size_t centred(const TextPlot& plot, const std::string& text) {
  const std::size_t centre = plot.left + plot.width / 2;
  return centre - std::min(centre, length(text) / 2);
}

}  // namespace

std::optional<std::size_t> part_of(const Range& range, double place, std::size_t count) {
  const double share = (place - range.low) / (range.high - range.low);
  if (!(share >= 0 && share <= 1)) return std::nullopt;
  return std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - 1);
}

TextPlot text_plot(const std::string& title, const TextAxis& x, const TextAxis& y,
                   const TerminalStyle& style) {
  const std::vector<Tic> x_tics = tics_of(x.scale, x.range);
  const std::vector<Tic> y_tics = tics_of(y.scale, y.range);
  const std::size_t columns = std::max(style.width, kNarrowest);
  const std::size_t height = std::max<std::size_t>(style.height, 4);
  const std::size_t left = widest_label(y_tics) + 2;
  const std::size_t rows = height + kAround - (title.empty() ? 1 : 0);
  const std::size_t top = title.empty() ? 1 : 2;
  const std::size_t right = left < columns / 2 ? 2 : 0;
  TextPlot plot{TextCanvas(columns, rows), left, top, columns - left - right, height};
  plot.canvas.write(left, 0, title);
  plot.canvas.write(left, top - 1, y.label);
  add_y_axis(plot, y, y_tics, strokes_of(style));
  add_x_axis(plot, x, x_tics, strokes_of(style));
  plot.canvas.write(centred(plot, x.label), rows - 1, x.label);
  return plot;
}

std::string wrapped_text(const std::string& text, std::size_t width) {
  std::string lines;
  std::string line;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && length(line) + 1 + length(word) > width) {
      lines += line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? lines : lines + line + '\n';
}

}  // namespace dewpoint::report
