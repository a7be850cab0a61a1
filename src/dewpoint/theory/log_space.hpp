// Arithmetic on logarithms, where the numbers themselves would overflow, underflow or cancel.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace dewpoint::theory {

/// log(1 + e^x).
///
///   Domain      any x, the infinities included.
///   Accuracy    relative error of 2 units in the last place.
///   Properties  (1) softplus(x) − softplus(−x) = x.
[[nodiscard]] inline double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// log(e^x + e^y).
///
///   Domain      any x, y below +∞; −∞ stands for the logarithm of zero.
///   Accuracy    absolute error of 2 units in the last place of max(1, |x|, |y|).
///   Properties  (1) symmetric; (2) −∞ is neutral.
[[nodiscard]] inline double log_add(double x, double y) {
  const double larger = std::max(x, y), smaller = std::min(x, y);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(smaller - larger));
}

/// log(e^x − e^y).
///
///   Domain      x ≥ y, x finite; −∞ when they are equal.
///   Accuracy    the rounding of x − y divided by 1 − e^{y−x}.
///   Properties  (1) log_add(log_subtract(x, y), y) = x.
[[nodiscard]] inline double log_subtract(double x, double y) {
  return x + std::log(-std::expm1(y - x));
}

}  // namespace dewpoint::theory
