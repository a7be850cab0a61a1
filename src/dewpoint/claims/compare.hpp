// How a claim writes down what it compares, and the tolerances that many claims share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "dewpoint/claims/claim.hpp"

namespace dewpoint::claims {

/// A number without statistical error: a sum over explicit tokens.
[[nodiscard]] inline Estimate exactly(double value) { return {value, 0.0, 1}; }

[[nodiscard]] inline Comparison equal(std::string quantity, double predicted, double measured,
                                      double tolerance) {
  return {std::move(quantity), predicted, Relation::equals, exactly(measured), tolerance};
}
[[nodiscard]] inline Comparison at_least(std::string quantity, double predicted, double measured,
                                         double tolerance) {
  return {std::move(quantity), predicted, Relation::at_least, exactly(measured), tolerance};
}
[[nodiscard]] inline Comparison at_most(std::string quantity, double predicted, double measured,
                                        double tolerance) {
  return {std::move(quantity), predicted, Relation::at_most, exactly(measured), tolerance};
}

/// factor · value + shift.
[[nodiscard]] inline Estimate linear(const Estimate& value, double factor, double shift = 0.0) {
  return {factor * value.mean + shift, std::abs(factor) * value.standard_error, value.samples};
}

/// Ten times as many draws at full effort: errors a third as large.
[[nodiscard]] inline std::size_t draws_of(const Setting& setting, std::size_t quick) {
  return setting.effort == Effort::quick ? quick : 10 * quick;
}

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// log n for n = 1e300, where every n^{−1/10} is below 1e-30: the nearest a formula in doubles
/// comes to n → ∞.
inline constexpr double kLargestLog = 690.775527898213704;

/// Relative error of the weights, outputs and cosines of an explicit layer. A cosine is a sum of d
/// products, known to (d + 4)/2 units; β magnifies it in a weight, which is divided by a sum of n
/// and mixed with n others, and the outputs are multiplied with each other once more.
[[nodiscard]] constexpr double layer_rounding(std::size_t n, std::size_t d,
                                              double inverse_temperature) {
  const auto tokens = static_cast<double>(n), dimension = static_cast<double>(d);
  return 2.0 * kEpsilon *
         (inverse_temperature * (dimension + 4.0) + 2.0 * tokens + dimension + 8.0);
}

/// The same for a sum of squares or products of all entries of a Jacobian by complex step: complex
/// products round four times as often, and rows of n d entries are added up.
[[nodiscard]] constexpr double jacobian_rounding(std::size_t n, std::size_t d,
                                                 double inverse_temperature) {
  return 4.0 * layer_rounding(n, d, inverse_temperature) +
         2.0 * kEpsilon * static_cast<double>(n * d);
}

/// Relative error of a weight, or of a share of a row, in the float32 layer of
/// experiments::phase_point: its exponent β(1 − cos) is rounded three times, the sum over n tokens
/// once for each, and a share is a ratio of two such sums.
[[nodiscard]] constexpr double single_rounding(std::size_t n, double largest_exponent) {
  constexpr double epsilon = std::numeric_limits<float>::epsilon();
  return 2.0 * epsilon * (2.0 + 2.0 * largest_exponent + static_cast<double>(n));
}

}  // namespace dewpoint::claims
