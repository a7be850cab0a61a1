#include "dewpoint/checkpoint/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using Bytes = std::span<const std::byte>;

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

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

struct ElementType {
  std::string_view code;
  std::size_t width;
  double (*decode)(const std::byte* bytes, bool swapped);
};

template <class T>
constexpr ElementType element(std::string_view code) {
  return {code, sizeof(T), &decode<T>};
}

constexpr std::array kElementTypes{
    element<Half>("f2"),          element<float>("f4"),         element<double>("f8"),
    element<std::int8_t>("i1"),   element<std::int16_t>("i2"),  element<std::int32_t>("i4"),
    element<std::int64_t>("i8"),  element<std::uint8_t>("u1"),  element<std::uint16_t>("u2"),
    element<std::uint32_t>("u4"), element<std::uint64_t>("u8"),
};

constexpr const char* kAllowedTypes =
    "f2, f4, f8, i2, i4, i8, u2, u4 or u8 after '<' or '>', or '|i1' or '|u1'";

// What a refused type is, in words, from the letter after its byte order.
std::string_view meaning(char kind) {
  switch (kind) {
    case 'O':
      return " (Python objects, which only pickle can read)";
    case 'b':
      return " (booleans)";
    case 'c':
      return " (complex numbers)";
    case 'S':
    case 'a':
    case 'U':
      return " (strings)";
    case 'V':
      return " (raw bytes)";
    case 'M':
    case 'm':
      return " (times)";
    default:
      return "";
  }
}

[[noreturn]] void refuse_type(std::string_view descr) {
  const std::string_view words = descr.size() < 2 ? "" : meaning(descr[1]);
  throw Refusal{"descr", fmt::format("'{}'{}", excerpt(descr), words), kAllowedTypes};
}

struct Encoding {
  ElementType type;
  bool swapped;
};

Encoding element_encoding(std::string_view descr) {
  if (descr.empty()) refuse_type(descr);
  const auto it = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                               [&](const ElementType& t) { return t.code == descr.substr(1); });
  if (it == kElementTypes.end()) refuse_type(descr);

  // A single byte has no order: NumPy writes '|', and reads any.
  const std::string_view orders = it->width == 1 ? "<>|" : "<>";
  if (orders.find(descr.front()) == std::string_view::npos) refuse_type(descr);
  const char native = std::endian::native == std::endian::little ? '<' : '>';
  return {*it, descr.front() != native};
}

// --- the header: a Python dictionary -------------------------------------------------------------

struct Shape {
  std::string_view text;
  std::vector<std::size_t> extents;
};

struct Dictionary {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

constexpr const char* kAllowedKeys = "the keys 'descr', 'fortran_order' and 'shape', once each";
constexpr const char* kAllowedShape = "(rows, columns), both at least 1";
constexpr const char* kAllowedRowShape = "(rows, columns) or (columns,), with at least one of each";

class DictionaryParser {
 public:
  explicit DictionaryParser(std::string_view text) : text_(text) {}

  Dictionary parse() {
    Dictionary dictionary;
    expect('{', "header", "a dictionary that begins with '{'");
    while (!accept('}')) {
      parse_entry(dictionary);
      if (accept(',')) continue;
      expect('}', "header", "',' or '}' after an entry");
      break;
    }
    if (next() != kEnd) refuse("header", "only spaces after the closing '}'");
    return dictionary;
  }

 private:
  static constexpr int kEnd = -1;

  void parse_entry(Dictionary& dictionary) {
    const std::string_view key = parse_string("header", "a quoted key or '}'");
    expect(':', "header", "':' after a key");
    if (key == "descr") {
      put(dictionary.descr, key, parse_descr());
    } else if (key == "fortran_order") {
      put(dictionary.fortran_order, key, parse_boolean());
    } else if (key == "shape") {
      put(dictionary.shape, key, parse_shape());
    } else {
      throw Refusal{"header", fmt::format("the key '{}'", excerpt(key)), kAllowedKeys};
    }
  }

  template <class T>
  static void put(std::optional<T>& slot, std::string_view key, T value) {
    if (slot) throw Refusal{"header", fmt::format("the key '{}' twice", key), kAllowedKeys};
    slot = std::move(value);
  }

  std::string_view parse_descr() {
    const int c = next();
    if (c == '[' || c == '(' || c == '{') {
      throw Refusal{"descr", describe_rest() + " (a structured type)", kAllowedTypes};
    }
    return parse_string("descr", kAllowedTypes);
  }

  bool parse_boolean() {
    next();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (!rest().starts_with(word)) continue;
      position_ += std::string_view(word).size();
      return value;
    }
    refuse("fortran_order", "True or False");
  }

  Shape parse_shape() {
    expect('(', "shape", kAllowedShape);
    const std::size_t begin = position_ - 1;
    std::vector<std::size_t> extents;
    while (!accept(')')) {
      extents.push_back(parse_extent());
      if (accept(',')) continue;
      expect(')', "shape", "',' or ')' after a number");
      break;
    }
    return {text_.substr(begin, position_ - begin), std::move(extents)};
  }

  std::size_t parse_extent() {
    next();
    std::size_t extent = 0;
    const char* begin = rest().data();
    const auto [end, error] = std::from_chars(begin, begin + rest().size(), extent);
    const bool padded = end - begin > 1 && *begin == '0';
    if (error != std::errc{} || padded) {
      refuse("shape", fmt::format("decimal numbers up to {}", kLargestExtent));
    }
    position_ += static_cast<std::size_t>(end - begin);
    return extent;
  }

  // The text between two equal quotes, without escapes: no name or type we accept needs one.
  std::string_view parse_string(const char* field, const char* allowed) {
    const int quote = next();
    if (quote != '\'' && quote != '"') refuse(field, allowed);
    const std::size_t end = text_.find(static_cast<char>(quote), position_ + 1);
    if (end == std::string_view::npos) refuse(field, "a closing quote");
    const std::string_view content = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return content;
  }

  // The next character that is not a space, which stays unread; kEnd when there is none.
  int next() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
    return position_ == text_.size() ? kEnd : static_cast<unsigned char>(text_[position_]);
  }

  bool accept(char c) {
    if (next() != c) return false;
    ++position_;
    return true;
  }

  void expect(char c, const char* field, const char* allowed) {
    if (!accept(c)) refuse(field, allowed);
  }

  [[nodiscard]] std::string_view rest() const { return text_.substr(position_); }

  [[nodiscard]] std::string describe_rest() const {
    return rest().empty() ? "the end of the header" : fmt::format("'{}'", excerpt(rest()));
  }

  [[noreturn]] void refuse(const char* field, std::string allowed) const {
    throw Refusal{field, describe_rest(), std::move(allowed)};
  }

  static constexpr std::size_t kLargestExtent = std::numeric_limits<std::size_t>::max();

  std::string_view text_;
  std::size_t position_ = 0;
};

template <class T>
const T& required(const std::optional<T>& value, const char* key) {
  if (!value) throw Refusal{"header", fmt::format("no key '{}'", key), kAllowedKeys};
  return *value;
}

// --- the file, front to back ---------------------------------------------------------------------

// Cuts `count` bytes off the front of `bytes`.
Bytes take(Bytes& bytes, std::size_t count, const char* field) {
  if (count > bytes.size()) {
    throw Refusal{field,
                  fmt::format("the end of the file after {} of {} bytes", bytes.size(), count),
                  "a complete file"};
  }
  const Bytes front = bytes.first(count);
  bytes = bytes.subspan(count);
  return front;
}

void take_magic(Bytes& bytes) {
  constexpr std::string_view magic = "\x93NUMPY";
  const std::string_view found = as_text(bytes).substr(0, magic.size());
  if (found != magic) {
    const char* words = found.starts_with("PK") ? " (a ZIP archive, perhaps a .npz)" : "";
    throw Refusal{"magic", fmt::format("'{}'{}", excerpt(found), words),
                  fmt::format("'{}'", excerpt(magic))};
  }
  bytes = bytes.subspan(magic.size());
}

// The width of the header's length, which is what the versions differ in for our purpose.
std::size_t take_version(Bytes& bytes) {
  const Bytes version = take(bytes, 2, "version");
  const int major = std::to_integer<int>(version[0]);
  const int minor = std::to_integer<int>(version[1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw Refusal{"version", fmt::format("{}.{}", major, minor), "1.0, 2.0, 3.0"};
  }
  return major == 1 ? 2 : 4;
}

std::string_view take_header(Bytes& bytes, std::size_t length_width) {
  const Bytes digits = take(bytes, length_width, "header length");
  std::size_t length = 0;
  for (std::size_t k = digits.size(); k-- > 0;)
    length = length << 8 | std::to_integer<int>(digits[k]);
  if (length > bytes.size()) {
    throw Refusal{"header length", fmt::format("{} bytes", length),
                  fmt::format("at most the {} bytes left in the file", bytes.size())};
  }
  return as_text(take(bytes, length, "header"));
}

struct Layout {
  Encoding encoding;
  bool fortran_order;
  std::size_t rows;
  std::size_t cols;
};

// What a single extent is taken for.
enum class Vector { refused, one_row };

// Rows and columns of a shape.
std::pair<std::size_t, std::size_t> extents_of(const Shape& shape, Vector vector) {
  std::vector<std::size_t> extents = shape.extents;
  const bool rows_too = vector == Vector::one_row;
  if (rows_too && extents.size() == 1) extents.insert(extents.begin(), 1);
  if (extents.size() != 2 || extents[0] == 0 || extents[1] == 0) {
    throw Refusal{"shape", excerpt(shape.text), rows_too ? kAllowedRowShape : kAllowedShape};
  }
  return {extents[0], extents[1]};
}

Layout layout_of(std::string_view header, Vector vector) {
  const Dictionary dictionary = DictionaryParser(header).parse();
  const Encoding encoding = element_encoding(required(dictionary.descr, "descr"));
  const bool fortran_order = required(dictionary.fortran_order, "fortran_order");
  const auto [rows, cols] = extents_of(required(dictionary.shape, "shape"), vector);
  return {encoding, fortran_order, rows, cols};
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
    take_magic(bytes);
    const std::size_t length_width = take_version(bytes);
    const Layout layout = layout_of(take_header(bytes, length_width), vector);
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
