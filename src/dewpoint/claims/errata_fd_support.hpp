// What the errata of FD share: the law and the critical point at which they are examined.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/fd_support.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/second_critical_point.hpp"

namespace dewpoint::claims {

/// Gradients and Hessian products at weights up to 2: sums of some ten products of numbers up to 4.
inline constexpr double kRounding = 64.0 * kEpsilon;

inline std::vector<double> two_groups() { return theory::two_group_law(0.75, 4); }

inline Weights critical_point(std::span<const double> law, std::size_t width) {
  Vector alpha(width, 0.0);
  alpha[0] = 1.0;
  const auto outer = theory::critical_weights(theory::second_critical_point(law), alpha);
  return outer_weights(outer.embedding, outer.unembedding);
}

}  // namespace dewpoint::claims
