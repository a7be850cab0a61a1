// The way back: a study as the text of a file.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::studies {
namespace {

/// Texts have no control characters (toml_tree.hpp), so two need an escape.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string key(const std::string& name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  return bare ? name : quoted(name);
}

std::string toml_value(const Value& value) {
  const auto* word = std::get_if<std::string>(&value);
  return word != nullptr ? quoted(*word) : value_text(value);
}

template <typename Items, typename Text>
std::string toml_list(const Items& items, Text text) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(text(item));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string toml_seed(std::uint64_t seed) {
  const bool beyond = seed > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return beyond ? fmt::format("\"{}\"", seed) : fmt::format("{}", seed);
}

std::string precision_text(const Precision& precision) {
  std::string text = fmt::format("replicas = {}\n", precision.replicas);
  if (precision.target_error > 0.0) {
    text += fmt::format("target = {{ observable = {}, error = {}, most = {} }}\n",
                        quoted(precision.target_observable), number_text(precision.target_error),
                        precision.most);
  }
  return text;
}

std::string axis_text(const GridAxis& axis) {
  if (!axis.words.empty()) return toml_list(axis.words, quoted);
  const std::string values = toml_list(axis.values, number_text);
  return axis.logarithmic ? fmt::format("{{ values = {}, scale = \"log\" }}", values) : values;
}

std::string refinement_text(const Refinement& refinement) {
  return fmt::format("\n[refine]\nobservable = {}\nlevels = {}\nalong = {}\nshare = {}\n",
                     quoted(refinement.observable), refinement.levels,
                     toml_list(refinement.along, quoted), number_text(refinement.share));
}

std::string figure_text(const FigureOutput& figure) {
  std::string text = fmt::format("\n[[outputs.figures]]\nfile = {}\nkind = {}\n",
                                 quoted(figure.file), quoted(figure.kind));
  if (!figure.observable.empty()) text += "observable = " + quoted(figure.observable) + '\n';
  if (!figure.x.empty()) text += "x = " + quoted(figure.x) + '\n';
  if (!figure.y.empty()) text += "y = " + quoted(figure.y) + '\n';
  if (!figure.at.empty()) text += "at = " + toml_list(figure.at, quoted) + '\n';
  if (figure.fit != FigureOutput{}.fit) text += "fit = " + quoted(figure.fit) + '\n';
  return text + fmt::format("log_x = {}\nlog_y = {}\n", figure.log_x, figure.log_y);
}

std::string outputs_text(const StudyText& study) {
  std::string text;
  if (!study.study.empty() || !study.exports.empty()) text += "\n[outputs]\n";
  if (!study.study.empty()) text += "study = " + quoted(study.study) + '\n';
  if (!study.exports.empty()) text += "exports = " + toml_list(study.exports, quoted) + '\n';
  for (const FigureOutput& figure : study.figures) text += figure_text(figure);
  return text;
}

}  // namespace

std::string effective_text(const StudyText& study) {
  std::string text;
  if (!study.title.empty()) text += "title = " + quoted(study.title) + '\n';
  text += "experiment = " + quoted(study.experiment) + '\n';
  text += "seed = " + toml_seed(study.seed) + '\n';
  text += precision_text(study.precision);
  if (!study.fixed.empty()) text += "\n[parameters]\n";
  for (const auto& [name, value] : study.fixed)
    text += key(name) + " = " + toml_value(value) + '\n';
  if (!study.grid.empty()) text += "\n[grid]\n";
  for (const GridAxis& axis : study.grid) text += key(axis.name) + " = " + axis_text(axis) + '\n';
  if (study.refinement) text += refinement_text(*study.refinement);
  return text + outputs_text(study);
}

}  // namespace dewpoint::studies
