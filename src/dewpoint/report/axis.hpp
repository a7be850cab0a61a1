// Axes of line figures: where a value lies, which range is shown, which numbers stand beside it.
//
// An axis is linear in its own coordinate, the "place": the value itself or its decimal logarithm.
// Gnuplot sees places only, so that a curve may reach 10⁻¹⁰⁰⁰, which no double can hold.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dewpoint::report {

enum class AxisScale {
  linear,
  logarithmic,  // values > 0; others have no place and are left out
  exponent,  // values are log₁₀ of what the axis shows: −3 lies at the number 10⁻³. Those
             // beyond ±kLargestExponent are left out
};

/// Whole numbers up to here are exact, as tics must be.
inline constexpr double kLargestExponent = 1e15;

struct Range {
  double low;
  double high;  // above low
  bool operator==(const Range&) const = default;
};

struct Axis {
  std::string label;
  AxisScale scale = AxisScale::linear;
  std::optional<Range> range;  // in values; none: all data and a little room around them
};

struct Tic {
  double place;
  std::string label;  // empty: a short tic without a number
  bool operator==(const Tic&) const = default;
};

/// Where a value lies on the axis; NaN when it has no place.
[[nodiscard]] double place_on(AxisScale scale, double value);
[[nodiscard]] std::vector<double> places_on(AxisScale scale, const std::vector<double>& values);

/// The range of places to show: Axis::range, or all finite `places` with 4 % of room on either side
/// (around a single place, as much as its distance from 0 and at least 1; where the axis shows
/// powers of ten, at least one decade). Without any data, 0 to 1.
[[nodiscard]] Range shown_range(const Axis& axis, const std::vector<double>& places);

/// Tics inside a range of places, increasing.
///
///   Properties  (1) linear: multiples of a step of 1, 2 or 5 times a power of ten, all numbered.
///               (2) otherwise, below two decades: 1, 2 and 5 times powers of ten are numbered, the
///                   other multiples short. A whole decade has at least three numbers.
///               (3) otherwise, up to seven whole powers: these are numbered, "10⁻³", their
///                   multiples short.
///               (4) otherwise: the multiples of a stride of 2, 5, 10, 20, 50, ... decades that
///                   leaves at most seven numbers.
[[nodiscard]] std::vector<Tic> tics_of(AxisScale scale, const Range& range);

}  // namespace dewpoint::report
