#include "dewpoint/checkpoint/utf8.hpp"

#include <array>
#include <cstddef>

namespace dewpoint::checkpoint {
namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr char32_t kMostUnicode = 0x10ffff;

struct Sequence {
  std::size_t length;  // in bytes; 0: no sequence begins so
  char32_t first_bits;
  char32_t fewest;  // smaller values have a shorter form, which is the only one allowed
};

Sequence sequence_of(unsigned char lead) {
  if (lead < 0x80) return {1, lead, 0};
  if (lead >= 0xc0 && lead < 0xe0) return {2, lead & 0x1fU, 0x80};
  if (lead >= 0xe0 && lead < 0xf0) return {3, lead & 0x0fU, 0x800};
  if (lead >= 0xf0 && lead < 0xf8) return {4, lead & 0x07U, 0x10000};
  return {0, 0, 0};
}

bool is_scalar(char32_t value) {
  return value <= kMostUnicode && (value < 0xd800 || value > 0xdfff);
}

// Reads one code point off the front of `text`.
char32_t take(std::string_view& text) {
  const auto [length, first_bits, fewest] = sequence_of(static_cast<unsigned char>(text.front()));
  char32_t value = first_bits;
  bool well_formed = length > 0 && length <= text.size();
  for (std::size_t k = 1; well_formed && k < length; ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    well_formed = (byte & 0xc0U) == 0x80U;
    value = value << 6 | (byte & 0x3fU);
  }
  well_formed = well_formed && value >= fewest && is_scalar(value);
  text.remove_prefix(well_formed ? length : 1);
  return well_formed ? value : kReplacement;
}

void append(std::string& text, char32_t value) {
  if (value < 0x80) {
    text += static_cast<char>(value);
    return;
  }
  // The lead byte says how many continuations of six bits follow.
  const int continuations = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  constexpr std::array<unsigned, 4> kLeads{0x00, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kLeads[static_cast<std::size_t>(continuations)] |
                            (value >> (6 * continuations)));
  for (int k = continuations - 1; k >= 0; --k) {
    text += static_cast<char>(0x80U | ((value >> (6 * k)) & 0x3fU));
  }
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string code_points;
  while (!text.empty()) code_points += take(text);
  return code_points;
}

std::string encode_utf8(std::u32string_view code_points) {
  std::string text;
  for (const char32_t value : code_points) append(text, value);
  return text;
}

}  // namespace dewpoint::checkpoint
