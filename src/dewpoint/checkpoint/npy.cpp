#include "dewpoint/checkpoint/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/npy_header.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using Bytes = std::span<const std::byte>;

// --- elements ------------------------------------------------------------------------------------

struct Half {
  std::uint16_t bits;
};

// IEEE 754 binary16: one sign bit, five of exponent (bias 15), ten of fraction. Every half is a
// double.
double to_double(Half half) {
  const int exponent = (half.bits >> 10) & 0x1f;
  const int fraction = half.bits & 0x3ff;
  const double sign = (half.bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent < 31) return sign * std::ldexp(1024 + fraction, exponent - 25);
  return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::quiet_NaN();
}

template <class Number>
double to_double(Number number) {
  return static_cast<double>(number);
}

// One element at any alignment; `swapped` when its byte order is not this machine's.
template <class T>
double decode(const std::byte* bytes, bool swapped) {
  std::array<std::byte, sizeof(T)> raw;
  std::memcpy(raw.data(), bytes, sizeof(T));
  if (swapped) std::reverse(raw.begin(), raw.end());
  return to_double(std::bit_cast<T>(raw));
}

struct Decoder {
  std::string_view code;
  std::size_t width;
  double (*decode)(const std::byte* bytes, bool swapped);
};

template <class T>
constexpr Decoder element(std::string_view code) {
  return {code, sizeof(T), &decode<T>};
}

constexpr std::array kDecoders{
    element<Half>("f2"),          element<float>("f4"),         element<double>("f8"),
    element<std::int8_t>("i1"),   element<std::int16_t>("i2"),  element<std::int32_t>("i4"),
    element<std::int64_t>("i8"),  element<std::uint8_t>("u1"),  element<std::uint16_t>("u2"),
    element<std::uint32_t>("u4"), element<std::uint64_t>("u8"),
};

constexpr const char* kAllowedTypes =
    "f2, f4, f8, i2, i4, i8, u2, u4 or u8 after '<' or '>', or '|i1' or '|u1'";

struct Encoding {
  Decoder type;
  bool swapped;
};

Encoding element_encoding(std::string_view descr) {
  if (descr.empty()) refuse_npy_type(descr, kAllowedTypes);
  const auto it = std::find_if(kDecoders.begin(), kDecoders.end(),
                               [&](const Decoder& t) { return t.code == descr.substr(1); });
  if (it == kDecoders.end()) refuse_npy_type(descr, kAllowedTypes);

  // A single byte has no order: NumPy writes '|', and reads any.
  const std::string_view orders = it->width == 1 ? "<>|" : "<>";
  if (orders.find(descr.front()) == std::string_view::npos) refuse_npy_type(descr, kAllowedTypes);
  const char native = std::endian::native == std::endian::little ? '<' : '>';
  return {*it, descr.front() != native};
}

// --- the file, front to back ---------------------------------------------------------------------

constexpr const char* kAllowedShape = "(rows, columns), both at least 1";
constexpr const char* kAllowedRowShape = "(rows, columns) or (columns,), with at least one of each";

struct Layout {
  Encoding encoding;
  bool fortran_order;
  std::size_t rows;
  std::size_t cols;
};

// What a single extent is taken for.
enum class Vector { refused, one_row };

// Rows and columns of a shape.
std::pair<std::size_t, std::size_t> extents_of(const NpyHeader& header, Vector vector) {
  std::vector<std::size_t> extents = header.shape;
  const bool rows_too = vector == Vector::one_row;
  if (rows_too && extents.size() == 1) extents.insert(extents.begin(), 1);
  if (extents.size() != 2 || extents[0] == 0 || extents[1] == 0) {
    throw Refusal{"shape", excerpt(header.shape_text), rows_too ? kAllowedRowShape : kAllowedShape};
  }
  return {extents[0], extents[1]};
}

Layout layout_of(const NpyHeader& header, Vector vector) {
  const Encoding encoding = element_encoding(header.descr);
  const auto [rows, cols] = extents_of(header, vector);
  return {encoding, header.fortran_order, rows, cols};
}

// The bytes that follow the header are the elements, all of them and nothing else.
void check_size(const Layout& layout, std::size_t found) {
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
  const std::size_t width = layout.encoding.type.width;
  if (layout.cols > largest / width / layout.rows) {
    throw Refusal{"shape", fmt::format("({}, {})", layout.rows, layout.cols),
                  fmt::format("at most {} elements of {} bytes", largest / width, width)};
  }
  const std::size_t promised = layout.rows * layout.cols * width;
  if (found != promised) {
    throw Refusal{"data", fmt::format("{} bytes", found),
                  fmt::format("{} bytes, for shape ({}, {}) of {}-byte elements", promised,
                              layout.rows, layout.cols, width)};
  }
}

void check_finite(double value, std::size_t row, std::size_t col) {
  if (std::isfinite(value)) return;
  throw Refusal{"data", fmt::format("{} in row {}, column {} (counted from 0)", value, row, col),
                "finite numbers"};
}

Matrix<double> decode_elements(const Layout& layout, Bytes data) {
  const auto [type, swapped] = layout.encoding;
  const std::size_t row_step = layout.fortran_order ? 1 : layout.cols;
  const std::size_t col_step = layout.fortran_order ? layout.rows : 1;
  Matrix<double> matrix(layout.rows, layout.cols);
  for (std::size_t i = 0; i < layout.rows; ++i) {
    for (std::size_t j = 0; j < layout.cols; ++j) {
      const std::size_t index = i * row_step + j * col_step;
      matrix(i, j) = type.decode(data.data() + index * type.width, swapped);
      check_finite(matrix(i, j), i, j);
    }
  }
  return matrix;
}

Matrix<double> parse(Bytes bytes, std::string_view name, Vector vector) {
  try {
    const NpyHeader header = take_npy_header(bytes, {kAllowedTypes, kAllowedShape});
    const Layout layout = layout_of(header, vector);
    check_size(layout, bytes.size());
    return decode_elements(layout, bytes);
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  constexpr const char* allowed = "a readable .npy file";
  std::ifstream file = open_regular_file(path, allowed);
  const auto refuse = [&](std::string found) {
    return to_error(Code::unreadable_file, path.string(), {"file", std::move(found), allowed});
  };
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  if (size < 0) throw refuse("a file of unknown size");

  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  if (file.gcount() != size) {
    throw refuse(fmt::format("{} of its {} bytes readable", file.gcount(), size));
  }
  return bytes;
}

}  // namespace

Matrix<double> parse_npy_matrix(std::span<const std::byte> bytes, std::string_view name) {
  return parse(bytes, name, Vector::refused);
}

Matrix<double> read_npy_matrix(const std::filesystem::path& path) {
  return parse_npy_matrix(read_file(path), path.string());
}

Matrix<double> parse_npy_rows(std::span<const std::byte> bytes, std::string_view name) {
  return parse(bytes, name, Vector::one_row);
}

Matrix<double> read_npy_rows(const std::filesystem::path& path) {
  return parse_npy_rows(read_file(path), path.string());
}

}  // namespace dewpoint::checkpoint
