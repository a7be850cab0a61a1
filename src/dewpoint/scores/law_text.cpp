#include "dewpoint/scores/law_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"

namespace dewpoint::scores {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

/// A '+' parts a mixture unless it belongs to an exponent, as in 1e+3.
std::vector<std::string_view> split_mixture(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '+') continue;
    const bool digit = i >= 2 && std::isdigit(static_cast<unsigned char>(text[i - 2])) != 0;
    if (i >= 2 && text[i - 1] == 'e' && (digit || text[i - 2] == '.')) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// "did you mean 'sphere'? " for a word that resembles an allowed one.
std::string suggestion(std::string_view word, const std::vector<std::string>& allowed) {
  const auto meant = nearest_word(word, allowed);
  return meant ? fmt::format("did you mean '{}'? ", *meant) : "";
}

const LawForm& find_form(std::string_view name, const std::vector<LawForm>& forms) {
  std::vector<std::string> names;
  for (const LawForm& form : forms) {
    if (form.name == name) return form;
    names.push_back(form.name);
  }
  throw Error(Code::bad_value, fmt::format("name '{}' is unknown; {}allowed: {}", name,
                                           suggestion(name, names), fmt::join(names, ", ")));
}

double read_number(std::string_view key, std::string_view text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end || !std::isfinite(value)) {
    throw Error(Code::bad_value, fmt::format("{}: '{}' is not a finite number", key, text));
  }
  return value;
}

const LawParameter& find_parameter(const LawForm& form, std::string_view key, bool later_part) {
  std::vector<std::string> keys;
  for (const LawParameter& parameter : form.parameters) {
    if (later_part && !parameter.of_part) continue;
    if (parameter.key == key) return parameter;
    keys.push_back(parameter.key);
  }
  throw Error(Code::bad_value, fmt::format("key '{}' is unknown{}; {}allowed: {}", key,
                                           later_part ? " after '+'" : "", suggestion(key, keys),
                                           fmt::join(keys, ", ")));
}

std::map<std::string, double> read_part(const LawForm& form, std::string_view text,
                                        bool later_part) {
  std::map<std::string, double> values;
  for (const std::string_view piece : split(text, ',')) {
    if (piece.empty() && text.empty() && !later_part) break;
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) {
      throw Error(Code::bad_value,
                  fmt::format("'{}' is not key=value, as in {}", piece, form.usage()));
    }
    const std::string_view key = piece.substr(0, equals);
    const LawParameter& parameter = find_parameter(form, key, later_part);
    const double value = read_number(key, piece.substr(equals + 1));
    if (!values.emplace(parameter.key, value).second) {
      throw Error(Code::bad_value, fmt::format("key '{}' is given twice", key));
    }
  }
  for (const LawParameter& parameter : form.parameters) {
    if (values.contains(parameter.key) || (later_part && !parameter.of_part)) continue;
    if (!parameter.standard) {
      throw Error(Code::bad_value,
                  fmt::format("key '{}' is missing, as in {}", parameter.key, form.usage()));
    }
    values.emplace(parameter.key, *parameter.standard);
  }
  return values;
}

}  // namespace

bool LawForm::mixes() const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const LawParameter& parameter) { return parameter.of_part; });
}

std::string LawForm::usage() const {
  std::vector<std::string> pieces;
  for (const LawParameter& parameter : parameters) {
    pieces.push_back(parameter.standard ? fmt::format("{}={}", parameter.key, *parameter.standard)
                                        : parameter.key + "=...");
  }
  return fmt::format("{}:{}", name, fmt::join(pieces, ","));
}

LawText::LawText(std::string_view text, const std::vector<LawForm>& forms) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const LawForm& form = find_form(text.substr(0, colon), forms);
  name_ = form.name;
  const std::string_view rest = text.substr(std::min(colon + 1, text.size()));
  const auto parts = split_mixture(rest);
  if (parts.size() > 1 && !form.mixes()) {
    throw Error(Code::bad_value,
                fmt::format("'+' is allowed in mixtures only, and {} is none", form.name));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    values_.push_back(read_part(form, parts[i], i > 0));
  }
}

double LawText::number(const std::string& key, std::size_t part) const {
  DEWPOINT_EXPECTS(part < values_.size() && values_[part].contains(key));
  return values_[part].at(key);
}

int LawText::whole(const std::string& key) const {
  const double value = number(key);
  if (value != std::floor(value) || std::abs(value) > std::numeric_limits<int>::max()) {
    throw Error(Code::bad_value, fmt::format("{}: {} is not a whole number", key, value));
  }
  return static_cast<int>(value);
}

std::string usage_of(const std::vector<LawForm>& forms) {
  std::vector<std::string> usages;
  for (const LawForm& form : forms) usages.push_back(form.usage());
  return fmt::format("{}", fmt::join(usages, ", "));
}

void refuse_law(std::string_view text, const std::string& reason) {
  throw Error(Code::bad_value, fmt::format("law '{}': {}", text, reason));
}

}  // namespace dewpoint::scores
