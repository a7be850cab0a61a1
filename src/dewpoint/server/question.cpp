#include "dewpoint/server/question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <variant>

#include "dewpoint/core/grid.hpp"
#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

using question::Axis;
using question::Field;
using question::Kind;
using question::Value;

constexpr std::size_t kMostText = 4096;
constexpr double kMostExact = 0x1p53;  // whole numbers of JSON

/// Every verb has one.
struct Seeded {
  std::size_t seed = 1;
};

template <class Visitor>
void describe(Visitor& visit, Seeded& q) {
  visit("seed", q.seed, question::in(0.0, kMostExact), "seed of all random streams");
}

bool is_number_list(const Field& field) { return field.is_list() && field.kind != Kind::word; }

bool is_word_list(const Field& field) {
  return field.kind == Kind::words || (field.listed && field.kind == Kind::word);
}

bool has_numbers(const Field& field) { return field.is_numeric() || is_number_list(field); }

/// The field with the numbers that are answered live.
Field live_field(Field field) {
  const question::Live live = field.live.value_or(question::Live{});
  question::Range& range = field.range;
  if (live.least > range.least) {
    range.least = live.least;
    range.above = false;
  }
  if (live.most < range.most) {
    range.most = live.most;
    range.below = false;
  }
  return field;
}

std::size_t most_of(const RoomFields& fields, const Field& field) {
  const auto found = fields.most.find(field.name);
  if (found != fields.most.end()) return found->second;
  return is_word_list(field) ? kMostLiveWords : kMostLiveNumbers;
}

// ---- as the page has it -------------------------------------------------------------------------

// JSON has no infinity.
double finite(double bound) { return std::clamp(bound, -1e300, 1e300); }

const char* kind_name(const Field& field) {
  if (is_number_list(field)) return "list";
  if (is_word_list(field)) return "words";
  if (!field.file.empty()) return "file";
  if (field.is_numeric()) return field.kind == Kind::whole ? "whole" : "number";
  return field.kind == Kind::flag ? "flag" : "word";
}

Json number_json(const Field& field, double number) {
  const bool exact = field.kind == Kind::whole && number >= 0.0 && number <= kMostExact;
  return exact ? Json(static_cast<std::uint64_t>(number)) : Json(number);
}

/// What a field means that is not given; null: nothing.
Json default_of(const Field& field) {
  if (!field.grid.empty()) {
    return is_word_list(field) ? Json(question::parse_axis(field, field.grid).words)
                               : Json(field.grid);
  }
  if (!field.standard) {
    if (field.kind == Kind::flag) return false;
    return field.kind == Kind::words ? Json::array() : Json();
  }
  if (is_number_list(field)) return question::value_text(*field.standard);
  if (field.is_numeric()) return number_json(field, std::get<double>(*field.standard));
  return std::visit([](const auto& value) { return Json(value); }, *field.standard);
}

std::string sentence_of(const Field& field) {
  std::string text = field.meaning;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return field.otherwise.empty() ? text : fmt::format("{} [{}]", text, field.otherwise);
}

std::string option_of(const Field& field) { return field.positional ? "" : "--" + field.name; }

Json field_json(const Field& field, const RoomFields& fields, bool here) {
  Json json = {{"name", field.name},
               {"kind", kind_name(field)},
               {"default", default_of(field)},
               {"meaning", sentence_of(field)},
               {"option", here ? Json() : Json(option_of(field))}};
  if (has_numbers(field)) {
    const question::Range range = live_field(field).range;
    json["least"] = finite(range.least);
    json["most"] = finite(range.most);
  }
  if (is_number_list(field) || is_word_list(field)) json["count"] = most_of(fields, field);
  if (is_number_list(field)) json["increasing"] = field.kind != Kind::numbers;
  if (!field.words.empty()) json["words"] = field.words;
  return json;
}

// ---- what is meant ------------------------------------------------------------------------------

[[noreturn]] void refuse(const Field& field, const Json& found, const std::string& allowed) {
  std::string text = found.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  throw Refusal(400, fmt::format("{}: {} is not {}", field.name, text, allowed), field.name);
}

std::string list_text(const Field& field, const Json& value) {
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > kMostText) refuse(field, value, "a short list");
    return text;
  }
  if (!value.is_array() || value.empty()) refuse(field, value, "a list of numbers");
  std::vector<double> numbers;
  for (const Json& one : value) {
    if (!one.is_number()) refuse(field, one, "a number");
    numbers.push_back(one.get<double>());
  }
  return fmt::format("{}", fmt::join(numbers, ","));
}

std::string plain_word(const Field& field, const Json& value) {
  if (!value.is_string()) refuse(field, value, "a text");
  std::string word = value.get<std::string>();
  const bool plain = std::none_of(word.begin(), word.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!plain || word.size() > kMostText) refuse(field, value, "a short line of text");
  return word;
}

std::vector<std::string> plain_words(const Field& field, const Json& value) {
  if (value.is_string()) return {plain_word(field, value)};
  if (!value.is_array()) refuse(field, value, "an array of texts");
  std::vector<std::string> words;
  for (const Json& one : value) words.push_back(plain_word(field, one));
  return words;
}

/// The value as one writes it, and what it means.
struct Meant {
  Json written;
  std::variant<Value, Axis> value;
  std::vector<double> numbers = {};  // all of them
  std::size_t words = 0;             // how many
};

Meant numbers_meant(const Field& field, const Json& value) {
  const std::string text = list_text(field, value);
  if (field.is_numeric()) {
    Axis axis{field.name, parse_grid(field.name, text)};
    return {text, axis, axis.values};
  }
  const question::Numbers numbers = field.kind == Kind::numbers
                                        ? question::parse_numbers(field.name, text)
                                        : question::Numbers{parse_grid(field.name, text)};
  return {text, Value(question::text_of(numbers)), numbers.values};
}

Meant words_meant(const Field& field, const Json& value) {
  const std::vector<std::string> words = plain_words(field, value);
  if (field.kind == Kind::words) return {words, Value(words), {}, words.size()};
  const Axis axis = question::parse_axis(field, fmt::format("{}", fmt::join(words, " ")));
  return {words, axis, {}, words.size()};
}

Meant meant_by(const Field& field, const Json& value) {
  if (is_number_list(field)) return numbers_meant(field, value);
  if (is_word_list(field)) return words_meant(field, value);
  if (field.is_numeric()) {
    if (!value.is_number()) refuse(field, value, question::allowed_text(live_field(field)));
    const auto number = value.get<double>();
    return {number_json(field, number), Value(number), {number}};
  }
  if (field.kind == Kind::flag) {
    if (!value.is_boolean()) refuse(field, value, question::allowed_text(field));
    return {value, Value(value.get<bool>())};
  }
  const std::string word = plain_word(field, value);
  return {word, Value(word)};
}

/// Throws Error{bad_value}, naming the range that is answered live, unless the verb takes it.
void expect_taken(const Field& field, const Meant& meant) {
  Field each = field;
  if (!field.is_numeric()) each.kind = field.kind == Kind::counts ? Kind::whole : Kind::number;
  const Field live = live_field(each);
  for (const double number : meant.numbers) {
    const bool too_large = each.range.contains(number) && !live.range.contains(number);
    question::expect_allowed(too_large ? each : live, number);
  }
  const auto* value = std::get_if<Value>(&meant.value);
  if (value != nullptr && meant.numbers.empty()) question::expect_allowed(field, *value);
}

/// Why it is not answered live; empty: it is.
std::string excess(const Field& field, const Meant& meant, std::size_t most) {
  const question::Range range = live_field(field).range;
  for (const double number : meant.numbers) {
    if (range.contains(number)) continue;
    const bool above = number >= range.most;
    return fmt::format("{}: {} is {} than the {} that are answered live", field.name, number,
                       above ? "more" : "less", above ? range.most : range.least);
  }
  const std::size_t count = std::max(meant.numbers.size(), meant.words);
  if (count <= most) return {};
  return fmt::format("{}: {} {} are more than the {} that are answered live", field.name, count,
                     meant.words > 0 ? "words" : "numbers", most);
}

/// What a field means that is not given.
Json silent_value(const Field& field, const std::vector<Field>& fields, const Json& asked) {
  const bool said_otherwise = std::any_of(fields.begin(), fields.end(), [&](const Field& other) {
    return are_alternatives(field, other) && asked.contains(other.name) &&
           !asked[other.name].is_null();
  });
  return said_otherwise ? Json() : default_of(field);
}

// ---- the command --------------------------------------------------------------------------------

std::string written_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::string all;
    for (const Json& one : value) all += (all.empty() ? "" : ",") + written_text(one);
    return all;
  }
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.dump();
}

std::string option_text(const Field& field, const Json& value, const std::string& folder) {
  const std::string option = field.positional ? "" : " " + option_of(field);
  if (field.kind == Kind::flag) return value.get<bool>() ? option : "";
  if (is_word_list(field)) {
    std::string all;
    for (const Json& one : value) all += option + " " + shell_word(one.get<std::string>());
    return all;
  }
  return option + " " + shell_word((field.file.empty() ? "" : folder) + written_text(value));
}

}  // namespace

std::vector<Field> RoomFields::all() const {
  std::vector<Field> all = question;
  const auto& seed = question::fields_of<Seeded>();
  all.insert(all.end(), seed.begin(), seed.end());
  all.insert(all.end(), here.begin(), here.end());
  return all;
}

Json RoomFields::to_json() const {
  Json json = Json::array();
  for (const Field& field : all()) {
    json.push_back(field_json(field, *this, question::find_field(here, field.name) != nullptr));
  }
  return json;
}

Question::Question(const std::string& verb, const RoomFields& fields, const Json& asked,
                   const std::string& folder)
    : program_("dewpoint " + verb) {
  if (!asked.is_object()) throw Refusal(400, "question: is not a JSON object", "question");
  const std::vector<Field> all = fields.all();
  refuse_unknown_fields(asked, question::names_of(all));
  try {
    fill_in(fields, asked, folder);
  } catch (const Error& error) {
    throw refusal_of(error, question::names_of(all));
  }
}

void Question::fill_in(const RoomFields& fields, const Json& asked, const std::string& folder) {
  const std::vector<Field> all = fields.all();
  std::string too_large, of_field;  // all else must be right before it is said
  for (const Field& field : all) {
    const auto found = asked.find(field.name);
    const bool silent = found == asked.end() || found->is_null();
    const Json value = silent ? silent_value(field, all, asked) : *found;
    values_[field.name] = nullptr;
    if (value.is_null()) continue;
    const Meant meant = meant_by(field, value);
    expect_taken(field, meant);
    values_[field.name] = meant.written;
    if (too_large.empty()) {
      too_large = excess(field, meant, most_of(fields, field));
      of_field = field.name;
    }
    if (const auto* axis = std::get_if<Axis>(&meant.value)) {
      asked_.grid.push_back(*axis);
    } else if (meant.written != Json(false)) {
      asked_.fixed[field.name] = std::get<Value>(meant.value);
    }
  }
  question::expect_consistent(all, asked_.first_point());
  for (const Field& field : experiments::of_verb(all)) {
    const bool here = question::find_field(fields.here, field.name) != nullptr;
    const Json& value = values_[field.name];
    const bool said = !value.is_null() && (field.positional || value != default_of(field));
    if (said && !here) options_.emplace_back(field.name, option_text(field, value, folder));
  }
  if (!too_large.empty()) throw TooLarge(too_large, of_field).with_command(command());
  seed_ = question::question_of<Seeded>(asked_.fixed).seed;
  asked_.fixed.erase("seed");
  for (const Field& field : fields.here) {
    auto own = asked_.fixed.extract(field.name);
    if (!own.empty()) here_.insert(std::move(own));
  }
}

std::vector<std::string> Question::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_.items()) names.push_back(name);
  return names;
}

std::string Question::key() const {
  question::Point point = asked_.fixed;
  point.insert(here_.begin(), here_.end());
  point["seed"] = static_cast<double>(seed_);
  for (const Axis& axis : asked_.grid) {
    if (axis.words.empty()) {
      point[axis.name] = question::text_of(question::Numbers{axis.values});
    } else {
      point[axis.name] = axis.words;
    }
  }
  for (auto& [name, value] : point) {
    const auto* words = std::get_if<std::vector<std::string>>(&value);
    if (words != nullptr) value = fmt::format("{}", fmt::join(*words, "\n"));
  }
  return question::canonical_text(point);
}

std::string Question::command(const std::vector<std::string>& left_out) const {
  std::string command = program_;
  for (const auto& [name, option] : options_) {
    if (std::find(left_out.begin(), left_out.end(), name) == left_out.end()) command += option;
  }
  return command;
}

std::vector<std::pair<std::string, std::string>> Question::parameters() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : values_.items()) {
    if (!value.is_null()) pairs.emplace_back(name, written_text(value));
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
