#include "dewpoint/report/number_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "dewpoint/core/quantity.hpp"

namespace dewpoint::report {
namespace {

constexpr std::array<const char*, 10> kSuperscripts = {"⁰", "¹", "²", "³", "⁴",
                                                       "⁵", "⁶", "⁷", "⁸", "⁹"};

std::string with_minus(bool negative, const std::string& text) {
  return negative ? "−" + text : text;
}

// Taken apart after rounding, so that 9.99999999999999e6 becomes 10⁷ and not 10·10⁶.
std::string scientific_text(double magnitude) {
  const std::string text = fmt::format("{:.11e}", magnitude);
  const std::size_t mark = text.find('e');
  const std::string mantissa = fmt::format("{:.12g}", std::stod(text.substr(0, mark)));
  const std::string power = power_of_ten_text(std::stoi(text.substr(mark + 1)));
  return mantissa == "1" ? power : mantissa + "·" + power;
}

}  // namespace

std::string power_of_ten_text(std::int64_t exponent) {
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : fmt::format("{}", std::abs(exponent))) {
    text += kSuperscripts.at(static_cast<std::size_t>(digit - '0'));
  }
  return text;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  const double magnitude = std::abs(value);
  if (std::isinf(value)) return with_minus(value < 0, "∞");
  if (magnitude == 0.0) return "0";
  const bool is_plain = magnitude >= 1e-4 && magnitude < 1e5;
  return with_minus(value < 0,
                    is_plain ? fmt::format("{:.12g}", magnitude) : scientific_text(magnitude));
}

std::string length_text(double n) {
  const double exponent = std::round(std::log10(n));
  if (exponent >= 3 && std::pow(10.0, exponent) == n) {
    return power_of_ten_text(std::llround(exponent));
  }
  return n == std::floor(n) && n >= 0 && n < 1e9 ? fmt::format("{:.0f}", n) : number_text(n);
}

std::string value_label(std::string_view name, double value) {
  return symbol_of(name) + " = " + (name == "n" ? length_text(value) : number_text(value));
}

}  // namespace dewpoint::report
