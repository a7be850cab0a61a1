// One panel on a terminal: axes with numbers around a field that is still empty.
//
//       title
//       y label
//     1 ┤
//       │
//     0 ┤
//       └┬─────────┬
//        0         1
//           x label
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "dewpoint/report/axis.hpp"
#include "dewpoint/report/text_canvas.hpp"

namespace dewpoint::report {

struct TerminalStyle {
  std::size_t width = 80;   // columns of the terminal; at least kNarrowest are used
  std::size_t height = 16;  // rows of a panel, at least 4
  TerminalColours colours = TerminalColours::none;
  bool unicode = true;  // false: ASCII only, as far as the labels are
};

inline constexpr std::size_t kNarrowest = 40;

struct TextAxis {
  std::string label;
  AxisScale scale = AxisScale::linear;
  Range range{0, 1};  // of places
};

struct TextPlot {
  TextCanvas canvas;
  std::size_t left;  // of the field
  std::size_t top;
  std::size_t width;
  std::size_t height;
};

[[nodiscard]] TextPlot text_plot(const std::string& title, const TextAxis& x, const TextAxis& y,
                                 const TerminalStyle& style);

/// Which of `count` equal parts of a range a place lies in; none outside.
[[nodiscard]] std::optional<std::size_t> part_of(const Range& range, double place,
                                                 std::size_t count);

/// Words joined with spaces into lines of at most `width` columns, each ended with a newline.
[[nodiscard]] std::string wrapped_text(const std::string& text, std::size_t width);

}  // namespace dewpoint::report
