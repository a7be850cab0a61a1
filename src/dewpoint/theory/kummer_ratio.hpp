// The ratio of two neighbouring Kummer functions, without subtractions.
//
// Let M(a, b, z) be Kummer's function, b > a > 0 and z ≥ 0. For s_b = 1 − M(a, b+1, z)/M(a, b, z)
// in [0, 1) the three-term recurrence of M in b becomes
//
//     s_{b−1} = m/(b(b − 1) + m),        m = z (a + (b − a) s_b),
//
// a sum of positive terms. M is the minimal solution for b → ∞, so stepping down forgets its start:
// the relative error of s shrinks by about b/z per step where b < z and by z/b where b > z, and
// where b ≈ z ≫ a slowly, by 1 − O(1/√b).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::theory {

/// The last step down to b, from which s and 1 − s follow with no loss:
/// s_b = z slope/(product + z slope), 1 − s_b = product/(product + z slope).
struct KummerStep {
  double slope;    // a + (b + 1 − a) s_{b+1}
  double product;  // b(b + 1)

  [[nodiscard]] double ratio(double z) const { return product / (product + z * slope); }
};

/// The step down to b after enough others to have forgotten the start, s = 0.
///
///   Domain      0 < a < b ≤ 2000, z ≥ 0.
///   Accuracy    relative error kKummerRatioError of s_b and of 1 − s_b for a ≥ b/3; for smaller a,
///               where errors shrink slowly, times √b.
///   Properties  (1) the quotient of two series of positive terms.
///               (2) a = 1, b = 2: M(1, 2, z) = (e^z − 1)/z.
///   Reference   [DLMF, 13.3.2]; the form without subtractions is derived here.
[[nodiscard]] inline KummerStep kummer_step(double a, double b, double z) {
  DEWPOINT_EXPECTS(0.0 < a && a < b && b <= 2000.0 && z >= 0.0);
  const int steps = 80 + static_cast<int>(16.0 * std::sqrt(b - a));
  double s = 0.0;
  for (int k = steps; k > 0; --k) {
    const double c = b + 1.0 + k, mass = z * (a + (c - a) * s);
    s = mass / (c * (c - 1.0) + mass);
  }
  return {a + (b + 1.0 - a) * s, b * (b + 1.0)};
}

/// Seven roundings in the last step, and the error before it at least halved.
inline constexpr double kKummerRatioError = 16.0 * 0x1p-52;

}  // namespace dewpoint::theory
