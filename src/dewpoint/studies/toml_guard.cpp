#include "dewpoint/studies/toml_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace dewpoint::studies {
namespace {

constexpr char kMark = '~';
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

[[noreturn]] void refuse(std::string_view text, std::size_t place, const std::string& message) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(place);
  throw TomlTrouble{static_cast<std::uint32_t>(1 + std::count(text.begin(), end, '\n')), message};
}

void refuse_control_characters(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!is_control(c) || c == '\n' || c == '\r' || c == '\t') continue;
    refuse(text, i,
           fmt::format("not TOML: a control character, \\x{:02x}", static_cast<unsigned char>(c)));
  }
}

void bound_depth(std::string_view text) {
  std::size_t dots = 0;
  bool decimal_seen = false;  // in the run of digits and dots before here
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') dots = 0;
    const bool decimal = c == '.' && i > 0 && is_digit(text[i - 1]) && !decimal_seen &&
                         i + 1 < text.size() && is_digit(text[i + 1]);
    if (c == '.' && !decimal && ++dots > kMostDots) {
      refuse(text, i, fmt::format("more than {} dots in a line", kMostDots));
    }
    decimal_seen = c == '.' || (decimal_seen && is_digit(c));
  }
}

/// A tilde that was written as an escape would be taken for one of ours.
void refuse_escaped_marks(std::string_view text) {
  for (const std::string_view escape : {"\\u007e", "\\u007E", "\\U0000007e", "\\U0000007E"}) {
    const std::size_t place = text.find(escape);
    if (place != std::string_view::npos) {
      refuse(text, place, fmt::format("found {}; allowed: ~ as it is", escape));
    }
  }
}

/// How many bytes a character has that begins with this one; 0: none does.
std::size_t expected_size(unsigned first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

/// How many bytes the character has that begins here; 0: it is none of UTF-8 [RFC 3629].
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[i]));
  };
  const unsigned first = byte(0);
  const std::size_t size = expected_size(first);
  if (size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  const unsigned second = size > 2 ? byte(1) : 0;
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool beyond = first == 0xf4 && second > 0x8f;
  return overlong || surrogate || beyond ? 0 : size;
}

/// Where a text is no UTF-8; its end where it is.
std::size_t first_foreign_byte(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t size = character_size(text.substr(i));
    if (size == 0) break;
    i += size;
  }
  return i;
}

}  // namespace

bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

bool is_utf8(std::string_view text) { return first_foreign_byte(text) == text.size(); }

std::string to_ascii(std::string_view text) {
  refuse_control_characters(text);
  if (!is_utf8(text)) refuse(text, first_foreign_byte(text), "not TOML: no text in UTF-8");
  bound_depth(text);
  refuse_escaped_marks(text);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (is_ascii(c) && c != kMark) {
      result += c;
    } else {
      result += fmt::format("{}{:02x}", kMark, static_cast<unsigned char>(c));
    }
  }
  return result;
}

std::string from_ascii(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const char* digits = text.data() + i + 1;
    const bool marked = text[i] == kMark && i + 2 < text.size() &&
                        std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2;
    result += marked ? static_cast<char>(code) : text[i];
    if (marked) i += 2;
  }
  return result;
}

}  // namespace dewpoint::studies
