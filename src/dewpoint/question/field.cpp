#include "dewpoint/question/field.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/core/nearest_word.hpp"

namespace dewpoint::question {
namespace {

constexpr std::size_t kLongestExcerpt = 60;

std::string excerpt(const std::string& text) {
  return text.size() <= kLongestExcerpt ? text : text.substr(0, kLongestExcerpt) + "...";
}

std::string quoted(const std::string& text) { return "'" + excerpt(text) + "'"; }

[[noreturn]] void refuse(const Field& field, const std::string& found) {
  throw Error(Code::bad_value,
              fmt::format("{}: {} is not {}", field.name, found, allowed_text(field)));
}

[[noreturn]] void refuse_word(const Field& field, const std::string& word) {
  throw Error(Code::bad_value, fmt::format("{}: '{}' is not known{}", field.name, excerpt(word),
                                           dewpoint::instead_of(excerpt(word), field.words)));
}

[[noreturn]] void refuse_beside(const Field& field, const Value& value, const std::string& why) {
  throw Error(Code::bad_value,
              fmt::format("{}: {} is given {}", field.name, excerpt(value_text(value)), why));
}

bool is_known_word(const Field& field, const std::string& word) {
  return field.words.empty() ||
         std::find(field.words.begin(), field.words.end(), word) != field.words.end();
}

bool is_whole(double number) { return number == std::floor(number); }

// The digits of a seed; 1e3 is 1000.
std::optional<std::uint64_t> seed_in(const std::string& text) {
  std::uint64_t digits = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, digits);
  if (failure == std::errc() && rest == end) return digits;
  const auto number = number_in(text);
  const bool fits = number && *number >= 0.0 && *number < 0x1p64 && is_whole(*number);
  return fits ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

bool allows(const Field& field, const Value& value) {
  const auto* word = std::get_if<std::string>(&value);
  const auto* number = std::get_if<double>(&value);
  switch (field.kind) {
    case Kind::flag:
      return std::holds_alternative<bool>(value);
    case Kind::word:
    case Kind::numbers:
    case Kind::grid:
    case Kind::counts:
      return word != nullptr;
    case Kind::words:
      return std::holds_alternative<std::vector<std::string>>(value);
    case Kind::seed:
      return seed_in(word != nullptr ? *word : value_text(value)).has_value();
    case Kind::number:
    case Kind::whole:
      break;
  }
  return number != nullptr && std::isfinite(*number) && field.range.contains(*number) &&
         (field.kind == Kind::number || is_whole(*number));
}

bool has_numbers_as_text(const Field& field) {
  return field.kind == Kind::numbers || field.kind == Kind::grid || field.kind == Kind::counts;
}

// A word in the place of a list: --moments stages.
bool is_suggested(const Field& field, const std::string& word) {
  return std::find(field.suggestions.begin(), field.suggestions.end(), word) !=
         field.suggestions.end();
}

// Every number of a list that is given as a text.
void expect_numbers_allowed(const Field& field, const std::string& text) {
  Field each = field;
  each.kind = field.kind == Kind::counts ? Kind::whole : Kind::number;
  if (field.kind == Kind::numbers) {
    for (const double number : parse_numbers(field.name, text).values) expect_allowed(each, number);
  } else if (!text.empty()) {
    for (const double number : parse_grid(field.name, text)) expect_allowed(each, number);
  }
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::string range_text(const Range& range) {
  const bool least = std::isfinite(range.least), most = std::isfinite(range.most);
  const std::string low = least ? short_text(range.least) : "",
                    high = most ? short_text(range.most) : "";
  if (!least && !most) return "";
  if (!most) return fmt::format("{} {}", range.above ? "above" : "of at least", low);
  if (!least) return fmt::format("{} {}", range.below ? "below" : "of at most", high);
  return fmt::format("in {}{}, {}{}", range.above ? '(' : '[', low, high, range.below ? ')' : ']');
}

std::string allowed_text(const Field& field) {
  switch (field.kind) {
    case Kind::flag:
      return "true or false";
    case Kind::word:
    case Kind::words:
      return field.words.empty() ? "a word" : fmt::format("{}", fmt::join(field.words, ", "));
    case Kind::numbers:
      return "numbers with commas between them";
    case Kind::seed:
      return "a whole number in [0, 2^64)";
    case Kind::number:
    case Kind::whole:
    case Kind::grid:
    case Kind::counts:
      break;
  }
  const std::string range = range_text(field.range);
  const bool whole = field.kind == Kind::whole || field.kind == Kind::counts;
  return fmt::format("a {}number{}{}", whole ? "whole " : "", range.empty() ? "" : " ", range);
}

bool are_alternatives(const Field& one, const Field& other) {
  if (one.name == other.name) return false;
  return one.instead_of == other.name || other.instead_of == one.name ||
         (!one.instead_of.empty() && one.instead_of == other.instead_of);
}

const Field* find_field(const std::vector<Field>& fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) {
    return field.name == name || (!field.formerly.empty() && field.formerly == name);
  });
  return found == fields.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

void expect_allowed(const Field& field, const Value& value) {
  const auto* word = std::get_if<std::string>(&value);
  if (field.kind == Kind::word && word != nullptr && !is_known_word(field, *word)) {
    refuse_word(field, *word);
  }
  if (const auto* words = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& one : *words) {
      if (!is_known_word(field, one)) refuse_word(field, one);
    }
  }
  if (has_numbers_as_text(field) && word != nullptr && !is_suggested(field, *word)) {
    expect_numbers_allowed(field, *word);
  }
  if (!allows(field, value)) {
    const auto* number = std::get_if<double>(&value);
    refuse(field, number != nullptr ? short_text(*number) : quoted(value_text(value)));
  }
}

void expect_consistent(const std::vector<Field>& fields, const Point& given) {
  for (const auto& [name, value] : given) {
    const Field* field = find_field(fields, name);
    if (field == nullptr) {
      throw Error(Code::bad_value,
                  fmt::format("{}: no such parameter{}", excerpt(name),
                              dewpoint::instead_of(excerpt(name), names_of(fields))));
    }
    expect_allowed(*field, value);
    const bool is_flag_off = value == Value(false);
    if (!field->not_with.empty() && given.contains(field->not_with)) {
      refuse_beside(*field, value, "beside " + field->not_with + ", where it means nothing");
    }
    if (!field->only_with.empty() && !is_flag_off && !given.contains(field->only_with)) {
      refuse_beside(*field, value, "without " + field->only_with);
    }
    for (const Field& other : fields) {
      const bool same_thing = !field->instead_of.empty() && are_alternatives(*field, other);
      if (same_thing && given.contains(other.name)) {
        refuse_beside(*field, value, "beside " + other.name + "; allowed: one of them");
      }
    }
  }
}

Value parse_value(const Field& field, const std::string& text) {
  Value value = text;
  if (field.is_numeric()) {
    const auto number = number_in(text);
    if (!number) refuse(field, quoted(text));
    value = *number;
  } else if (field.kind == Kind::seed) {
    const auto digits = seed_in(text);
    if (!digits) refuse(field, number_in(text) ? excerpt(text) : quoted(text));
    value = std::to_string(*digits);
  } else if (field.kind == Kind::words) {
    value = field.commas ? parts_of(text) : std::vector<std::string>{text};
  } else if (field.kind == Kind::flag) {
    if (text != "true" && text != "false") refuse(field, quoted(text));
    value = text == "true";
  } else if (field.kind == Kind::numbers) {
    value = text_of(parse_numbers(field.name, text));
  }
  expect_allowed(field, value);
  return value;
}

std::vector<double> Grid::values() const {
  return text.empty() ? std::vector<double>() : parse_grid("", text);
}

std::vector<std::size_t> Counts::values() const {
  return text.empty() ? std::vector<std::size_t>() : parse_counts("", text);
}

std::optional<Value> value_of(const Grid& member) {
  return member.empty() ? std::nullopt : std::optional<Value>(member.text);
}

std::optional<Value> value_of(const Counts& member) {
  return member.empty() ? std::nullopt : std::optional<Value>(member.text);
}

std::optional<Value> value_of(const std::vector<std::string>& member) {
  return member.empty() ? std::nullopt : std::optional<Value>(member);
}

void assign(std::size_t& member, const Value& from) {
  const auto* digits = std::get_if<std::string>(&from);
  member = digits != nullptr ? seed_in(*digits).value()
                             : static_cast<std::size_t>(std::get<double>(from));
}

std::string text_of(const Numbers& numbers) {
  std::string text;
  for (const double number : numbers.values) {
    text += (text.empty() ? "" : ",") + number_text(number);
  }
  return text;
}

Numbers parse_numbers(const std::string& field, const std::string& text) {
  Numbers numbers;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = number_in(text.substr(begin, end - begin));
    if (!number) {
      throw Error(Code::bad_value,
                  fmt::format("{}: found '{}'; allowed: numbers with commas between them", field,
                              excerpt(text)));
    }
    numbers.values.push_back(*number);
    if (end == text.size()) return numbers;
    begin = end + 1;
  }
}

}  // namespace dewpoint::question
