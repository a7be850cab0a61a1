#include "cli/question_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

using question::Asked;
using question::Axis;
using question::Field;
using question::Kind;
using question::Point;
using question::Value;

// --law gaussian --law sphere:d=5: laws have commas of their own.
bool is_word_list(const Field& field) { return field.listed && field.kind == Kind::word; }

// Of two words of which one is none, the option alone means the other: --value, --value matrix.
bool may_stand_alone(const Field& field) {
  return field.kind == Kind::word && field.words.size() == 2 && field.words.front() == "none";
}

// Whether a text begins with a word, and not with a name or a formula: "x.svg, ..", "n0 of ..".
bool begins_with_a_word(const std::string& text) {
  const std::string word = text.substr(0, text.find_first_of(" ,;:"));
  const bool letters = std::all_of(word.begin(), word.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0;
  });
  return letters && (word.size() > 1 || word == "a");
}

// "in [2, 1e7]", "at least 1"; nothing of counts that may be any.
std::string range_in_help(const Field& field) {
  const bool counts = field.kind == Kind::whole || field.kind == Kind::counts;
  const bool has_numbers = counts || field.kind == Kind::number || field.kind == Kind::grid;
  if (!has_numbers || (counts && field.range == question::at_least(0.0))) return "";
  const std::string range = question::range_text(field.range);
  return range.starts_with("of ") ? range.substr(3) : range;
}

// "Rows of scores to average over; in [2, 1e7]".
std::string help_of(const Field& field) {
  std::string help = field.meaning;
  if (begins_with_a_word(help)) {
    help.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(help.front())));
  }
  if (!field.instead_of.empty()) help += ", instead of --" + field.instead_of;
  if (!field.only_with.empty()) help += ", with --" + field.only_with;
  if (!field.words.empty()) help += ": " + allowed_text(field);
  if (is_word_list(field)) help += "; several times if wanted";
  if (!field.words.empty()) return help;
  const std::string range = range_in_help(field);
  return range.empty() ? help : help + "; " + range;
}

std::string type_of(const Field& field) {
  if (field.is_list() && !is_word_list(field)) return "LIST";
  switch (field.kind) {
    case Kind::whole:
      return "COUNT";
    case Kind::seed:
      return "SEED";
    case Kind::word:
    case Kind::words:
      return field.file.empty() ? "WORD" : field.file == "folder" ? "FOLDER" : "FILE";
    default:
      return "NUMBER";
  }
}

// "-o,--output", "--rho-rest,--rho-outer", or of a positional one "study".
std::string names_of(const Field& field) {
  if (field.positional) return field.name;
  std::string names = field.letter == 0 ? "" : fmt::format("-{},", field.letter);
  names += "--" + field.name;
  return field.also.empty() ? names : names + ",--" + field.also;
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
  for (const Field& field : fields) add(program, verb, field);
}

void QuestionOptions::add(Program& program, CLI::App& verb, const Field& field) {
  const auto texts = std::make_shared<std::vector<std::string>>();
  CLI::Option* option = nullptr;
  if (field.kind == Kind::flag) {
    option = verb.add_flag_function(
        names_of(field), [](std::int64_t) {}, help_of(field));
  } else {
    option = verb.add_option(names_of(field), *texts, help_of(field));
    if (may_stand_alone(field)) {  // a default_str would be its text where it stands alone
      option->type_name(type_of(field) + "=" + default_of(field));
    } else {
      option->type_name(type_of(field))->default_str(default_of(field));
    }
    const bool once = field.kind != Kind::words && !is_word_list(field);
    if (once) option->expected(may_stand_alone(field) ? 0 : 1, 1);
    if (!field.positional) option->allow_extra_args(false);
  }
  if (field.required) option->required();
  if (!field.group.empty()) option->group(field.group);
  program.fields[option] = &field;
  entries_.push_back({&field, texts, option});
}

std::vector<std::string> QuestionOptions::given() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.option->count() > 0) names.push_back(entry.field->name);
  }
  return names;
}

void QuestionOptions::refuse(const std::vector<Field>& fields, const std::string& why) const {
  for (const std::string& name : given()) {
    if (find_field(fields, name) == nullptr) continue;
    throw Error(Code::bad_value, fmt::format("{}: {}", name, why));
  }
}

void QuestionOptions::refuse_others(const std::vector<Field>& fields,
                                    const std::string& why) const {
  for (const Entry& entry : entries_) {
    if (entry.option->count() == 0 || find_field(fields, entry.field->name) != nullptr) continue;
    Asked value;
    read(entry, *entry.field, value);  // what no question takes is refused as such
    throw Error(Code::bad_value, fmt::format("{}: {}", entry.field->name, why));
  }
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
  if (field.kind == Kind::words) {
    std::vector<std::string> words;
    for (const std::string& text : *entry.texts) {
      const Value some = parse_value(field, text);
      for (const std::string& word : std::get<std::vector<std::string>>(some))
        words.push_back(word);
    }
    asked.fixed[field.name] = words;
    return;
  }
  std::string text = given ? fmt::format("{}", fmt::join(*entry.texts, " ")) : field.grid;
  if (given && may_stand_alone(field) && text.empty()) text = field.words.back();
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
    all[axis.name] = axis.words.empty() ? Json(axis.values) : Json(axis.words);
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> parameter_texts(const Json& parameters) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, value] : parameters.items()) texts.emplace_back(name, value.dump());
  return texts;
}

}  // namespace dewpoint::cli
