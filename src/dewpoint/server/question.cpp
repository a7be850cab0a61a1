#include "dewpoint/server/question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "dewpoint/core/grid.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

constexpr std::size_t kMostText = 4096;

const char* name_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::number:
      return "number";
    case FieldKind::whole:
      return "whole";
    case FieldKind::list:
      return "list";
    case FieldKind::word:
      return "word";
    case FieldKind::words:
      return "words";
    case FieldKind::flag:
      return "flag";
    case FieldKind::file:
      return "file";
  }
  return "";
}

bool is_numeric(FieldKind kind) {
  return kind == FieldKind::number || kind == FieldKind::whole || kind == FieldKind::list;
}

[[noreturn]] void refuse(const Field& field, const std::string& found, const std::string& allowed) {
  throw Refusal(400, fmt::format("{}: {} is not {}", field.name, found, allowed), field.name);
}

std::string shortened(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

void require_range(const Field& field, double value) {
  if (value >= field.least && value <= field.most) return;
  if (field.live && value > field.most) {
    throw TooLarge(fmt::format("{}: {} is more than the {} that are answered live", field.name,
                               value, field.most),
                   field.name);
  }
  refuse(field, fmt::format("{}", value), fmt::format("in [{}, {}]", field.least, field.most));
}

// A number, as a double or, where it must be whole, as an integer: 64.0 and 64 are one question.
Json checked_number(const Field& field, const Json& value) {
  const bool whole = field.kind == FieldKind::whole;
  const std::string allowed =
      fmt::format("a {}number in [{}, {}]", whole ? "whole " : "", field.least, field.most);
  if (!value.is_number()) refuse(field, shortened(value), allowed);
  const double number = value.get<double>();
  if (whole && number != std::floor(number)) refuse(field, fmt::format("{}", number), allowed);
  require_range(field, number);
  if (field.kind == FieldKind::number) return number;
  return static_cast<std::uint64_t>(number);
}

// ---- lists --------------------------------------------------------------------------------------

std::string list_text(const Field& field, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  if (!value.is_array() || value.empty()) refuse(field, shortened(value), "a list of numbers");
  std::vector<double> numbers;
  for (const Json& one : value) {
    if (!one.is_number()) refuse(field, shortened(one), "a number");
    numbers.push_back(one.get<double>());
  }
  return fmt::format("{}", fmt::join(numbers, ","));
}

// Numbers between commas, in any order.
std::vector<double> in_any_order(const std::string& name, const std::string& text) {
  std::vector<double> numbers;
  const char* place = text.data();
  const char* const end = place + text.size();
  for (;;) {
    double number = 0.0;
    const auto [rest, error] = std::from_chars(place, end, number);
    if (error != std::errc{} || !std::isfinite(number) || (rest != end && *rest != ',')) {
      throw Refusal(400, fmt::format("{}: '{}' is not a list of numbers like 0.7,0.3", name, text),
                    name);
    }
    numbers.push_back(number);
    if (rest == end) return numbers;
    place = rest + 1;
  }
}

std::vector<double> numbers_of(const Field& field, const std::string& text) {
  if (text.size() > kMostText) refuse(field, fmt::format("{} bytes", text.size()), "a short list");
  try {
    return field.increasing ? parse_grid(field.name, text) : in_any_order(field.name, text);
  } catch (const Error& error) {
    throw Refusal(400, error.what(), field.name);
  }
}

Json checked_list(const Field& field, const Json& value) {
  const std::string text = list_text(field, value);
  const std::vector<double> numbers = numbers_of(field, text);
  for (const double number : numbers) require_range(field, number);
  if (numbers.size() > field.count) {
    throw TooLarge(fmt::format("{}: {} numbers are more than the {} that are answered live",
                               field.name, numbers.size(), field.count),
                   field.name);
  }
  return text;
}

// ---- words --------------------------------------------------------------------------------------

std::string checked_word(const Field& field, const Json& value) {
  if (!value.is_string()) refuse(field, shortened(value), "a text");
  const std::string word = value.get<std::string>();
  const bool plain = std::none_of(word.begin(), word.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!plain || word.size() > kMostText) refuse(field, shortened(value), "a short line of text");
  if (!field.words.empty() &&
      std::find(field.words.begin(), field.words.end(), word) == field.words.end()) {
    throw Refusal(400,
                  fmt::format("{}: '{}' is not known{}", field.name, word.substr(0, 60),
                              instead_of(word.substr(0, 60), field.words)),
                  field.name);
  }
  return word;
}

Json checked_words(const Field& field, const Json& value) {
  if (value.is_string()) return Json::array({checked_word(field, value)});
  if (!value.is_array()) refuse(field, shortened(value), "an array of texts");
  if (value.size() > field.count) {
    refuse(field, fmt::format("an array of {}", value.size()),
           fmt::format("at most {} long here", field.count));
  }
  Json words = Json::array();
  for (const Json& one : value) words.push_back(checked_word(field, one));
  return words;
}

Json checked(const Field& field, const Json& value) {
  if (value.is_null() && field.standard.is_null()) return nullptr;
  switch (field.kind) {
    case FieldKind::number:
    case FieldKind::whole:
      return checked_number(field, value);
    case FieldKind::list:
      return checked_list(field, value);
    case FieldKind::word:
    case FieldKind::file:
      return checked_word(field, value);
    case FieldKind::words:
      return checked_words(field, value);
    case FieldKind::flag:
      if (!value.is_boolean()) refuse(field, shortened(value), "true or false");
      return value;
  }
  return nullptr;
}

// ---- the command --------------------------------------------------------------------------------

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::string all;
    for (const Json& one : value) all += (all.empty() ? "" : ",") + value_text(one);
    return all;
  }
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.dump();
}

std::string option_text(const Field& field, const Json& value, const std::string& folder) {
  if (field.page_only || value.is_null()) return {};
  const Json& standard = field.verb_standard.is_discarded() ? field.standard : field.verb_standard;
  if (value == standard && !field.option.empty()) return {};
  if (field.kind == FieldKind::flag) {
    return value.get<bool>() ? fmt::format(" {}", field.option) : std::string();
  }
  if (field.kind == FieldKind::words) {
    std::string all;
    for (const Json& one : value) {
      all += fmt::format(" {} {}", field.option, shell_word(one.get<std::string>()));
    }
    return all;
  }
  const std::string prefix = field.kind == FieldKind::file ? folder : std::string();
  const std::string word = shell_word(prefix + value_text(value));
  return field.option.empty() ? " " + word : fmt::format(" {} {}", field.option, word);
}

/// What a field means that is not given.
Json silent_value(const Field& field, const Json& asked) {
  const bool otherwise = std::any_of(
      field.alternatives.begin(), field.alternatives.end(),
      [&](const std::string& name) { return asked.contains(name) && !asked[name].is_null(); });
  return otherwise ? Json() : field.standard;
}

Field field_with(std::string name, FieldKind kind, Json standard, std::string meaning) {
  Field field;
  field.option = "--" + name;
  field.name = std::move(name);
  field.kind = kind;
  field.standard = std::move(standard);
  field.meaning = std::move(meaning);
  return field;
}

Field bounded(Field field, double least, double most) {
  field.least = least;
  field.most = most;
  return field;
}

}  // namespace

Json Field::to_json() const {
  Json json = {{"name", name},
               {"kind", name_of(kind)},
               {"default", standard},
               {"meaning", meaning},
               {"option", page_only ? Json() : Json(option)}};
  if (is_numeric(kind)) {
    json["least"] = least;
    json["most"] = most;
  }
  if (kind == FieldKind::list || kind == FieldKind::words) json["count"] = count;
  if (kind == FieldKind::list) json["increasing"] = increasing;
  if (!words.empty()) json["words"] = words;
  return json;
}

Field number_field(std::string name, Json standard, double least, double most,
                   std::string meaning) {
  if (!standard.is_null()) standard = standard.get<double>();
  return bounded(
      field_with(std::move(name), FieldKind::number, std::move(standard), std::move(meaning)),
      least, most);
}

Field whole_field(std::string name, Json standard, double least, double most, std::string meaning) {
  if (!standard.is_null()) standard = standard.get<std::uint64_t>();
  return bounded(
      field_with(std::move(name), FieldKind::whole, std::move(standard), std::move(meaning)), least,
      most);
}

Field list_field(std::string name, Json standard, double least, double most, std::size_t count,
                 std::string meaning) {
  Field field =
      field_with(std::move(name), FieldKind::list, std::move(standard), std::move(meaning));
  field.count = count;
  return bounded(std::move(field), least, most);
}

Field word_field(std::string name, Json standard, std::vector<std::string> words,
                 std::string meaning) {
  Field field =
      field_with(std::move(name), FieldKind::word, std::move(standard), std::move(meaning));
  field.words = std::move(words);
  return field;
}

Field words_field(std::string name, Json standard, std::size_t count, std::string meaning) {
  Field field =
      field_with(std::move(name), FieldKind::words, std::move(standard), std::move(meaning));
  field.count = count;
  return field;
}

Field flag_field(std::string name, std::string meaning) {
  return field_with(std::move(name), FieldKind::flag, false, std::move(meaning));
}

Field seed_field() { return whole_field("seed", 1, 0.0, 0x1p53, "Seed of all random streams"); }

namespace {

// JSON has no infinity.
double finite(double bound) { return std::clamp(bound, -1e300, 1e300); }

Json standard_of(const question::Field& described, bool list) {
  if (list && !described.grid.empty()) return described.grid;
  if (described.listed && !described.grid.empty()) {
    return question::parse_axis(described, described.grid).words;
  }
  if (described.kind == question::Kind::flag) return false;
  if (!described.standard) return nullptr;
  if (list) return question::value_text(*described.standard);
  return std::visit([](const auto& value) { return Json(value); }, *described.standard);
}

FieldKind kind_of(const question::Field& described, bool list) {
  if (list) return FieldKind::list;
  switch (described.kind) {
    case question::Kind::number:
      return FieldKind::number;
    case question::Kind::whole:
      return FieldKind::whole;
    case question::Kind::flag:
      return FieldKind::flag;
    case question::Kind::word:
    case question::Kind::numbers:
    case question::Kind::grid:
    case question::Kind::counts:
    case question::Kind::words:
    case question::Kind::seed:
      break;
  }
  return described.listed ? FieldKind::words : FieldKind::word;
}

std::string sentence_of(const question::Field& described) {
  std::string text = described.meaning;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return described.otherwise.empty() ? text : fmt::format("{} [{}]", text, described.otherwise);
}

bool is_list(const question::Field& described) {
  return described.kind == question::Kind::numbers || (described.listed && described.is_numeric());
}

/// Words of a list as a command line would have them, or the list of numbers.
std::string axis_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string text;
  for (const Json& word : value) text += word.get<std::string>() + " ";
  return text;
}

}  // namespace

std::vector<Field> described_fields(const std::vector<question::Field>& described) {
  std::vector<Field> fields;
  for (const question::Field& one : described) {
    const bool list = is_list(one);
    Field field =
        field_with(one.name, kind_of(one, list), standard_of(one, list), sentence_of(one));
    if (field.kind == FieldKind::whole && !field.standard.is_null()) {
      field.standard = static_cast<std::uint64_t>(field.standard.get<double>());
    }
    const question::Live live = one.live.value_or(question::Live{});
    field = bounded(std::move(field), finite(std::max(one.range.least, live.least)),
                    finite(std::min(one.range.most, live.most)));
    field.live = one.live.has_value();
    field.count = field.kind == FieldKind::words ? kMostLiveWords : kMostLiveNumbers;
    field.increasing = one.kind != question::Kind::numbers;
    field.words = one.words;
    for (const question::Field& other : described) {
      if (are_alternatives(one, other)) field.alternatives.push_back(other.name);
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

Field with_verb_standard(Field field, Json standard) {
  field.verb_standard = std::move(standard);
  return field;
}

Field live(Field field) {
  field.live = true;
  return field;
}

Field only_here(Field field) {
  field.page_only = true;
  field.option.clear();
  return field;
}

Question::Question(std::string verb, const std::vector<Field>& fields, const Json& asked,
                   std::string folder)
    : command_("dewpoint " + verb) {
  if (!asked.is_object()) throw Refusal(400, "question: is not a JSON object", "question");
  std::vector<std::string> known;
  for (const Field& field : fields) known.push_back(field.name);
  refuse_unknown_fields(asked, known);
  std::optional<TooLarge> too_large;  // all else must be right before it is said
  for (const Field& field : fields) {
    const auto found = asked.find(field.name);
    const bool silent = found == asked.end() || (found->is_null() && !field.standard.is_null());
    try {
      values_[field.name] = silent ? silent_value(field, asked) : checked(field, *found);
    } catch (const TooLarge& refusal) {
      values_[field.name] = *found;
      if (!too_large) too_large = refusal;
    }
    command_ += option_text(field, values_[field.name], folder);
  }
  if (too_large) throw too_large->with_command(command_);
}

std::vector<std::string> Question::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_.items()) names.push_back(name);
  return names;
}

double Question::number(const std::string& name) const { return values_.at(name).get<double>(); }

std::optional<double> Question::optional_number(const std::string& name) const {
  return given(name) ? std::optional(number(name)) : std::nullopt;
}

std::size_t Question::whole(const std::string& name) const {
  return values_.at(name).get<std::size_t>();
}

std::string Question::text(const std::string& name) const {
  return values_.at(name).get<std::string>();
}

std::vector<double> Question::list(const std::string& name) const {
  const std::string text = values_.at(name).get<std::string>();
  return text.find(':') == std::string::npos ? in_any_order(name, text) : parse_grid(name, text);
}

std::vector<std::string> Question::words(const std::string& name) const {
  return values_.at(name).get<std::vector<std::string>>();
}

bool Question::flag(const std::string& name) const { return values_.at(name).get<bool>(); }

question::Asked Question::asked(const std::vector<question::Field>& described) const {
  question::Asked asked;
  for (const question::Field& field : described) {
    const Json& value = values_.at(field.name);
    if (value.is_null() || value == Json(false)) continue;
    if (field.listed) {
      asked.grid.push_back(question::parse_axis(field, axis_text(value)));
    } else if (value.is_boolean()) {
      asked.fixed[field.name] = true;
    } else if (value.is_number()) {
      asked.fixed[field.name] = value.get<double>();
    } else {
      asked.fixed[field.name] = question::parse_value(field, value.get<std::string>());
    }
  }
  question::expect_consistent(described, asked.first_point());
  return asked;
}

std::vector<std::pair<std::string, std::string>> Question::parameters() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : values_.items()) {
    if (!value.is_null()) pairs.emplace_back(name, value_text(value));
  }
  return pairs;
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./:=,+%@-").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace dewpoint::server
