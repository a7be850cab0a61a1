#include "dewpoint/checkpoint/npy_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <system_error>
#include <vector>

#include "dewpoint/checkpoint/npy_header.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using Bytes = std::span<const std::byte>;
using Extents = std::vector<std::size_t>;

constexpr NpyAllowance kAllowance{
    "f2, f4, f8, i2, i4, i8, u2, u4 or u8 after '<' or '>', '|b1', '|i1', '|u1', or little-endian "
    "S, U, V, c, M, m",
    "a tuple of at most 64 extents"};
constexpr std::size_t kMostDimensions = 64;  // of NumPy 2

// --- types ---------------------------------------------------------------------------------------

struct Encoding {
  ElementType type;
  std::size_t width;
  bool swapped = false;
};

struct TypeCode {
  std::string_view code;
  ElementType type;
};

constexpr std::array kTypeCodes{
    TypeCode{"b1", ElementType::boolean}, TypeCode{"u1", ElementType::u8},
    TypeCode{"i1", ElementType::i8},      TypeCode{"u2", ElementType::u16},
    TypeCode{"i2", ElementType::i16},     TypeCode{"u4", ElementType::u32},
    TypeCode{"i4", ElementType::i32},     TypeCode{"u8", ElementType::u64},
    TypeCode{"i8", ElementType::i64},     TypeCode{"f2", ElementType::f16},
    TypeCode{"f4", ElementType::f32},     TypeCode{"f8", ElementType::f64},
};

// "U12" is 12 code points of 4 bytes, "M8[s]" has a unit after its size.
Encoding foreign_encoding(std::string_view descr) {
  const std::string_view code = descr.substr(1);
  const bool known = std::string_view("SUVcMmf").find(code.front()) != std::string_view::npos;
  const bool ordered = descr.front() == '<' || descr.front() == '|';
  if (!known || !ordered) refuse_npy_type(descr, kAllowance.types);

  std::uint32_t size = 0;
  const auto [end, error] = std::from_chars(code.data() + 1, code.data() + code.size(), size);
  const std::string_view unit(end, static_cast<std::size_t>(code.data() + code.size() - end));
  const bool timed = code.front() == 'M' || code.front() == 'm';
  if (error != std::errc{} || (!unit.empty() && !(timed && unit.front() == '['))) {
    refuse_npy_type(descr, kAllowance.types);
  }
  return {ElementType::other, std::size_t{size} * (code.front() == 'U' ? 4 : 1)};
}

Encoding encoding_of(std::string_view descr) {
  if (descr.size() < 2) refuse_npy_type(descr, kAllowance.types);
  const auto it = std::find_if(kTypeCodes.begin(), kTypeCodes.end(),
                               [&](const TypeCode& t) { return t.code == descr.substr(1); });
  if (it == kTypeCodes.end()) return foreign_encoding(descr);

  const std::size_t width = size_of(it->type);
  const std::string_view orders = width == 1 ? "<>|" : "<>";
  if (orders.find(descr.front()) == std::string_view::npos) {
    refuse_npy_type(descr, kAllowance.types);
  }
  return {it->type, width, width > 1 && descr.front() == '>'};
}

// --- sizes ---------------------------------------------------------------------------------------

void check_size(const NpyHeader& header, std::size_t width, std::size_t found) {
  if (header.shape.size() > kMostDimensions) {
    throw Refusal{"shape", fmt::format("{} extents", header.shape.size()), kAllowance.shape};
  }
  Extents all = header.shape;
  all.push_back(width);
  const auto elements = checked_product(header.shape);
  const auto promised = checked_product(all);
  if (!elements || !promised) {
    throw Refusal{"shape", excerpt(header.shape_text),
                  fmt::format("at most {} bytes", std::numeric_limits<std::size_t>::max())};
  }
  if (found != *promised) {
    throw Refusal{"data", fmt::format("{} bytes", found),
                  fmt::format("{} bytes, for shape {} of {}-byte elements", *promised,
                              excerpt(header.shape_text), width)};
  }
}

// --- order ---------------------------------------------------------------------------------------

// One plane of the array, the axes that are first and last: in the file the first runs fastest, in
// the copy the last. Tiles keep both within reach of the cache.
struct Plane {
  std::size_t first;         // extents
  std::size_t last;          //
  std::size_t read_stride;   // of the last axis in the file
  std::size_t write_stride;  // of the first axis in the copy
};

template <std::size_t kWidth>
void transpose(const Plane& plane, std::size_t width, const std::byte* in, std::byte* out) {
  constexpr std::size_t tile = 32;
  const std::size_t w = kWidth == 0 ? width : kWidth;
  for (std::size_t i0 = 0; i0 < plane.first; i0 += tile) {
    for (std::size_t j0 = 0; j0 < plane.last; j0 += tile) {
      const std::size_t i1 = std::min(i0 + tile, plane.first);
      const std::size_t j1 = std::min(j0 + tile, plane.last);
      for (std::size_t i = i0; i < i1; ++i) {
        for (std::size_t j = j0; j < j1; ++j) {
          std::memcpy(out + (i * plane.write_stride + j) * w, in + (i + j * plane.read_stride) * w,
                      w);
        }
      }
    }
  }
}

void transpose(const Plane& plane, std::size_t width, const std::byte* in, std::byte* out) {
  switch (width) {
    case 2:
      return transpose<2>(plane, width, in, out);
    case 4:
      return transpose<4>(plane, width, in, out);
    case 8:
      return transpose<8>(plane, width, in, out);
    default:
      return transpose<0>(plane, width, in, out);
  }
}

// Elements apart along each axis when the first axis runs fastest, or the last.
Extents fortran_strides(const Extents& shape) {
  Extents strides(shape.size(), 1);
  for (std::size_t k = 1; k < shape.size(); ++k) strides[k] = strides[k - 1] * shape[k - 1];
  return strides;
}

Extents c_strides(const Extents& shape) {
  Extents strides(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

// Steps through the axes between the first and the last; false after the last of them.
bool advance(Extents& index, const Extents& shape) {
  for (std::size_t k = 1; k + 1 < shape.size(); ++k) {
    if (++index[k] < shape[k]) return true;
    index[k] = 0;
  }
  return false;
}

// Domain: at least two axes and one element.
void to_c_order(Bytes in, const Extents& shape, std::size_t width, std::byte* out) {
  const Extents read = fortran_strides(shape);
  const Extents write = c_strides(shape);
  const Plane plane{shape.front(), shape.back(), read.back(), write.front()};
  Extents index(shape.size(), 0);
  do {
    const auto offset = [&](const Extents& strides) {
      return width * std::inner_product(index.begin(), index.end(), strides.begin(), std::size_t{});
    };
    transpose(plane, width, in.data() + offset(read), out + offset(write));
  } while (advance(index, shape));
}

template <class Unsigned, class Swap>
void swap_all(std::span<std::byte> bytes, Swap swap) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(Unsigned)) {
    Unsigned value;
    std::memcpy(&value, bytes.data() + i, sizeof(Unsigned));
    value = swap(value);
    std::memcpy(bytes.data() + i, &value, sizeof(Unsigned));
  }
}

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  if (width == 2) swap_all<std::uint16_t>(bytes, [](auto v) { return __builtin_bswap16(v); });
  if (width == 4) swap_all<std::uint32_t>(bytes, [](auto v) { return __builtin_bswap32(v); });
  if (width == 8) swap_all<std::uint64_t>(bytes, [](auto v) { return __builtin_bswap64(v); });
}

// Copies the data and brings them into order.
std::shared_ptr<std::vector<std::byte>> ordered(const ByteSource& bytes, std::size_t first,
                                                const Encoding& encoding, const NpyHeader& header) {
  const auto copy = std::make_shared<std::vector<std::byte>>(bytes.size() - first);
  bytes.read(first, *copy);
  if (header.fortran_order && header.shape.size() > 1) {
    const auto as_read = bytes.file() ? *copy : std::vector<std::byte>();
    to_c_order(bytes.file() ? Bytes(as_read) : bytes.memory().subspan(first), header.shape,
               encoding.width, copy->data());
  }
  if (encoding.swapped) swap_bytes(*copy, encoding.width);
  return copy;
}

NpyArray array_of(const NpyHeader& header, const ByteSource& bytes, std::size_t first) {
  const Encoding encoding = encoding_of(header.descr);
  const std::size_t data = bytes.size() - first;
  check_size(header, encoding.width, data);
  NpyArray array{{"", encoding.type, header.shape, {}}, nullptr};
  if (encoding.type == ElementType::other) array.tensor.foreign_type = header.descr.substr(1);

  const bool reordered = header.fortran_order && header.shape.size() > 1;
  if (data == 0 || !(reordered || encoding.swapped)) {
    array.tensor.take_bytes(bytes, first, data);
    return array;
  }
  const auto copy = ordered(bytes, first, encoding, header);
  array.tensor.bytes = *copy;
  array.storage = copy;
  return array;
}

}  // namespace

NpyArray parse_npy_array(const ByteSource& bytes, std::string_view name) {
  try {
    const std::string front = bytes.text(0, kNpyFront);
    Bytes rest = std::as_bytes(std::span(front));
    const NpyHeader header = take_npy_header(rest, kAllowance);
    return array_of(header, bytes, front.size() - rest.size());
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

void check_npy_size(std::span<const std::byte> front, std::size_t size) {
  Bytes rest = front;
  const NpyHeader header = take_npy_header(rest, kAllowance);
  check_size(header, encoding_of(header.descr).width, size - (front.size() - rest.size()));
}

}  // namespace dewpoint::checkpoint
