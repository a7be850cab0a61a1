// Sums over the coordinates of a vector and over the rows of a matrix, in double.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint {

/// ⟨a, b⟩ with eight partial sums, so that the compiler may use vectors.
[[nodiscard]] inline double inner(std::span<const double> a, std::span<const double> b) {
  std::array<double, 8> part{};
  std::size_t k = 0;
  for (; k + 8 <= a.size(); k += 8) {
    for (std::size_t l = 0; l < 8; ++l) part[l] += a[k + l] * b[k + l];
  }
  for (; k < a.size(); ++k) part[0] += a[k] * b[k];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/// The mean of the rows.
[[nodiscard]] inline std::vector<double> column_means(MatrixView<const double> rows) {
  std::vector<double> mean(rows.cols(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += row[k];
  }
  for (double& m : mean) m /= static_cast<double>(rows.rows());
  return mean;
}

/// sum += part, entry by entry.
inline void add_to(Matrix<double>& sum, const Matrix<double>& part) {
  DEWPOINT_EXPECTS(sum.rows() == part.rows() && sum.cols() == part.cols());
  for (std::size_t k = 0; k < sum.size(); ++k) sum.data()[k] += part.data()[k];
}

}  // namespace dewpoint
