// How steeply does it grow? A straight line through measured points, on logarithmic axes or not.
//
// With u = x or log x and v = y or log y, whose error is σ_y/y,
//
//     v = intercept + slope · u,      χ² = Σ (v − intercept − slope u)²/σ²  at its lowest.
//
// On two logarithmic axes the slope is the exponent of a power, with a logarithmic x only, how much
// is added per factor e. Unlike growth_law.hpp, which weighs laws of attention against each other,
// this assumes the line, and χ² per degree of freedom says how well it goes through the points.
//
// *Errors.* With χ²/ν ≤ 1 those of the points, and 95 % of the normal law. With χ²/ν > 1 the points
// scatter more than they should: all errors are multiplied by √(χ²/ν), as if they were too small by
// one factor, and as this factor is known from ν differences only the 95 % are Student's. Where a
// point has no error (exact, or unknown) none is used: all points weigh the same and errors come
// from the scatter alone, again with Student's law.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "dewpoint/core/estimate.hpp"

namespace dewpoint::diagnosis {

struct FitAxes {
  bool log_x = true;
  bool log_y = true;
};

struct PowerFit {
  FitAxes axes = {};
  Estimate slope = {};      // samples: points
  Estimate intercept = {};  // of v at u = 0
  double slope_low = 0.0;   // 95 % of confidence
  double slope_high = 0.0;
  double chi_square_per_degree = 0.0;  // with unweighted points: the variance of v about the line
  std::size_t degrees = 0;             // ν = points − 2
  bool weighted = true;                // every point had an error
  double centre = 0.0;                 // weighted mean of u, where slope and height are independent
  Estimate height = {};                // of v there

  /// y of the line at x, and its standard error, for drawing a band.
  [[nodiscard]] Estimate at(double x) const;
};

/// The best line.
///
///   Domain      as many y as x, at least 3 points, not all at one x, finite; positive where their
///               axis is logarithmic: else Error{bad_value}.
///   Accuracy    rounding.
///   Properties  (1) points on a line: that line, χ² = 0.
///               (2) normal noise of the stated size: the interval holds the truth in 95 % of
///               cases,
///                   or more, as errors are only ever enlarged.
///               (3) unknown errors: in 95 %.
///               (4) errors all multiplied by one factor: the same line.
///   Reference   weighted least squares.
[[nodiscard]] PowerFit fit_power(std::span<const double> x, std::span<const Estimate> y,
                                 const FitAxes& axes = {});

}  // namespace dewpoint::diagnosis
