// How far a count may be from what it should be.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace dewpoint::training::test {

/// A sum of n terms of mean 0 given those before them, each below 1 in size, whose conditional
/// variances sum to `variance`, exceeds this in size with probability at most 2e⁻²⁰ = 4e-9
/// [Freedman 1975]: the root a of a² = 40 (variance + a/3).
inline double freedman_bound(double variance) {
  constexpr double exponent = 20.0;
  return exponent / 3.0 + std::sqrt(exponent * exponent / 9.0 + 2.0 * exponent * variance);
}

}  // namespace dewpoint::training::test
