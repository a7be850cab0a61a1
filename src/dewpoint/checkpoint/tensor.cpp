#include "dewpoint/checkpoint/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/checkpoint/utf8.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read as they lie in files");

struct TypeFacts {
  const char* name;
  std::size_t size;
};

// In the order of ElementType.
constexpr std::array<TypeFacts, 14> kTypes{{{"bool", 1},
                                            {"u8", 1},
                                            {"i8", 1},
                                            {"u16", 2},
                                            {"i16", 2},
                                            {"u32", 4},
                                            {"i32", 4},
                                            {"u64", 8},
                                            {"i64", 8},
                                            {"f16", 2},
                                            {"bf16", 2},
                                            {"f32", 4},
                                            {"f64", 8},
                                            {"other", 0}}};
static_assert(kTypes.size() == static_cast<std::size_t>(ElementType::other) + 1);

const TypeFacts& facts(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

// --- halves --------------------------------------------------------------------------------------
//
// One sign bit, five of exponent (bias 15) and ten of fraction; bf16 is the upper half of a float.
// No branches: the compiler turns the loops below into vectors.

struct Truth {
  std::uint8_t byte;
};
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

constexpr std::uint32_t kInfinity = 0x7f800000;        // of a float
constexpr std::uint32_t kBiasDifference = 112u << 23;  // 127 - 15, where a float has its exponent

// All bits set where value < bound, none elsewhere; both below 2^31. A conditional instead would be
// a branch, because the arithmetic behind it may raise a flag.
std::uint32_t all_ones_below(std::uint32_t value, std::uint32_t bound) {
  return 0u - ((value - bound) >> 31);
}

float widen(Truth truth) { return truth.byte != 0 ? 1.0f : 0.0f; }
float widen(Brain brain) { return std::bit_cast<float>(std::uint32_t{brain.bits} << 16); }

// A subnormal is f 2^-24, which is 2^-14 (1 + f/1024) - 2^-14: two normal floats, so that it is
// also right where the processor has been told to flush subnormals.
float widen(Half half) {
  const std::uint32_t magnitude = half.bits & 0x7fffu;
  const std::uint32_t normal = (magnitude << 13) + kBiasDifference;
  const float lifted = std::bit_cast<float>(normal + (1u << 23)) - 0x1p-14f;
  const auto subnormal = std::bit_cast<std::uint32_t>(lifted);
  const std::uint32_t finite = normal ^ ((normal ^ subnormal) & all_ones_below(magnitude, 0x400));
  const std::uint32_t special = kInfinity & ~all_ones_below(magnitude, 0x7c00);
  const std::uint32_t sign = std::uint32_t{half.bits & 0x8000u} << 16;
  return std::bit_cast<float>(finite | special | sign);
}

std::uint16_t to_brain(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
  const bool nan = (bits & 0x7fffffff) > kInfinity;
  return static_cast<std::uint16_t>((nan ? bits | 0x400000 : rounded) >> 16);
}

// Below 2^-14 a half is a multiple of 2^-24, which is what floats in [1/2, 1) are: adding 1/2
// rounds. From 65520 on the nearest is 2^16, which a half calls infinity.
std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000;
  const std::uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - kBiasDifference) >> 13;
  const std::uint32_t finite = magnitude < 0x38800000 ? small : normal;
  const std::uint32_t large = magnitude > kInfinity ? 0x7e00 : 0x7c00;
  return static_cast<std::uint16_t>((magnitude < 0x477ff000 ? finite : large) |
                                    (bits >> 16 & 0x8000));
}

// --- loops ---------------------------------------------------------------------------------------

template <class Stored, class Number>
Number converted(Stored value) {
  if constexpr (std::is_arithmetic_v<Stored>) {
    return static_cast<Number>(value);
  } else {
    return static_cast<Number>(widen(value));
  }
}

template <class Stored, class Number>
void copy_as(const std::byte* bytes, std::span<Number> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored value;
    std::memcpy(&value, bytes + i * sizeof(Stored), sizeof(Stored));
    out[i] = converted<Stored, Number>(value);
  }
}

[[noreturn]] void refuse_type(const Tensor& tensor) {
  const bool raw_pairs = tensor.foreign_type == "V2";
  throw Error(Code::bad_value,
              fmt::format("tensor '{}': found type '{}'{}, allowed: bool, integers of 1 to 8 "
                          "bytes, f16, bf16, f32, f64",
                          excerpt(tensor.name), excerpt(tensor.foreign_type),
                          raw_pairs ? " (two raw bytes; NumPy writes bf16 so, and nothing in the "
                                      "array says that it is)"
                                    : ""));
}

template <class Number>
void convert(ElementType type, const std::byte* bytes, std::span<Number> out) {
  switch (type) {
    case ElementType::boolean:
      return copy_as<Truth>(bytes, out);
    case ElementType::u8:
      return copy_as<std::uint8_t>(bytes, out);
    case ElementType::i8:
      return copy_as<std::int8_t>(bytes, out);
    case ElementType::u16:
      return copy_as<std::uint16_t>(bytes, out);
    case ElementType::i16:
      return copy_as<std::int16_t>(bytes, out);
    case ElementType::u32:
      return copy_as<std::uint32_t>(bytes, out);
    case ElementType::i32:
      return copy_as<std::int32_t>(bytes, out);
    case ElementType::u64:
      return copy_as<std::uint64_t>(bytes, out);
    case ElementType::i64:
      return copy_as<std::int64_t>(bytes, out);
    case ElementType::f16:
      return copy_as<Half>(bytes, out);
    case ElementType::bf16:
      return copy_as<Brain>(bytes, out);
    case ElementType::f32:
      return copy_as<float>(bytes, out);
    case ElementType::f64:
      return copy_as<double>(bytes, out);
    case ElementType::other:
      return;
  }
}

// Bytes of a file that are converted at once: they stay in the nearest cache.
constexpr std::size_t kPieceBytes = std::size_t{16} << 10;

template <class Number>
void copy_from_file(const Tensor& tensor, std::size_t first, std::span<Number> out) {
  const std::size_t width = size_of(tensor.type);
  if (std::is_same_v<Number, float> && tensor.type == ElementType::f32) {
    return tensor.read_bytes(first * width, std::as_writable_bytes(out));
  }
  std::array<std::byte, kPieceBytes> piece;
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), kPieceBytes / width);
    tensor.read_bytes(first * width, std::span(piece).first(count * width));
    convert(tensor.type, piece.data(), out.first(count));
    first += count;
    out = out.subspan(count);
  }
}

template <class Number>
void copy(const Tensor& tensor, std::size_t first, std::span<Number> out) {
  if (tensor.type == ElementType::other) refuse_type(tensor);
  DEWPOINT_EXPECTS(first <= tensor.elements() && out.size() <= tensor.elements() - first);
  if (tensor.in_file.file) return copy_from_file(tensor, first, out);
  convert(tensor.type, tensor.bytes.data() + first * size_of(tensor.type), out);
}

template <class Convert>
std::vector<std::byte> bytes_of(std::span<const float> values, Convert convert) {
  using Stored = decltype(convert(0.0f));
  std::vector<std::byte> bytes(values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stored value = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(Stored), &value, sizeof(Stored));
  }
  return bytes;
}

// --- texts ---------------------------------------------------------------------------------------

std::string raw_text(const Tensor& tensor) {
  std::string text(tensor.byte_count(), '\0');
  tensor.read_bytes(0, std::as_writable_bytes(std::span(text)));
  return text;
}

// NumPy pads texts with zeros at their end.
std::string without_padding(std::string text) {
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

// Code points beyond Unicode, which NumPy does not forbid, become U+FFFD.
std::string from_utf32(const std::string& bytes) {
  std::u32string text(bytes.size() / sizeof(char32_t), U'\0');
  if (!text.empty()) std::memcpy(text.data(), bytes.data(), text.size() * sizeof(char32_t));
  for (char32_t& point : text) {
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    if (surrogate || point > 0x10ffff) point = U'\ufffd';
  }
  return without_padding(encode_utf8(text));
}

}  // namespace

std::size_t size_of(ElementType type) { return facts(type).size; }
const char* name_of(ElementType type) { return facts(type).name; }

std::size_t Tensor::elements() const { return checked_product(shape).value(); }

void Tensor::read_bytes(std::size_t first, std::span<std::byte> out) const {
  if (in_file.file) return in_file.file->read(in_file.first + first, out);
  ByteSource(bytes).read(first, out);
}

void Tensor::take_bytes(const ByteSource& source, std::size_t first, std::size_t count) {
  const bool is_file = source.file() != nullptr;
  in_file = is_file ? InFile{source.file(), first, count} : InFile{};
  bytes = is_file ? std::span<const std::byte>() : source.memory().subspan(first, count);
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (const std::size_t extent : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent);
  }
  return text += ']';
}

std::optional<std::size_t> checked_product(const std::vector<std::size_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  std::size_t product = 1;
  for (const std::size_t extent : shape) {
    if (extent > std::numeric_limits<std::size_t>::max() / product) return std::nullopt;
    product *= extent;
  }
  return product;
}

void copy_elements(const Tensor& tensor, std::size_t first, std::span<float> out) {
  copy(tensor, first, out);
}

void copy_elements(const Tensor& tensor, std::size_t first, std::span<double> out) {
  copy(tensor, first, out);
}

std::vector<std::byte> element_bytes(std::span<const float> values, ElementType type) {
  switch (type) {
    case ElementType::f16:
      return bytes_of(values, to_half);
    case ElementType::bf16:
      return bytes_of(values, to_brain);
    case ElementType::f32:
      return bytes_of(values, [](float value) { return value; });
    default:
      DEWPOINT_EXPECTS(type == ElementType::f64);
      return bytes_of(values, [](float value) { return double{value}; });
  }
}

std::optional<std::string> text_of(const Tensor& tensor) {
  const bool bytes = tensor.type == ElementType::u8 && tensor.shape.size() == 1;
  const bool single = tensor.type == ElementType::other && tensor.elements() == 1;
  if (bytes) return raw_text(tensor);
  if (single && tensor.foreign_type.starts_with('S')) return without_padding(raw_text(tensor));
  if (single && tensor.foreign_type.starts_with('U')) return from_utf32(raw_text(tensor));
  return std::nullopt;
}

}  // namespace dewpoint::checkpoint
