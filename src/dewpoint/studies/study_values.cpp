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

const Parameter* find_parameter(const Experiment& experiment, const std::string& name) {
  const auto& all = experiment.parameters();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Parameter& parameter) { return parameter.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> parameter_names(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const Parameter& parameter : experiment.parameters()) names.push_back(parameter.name);
  return names;
}

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

/// "a whole number: sharpness; at least 1".
std::string allowed_text(const Parameter& parameter) {
  const auto kind = [&]() -> std::string_view {
    if (parameter.kind == ParameterKind::number) return "a number";
    if (parameter.kind == ParameterKind::whole) return "a whole number";
    return parameter.kind == ParameterKind::word ? "a text in quotes" : "true or false";
  };
  return fmt::format("{}: {}", kind(), parameter.meaning);
}

Value read_scalar(const StudyField& field, const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::flag:
      if (field.kind() != TomlNode::Kind::flag) field.refuse_value(allowed_text(parameter));
      return field.flag();
    case ParameterKind::word:
      if (!parameter.words.empty()) return field.one_of(parameter.words);
      return field.text(allowed_text(parameter));
    case ParameterKind::number:
      return field.number(allowed_text(parameter));
    case ParameterKind::whole:
      break;
  }
  const double number = field.number(allowed_text(parameter));
  if (number != std::floor(number)) field.refuse_value(allowed_text(parameter));
  return number;
}

// ----------------------------------------------------------------------------------------- axes

bool is_numeric(const Parameter& parameter) {
  return parameter.kind == ParameterKind::number || parameter.kind == ParameterKind::whole;
}

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

void read_item(GridAxis& axis, const StudyField& item, const Parameter& parameter) {
  const Value value = read_scalar(item, parameter);
  if (const auto* number = std::get_if<double>(&value)) {
    append_number(axis, item, *number);
  } else {
    append_word(axis, item, std::get<std::string>(value));
  }
}

void read_items(GridAxis& axis, const StudyField& field, const Parameter& parameter) {
  if (!field.is_list()) return read_item(axis, field, parameter);
  const auto items = field.list("a list");
  if (items.empty() || items.size() > kMostAxisValues) {
    field.refuse_value(fmt::format("1 to {} values", kMostAxisValues));
  }
  for (const StudyField& item : items) read_item(axis, item, parameter);
}

/// { from, to, count, scale }.
void read_range(GridAxis& axis, const StudyField& entry, const Parameter& parameter) {
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
  axis.values =
      spaced(from, to, number,
             {.logarithmic = axis.logarithmic, .whole = parameter.kind == ParameterKind::whole});
  if (std::adjacent_find(axis.values.begin(), axis.values.end(), std::greater_equal<>()) !=
      axis.values.end()) {
    count.refuse_value(
        fmt::format("as many as there are different {} between {} and {}",
                    parameter.kind == ParameterKind::whole ? "whole numbers" : "numbers",
                    number_text(from), number_text(to)));
  }
}

void read_axis_table(GridAxis& axis, const StudyField& entry, const Parameter& parameter) {
  const auto values = entry.find("values");
  if (values) {
    entry.know_only({"values", "scale", "unit"});
  } else {
    entry.know_only({"from", "to", "count", "scale", "unit", "values"});
  }
  if (const auto scale = entry.find("scale")) {
    axis.logarithmic = scale->one_of({"linear", "log"}) == "log";
    if (!is_numeric(parameter)) scale->refuse("'" + parameter.name + "' is no number");
  }
  if (values) return read_items(axis, *values, parameter);
  if (!is_numeric(parameter)) entry.refuse_value("a list of words");
  read_range(axis, entry, parameter);
}

}  // namespace

const Parameter& parameter_of(const StudyField& entry, const Experiment& experiment) {
  std::string name = entry.name();
  if (find_parameter(experiment, name) == nullptr) {
    entry.refuse(fmt::format("no parameter of '{}'{}", experiment.name(),
                             instead_of(name, parameter_names(experiment))));
  }
  const auto unit = entry.is_table() ? entry.find("unit") : std::nullopt;
  if (unit) name = in_unit(entry, *unit, experiment);
  const Parameter* parameter = find_parameter(experiment, name);
  DEWPOINT_EXPECTS(parameter != nullptr);
  return *parameter;
}

Value read_value(const StudyField& entry, const Parameter& parameter) {
  if (!entry.is_table()) return read_scalar(entry, parameter);
  entry.know_only({"value", "unit"});
  return read_scalar(entry.at("value", allowed_text(parameter)), parameter);
}

GridAxis read_axis(const StudyField& entry, const Parameter& parameter) {
  if (!parameter.axis || parameter.kind == ParameterKind::flag) {
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
