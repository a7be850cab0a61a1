#include "dewpoint/checkpoint/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/foreign_file.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using Json = nlohmann::ordered_json;
using Members = Json::object_t::Container;

constexpr const char* kAllowed = "JSON (RFC 8259): one value, UTF-8, no comments, no NaN";

// Walks over the text and leaves behind how far it came, which the events of the parser do not say.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* place, const char** furthest) : place_(place), furthest_(furthest) {}
  reference operator*() const { return *place_; }
  Cursor& operator++() {
    *furthest_ = ++place_;
    return *this;
  }
  bool operator==(const Cursor& other) const { return place_ == other.place_; }
  bool operator!=(const Cursor& other) const { return place_ != other.place_; }

 private:
  const char* place_;
  const char** furthest_;
};

bool in_word(char c) {
  constexpr std::string_view signs = "+-.";
  const char lower = static_cast<char>(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
         signs.find(c) != std::string_view::npos;
}

// Builds the value from the parser's events. Keys are appended without a look at the others, which
// would be a walk for each; an object is searched for twins once, when it ends.
class Builder {
 public:
  Builder(std::string_view text, const JsonLimits& limits)
      : text_(text), limits_(limits), furthest_(text.data()) {}

  Json build() {
    const Cursor begin(text_.data(), &furthest_);
    const Cursor end(text_.data() + text_.size(), &furthest_);
    Json::sax_parse(begin, end, this);
    return std::move(root_);
  }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t& value) { return put(std::move(value)); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }

  bool key(std::string& name) {
    key_ = std::move(name);
    return true;
  }

  bool end_object() {
    refuse_twins(*open_.back());
    return end_array();
  }

  bool end_array() {
    open_.pop_back();
    return true;
  }

  // The parser counts the characters it has read, the one that it stumbled over included.
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) {
    const std::size_t first =
        word_begin(std::clamp<std::size_t>(position, 1, text_.size() + 1) - 1);
    const std::string_view rest = text_.substr(first);
    throw Refusal{fmt::format("byte {}", first),
                  rest.empty() ? "the end" : fmt::format("'{}'", excerpt(rest)), kAllowed};
  }

 private:
  // Stores a value where the text has it, and returns its place.
  Json* place(Json value) {
    if (++values_ > limits_.values) {
      refuse("more", fmt::format("at most {} values", limits_.values));
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    return &members(parent).emplace_back(std::move(key_), std::move(value)).second;
  }

  template <class Value>
  bool put(Value&& value) {
    place(Json(std::forward<Value>(value)));
    return true;
  }

  // A container's address holds while it is open: its parent grows only after it.
  bool open(Json container) {
    if (open_.size() == limits_.depth) {
      refuse("one more", fmt::format("at most {} containers inside each other", limits_.depth));
    }
    open_.push_back(place(std::move(container)));
    return true;
  }

  static Members& members(Json& object) { return object.get_ref<Json::object_t&>(); }

  void refuse_twins(Json& object) const {
    std::vector<std::string_view> keys;
    for (const auto& member : members(object)) keys.push_back(member.first);
    std::sort(keys.begin(), keys.end());
    const auto twin = std::adjacent_find(keys.begin(), keys.end());
    if (twin == keys.end()) return;
    refuse(fmt::format("an object with the key '{}' twice", excerpt(*twin)), "every key once");
  }

  // Numbers and names are refused at their last character, but read better from their first.
  [[nodiscard]] std::size_t word_begin(std::size_t place) const {
    constexpr std::size_t longest = 32;
    const std::size_t stop = place - std::min(place, longest);
    if (place == text_.size() || !in_word(text_[place])) return place;
    while (place > stop && in_word(text_[place - 1])) --place;
    return place;
  }

  [[noreturn]] void refuse(std::string found, std::string allowed) const {
    const auto read = static_cast<std::size_t>(furthest_ - text_.data());
    throw Refusal{fmt::format("byte {}", read - std::min<std::size_t>(read, 1)), std::move(found),
                  std::move(allowed)};
  }

  std::string_view text_;
  const JsonLimits& limits_;
  const char* furthest_;
  Json root_;
  std::string key_;
  std::vector<Json*> open_;
  std::size_t values_ = 0;
};

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    throw Refusal{fmt::format("byte {}", limits.bytes), fmt::format("{} bytes", text.size()),
                  fmt::format("at most {} bytes of JSON", limits.bytes)};
  }
  // The parser takes a zero for the end and would not look behind it.
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    throw Refusal{fmt::format("byte {}", zero), "'\\x00'", kAllowed};
  }
  return Builder(text, limits).build();
}

nlohmann::ordered_json read_json(const std::filesystem::path& path, const JsonLimits& limits) {
  const ForeignFile file(path, "a JSON file");
  try {
    return parse_json(file.text(limits.bytes), limits);
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, path.string(), refusal);
  }
}

}  // namespace dewpoint::checkpoint
