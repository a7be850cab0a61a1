#include "dewpoint/core/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

[[noreturn]] void refuse(const std::string& field, const std::string& text, const char* why) {
  throw Error(Code::bad_value,
              fmt::format("{}: '{}' {}; allowed: numbers like 0.2,0.5 or first:last:count[:log]",
                          field, text, why));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

double number(const std::string& field, const std::string& text, const std::string& whole) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || !std::isfinite(value)) {
    refuse(field, whole, "is not a list of numbers");
  }
  return value;
}

// To twelve digits, so that a grid over powers of ten meets them.
double rounded(double value) { return std::stod(fmt::format("{:.12g}", value)); }

std::vector<double> equal_steps(const std::string& field, const std::vector<std::string>& parts,
                                const std::string& text) {
  const bool ratios = parts.size() == 4 && parts[3] == "log";
  if (parts.size() != 3 && !ratios) refuse(field, text, "does not have three parts, or :log after");
  const double first = number(field, parts[0], text);
  const double last = number(field, parts[1], text);
  const double count = number(field, parts[2], text);
  if (count < 2.0 || count > 100000.0 || count != std::floor(count)) {
    refuse(field, text, "does not count 2 to 100000 points");
  }
  if (ratios && !(first > 0.0 && last > 0.0)) refuse(field, text, "is not positive");
  std::vector<double> values;
  for (int k = 0; k < static_cast<int>(count); ++k) {
    const double place = k / (count - 1.0);
    values.push_back(ratios ? rounded(first * std::pow(last / first, place))
                            : first + k * ((last - first) / (count - 1.0)));
  }
  return values;
}

}  // namespace

std::vector<double> parse_grid(const std::string& field, const std::string& text) {
  std::vector<double> values;
  if (text.find(':') != std::string::npos) {
    values = equal_steps(field, split(text, ':'), text);
  } else {
    for (const std::string& part : split(text, ',')) values.push_back(number(field, part, text));
  }
  if (std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) != values.end()) {
    refuse(field, text, "does not increase from left to right");
  }
  return values;
}

std::vector<std::size_t> parse_counts(const std::string& field, const std::string& text) {
  std::vector<std::size_t> counts;
  for (const double value : parse_grid(field, text)) {
    if (value < 0.0 || value > 1e12 || value != std::floor(value)) {
      refuse(field, text, "is not a list of whole numbers");
    }
    counts.push_back(static_cast<std::size_t>(value));
  }
  return counts;
}

}  // namespace dewpoint
