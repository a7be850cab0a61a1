#include "dewpoint/question/asked.hpp"

#include "dewpoint/core/grid.hpp"

namespace dewpoint::question {

std::vector<double> Asked::numbers(const std::string& name) const {
  for (const Axis& axis : grid) {
    if (axis.name == name) return axis.values;
  }
  const auto found = fixed.find(name);
  return found == fixed.end() ? std::vector<double>{}
                              : std::vector<double>{std::get<double>(found->second)};
}

Point Asked::first_point() const {
  Point point = fixed;
  for (const Axis& axis : grid) {
    point[axis.name] = axis.words.empty() ? Value(axis.values.front()) : axis.words.front();
  }
  return point;
}

Axis parse_axis(const Field& field, const std::string& text) {
  Axis axis{field.name, parse_grid(field.name, text)};
  for (const double number : axis.values) expect_allowed(field, Value(number));
  return axis;
}

}  // namespace dewpoint::question
