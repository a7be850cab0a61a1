// Plain algebra of small matrices for tests: products and lengths as their definitions are written,
// and eigenvalues and an orthonormal basis by methods that share nothing with
// dewpoint/core/dense_algebra.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::test {

template <class Scalar>
Matrix<Scalar> transposed(const Matrix<Scalar>& a) {
  Matrix<Scalar> result(a.cols(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t k = 0; k < a.cols(); ++k) result(k, i) = a(i, k);
  }
  return result;
}

template <class Scalar>
Matrix<Scalar> times(const Matrix<Scalar>& a, const Matrix<Scalar>& b) {
  Matrix<Scalar> result(a.rows(), b.cols());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t l = 0; l < a.cols(); ++l) {
      for (std::size_t k = 0; k < b.cols(); ++k) result(i, k) += a(i, l) * b(l, k);
    }
  }
  return result;
}

inline std::vector<double> times(const Matrix<double>& a, std::span<const double> x) {
  std::vector<double> result(a.rows(), 0.0);
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t k = 0; k < a.cols(); ++k) result[i] += a(i, k) * x[k];
  }
  return result;
}

inline double length(std::span<const double> x) {
  double sum = 0.0;
  for (const double entry : x) sum += entry * entry;
  return std::sqrt(sum);
}

/// √ΣΣ a².
inline double length(const Matrix<double>& a) {
  return length(std::span<const double>(a.data(), a.size()));
}

/// (A + Aᵀ)/2.
inline Matrix<double> symmetric_part(const Matrix<double>& a) {
  Matrix<double> result(a.rows(), a.cols());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t k = 0; k < a.cols(); ++k) result(i, k) = 0.5 * (a(i, k) + a(k, i));
  }
  return result;
}

/// Column k of a matrix.
inline std::vector<double> column(const Matrix<double>& a, std::size_t k) {
  std::vector<double> result(a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) result[i] = a(i, k);
  return result;
}

// ---- references in long double -----------------------------------------------------------------

[[nodiscard]] Matrix<long double> in_long_double(const Matrix<double>& a);

/// Eigenvalues of a symmetric matrix, the smallest first, by Jacobi's rotations: each makes one
/// entry off the diagonal 0 and takes its square twice from their sum, so that sweeps over all of
/// them end at a diagonal matrix. Off by a few long double roundings of the largest per sweep.
[[nodiscard]] std::vector<long double> jacobi_eigenvalues(Matrix<long double> symmetric);

/// As many orthonormal columns as `a` has, with the same span: Gram and Schmidt, each twice, which
/// leaves rounding only.
[[nodiscard]] Matrix<long double> orthonormal_columns(Matrix<long double> a);

}  // namespace dewpoint::test
