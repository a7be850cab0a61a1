#include "cli/question_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace dewpoint::cli {
namespace {

using question::Asked;
using question::Axis;
using question::Field;
using question::Kind;
using question::Point;
using question::Value;

// "Rows of scores to average over; in [2, 1e7]", "Scores per query; a list of numbers in [2,
// 1e300]".
std::string help_of(const Field& field) {
  std::string help = field.meaning;
  if (!help.empty()) {
    help.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(help.front())));
  }
  if (!field.instead_of.empty()) help += ", instead of --" + field.instead_of;
  if (!field.only_with.empty()) help += ", with --" + field.only_with;
  if (!field.words.empty()) return help + ": " + allowed_text(field);
  const std::string range = field.is_numeric() ? range_text(field.range) : "";
  return range.empty() ? help : help + "; " + range;
}

const char* type_of(const Field& field) {
  if (field.listed || field.kind == Kind::numbers) return "LIST";
  if (field.kind == Kind::word) return "WORD";
  return field.kind == Kind::whole ? "COUNT" : "NUMBER";
}

std::string default_of(const Field& field) {
  if (!field.grid.empty()) return field.grid;
  if (!field.otherwise.empty()) return field.otherwise;
  if (!field.standard) return "";
  const auto* number = std::get_if<double>(&*field.standard);
  return number != nullptr ? question::short_text(*number) : question::value_text(*field.standard);
}

Json json_of(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

}  // namespace

// ---- options ------------------------------------------------------------------------------------

QuestionOptions::QuestionOptions(Program& program, CLI::App& verb, const std::vector<Field>& fields)
    : fields_(fields) {
  for (const Field& field : fields) {
    const auto text = std::make_shared<std::string>();
    const std::string name = "--" + field.name + (field.also.empty() ? "" : ",--" + field.also);
    CLI::Option* option = nullptr;
    if (field.kind == Kind::flag) {
      option = verb.add_flag_function(
          name, [](std::int64_t) {}, help_of(field));
    } else {
      option = verb.add_option(name, *text, help_of(field));
      option->type_name(type_of(field))->default_str(default_of(field));
    }
    program.fields[option] = &field;
    entries_.push_back({&field, text, option});
  }
}

std::vector<std::string> QuestionOptions::given() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.option->count() > 0) names.push_back(entry.field->name);
  }
  return names;
}

bool QuestionOptions::is_given(const std::string& name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.field->name == name && entry.option->count() > 0;
  });
}

// Whether another option says the same in other terms.
bool QuestionOptions::is_said_otherwise(const Field& field) const {
  return std::any_of(fields_.begin(), fields_.end(), [&](const Field& other) {
    return are_alternatives(field, other) && is_given(other.name);
  });
}

void QuestionOptions::read(const Entry& entry, const Field& field, Asked& asked) const {
  const bool given = entry.option->count() > 0;
  if (field.kind == Kind::flag) {
    if (given) asked.fixed[field.name] = true;
    return;
  }
  if (!given && (field.grid.empty() || is_said_otherwise(field))) return;
  const std::string& text = given ? *entry.text : field.grid;
  if (field.listed) {
    asked.grid.push_back(parse_axis(field, text));
  } else {
    asked.fixed[field.name] = parse_value(field, text);
  }
}

Asked QuestionOptions::asked() const { return asked(fields_); }

Asked QuestionOptions::asked(const std::vector<Field>& fields) const {
  Asked asked;
  for (const Entry& entry : entries_) {
    if (const Field* field = find_field(fields, entry.field->name)) read(entry, *field, asked);
  }
  expect_consistent(fields, asked.first_point());
  return asked;
}

// ---- for the record -----------------------------------------------------------------------------

Json parameters_json(const std::vector<Field>& fields, const Asked& asked, const Point& complete) {
  Json all = Json::object();
  for (const Field& field : fields) {
    const auto found = complete.find(field.name);
    all[field.name] = found == complete.end() ? Json() : json_of(found->second);
  }
  for (const Axis& axis : asked.grid) {
    for (const Field& field : fields) {
      if (are_alternatives(field, *find_field(fields, axis.name))) all[field.name] = nullptr;
    }
    all[axis.name] = axis.values;
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> parameter_texts(const Json& parameters) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, value] : parameters.items()) texts.emplace_back(name, value.dump());
  return texts;
}

}  // namespace dewpoint::cli
