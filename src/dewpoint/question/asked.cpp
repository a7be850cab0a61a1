#include "dewpoint/question/asked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/grid.hpp"

namespace dewpoint::question {
namespace {

Value value_at(const Axis& axis, std::size_t place) {
  return axis.words.empty() ? Value(axis.values[place]) : axis.words[place];
}

std::vector<std::string> parse_words(const Field& field, const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    expect_allowed(field, word);
    if (std::find(words.begin(), words.end(), word) != words.end()) {
      throw Error(Code::bad_value, fmt::format("{}: '{}' is there twice", field.name, word));
    }
    words.push_back(word);
  }
  if (words.empty()) throw Error(Code::bad_value, field.name + ": at least one is needed");
  return words;
}

}  // namespace

std::vector<double> Asked::numbers(const std::string& name) const {
  for (const Axis& axis : grid) {
    if (axis.name == name) return axis.values;
  }
  const auto found = fixed.find(name);
  return found == fixed.end() ? std::vector<double>{}
                              : std::vector<double>{std::get<double>(found->second)};
}

std::vector<std::string> Asked::words(const std::string& name) const {
  for (const Axis& axis : grid) {
    if (axis.name == name) return axis.words;
  }
  const auto found = fixed.find(name);
  return found == fixed.end() ? std::vector<std::string>{}
                              : std::vector<std::string>{std::get<std::string>(found->second)};
}

std::vector<Point> Asked::points() const {
  std::vector<Point> points = {fixed};
  for (const Axis& axis : grid) {
    std::vector<Point> more;
    for (const Point& point : points) {
      for (std::size_t place = 0; place < axis.size(); ++place) {
        more.push_back(point);
        more.back()[axis.name] = value_at(axis, place);
      }
    }
    points = std::move(more);
  }
  return points;
}

Point Asked::first_point() const {
  Point point = fixed;
  for (const Axis& axis : grid) point[axis.name] = value_at(axis, 0);
  return point;
}

Axis parse_axis(const Field& field, const std::string& text) {
  if (field.kind == Kind::word) return {field.name, {}, parse_words(field, text)};
  Axis axis{field.name, parse_grid(field.name, text)};
  for (const double number : axis.values) expect_allowed(field, Value(number));
  return axis;
}

}  // namespace dewpoint::question
