// Loss, gradient and Hessian over the weights in complex arithmetic, by plain loops: what the
// products of parameters.hpp are tested against.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "dewpoint/training/parameters.hpp"
#include "training/loss_cases.hpp"

namespace dewpoint::training::test {

inline Matrix<Complex> times(const Matrix<Complex>& a, const Matrix<Complex>& b) {
  Matrix<Complex> c(a.rows(), b.cols());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.cols(); ++j) {
      for (std::size_t k = 0; k < a.cols(); ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

inline Matrix<Complex> transposed(const Matrix<Complex>& a) {
  Matrix<Complex> t(a.cols(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.cols(); ++j) t(j, i) = a(i, j);
  }
  return t;
}

/// θ + i h v
inline Parameters<Complex> shifted(const Parameters<double>& at, const Parameters<double>& along) {
  Parameters<Complex> moved;
  moved.embedding = shifted(at.embedding, along.embedding);
  moved.unembedding = shifted(at.unembedding, along.unembedding);
  moved.query = shifted(at.query, along.query);
  moved.key = shifted(at.key, along.key);
  return moved;
}

struct ComplexMaps {
  Matrix<Complex> attention;
  Matrix<Complex> value;
};

inline ComplexMaps complex_maps(const Parameters<Complex>& p) {
  const Matrix<Complex> scores = times(p.query, transposed(p.key));
  return {times(times(p.embedding, scores), transposed(p.embedding)),
          times(p.embedding, p.unembedding)};
}

/// The derivative of the loss along v.
inline double loss_derivative(const HistogramRows& rows, bool residual,
                              const Parameters<double>& at, const Parameters<double>& along) {
  const ComplexMaps maps = complex_maps(shifted(at, along));
  return plain_slope<Complex>(rows, residual, maps.attention, maps.value).loss.imag() /
         kComplexStep;
}

/// The four matrices of weights in the order W0, W1, WQ, WK.
inline std::array<const Matrix<double>*, 4> parts(const Parameters<double>& p) {
  return {&p.embedding, &p.unembedding, &p.query, &p.key};
}
inline std::array<Matrix<double>*, 4> parts(Parameters<double>& p) {
  return {&p.embedding, &p.unembedding, &p.query, &p.key};
}

inline double dot(const Parameters<double>& a, const Parameters<double>& b) {
  double sum = 0.0;
  for (std::size_t w = 0; w < 4; ++w) {
    const Matrix<double>& x = *parts(a)[w];
    const Matrix<double>& y = *parts(b)[w];
    for (std::size_t i = 0; i < x.size(); ++i) sum += x.data()[i] * y.data()[i];
  }
  return sum;
}

}  // namespace dewpoint::training::test
