#include "dewpoint/checkpoint/npy_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <string_view>

#include "dewpoint/checkpoint/utf8.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr std::size_t kAlignment = 64;

// "(3, 4)", "(3,)" or "()", as Python writes a tuple.
std::string shape_text(const NpyShape& shape) {
  std::string text = fmt::format("({}", fmt::join(shape, ", "));
  if (shape.size() == 1) text += ',';
  return text + ')';
}

template <class Unsigned>
void append_little_endian(std::string& bytes, Unsigned value) {
  for (std::size_t k = 0; k < sizeof(Unsigned); ++k) {
    bytes += static_cast<char>(value >> (8 * k) & 0xff);
  }
}

// Everything before the first element. Version 1.0 keeps the length of the header in two bytes,
// enough for any shape of fewer than 3000 dimensions.
std::string preamble(std::string_view descr, const NpyShape& shape,
                     [[maybe_unused]] std::size_t elements) {
  DEWPOINT_EXPECTS(
      std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()) == elements);
  constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   descr, shape_text(shape));
  const std::size_t used = magic.size() + 2 + header.size() + 1;
  header.append((kAlignment - used % kAlignment) % kAlignment, ' ').append(1, '\n');
  DEWPOINT_EXPECTS(header.size() <= 0xffff);

  std::string bytes(magic);
  append_little_endian(bytes, static_cast<std::uint16_t>(header.size()));
  return bytes.append(header);
}

template <class Number>
std::string numbers(std::string_view descr, std::span<const Number> values, const NpyShape& shape) {
  std::string bytes = preamble(descr, shape, values.size());
  bytes.reserve(bytes.size() + values.size_bytes());
  for (const Number value : values)
    append_little_endian(bytes, std::bit_cast<std::uint64_t>(value));
  return bytes;
}

}  // namespace

std::string npy_bytes(std::span<const double> values, const NpyShape& shape) {
  return numbers("<f8", values, shape);
}

std::string npy_bytes(std::span<const std::int64_t> values, const NpyShape& shape) {
  return numbers("<i8", values, shape);
}

std::string npy_bytes(std::span<const std::string> values, const NpyShape& shape) {
  std::vector<std::u32string> texts;
  std::size_t width = 1;
  for (const std::string& value : values) {
    texts.push_back(decode_utf8(value));
    width = std::max(width, texts.back().size());
  }
  std::string bytes = preamble(fmt::format("<U{}", width), shape, values.size());
  for (std::u32string& text : texts) {
    text.resize(width, U'\0');
    for (const char32_t value : text) append_little_endian(bytes, std::uint32_t{value});
  }
  return bytes;
}

}  // namespace dewpoint::checkpoint
