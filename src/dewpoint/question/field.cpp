#include "dewpoint/question/field.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"

namespace dewpoint::question {
namespace {

constexpr std::size_t kLongestExcerpt = 60;

std::string excerpt(const std::string& text) {
  return text.size() <= kLongestExcerpt ? text : text.substr(0, kLongestExcerpt) + "...";
}

[[noreturn]] void refuse(const Field& field, const std::string& found) {
  throw Error(Code::bad_value,
              fmt::format("{}: {} is not {}", field.name, excerpt(found), allowed_text(field)));
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

bool allows(const Field& field, const Value& value) {
  switch (field.kind) {
    case Kind::flag:
      return std::holds_alternative<bool>(value);
    case Kind::word:
    case Kind::numbers:
      return std::holds_alternative<std::string>(value);
    case Kind::number:
    case Kind::whole:
      break;
  }
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && field.range.contains(*number) &&
         (field.kind == Kind::number || *number == std::floor(*number));
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
      return field.words.empty() ? "a word" : fmt::format("{}", fmt::join(field.words, ", "));
    case Kind::numbers:
      return "numbers with commas between them";
    case Kind::number:
    case Kind::whole:
      break;
  }
  const std::string range = range_text(field.range);
  return fmt::format("a {}number{}{}", field.kind == Kind::whole ? "whole " : "",
                     range.empty() ? "" : " ", range);
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
  if (field.kind == Kind::numbers && word != nullptr) (void)parse_numbers(field.name, *word);
  if (!allows(field, value)) {
    const auto* number = std::get_if<double>(&value);
    refuse(field, number != nullptr ? short_text(*number) : "'" + value_text(value) + "'");
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
    if (!number) refuse(field, "'" + text + "'");
    value = *number;
  } else if (field.kind == Kind::flag) {
    if (text != "true" && text != "false") refuse(field, "'" + text + "'");
    value = text == "true";
  } else if (field.kind == Kind::numbers) {
    value = text_of(parse_numbers(field.name, text));
  }
  expect_allowed(field, value);
  return value;
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
