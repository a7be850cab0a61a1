// The two leading eigenvectors of a symmetric matrix with eigenvalues ≥ 0.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::training {

struct LeadingPair {
  std::array<double, 2> values{};                // decreasing
  std::array<std::vector<double>, 2> vectors{};  // of length 1; signs as they come
  double trace = 0.0;                            // Σ of all eigenvalues
};

/// Up to 64 x 64 from the whole decomposition, beyond that by restarted Lanczos, which costs about
/// a hundred products with the matrix. A matrix of zeros, or one that is not finite, has values 0
/// and vectors 0, and so has the second direction of a 1 x 1 matrix.
///
///   Accuracy    values to kLeadingValueError of the largest.
[[nodiscard]] LeadingPair leading_pair(MatrixView<const double> gram);

inline constexpr double kLeadingValueError = 1e-11;

}  // namespace dewpoint::training
