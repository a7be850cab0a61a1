// A question as the parameters of a stored study, and back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::experiments {

/// Those that apply, in the order of the description; every number with the digits that give it
/// back.
template <class Question>
[[nodiscard]] std::vector<std::pair<std::string, std::string>> stored_parameters(
    const Question& complete) {
  std::vector<std::pair<std::string, std::string>> all;
  const question::Point point = question::point_of(complete);
  for (const question::Field& field : question::fields_of<Question>()) {
    const auto found = point.find(field.name);
    if (found != point.end()) all.emplace_back(field.name, question::value_text(found->second));
  }
  return all;
}

/// The question that was stored; what it does not say has its default, or is absent. Throws
/// Error{bad_value} naming a parameter that there is not, or its value.
template <class Question>
[[nodiscard]] Question stored_question(const std::map<std::string, std::string>& parameters) {
  const auto& fields = question::fields_of<Question>();
  question::Point point;
  for (const auto& [name, text] : parameters) {
    const question::Field* field = question::find_field(fields, name);
    if (field == nullptr) throw Error(Code::bad_value, name + ": no such parameter");
    point[field->name] = question::parse_value(*field, text);
  }
  return question::restored<Question>(point);
}

}  // namespace dewpoint::experiments
