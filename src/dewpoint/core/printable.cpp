#include "dewpoint/core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace dewpoint {
namespace {

struct Character {
  char32_t value = 0;
  std::size_t length = 0;  // in bytes; 0: no UTF-8
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t value = lead & (0xffU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0U) != 0x80U) return {};
    value = value << 6 | (byte(k) & 0x3fU);
  }
  return {value, length};
}

bool acts(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool direction = c == 0x061c || c == 0x200e || c == 0x200f ||
                         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return control || direction || c == 0x2028 || c == 0x2029;
}

std::string shown(char32_t c) {
  const auto number = static_cast<unsigned>(c);
  return c < 0x100 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{:04x}", number);
}

// The length of ESC [ numbers m at the beginning, else 0.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

std::size_t kept_of_page(std::string_view text) {
  return text[0] == '\n' || text[0] == '\t' ? 1 : colour_length(text);
}

// `kept`: how many bytes at the beginning stay, whatever they are.
std::string made_printable(std::string_view text, std::size_t (*kept)(std::string_view)) {
  std::string result;
  while (!text.empty()) {
    std::size_t taken = kept(text);
    const Character first = first_of(text);
    if (taken == 0 && first.length > 0 && !acts(first.value)) taken = first.length;
    result += taken > 0
                  ? std::string(text.substr(0, taken))
                  : shown(first.length > 0 ? first.value : static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max({taken, first.length, std::size_t{1}}));
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return made_printable(text, [](std::string_view) { return std::size_t{0}; });
}

std::string printable_page(std::string_view text) { return made_printable(text, kept_of_page); }

}  // namespace dewpoint
