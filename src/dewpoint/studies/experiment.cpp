#include "dewpoint/studies/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::studies {
namespace {

constexpr double kLeastPlain = 1e-5;
constexpr double kMostPlain = 0x1p53;

bool needs_escape(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

std::string escaped(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 ? fmt::format("\\u{:04x}", code) : std::string{'\\', c};
}

void append_quoted(std::string& text, const std::string& word) {
  text += '"';
  if (std::none_of(word.begin(), word.end(), needs_escape)) {
    text += word;
  } else {
    for (const char c : word) text += needs_escape(c) ? escaped(c) : std::string(1, c);
  }
  text += '"';
}

void append_number(std::string& text, double number) {
  DEWPOINT_EXPECTS(std::isfinite(number));
  const double size = std::abs(number);
  if (size == 0.0) {
    text += '0';
    return;
  }
  const bool plain = size >= kLeastPlain && size <= kMostPlain;
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  text.append(digits.data(), end.ptr);
}

template <typename Kind>
const Kind& value_of(const Point& point, const std::string& name) {
  const auto found = point.find(name);
  DEWPOINT_EXPECTS(found != point.end() && std::holds_alternative<Kind>(found->second));
  return std::get<Kind>(found->second);
}

}  // namespace

// -------------------------------------------------------------------------------------- as text

std::string number_text(double number) {
  std::string text;
  append_number(text, number);
  return text;
}

std::string value_text(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  return std::get<bool>(value) ? "true" : "false";
}

std::string canonical_text(const Point& point) {
  std::string text = "{";
  text.reserve(32 * point.size() + 2);
  for (const auto& [name, value] : point) {
    if (text.size() > 1) text += ',';
    append_quoted(text, name);
    text += ':';
    if (const auto* number = std::get_if<double>(&value)) {
      append_number(text, *number);
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      append_quoted(text, *word);
    } else {
      text += std::get<bool>(value) ? "true" : "false";
    }
  }
  return text + '}';
}

// ------------------------------------------------------------------------------------ experiments

std::vector<double> Experiment::measure_part(const Point& /*point*/, std::uint64_t /*seed*/,
                                             std::uint64_t /*replica*/, std::size_t /*part*/,
                                             const RunContext& /*context*/) const {
  DEWPOINT_EXPECTS(!"an experiment with parts measures them itself");
  return {};
}

std::vector<double> Experiment::join(const Point& /*point*/, std::uint64_t /*seed*/,
                                     std::uint64_t /*replica*/,
                                     const std::vector<std::vector<double>>& /*parts*/) const {
  DEWPOINT_EXPECTS(!"an experiment with parts joins them itself");
  return {};
}

const Experiment& experiment_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment* experiment : experiments()) {
    if (experiment->name() == name) return *experiment;
    names.push_back(experiment->name());
  }
  throw Error(Code::bad_value, fmt::format("no experiment '{}'{}", name, instead_of(name, names)));
}

std::uint64_t seed_of_replica(std::uint64_t seed, std::uint64_t replica) {
  if (replica == 0) return seed;
  const auto words = Stream(seed, "replica", replica).bits(0);
  return (std::uint64_t{words[1]} << 32) | words[0];
}

// --------------------------------------------------------------------------------- reading points

double number_of(const Point& point, const std::string& name) {
  return value_of<double>(point, name);
}

std::size_t count_of(const Point& point, const std::string& name) {
  const double number = number_of(point, name);
  DEWPOINT_EXPECTS(number >= 0.0 && number < 0x1p64 && number == std::floor(number));
  return static_cast<std::size_t>(number);
}

const std::string& word_of(const Point& point, const std::string& name) {
  return value_of<std::string>(point, name);
}

bool flag_of(const Point& point, const std::string& name) { return value_of<bool>(point, name); }

bool has(const Point& point, const std::string& name) { return point.contains(name); }

Point with_defaults(const Point& given, const std::vector<Parameter>& parameters) {
  Point point = given;
  for (const Parameter& parameter : parameters) {
    if (parameter.standard) point.try_emplace(parameter.name, *parameter.standard);
  }
  return point;
}

}  // namespace dewpoint::studies
