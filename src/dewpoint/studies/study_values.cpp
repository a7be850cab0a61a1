#include "dewpoint/studies/study_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/studies/axis_values.hpp"

namespace dewpoint::studies {
namespace {

/// What `name` stands for in this unit.
std::string in_unit(const StudyField& entry, const StudyField& unit, const Experiment& experiment) {
  std::vector<std::string> known;
  for (const Unit& candidate : experiment.units()) {
    if (candidate.name != entry.name()) continue;
    if (unit.kind() == TomlNode::Kind::text && unit.text() == candidate.unit) {
      return candidate.stands_for;
    }
    known.push_back(candidate.unit);
  }
  if (known.empty()) unit.refuse(fmt::format("'{}' is given in no other units", entry.name()));
  return unit.one_of(known);
}

/// "a whole number in [1, 8]: sharpness".
std::string described(const Field& parameter) {
  const bool text = parameter.kind == Kind::word && parameter.words.empty();
  return fmt::format("{}: {}", text ? "a text in quotes" : allowed_text(parameter),
                     parameter.meaning);
}

/// `pi = [0.7, 0.3]` or `pi = "0.7,0.3"`.
Value read_numbers(const StudyField& field, const Field& parameter) {
  if (!field.is_list()) return parse_value(parameter, field.text(described(parameter)));
  question::Numbers numbers;
  for (const StudyField& item : field.list(described(parameter))) {
    numbers.values.push_back(item.number(described(parameter)));
  }
  return text_of(numbers);
}

Value read_scalar(const StudyField& field, const Field& parameter) {
  switch (parameter.kind) {
    case Kind::flag:
      if (field.kind() != TomlNode::Kind::flag) field.refuse_value(described(parameter));
      return field.flag();
    case Kind::word:
      if (!parameter.words.empty()) return field.one_of(parameter.words);
      return field.text(described(parameter));
    case Kind::numbers:
      return read_numbers(field, parameter);
    case Kind::grid:
    case Kind::counts:
    case Kind::words:
    case Kind::seed:
      return parse_value(parameter, field.text(described(parameter)));
    case Kind::number:
    case Kind::whole:
      break;
  }
  const double number = field.number(described(parameter));
  const bool whole = parameter.kind == Kind::number || number == std::floor(number);
  if (!whole || !parameter.range.contains(number)) field.refuse_value(described(parameter));
  return number;
}

// ----------------------------------------------------------------------------------------- axes

void append_word(GridAxis& axis, const StudyField& item, std::string word) {
  if (std::find(axis.words.begin(), axis.words.end(), word) != axis.words.end()) {
    item.refuse(fmt::format("'{}' is named twice; allowed: each word once", excerpt(word)));
  }
  axis.words.push_back(std::move(word));
}

void append_number(GridAxis& axis, const StudyField& item, double number) {
  if (!axis.values.empty() && number <= axis.values.back()) {
    item.refuse(fmt::format("found {} after {}; allowed: numbers that increase",
                            number_text(number), number_text(axis.values.back())));
  }
  if (axis.logarithmic && number <= 0.0)
    item.refuse_value("numbers above 0, where scale = \"log\"");
  axis.values.push_back(number);
}

void read_item(GridAxis& axis, const StudyField& item, const Field& parameter) {
  const Value value = read_scalar(item, parameter);
  if (const auto* number = std::get_if<double>(&value)) {
    append_number(axis, item, *number);
  } else {
    append_word(axis, item, std::get<std::string>(value));
  }
}

void read_items(GridAxis& axis, const StudyField& field, const Field& parameter) {
  if (!field.is_list()) return read_item(axis, field, parameter);
  const auto items = field.list("a list");
  if (items.empty() || items.size() > kMostAxisValues) {
    field.refuse_value(fmt::format("1 to {} values", kMostAxisValues));
  }
  for (const StudyField& item : items) read_item(axis, item, parameter);
}

/// { from, to, count, scale }.
void read_range(GridAxis& axis, const StudyField& entry, const Field& parameter) {
  const auto end_point = [&](std::string_view name) {
    const StudyField field = entry.at(name, "from, to and count, or values");
    const double value = std::get<double>(read_scalar(field, parameter));
    if (axis.logarithmic && value <= 0.0) field.refuse_value("above 0, where scale = \"log\"");
    return value;
  };
  const double from = end_point("from");
  const double to = end_point("to");
  const StudyField count = entry.at("count", "from, to and count, or values");
  const auto number = count.count(2, kMostAxisValues);
  if (!(from < to)) entry.at("to", "").refuse_value("more than from = " + number_text(from));
  axis.values = spaced(from, to, number,
                       {.logarithmic = axis.logarithmic, .whole = parameter.kind == Kind::whole});
  if (std::adjacent_find(axis.values.begin(), axis.values.end(), std::greater_equal<>()) !=
      axis.values.end()) {
    count.refuse_value(fmt::format("as many as there are different {} between {} and {}",
                                   parameter.kind == Kind::whole ? "whole numbers" : "numbers",
                                   number_text(from), number_text(to)));
  }
}

void read_axis_table(GridAxis& axis, const StudyField& entry, const Field& parameter) {
  const auto values = entry.find("values");
  if (values) {
    entry.know_only({"values", "scale", "unit"});
  } else {
    entry.know_only({"from", "to", "count", "scale", "unit", "values"});
  }
  if (const auto scale = entry.find("scale")) {
    axis.logarithmic = scale->one_of({"linear", "log"}) == "log";
    if (!parameter.is_numeric()) scale->refuse("'" + parameter.name + "' is no number");
  }
  if (values) return read_items(axis, *values, parameter);
  if (!parameter.is_numeric()) entry.refuse_value("a list of words");
  read_range(axis, entry, parameter);
}

}  // namespace

const Field& parameter_of(const StudyField& entry, const Experiment& experiment) {
  const std::vector<Field>& known = experiment.parameters();
  const Field* parameter = find_field(known, entry.name());
  if (parameter == nullptr) {
    entry.refuse(fmt::format("no parameter of '{}'{}", experiment.name(),
                             instead_of(entry.name(), names_of(known))));
  }
  const auto unit = entry.is_table() ? entry.find("unit") : std::nullopt;
  if (unit) parameter = find_field(known, in_unit(entry, *unit, experiment));
  DEWPOINT_EXPECTS(parameter != nullptr);
  return *parameter;
}

Value read_value(const StudyField& entry, const Field& parameter) {
  if (!entry.is_table()) return read_scalar(entry, parameter);
  entry.know_only({"value", "unit"});
  return read_scalar(entry.at("value", described(parameter)), parameter);
}

GridAxis read_axis(const StudyField& entry, const Field& parameter) {
  if (!parameter.axis || parameter.kind == Kind::flag) {
    entry.refuse(
        fmt::format("'{}' cannot be an axis; allowed: one value in [parameters]", parameter.name));
  }
  GridAxis axis{.name = parameter.name, .values = {}};
  if (entry.is_table()) {
    read_axis_table(axis, entry, parameter);
  } else {
    read_items(axis, entry, parameter);
  }
  return axis;
}

}  // namespace dewpoint::studies
