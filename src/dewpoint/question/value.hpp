// Values of parameters by name: what a question is once it has left the program's own types.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace dewpoint::question {

/// A number (whole ones too), a word or a yes/no; or a list of words, which only verbs of the
/// command line have, and no point of a study.
using Value = std::variant<double, std::string, bool, std::vector<std::string>>;
using Point = std::map<std::string, Value>;

/// {"alpha":0,"tokens":"simplex"}: names in order, numbers as number_text writes them. Two points
/// are the same when their texts are.
[[nodiscard]] std::string canonical_text(const Point& point);
/// A number with the fewest digits that give it back, as JSON and TOML read it: without an exponent
/// from 1e-5 to 2^53, and -0 as 0. Keys of cells are made of this text: it never changes.
[[nodiscard]] std::string number_text(double number);
/// The same for any value: a word as it is, a flag as true or false, words with commas.
[[nodiscard]] std::string value_text(const Value& value);
/// A number in as few letters as possible: 512, 0.05, 1e6, 1e-50.
[[nodiscard]] std::string short_text(double number);
/// The number that the whole text is; none for "abc", "1x", inf and nan.
[[nodiscard]] std::optional<double> number_in(const std::string& text);

}  // namespace dewpoint::question
