#include "dewpoint/report/training_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "dewpoint/report/study_frames.hpp"
#include "dewpoint/report/terminal_figure.hpp"
#include "dewpoint/report/training_run.hpp"

namespace dewpoint::report {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastPlot = 8;    // rows: four of curves, four around them
constexpr std::size_t kNameWidth = 3;    // "11 "
constexpr std::size_t kLossWidth = 7;    // "  1.234"
constexpr std::size_t kFullCell = 7;     // "██ .97 "
constexpr std::size_t kShadedCell = 2;   // "██"
constexpr std::size_t kHeadingRows = 2;  // of the map
constexpr std::string_view kHeading = "attention of row to column";
constexpr std::array<const char*, 5> kShades = {" ", "░", "▒", "▓", "█"};

// The last time of a trajectory.
class Now {
 public:
  explicit Now(const Frame& frame)
      : frame_(frame),
        times_(increasing(frame, "time")),
        vocabulary_(frame.dimension("token").coordinates.size()) {}

  [[nodiscard]] std::size_t shown() const { return std::min(vocabulary_, kMostTokensOnScreen); }
  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }
  [[nodiscard]] double time() const { return times_.back(); }

  [[nodiscard]] std::vector<double> values(const std::string& variable, const Names& others) const {
    Names over{"time"};
    over.insert(over.end(), others.begin(), others.end());
    const Variable& found = variable_over(frame_, variable, over);
    return block_of_means(found, times_.size() - 1, found.cells.size() / times_.size());
  }
  [[nodiscard]] double value(const std::string& variable) const {
    return values(variable, {}).front();
  }

  // One number per time.
  [[nodiscard]] Series history(const std::string& variable, Colour colour) const {
    return {"", SeriesStyle::solid, colour, times_, row_of(frame_, variable, "time").mean, {}};
  }
  [[nodiscard]] Series group_history(std::size_t token) const {
    const auto& cells = variable_over(frame_, "group_loss", {"time", "token"}).cells;
    Series series{"", SeriesStyle::solid, token_colour(token), times_, {}, {}};
    for (std::size_t k = 0; k < times_.size(); ++k) {
      series.y.push_back(cells[k * vocabulary_ + token].mean);
    }
    return series;
  }
  [[nodiscard]] bool has_focus() const { return frame_.find_variable("focus") != nullptr; }

 private:
  const Frame& frame_;
  const std::vector<double>& times_;
  std::size_t vocabulary_;
};

// ".97", "1.0"; three characters.
std::string weight_text(double weight) {
  if (!std::isfinite(weight)) return " ? ";
  return weight >= 0.995 ? "1.0" : fmt::format("{:.2f}", std::max(weight, 0.0)).substr(1);
}

const char* shade(double weight) {
  if (!std::isfinite(weight)) return "?";
  const double place = std::clamp(weight, 0.0, 1.0) * double(kShades.size());
  return kShades.at(std::min(static_cast<std::size_t>(place), kShades.size() - 1));
}

std::size_t map_width(std::size_t tokens, std::size_t cell) {
  return std::max(kNameWidth + tokens * cell + kLossWidth, kHeading.size());
}

// Grey in steps, or in colour.
Glyph block_of(double weight, TerminalColours colours) {
  if (colours == TerminalColours::none) return {shade(weight), {}, {}};
  return {"█", viridis(weight), {}};
}

void add_weight(TextCanvas& map, std::size_t column, std::size_t row, double weight,
                std::size_t cell, TerminalColours colours) {
  map.at(column, row) = map.at(column + 1, row) = block_of(weight, colours);
  if (cell == kFullCell) map.write(column + 3, row, weight_text(weight));
}

// Attention now, a row per query, and the loss of what ends in it.
TextCanvas attention_map(const Now& now, std::size_t cell, TerminalColours colours) {
  const std::size_t tokens = now.shown();
  const std::size_t right = kNameWidth + tokens * cell;
  const std::vector<double> weights = now.values("attention", {"query", "key"});
  const std::vector<double> losses = now.values("group_loss", {"token"});
  TextCanvas map(map_width(tokens, cell), tokens + kHeadingRows);
  map.write(0, 0, kHeading);
  map.write(right, 1, "   loss");
  for (std::size_t k = 0; k < tokens; ++k) {
    const std::string name = fmt::format("{}", k);
    const auto ink = colours == TerminalColours::none ? std::optional<Colour>() : token_colour(k);
    const std::size_t row = kHeadingRows + k;
    map.write(0, row, name, ink);
    map.write(right, row, fmt::format("{:7.3f}", losses[k]));
    // Between cells of two columns every second number has room.
    if (cell == kFullCell || k % 2 == 0) map.write(kNameWidth + k * cell, 1, name, ink);
    for (std::size_t key = 0; key < tokens; ++key) {
      add_weight(map, kNameWidth + key * cell, row, weights[k * now.vocabulary() + key], cell,
                 colours);
    }
  }
  return map;
}

TextCanvas loss_plot(const Now& now, std::size_t columns, std::size_t rows,
                     TerminalColours colours) {
  LinePanel panel{"", {"time", AxisScale::linear, {}}, {"loss", AxisScale::linear, {}}, {}, {}};
  if (colours != TerminalColours::none) {
    for (std::size_t k = 0; k < std::min(now.shown(), kMostTokensShown); ++k) {
      panel.series.push_back(now.group_history(k));
    }
  }
  panel.series.push_back(now.history("loss", 0x000000));
  return terminal_panel(panel, {columns, rows - 4, colours, true});
}

// "focus: s0 0.99  s1 0.33", in lines.
TextCanvas focus_lines(const Now& now, std::size_t columns) {
  if (!now.has_focus()) return {columns, 0};
  std::string text = "focus:";
  const std::vector<double> shares = now.values("focus", {"cycle"});
  for (std::size_t k = 0; k < std::min(shares.size(), now.shown()); ++k) {
    text += fmt::format(" s{}\u00a0{:.2f}", k, shares[k]);
  }
  const std::string lines = wrapped_text(text, columns);
  TextCanvas page(columns, static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')));
  std::size_t begin = 0;
  for (std::size_t row = 0; row < page.rows(); ++row) {
    const std::size_t end = lines.find('\n', begin);
    page.write(0, row, lines.substr(begin, end - begin));
    begin = end + 1;
  }
  return page;
}

// The largest cell that leaves `beside` columns; none where there is none.
std::optional<std::size_t> cell_beside(std::size_t tokens, std::size_t columns,
                                       std::size_t beside) {
  for (const std::size_t cell : {kFullCell, kShadedCell}) {
    if (beside + map_width(tokens, cell) <= columns) return cell;
  }
  return std::nullopt;
}

// Map and focus, one below the other.
TextCanvas state_now(const Now& now, std::size_t columns, std::size_t cell,
                     TerminalColours colours) {
  const TextCanvas focus = focus_lines(now, columns);
  const TextCanvas map = attention_map(now, cell, colours);
  TextCanvas page(columns, map.rows() + focus.rows());
  page.paste(0, 0, map);
  page.paste(0, map.rows(), focus);
  return page;
}

void fill_beside(TextCanvas& screen, const Now& now, std::size_t cell, TerminalColours colours) {
  const std::size_t left = screen.columns() - kGap - map_width(now.shown(), cell);
  screen.paste(0, 0, loss_plot(now, left, screen.rows() - 1, colours));
  screen.paste(left + kGap, 0, state_now(now, screen.columns() - left - kGap, cell, colours));
}

void fill_below(TextCanvas& screen, const Now& now, TerminalColours colours) {
  const std::size_t rows = screen.rows() - 1;
  const auto cell = cell_beside(now.shown(), screen.columns(), 0);
  const TextCanvas state = state_now(now, screen.columns(), cell.value_or(kShadedCell), colours);
  const bool both = rows >= kLeastPlot + state.rows();
  if (rows < kLeastPlot) return screen.paste(0, 0, state);
  const std::size_t plot = both ? rows - state.rows() : rows;
  screen.paste(0, 0, loss_plot(now, screen.columns(), plot, colours));
  if (both) screen.paste(0, plot, state);
}

}  // namespace

std::string training_screen(const Frame& trajectory, std::size_t columns, std::size_t rows,
                            TerminalColours colours) {
  const Now now(trajectory);
  TextCanvas screen(std::max(columns, kNarrowest), std::max<std::size_t>(rows, 2));
  const auto cell = cell_beside(now.shown(), screen.columns(), kNarrowest + kGap);
  if (cell && screen.rows() > kLeastPlot) {
    fill_beside(screen, now, *cell, colours);
  } else {
    fill_below(screen, now, colours);
  }
  // The status line has the last row to itself.
  const std::size_t last = screen.rows() - 1;
  for (std::size_t k = 0; k < screen.columns(); ++k) screen.at(k, last) = {};
  screen.write(0, last,
               fmt::format("time {:g}  loss {:.5g}  rank one {:.2f}", now.time(), now.value("loss"),
                           now.value("embedding_rank_one")));
  return screen.text(colours);
}

}  // namespace dewpoint::report
