// Small matrices for tests: made, compared, multiplied in the plainest way.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>

#include "dewpoint/core/matrix.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::test {

/// Entry (i, k) is entry(i, k).
inline Matrix<double> matrix_of(std::size_t n, std::size_t d,
                                const std::function<double(double, double)>& entry) {
  Matrix<double> result(n, d);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < d; ++k) {
      result(i, k) = entry(static_cast<double>(i), static_cast<double>(k));
    }
  }
  return result;
}

/// Standard normal entries from the stream of this name.
inline Matrix<double> normal_matrix(std::size_t n, std::size_t d, const std::string& name) {
  Matrix<double> result(n, d);
  stream(name).normals(0, {result.data(), result.size()});
  return result;
}

inline double inner(const Matrix<double>& a, const Matrix<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a.data()[k] * b.data()[k];
  return sum;
}

inline double largest(const Matrix<double>& a) {
  double result = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) result = std::max(result, std::abs(a.data()[k]));
  return result;
}

inline double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  double result = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    result = std::max(result, std::abs(a.data()[k] - b.data()[k]));
  }
  return result;
}

}  // namespace dewpoint::test
