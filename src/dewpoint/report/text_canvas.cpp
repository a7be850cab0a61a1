#include "dewpoint/report/text_canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

constexpr std::array<int, 6> kLevels = {0, 95, 135, 175, 215, 255};
constexpr const char* kPlain = "\x1b[0m";

int channel(Colour colour, int shift) { return static_cast<int>((colour >> shift) & 0xffU); }

int nearest_level(int value) {
  const auto nearest = std::min_element(kLevels.begin(), kLevels.end(), [&](int a, int b) {
    return std::abs(a - value) < std::abs(b - value);
  });
  return static_cast<int>(nearest - kLevels.begin());
}

int squared_distance(Colour colour, int red, int green, int blue) {
  const int r = channel(colour, 16) - red;
  const int g = channel(colour, 8) - green;
  const int b = channel(colour, 0) - blue;
  return r * r + g * g + b * b;
}

// `layer`: 38 is ink, 48 is paper.
std::string code(int layer, Colour colour, TerminalColours colours) {
  if (colours == TerminalColours::palette) {
    return fmt::format("\x1b[{};5;{}m", layer, palette_colour(colour));
  }
  return fmt::format("\x1b[{};2;{};{};{}m", layer, channel(colour, 16), channel(colour, 8),
                     channel(colour, 0));
}

std::string codes(const Glyph& glyph, TerminalColours colours) {
  std::string text;
  if (colours == TerminalColours::none) return text;
  if (glyph.ink) text += code(38, *glyph.ink, colours);
  if (glyph.paper) text += code(48, *glyph.paper, colours);
  return text;
}

}  // namespace

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
    if (continues && !characters.empty()) {
      characters.back() += c;
    } else {
      characters.emplace_back(1, c);
    }
  }
  return characters;
}

int palette_colour(Colour colour) {
  const int red = nearest_level(channel(colour, 16));
  const int green = nearest_level(channel(colour, 8));
  const int blue = nearest_level(channel(colour, 0));
  const auto level = [](int k) { return kLevels.at(static_cast<std::size_t>(k)); };
  int best = 16 + 36 * red + 6 * green + blue;
  int distance = squared_distance(colour, level(red), level(green), level(blue));
  for (int k = 0; k < 24; ++k) {
    const int grey = 8 + 10 * k;
    if (squared_distance(colour, grey, grey, grey) >= distance) continue;
    distance = squared_distance(colour, grey, grey, grey);
    best = 232 + k;
  }
  return best;
}

TextCanvas::TextCanvas(std::size_t columns, std::size_t rows)
    : columns_(columns), rows_(rows), glyphs_(columns * rows) {}

Glyph& TextCanvas::at(std::size_t column, std::size_t row) {
  DEWPOINT_EXPECTS(column < columns_ && row < rows_);
  return glyphs_[row * columns_ + column];
}

void TextCanvas::write(std::size_t column, std::size_t row, std::string_view text,
                       std::optional<Colour> ink) {
  for (const std::string& character : characters_of(text)) {
    if (column >= columns_) return;
    at(column, row).text = character;
    at(column, row).ink = ink;
    ++column;
  }
}

void TextCanvas::paste(std::size_t column, std::size_t row, const TextCanvas& page) {
  for (std::size_t j = 0; j < page.rows_ && row + j < rows_; ++j) {
    for (std::size_t i = 0; i < page.columns_ && column + i < columns_; ++i) {
      at(column + i, row + j) = page.glyphs_[j * page.columns_ + i];
    }
  }
}

std::string TextCanvas::text(TerminalColours colours) const {
  std::string all;
  for (std::size_t row = 0; row < rows_; ++row) {
    const Glyph* first = glyphs_.data() + row * columns_;
    std::size_t length = columns_;
    while (length > 0 && first[length - 1].text == " " && !first[length - 1].paper) --length;
    std::string before;
    for (std::size_t k = 0; k < length; ++k) {
      const std::string now = codes(first[k], colours);
      if (now != before && !before.empty()) all += kPlain;
      if (now != before) all += now;
      all += first[k].text;
      before = now;
    }
    if (!before.empty()) all += kPlain;
    all += '\n';
  }
  return all;
}

}  // namespace dewpoint::report
