#include "dewpoint/studies/axis_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::studies {
namespace {

constexpr int kLogarithmicDigits = 12;
constexpr int kLinearDigits = 15;

/// Room for a number without exponent, from 1e308 to 340 places behind the point.
using Digits = std::array<char, 700>;

double read_back(const Digits& digits, const char* end) {
  double value = 0.0;
  std::from_chars(digits.data(), end, value);
  return value;
}

double with_significant_digits(double value) {
  Digits digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                     std::chars_format::scientific, kLogarithmicDigits - 1);
  return read_back(digits, written.ptr);
}

/// d with 10^d <= size < 10^(d+1), read off its digits: log10 may miss by one.
int decade(double size) {
  Digits digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), size,
                                     std::chars_format::scientific);
  const char* exponent = std::find(digits.data(), written.ptr, 'e') + 1;
  int result = 0;
  std::from_chars(*exponent == '+' ? exponent + 1 : exponent, written.ptr, result);
  return result;
}

/// Rounded at the 15th digit of `size`.
double with_digits_of(double value, double size) {
  const int places = size > 0.0 ? kLinearDigits - 1 - decade(size) : 0;
  if (places < 0) return value;
  Digits digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                     std::chars_format::fixed, places);
  const double rounded = read_back(digits, written.ptr);
  return rounded == 0.0 ? 0.0 : rounded;
}

double rounded(double value, double low, double high, const Spacing& spacing) {
  const double tidy = spacing.logarithmic
                          ? with_significant_digits(value)
                          : with_digits_of(value, std::max(std::abs(low), std::abs(high)));
  return std::clamp(spacing.whole ? std::round(tidy) : tidy, low, high);
}

}  // namespace

std::vector<double> spaced(double from, double to, std::size_t count, const Spacing& spacing) {
  DEWPOINT_EXPECTS(count >= 2 && from < to && (!spacing.logarithmic || from > 0.0));
  std::vector<double> values(count);
  const auto steps = static_cast<double>(count - 1);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double share = static_cast<double>(i) / steps;
    const double value = spacing.logarithmic
                             ? std::exp(std::log(from) * (1.0 - share) + std::log(to) * share)
                             : from * (1.0 - share) + to * share;
    values[i] = rounded(value, from, to, spacing);
  }
  values.front() = from;
  values.back() = to;
  return values;
}

std::optional<double> between(double low, double high, const Spacing& spacing) {
  DEWPOINT_EXPECTS(low < high);
  const double mean =
      spacing.logarithmic ? std::sqrt(low) * std::sqrt(high) : 0.5 * low + 0.5 * high;
  const double tidy = rounded(mean, low, high, spacing);
  if (low < tidy && tidy < high) return tidy;
  if (!spacing.whole && low < mean && mean < high) return mean;
  return std::nullopt;
}

}  // namespace dewpoint::studies
