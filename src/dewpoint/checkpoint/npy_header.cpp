#include "dewpoint/checkpoint/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::checkpoint {
namespace {

using Bytes = std::span<const std::byte>;

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

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

class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const NpyAllowance& allowance)
      : text_(text), allowance_(allowance) {}

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
      throw Refusal{"descr", describe_rest() + " (a structured type)", allowance_.types};
    }
    return parse_string("descr", allowance_.types);
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
    expect('(', "shape", allowance_.shape);
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
  const NpyAllowance& allowance_;
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
  if (length > std::min(bytes.size(), kLongestNpyHeader)) {
    const bool whole = bytes.size() < kLongestNpyHeader;  // else this is only the front of a file
    throw Refusal{"header length", fmt::format("{} bytes", length),
                  whole ? fmt::format("at most the {} bytes left in the file", bytes.size())
                        : fmt::format("at most {} bytes", kLongestNpyHeader)};
  }
  return as_text(take(bytes, length, "header"));
}

}  // namespace

NpyHeader take_npy_header(std::span<const std::byte>& bytes, const NpyAllowance& allowance) {
  take_magic(bytes);
  const std::size_t length_width = take_version(bytes);
  const std::string_view header = take_header(bytes, length_width);
  const Dictionary dictionary = DictionaryParser(header, allowance).parse();
  const std::string_view descr = required(dictionary.descr, "descr");
  const bool fortran_order = required(dictionary.fortran_order, "fortran_order");
  const Shape& shape = required(dictionary.shape, "shape");
  return {descr, fortran_order, shape.extents, shape.text};
}

void refuse_npy_type(std::string_view descr, const char* allowed) {
  const std::string_view words = descr.size() < 2 ? "" : meaning(descr[1]);
  throw Refusal{"descr", fmt::format("'{}'{}", excerpt(descr), words), allowed};
}

}  // namespace dewpoint::checkpoint
