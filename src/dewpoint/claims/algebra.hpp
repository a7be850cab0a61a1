// Vectors and small matrices as the lemmas write them: sums in full, no library.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::claims {

using Vector = std::vector<double>;

/// ⟨a, b⟩.
[[nodiscard]] inline double inner(std::span<const double> a, std::span<const double> b) {
  DEWPOINT_EXPECTS(a.size() == b.size());
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// a += factor b.
inline void add(std::span<double> a, double factor, std::span<const double> b) {
  DEWPOINT_EXPECTS(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += factor * b[k];
}

/// P_x y = y − ⟨y, x⟩ x, for a unit vector x.
[[nodiscard]] inline Vector tangent(std::span<const double> x, std::span<const double> y) {
  Vector result(y.begin(), y.end());
  add(result, -inner(x, y), x);
  return result;
}

/// matrix += factor a bᵀ.
inline void add_outer(Matrix<double>& matrix, double factor, std::span<const double> a,
                      std::span<const double> b) {
  for (std::size_t row = 0; row < a.size(); ++row) add(matrix.row(row), factor * a[row], b);
}

/// matrix += factor I.
inline void add_identity(Matrix<double>& matrix, double factor) {
  for (std::size_t k = 0; k < matrix.rows(); ++k) matrix(k, k) += factor;
}

/// tr(AᵀB) = Σ A_kl B_kl, row by row.
[[nodiscard]] inline double trace_product(MatrixView<const double> a, MatrixView<const double> b) {
  double sum = 0.0;
  for (std::size_t row = 0; row < a.rows(); ++row) sum += inner(a.row(row), b.row(row));
  return sum;
}

/// Matrix times vector.
[[nodiscard]] inline Vector times(const Matrix<double>& matrix, std::span<const double> vector) {
  Vector result(matrix.rows());
  for (std::size_t row = 0; row < matrix.rows(); ++row)
    result[row] = inner(matrix.row(row), vector);
  return result;
}

}  // namespace dewpoint::claims
