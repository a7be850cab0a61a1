// A page of a terminal: characters with colours, in columns and rows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/report/colour.hpp"

namespace dewpoint::report {

enum class TerminalColours {
  none,
  palette,  // the 256 of xterm
  full,     // 24 bits
};

struct Glyph {
  std::string text = " ";  // one character in UTF-8
  std::optional<Colour> ink = {};
  std::optional<Colour> paper = {};
};

/// The characters of a text in UTF-8, one by one.
[[nodiscard]] std::vector<std::string> characters_of(std::string_view text);

/// The nearest of xterm's 256 colours: its cube of 6³ and its 24 greys.
[[nodiscard]] int palette_colour(Colour colour);

class TextCanvas {
 public:
  TextCanvas(std::size_t columns, std::size_t rows);

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] Glyph& at(std::size_t column, std::size_t row);

  /// Writes a text from a column on; what does not fit on the row is cut.
  void write(std::size_t column, std::size_t row, std::string_view text,
             std::optional<Colour> ink = {});

  /// Puts another page here, its left upper corner at a column and a row; what does not fit is cut.
  void paste(std::size_t column, std::size_t row, const TextCanvas& page);

  /// The rows, each ended with a newline, without blanks at their ends.
  [[nodiscard]] std::string text(TerminalColours colours) const;

 private:
  std::size_t columns_;
  std::size_t rows_;
  std::vector<Glyph> glyphs_;
};

}  // namespace dewpoint::report
