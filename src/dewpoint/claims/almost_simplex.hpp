// Gaussian clouds under Assumption 2 of [CAS], with the ranges from which its theorems predict.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/experiments/explicit_tokens.hpp"
#include "dewpoint/theory/layer_bounds.hpp"

namespace dewpoint::claims {

struct AlmostCase {
  Matrix<double> tokens;
  experiments::Interval cosines;  // ρ_1, ρ_2
  experiments::Interval squares;  // q_1, q_2

  [[nodiscard]] double log_n() const;
  [[nodiscard]] double dimension() const { return static_cast<double>(tokens.cols()); }
  [[nodiscard]] double norm(std::size_t token) const;
  /// β with β(1 − ρ_1) = c log n: below the lower threshold when c < 1.
  [[nodiscard]] double subcritical(double scale) const;
  /// β with β(1 − ρ_2) = c log n: above the upper threshold when c > 1.
  [[nodiscard]] double supercritical(double scale) const;
  /// What the bounds of theory/layer_bounds.hpp take.
  [[nodiscard]] theory::AlmostSimplex at(double inverse_temperature) const;
  /// Room for the rounding of a measurement and of a bound, relative to numbers of order one.
  [[nodiscard]] double rounding(double inverse_temperature) const;
};

struct CloudFamily {
  std::size_t tokens = 256;
  std::size_t dimension = 512;  // well above log n, or ρ_1 is not positive and a claim fails
  std::uint64_t clouds = 2;
  double scale = 1.0;  // of the norms
};

/// Clouds around ρ = 1/2.
[[nodiscard]] std::vector<AlmostCase> almost_simplices(const CloudFamily& family,
                                                       std::uint64_t seed);

/// "2 Gaussian clouds n = 256, d = 512, cosines in [0.36, 0.60]"
[[nodiscard]] std::string text_of(const std::vector<AlmostCase>& clouds);

}  // namespace dewpoint::claims
