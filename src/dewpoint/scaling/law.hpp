// How the inverse temperature β grows with the number of tokens n, by name.
//
//   name       β(n)                      why one would choose it
//   constant   s                         what a trained model does when nothing is scaled
//   log        s log n                   keeps a simplex at one point of its phase diagram
//   sqrt-log   s √(2 log n)              the same for independent Gaussian scores
//   power      s n^{2/(d−1)}             the same for keys spread over a sphere of fixed dimension
//   d
//
// s is the strength. The law "log" with strength γ is the γ of every phase diagram here.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dewpoint::scaling {

struct Law {
  std::string name = "log";
  double strength = 1.0;
};

[[nodiscard]] const std::vector<std::string>& law_names();

/// β of a law at n tokens in dimension d. Throws Error{bad_value} for an unknown name, a negative
/// or non-finite strength, or d < 2 with "power".
///
///   Properties  (1) β is proportional to the strength.
///               (2) "constant" does not depend on n; the others increase with n.
[[nodiscard]] double inverse_temperature(const Law& law, std::size_t n, std::size_t d);

}  // namespace dewpoint::scaling
