#include "dewpoint/text/characters.hpp"

#include <fmt/format.h>

#include "dewpoint/core/error.hpp"

namespace dewpoint::text {
namespace {

struct Lead {
  std::size_t length;  // 0: no character begins so
  char32_t bits;
  char32_t fewest;  // smaller values have a shorter form
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xc2 && byte < 0xe0) return {2, byte & 0x1fU, 0x80};
  if (byte >= 0xe0 && byte < 0xf0) return {3, byte & 0x0fU, 0x800};
  if (byte >= 0xf0 && byte < 0xf5) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

bool is_scalar(char32_t value) { return value <= 0x10ffff && (value < 0xd800 || value > 0xdfff); }

}  // namespace

Character character_at(std::string_view text, std::size_t position) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[position]));
  if (lead.length == 0 || lead.length > text.size() - position) return {0, 0};
  char32_t value = lead.bits;
  for (std::size_t k = 1; k < lead.length; ++k) {
    const auto byte = static_cast<unsigned char>(text[position + k]);
    if ((byte & 0xc0U) != 0x80U) return {0, 0};
    value = value << 6 | (byte & 0x3fU);
  }
  if (value < lead.fewest || !is_scalar(value)) return {0, 0};
  return {lead.length, value};
}

std::size_t first_malformed(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t length = character_at(text, position).length;
    if (length == 0) break;
    position += length;
  }
  return position;
}

void expect_utf8(std::string_view text) {
  const std::size_t position = first_malformed(text);
  if (position == text.size()) return;
  throw Error(Code::bad_value,
              fmt::format("text: found \\x{:02x} at byte {} (counted from 0), which is no UTF-8 "
                          "character, allowed: UTF-8",
                          static_cast<unsigned char>(text[position]), position));
}

bool is_white_space(char32_t value) {
  if (value < 0x80) return value == ' ' || (value >= 0x09 && value <= 0x0d);
  return value == 0x85 || value == 0xa0 || value == 0x1680 ||
         (value >= 0x2000 && value <= 0x200a) || value == 0x2028 || value == 0x2029 ||
         value == 0x202f || value == 0x205f || value == 0x3000;
}

}  // namespace dewpoint::text
