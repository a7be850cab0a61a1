#include "dewpoint/checkpoint/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::checkpoint {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kMagic = "GGUF";

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Cuts values off the front of the file; `field` is what a refusal names. What is taken stays until
// more is taken.
class Cursor {
 public:
  Cursor(const ByteSource& bytes, std::size_t first) : bytes_(bytes), next_(first) {}

  [[nodiscard]] std::uint64_t left() const { return bytes_.size() - next_; }

  Bytes take(std::uint64_t count, const std::string& field) {
    expect(count, field);
    const std::size_t offset = next_ - window_first_;
    if (offset + count > window_.size()) read_window(static_cast<std::size_t>(count));
    const Bytes front = Bytes(window_).subspan(next_ - window_first_, count);
    next_ += static_cast<std::size_t>(count);
    return front;
  }

  void skip(std::uint64_t count, const std::string& field) {
    expect(count, field);
    next_ += static_cast<std::size_t>(count);
  }

  template <class T>
  T number(const std::string& field) {
    std::array<std::byte, sizeof(T)> raw;
    std::memcpy(raw.data(), take(sizeof(T), field).data(), sizeof(T));
    if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
  }

  // A number of things of at least `least_bytes` each.
  std::uint64_t count(std::uint64_t least_bytes, const std::string& field) {
    const auto value = number<std::uint64_t>(field);
    if (value > left() / least_bytes) {
      throw Refusal{
          field, fmt::format("{}", value),
          fmt::format("at most {}, as the file has {} bytes left", left() / least_bytes, left())};
    }
    return value;
  }

  std::string_view string(const std::string& field) {
    return as_text(take(count(1, field + " length"), field));
  }

 private:
  static constexpr std::size_t kWindow = std::size_t{64} << 10;

  void expect(std::uint64_t count, const std::string& field) const {
    if (count <= left()) return;
    throw Refusal{field, fmt::format("the end of the file after {} of {} bytes", left(), count),
                  "a complete file"};
  }

  void read_window(std::size_t count) {
    window_first_ = next_;
    window_.resize(std::min<std::size_t>(std::max(count, kWindow), left()));
    bytes_.read(next_, window_);
  }

  const ByteSource& bytes_;
  std::size_t next_;
  std::size_t window_first_ = 0;
  std::vector<std::byte> window_;
};

// --- types -----------------------------------------------------------------------------------

GgufType take_type(Cursor& cursor, const std::string& field) {
  const auto code = cursor.number<std::uint32_t>(field + " type");
  if (code > static_cast<std::uint32_t>(GgufType::f64)) {
    throw Refusal{field + " type", fmt::format("{}", code), "the types 0 to 12"};
  }
  return static_cast<GgufType>(code);
}

// The fewest bytes that a value of a type takes: a string and an array may be empty.
std::uint64_t least_bytes(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean:
      return 1;
    case GgufType::u16:
    case GgufType::i16:
      return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32:
      return 4;
    case GgufType::string:
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
      return 8;
    case GgufType::array:
      return 12;
  }
  return 1;
}

bool take_boolean(Cursor& cursor, const std::string& field) {
  const auto value = cursor.number<std::uint8_t>(field);
  if (value > 1) throw Refusal{field, fmt::format("the boolean {}", value), "0 or 1"};
  return value == 1;
}

// Of a number or a boolean.
double take_number(Cursor& cursor, GgufType type, const std::string& field) {
  switch (type) {
    case GgufType::u8:
      return cursor.number<std::uint8_t>(field);
    case GgufType::i8:
      return cursor.number<std::int8_t>(field);
    case GgufType::u16:
      return cursor.number<std::uint16_t>(field);
    case GgufType::i16:
      return cursor.number<std::int16_t>(field);
    case GgufType::u32:
      return cursor.number<std::uint32_t>(field);
    case GgufType::i32:
      return cursor.number<std::int32_t>(field);
    case GgufType::f32:
      return static_cast<double>(cursor.number<float>(field));
    case GgufType::u64:
      return static_cast<double>(cursor.number<std::uint64_t>(field));
    case GgufType::i64:
      return static_cast<double>(cursor.number<std::int64_t>(field));
    case GgufType::f64:
      return cursor.number<double>(field);
    default:
      return take_boolean(cursor, field) ? 1.0 : 0.0;
  }
}

// --- arrays ----------------------------------------------------------------------------------

GgufArray take_array(Cursor& cursor, const std::string& field, std::size_t depth);

void skip_elements(Cursor& cursor, const GgufArray& array, const std::string& field,
                   std::size_t depth) {
  if (array.element == GgufType::string) {
    for (std::uint64_t k = 0; k < array.length; ++k) cursor.string(field);
  } else if (array.element == GgufType::array) {
    for (std::uint64_t k = 0; k < array.length; ++k) take_array(cursor, field, depth + 1);
  } else {
    cursor.skip(array.length * least_bytes(array.element), field);
  }
}

GgufArray take_array(Cursor& cursor, const std::string& field, std::size_t depth) {
  if (depth >= kGgufArrayDepth) {
    throw Refusal{field, "arrays inside each other",
                  fmt::format("at most {} levels of arrays", kGgufArrayDepth)};
  }
  GgufArray array;
  array.element = take_type(cursor, field + " element");
  array.length = cursor.count(least_bytes(array.element), field + " length");
  const bool numeric = array.element != GgufType::string && array.element != GgufType::array;
  if (!numeric || array.length > kGgufKeptElements) {
    skip_elements(cursor, array, field, depth);
    return array;
  }
  array.numbers.reserve(static_cast<std::size_t>(array.length));
  for (std::uint64_t k = 0; k < array.length; ++k) {
    array.numbers.push_back(take_number(cursor, array.element, field));
  }
  return array;
}

// --- the file, front to back -----------------------------------------------------------------

GgufValue take_value(Cursor& cursor, const std::string& field) {
  const GgufType type = take_type(cursor, field);
  if (type == GgufType::string) return std::string(cursor.string(field));
  if (type == GgufType::array) return take_array(cursor, field, 0);
  if (type == GgufType::boolean) return take_boolean(cursor, field);
  return take_number(cursor, type, field);
}

std::uint32_t take_version(Cursor& cursor) {
  const auto version = cursor.number<std::uint32_t>("version");
  if (version == 2 || version == 3) return version;
  const bool swapped = version == 2U << 24 || version == 3U << 24;
  throw Refusal{
      "version",
      swapped ? fmt::format("{} (a big-endian file)", version) : fmt::format("{}", version),
      "2 or 3, little-endian"};
}

void take_pair(Cursor& cursor, GgufMetadata& metadata) {
  const std::string key(cursor.string("key"));
  if (key.empty() || key.size() > kGgufKeyLength) {
    throw Refusal{"key", fmt::format("{} bytes", key.size()),
                  fmt::format("1 to {} bytes", kGgufKeyLength)};
  }
  const std::string field = excerpt(key);
  GgufValue value = take_value(cursor, field);
  if (!metadata.values.try_emplace(key, std::move(value)).second) {
    throw Refusal{field, "the key twice", "every key once"};
  }
}

}  // namespace

bool is_gguf(const ByteSource& bytes) { return bytes.text(0, kMagic.size()) == kMagic; }

GgufMetadata parse_gguf(const ByteSource& bytes) {
  if (!is_gguf(bytes)) {
    throw Refusal{"magic", fmt::format("'{}'", excerpt(bytes.text(0, kMagic.size()))), "'GGUF'"};
  }
  Cursor cursor(bytes, kMagic.size());
  GgufMetadata metadata;
  metadata.version = take_version(cursor);
  metadata.tensors = cursor.number<std::uint64_t>("number of tensors");

  // A key of one byte, a type and a value of one byte.
  constexpr std::uint64_t least_pair = 8 + 1 + 4 + 1;
  const std::uint64_t pairs = cursor.count(least_pair, "number of keys");
  for (std::uint64_t k = 0; k < pairs; ++k) take_pair(cursor, metadata);
  return metadata;
}

}  // namespace dewpoint::checkpoint
