// Do two samples have the same law? And does a family of such questions contain a no?
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace dewpoint::test {

/// P(K > x) of Kolmogorov's law, by the series that converges fast on either side of 1.
[[nodiscard]] inline double kolmogorov_tail(double x) {
  if (x < 0.2) return 1.0;  // 1 − 5e-13 at 0.2
  double sum = 0.0;
  for (int k = 1; k < 20; ++k) {
    const double odd = 2.0 * k - 1.0;
    sum += x < 1.0 ? std::exp(-odd * odd * std::numbers::pi * std::numbers::pi / (8.0 * x * x))
                   : (k % 2 == 1 ? 2.0 : -2.0) * std::exp(-2.0 * k * k * x * x);
  }
  return x < 1.0 ? 1.0 - std::sqrt(2.0 * std::numbers::pi) / x * sum : sum;
}

/// Largest distance between the empirical distribution functions.
[[nodiscard]] inline double kolmogorov_distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double largest = 0.0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= value) ++i;
    while (j < b.size() && b[j] <= value) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                         static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return largest;
}

/// p-value of the two-sample test of Kolmogorov and Smirnov. The limit law is used, whose p-values
/// are slightly too large at finite sizes.
[[nodiscard]] inline double same_law_p(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  return kolmogorov_tail(std::sqrt(n * m / (n + m)) * kolmogorov_distance(a, b));
}

/// The smallest p-value corrected for their number [Holm 1979]: below a level α with probability at
/// most α when all hypotheses hold, whatever the dependence between them.
[[nodiscard]] inline double smallest_holm_p(const std::vector<double>& p_values) {
  const double smallest = *std::min_element(p_values.begin(), p_values.end());
  return std::min(1.0, smallest * static_cast<double>(p_values.size()));
}

/// Level of a family of tests: a hundred such families raise a false alarm once in a thousand free
/// seeds.
inline constexpr double kFamilyLevel = 1e-5;

}  // namespace dewpoint::test
