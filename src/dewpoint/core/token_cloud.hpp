// n tokens in R^d, as every module passes them on: directions and norms apart.
//
// Attention and all angles see only the directions y_i = x_i/‖x_i‖; norms matter for the residual
// stream and for gradients.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint {

struct TokenCloud {
  Matrix<double> directions;     // n x d, rows of length 1
  std::vector<double> norms;     // ‖x_i‖
  std::size_t cluster_size = 0;  // tokens [k p, (k+1) p) form cluster k; 0: no clusters

  [[nodiscard]] std::size_t size() const { return directions.rows(); }
  [[nodiscard]] std::size_t dimension() const { return directions.cols(); }
};

/// Splits raw tokens (n x d), rows non-zero and finite of any size, into directions and norms.
[[nodiscard]] TokenCloud split_norms(Matrix<double> tokens);

/// Ensures norms of 1, keeping directions.
void set_unit_norms(TokenCloud& cloud);

}  // namespace dewpoint
