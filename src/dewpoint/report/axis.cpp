#include "dewpoint/report/axis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/page.hpp"

namespace dewpoint::report {
namespace {

constexpr double kRoom = 0.04;      // of the range, beyond the outermost data
constexpr double kRounding = 1e-9;  // of a step: a tic this far outside still counts as inside
constexpr double kDensity = 0.7;  // data with room around them need a finer step than a whole span
constexpr int kMostNumbers = 7;

std::vector<Tic> linear_tics(const Range& range) {
  const double step = tic_step(kDensity * (range.high - range.low));
  std::vector<Tic> tics;
  const std::int64_t last = std::llround(std::floor(range.high / step + kRounding));
  for (std::int64_t k = std::llround(std::ceil(range.low / step - kRounding)); k <= last; ++k) {
    const double place = double(k) * step;
    tics.push_back({place, number_text(place)});
  }
  return tics;
}

struct Stride {
  std::int64_t numbered;  // decades from one number to the next
  std::int64_t all;       // decades from one tic to the next
};

// The smallest of 2, 5, 10, 20, 50, ... of which at most kMostNumbers fit.
Stride decade_stride(std::int64_t decades) {
  for (std::int64_t power = 1;; power *= 10) {
    for (const Stride stride : {Stride{2, 1}, Stride{5, 1}, Stride{10, 5}}) {
      if (decades / (stride.numbered * power) + 1 <= kMostNumbers) {
        return {stride.numbered * power, stride.all * power};
      }
    }
  }
}

std::vector<Tic> decade_tics(const Range& range) {
  const Stride stride = decade_stride(std::llround(range.high - range.low));
  const std::int64_t first = std::llround(std::ceil(range.low / double(stride.all) - kRounding));
  const std::int64_t last = std::llround(std::floor(range.high / double(stride.all) + kRounding));
  std::vector<Tic> tics;
  for (std::int64_t k = first; k <= last; ++k) {
    const std::int64_t exponent = k * stride.all;
    const bool is_numbered = exponent % stride.numbered == 0;
    tics.push_back({double(exponent), is_numbered ? power_of_ten_text(exponent) : ""});
  }
  return tics;
}

// Written from its parts: the number itself may be no double.
std::string multiple_text(int digit, std::int64_t exponent) {
  if (std::abs(exponent) < 300) return number_text(digit * std::pow(10.0, double(exponent)));
  const std::string power = power_of_ten_text(exponent);
  return digit == 1 ? power : number_text(digit) + "·" + power;
}

std::string digit_text(int digit, std::int64_t exponent, bool only_powers) {
  if (only_powers) return digit == 1 ? power_of_ten_text(exponent) : "";
  return digit == 1 || digit == 2 || digit == 5 ? multiple_text(digit, exponent) : "";
}

std::vector<Tic> multiple_tics(const Range& range, bool only_powers) {
  std::vector<Tic> tics;
  const std::int64_t last = std::llround(std::floor(range.high + kRounding));
  for (std::int64_t exponent = std::llround(std::floor(range.low)); exponent <= last; ++exponent) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double place = double(exponent) + std::log10(double(digit));
      if (place < range.low - kRounding || place > range.high + kRounding) continue;
      tics.push_back({place, digit_text(digit, exponent, only_powers)});
    }
  }
  return tics;
}

// What to show of data that are all but one place: rounding must not decide it.
double least_span(AxisScale scale, double centre, double span) {
  if (scale != AxisScale::linear) return 1.0;
  return span > kRounding * std::abs(centre) ? 0.0 : std::max(1.0, std::abs(centre));
}

}  // namespace

double place_on(AxisScale scale, double value) {
  const double place = scale == AxisScale::logarithmic ? std::log10(value) : value;
  const bool is_shown =
      std::isfinite(place) && (scale != AxisScale::exponent || std::abs(place) <= kLargestExponent);
  return is_shown ? place : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> places_on(AxisScale scale, const std::vector<double>& values) {
  std::vector<double> places(values.size());
  std::transform(values.begin(), values.end(), places.begin(),
                 [&](double value) { return place_on(scale, value); });
  return places;
}

Range shown_range(const Axis& axis, const std::vector<double>& places) {
  if (axis.range) {
    const Range range{place_on(axis.scale, axis.range->low),
                      place_on(axis.scale, axis.range->high)};
    DEWPOINT_EXPECTS(range.low < range.high);
    return range;
  }
  Range data{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double place : places) {
    if (!std::isfinite(place)) continue;
    data = {std::min(data.low, place), std::max(data.high, place)};
  }
  if (data.low > data.high) return {0, 1};  // nothing to show
  const double centre = data.low + (data.high - data.low) / 2;
  double span = (data.high - data.low) * (1 + 2 * kRoom);
  span = std::max(span, least_span(axis.scale, centre, span));
  return {centre - span / 2, centre + span / 2};
}

std::vector<Tic> tics_of(AxisScale scale, const Range& range) {
  if (scale == AxisScale::linear) return linear_tics(range);
  const double powers = std::floor(range.high + kRounding) - std::ceil(range.low - kRounding) + 1;
  if (powers > kMostNumbers) return decade_tics(range);
  return multiple_tics(range, range.high - range.low >= 2);
}

}  // namespace dewpoint::report
