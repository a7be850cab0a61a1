// What was asked for: a value for some fields, a list of values for others. A study file says so,
// and so do a command line and the page of the explorer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dewpoint/question/field.hpp"

namespace dewpoint::question {

/// A field that is swept over.
struct Axis {
  std::string name;                     // of the field
  std::vector<double> values;           // increasing; or
  std::vector<std::string> words = {};  // for fields that are words
  bool logarithmic = false;             // midpoints of a refinement are geometric
  [[nodiscard]] std::size_t size() const { return words.empty() ? values.size() : words.size(); }
  friend bool operator==(const Axis&, const Axis&) = default;
};

struct Asked {
  Point fixed;             // what is given once
  std::vector<Axis> grid;  // slowest first

  /// The numbers of an axis, or the one that is given; none: nothing is.
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const;
  /// The same of words.
  [[nodiscard]] std::vector<std::string> words(const std::string& name) const;
  /// What is given, with the values of every cell of the grid, the last axis first to move.
  [[nodiscard]] std::vector<Point> points() const;
  /// What is given, and of every axis its first value.
  [[nodiscard]] Point first_point() const;
  /// The same as a question, with its defaults.
  template <class Question>
  [[nodiscard]] Question first() const {
    return question_of<Question>(first_point());
  }
  /// A question for every cell.
  template <class Question>
  [[nodiscard]] std::vector<Question> all() const {
    std::vector<Question> questions;
    for (const Point& point : points()) questions.push_back(question_of<Question>(point));
    return questions;
  }
};

/// Reads `8,64,512` or `first:last:count[:log]`, and words with blanks between them; every one
/// allowed by the field. Throws Error{bad_value} naming the field.
[[nodiscard]] Axis parse_axis(const Field& field, const std::string& text);

}  // namespace dewpoint::question
