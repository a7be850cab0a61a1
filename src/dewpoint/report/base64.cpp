#include "dewpoint/report/base64.hpp"

#include <bit>
#include <cstddef>
#include <string_view>
#include <vector>

namespace dewpoint::report {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// One to three bytes become four characters: a digit more than there are bytes, the rest padding.
void append_group(std::string& text, std::span<const std::uint8_t> bytes) {
  std::uint32_t bits = 0;
  for (std::size_t k = 0; k < 3; ++k) bits = bits << 8U | (k < bytes.size() ? bytes[k] : 0U);
  for (std::size_t k = 0; k < 4; ++k) {
    text += k <= bytes.size() ? kDigits[bits >> (18U - 6U * k) & 0x3fU] : '=';
  }
}

}  // namespace

std::string base64_of(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; bytes.size() > 3; bytes = bytes.subspan(3)) append_group(text, bytes.first(3));
  if (!bytes.empty()) append_group(text, bytes);
  return text;
}

std::string base64_of(std::span<const double> numbers) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(numbers.size() * sizeof(double));
  for (const double number : numbers) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes.push_back(static_cast<std::uint8_t>(bits >> shift));
    }
  }
  return base64_of(bytes);
}

}  // namespace dewpoint::report
