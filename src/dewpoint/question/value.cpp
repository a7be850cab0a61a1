#include "dewpoint/question/value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::question {
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

}  // namespace

std::string number_text(double number) {
  std::string text;
  append_number(text, number);
  return text;
}

std::string value_text(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), ","));
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

std::string short_text(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  std::string text(digits.data(), end.ptr);
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos) return text;
  std::size_t sign = exponent + 1;
  if (text[sign] == '+')
    text.erase(sign, 1);
  else
    ++sign;
  while (text[sign] == '0') text.erase(sign, 1);
  return text;
}

std::optional<double> number_in(const std::string& text) {
  double number = 0.0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || !std::isfinite(number)) return {};
  return number;
}

}  // namespace dewpoint::question
