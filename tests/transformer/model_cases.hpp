// Shapes, weights, windows and derivatives by complex step for the tests of small transformers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/core/random.hpp"
#include "dewpoint/training/layered_model.hpp"
#include "dewpoint/transformer/reference.hpp"
#include "support/matrices.hpp"

namespace dewpoint::transformer::test {

using Complex = std::complex<double>;

/// Im f(x + ih)/h is f'(x) up to h²: far below rounding.
inline constexpr double kComplexStep = 1e-30;

/// Entry by entry in another type.
template <class To, class From>
[[nodiscard]] Weights<To> converted(const Shape& shape, const Weights<From>& from) {
  Weights<To> to(shape);
  for (std::size_t n = 0; n < matrices_of(from).size(); ++n) {
    const Matrix<From>& matrix = *matrices_of(from)[n];
    std::transform(matrix.data(), matrix.data() + matrix.size(), matrices_of(to)[n]->data(),
                   [](From x) { return static_cast<To>(x); });
  }
  return to;
}

/// The largest |a − b| over all entries of two matrices; NaN where one is.
template <class A, class B>
[[nodiscard]] double largest_difference(const Matrix<A>& a, const Matrix<B>& b) {
  double most = 0.0;
  for (std::size_t e = 0; e < a.size(); ++e) {
    const double difference = std::abs(double{a.data()[e]} - double{b.data()[e]});
    most = difference <= most ? most : difference;
  }
  return most;
}

/// The same over all matrices.
template <class A, class B>
[[nodiscard]] double largest_difference(const Weights<A>& a, const Weights<B>& b) {
  double most = 0.0;
  for (std::size_t n = 0; n < matrices_of(a).size(); ++n) {
    const double difference = largest_difference(*matrices_of(a)[n], *matrices_of(b)[n]);
    most = difference <= most ? most : difference;
  }
  return most;
}

[[nodiscard]] inline double largest(const Weights<double>& weights) {
  double most = 0.0;
  for (const Matrix<double>* matrix : matrices_of(weights)) {
    most = std::max(most, dewpoint::test::largest(*matrix));
  }
  return most;
}

/// Weights at which every matrix matters: scores of a few units, which are neither 0 nor so large
/// that one key takes all. Keys are like queries, so that a token attends most to itself: else
/// layers without residual make all states equal, and slopes are differences of equal numbers. With
/// residual a layer doubles what states have in common; queries, and what reads the last states,
/// take it back.
[[nodiscard]] inline Weights<double> some_weights(const Shape& shape, std::uint64_t replica) {
  Weights<double> weights = initial_weights<double>(shape, 1.0, 1, replica);
  const auto scale = [](Matrix<double>& matrix, double factor) {
    std::for_each_n(matrix.data(), matrix.size(), [&](double& entry) { entry *= factor; });
  };
  const double fan = 1.0 / std::sqrt(static_cast<double>(shape.width));
  const double growth = shape.residual && !shape.pre_norm ? 2.0 : 1.0;
  double states = 1.0;
  for (LayerWeights<double>& layer : weights.layers) {
    for (std::size_t e = 0; e < layer.query.size(); ++e) {
      layer.key.data()[e] = layer.query.data()[e] + 0.3 * layer.key.data()[e];
    }
    scale(layer.query, 0.7 * fan / (states * states));
    scale(layer.key, 0.7 * fan);
    scale(layer.value, fan);
    states *= growth;
  }
  scale(weights.unembedding, fan / states);
  return weights;
}

/// The same weights as those of the model of many layers: one head, no value matrix.
[[nodiscard]] inline training::LayeredParameters<double> as_layers(const Shape& shape,
                                                                   const Weights<double>& weights) {
  training::LayeredParameters<double> same(shape.vocabulary, shape.width, shape.layers);
  for (std::size_t n = 0; n < matrices_of(weights).size(); ++n) {
    *training::matrices_of(same)[n] = *matrices_of(weights)[n];
  }
  return same;
}

/// Numbers of these tests are the same in every run: none is a statistical one, and all of them ask
/// for slopes that are well above rounding.
[[nodiscard]] inline Stream fixed_stream(const std::string& name) { return {1, name}; }

[[nodiscard]] inline Matrix<double> some_direction(std::size_t rows, std::size_t cols,
                                                   const std::string& name) {
  Matrix<double> direction(rows, cols);
  fixed_stream("direction/" + name).normals(0, {direction.data(), direction.size()});
  return direction;
}

/// Independent tokens; low numbers are frequent.
[[nodiscard]] inline Windows random_windows(std::size_t vocabulary, std::size_t context,
                                            std::size_t count, const std::string& name) {
  const Stream stream = fixed_stream("windows/" + name);
  Windows windows;
  windows.context = context;
  for (std::size_t i = 0; i < count * (context + 1); ++i) {
    const double u = stream.uniform(i);
    windows.tokens.push_back(static_cast<std::int32_t>(u * u * static_cast<double>(vocabulary)));
  }
  return windows;
}

[[nodiscard]] inline Batch explicit_batch(const Windows& windows, Targets targets) {
  Batch batch;
  fill_explicit(windows, targets, batch);
  return batch;
}

[[nodiscard]] inline Batch collapsed_batch(const Windows& windows) {
  Batch batch;
  fill_collapsed(windows, batch);
  return batch;
}

/// Every derivative of the plain loss.
[[nodiscard]] inline Weights<double> complex_step_gradient(const Shape& shape,
                                                           const Weights<double>& at,
                                                           const Windows& windows,
                                                           Targets targets) {
  Weights<double> slopes(shape);
  Weights<Complex> moved = converted<Complex>(shape, at);
  for (std::size_t n = 0; n < matrices_of(slopes).size(); ++n) {
    Matrix<Complex>& matrix = *matrices_of(moved)[n];
    for (std::size_t e = 0; e < matrix.size(); ++e) {
      const Complex before = matrix.data()[e];
      matrix.data()[e] += Complex(0.0, kComplexStep);
      matrices_of(slopes)[n]->data()[e] =
          reference_loss(shape, moved, windows, targets).imag() / kComplexStep;
      matrix.data()[e] = before;
    }
  }
  return slopes;
}

/// The derivative of the plain loss along `direction` in the matrix of this number.
[[nodiscard]] inline double complex_step_slope(const Shape& shape, const Weights<double>& at,
                                               std::size_t number, const Matrix<double>& direction,
                                               const Windows& windows, Targets targets) {
  Weights<Complex> moved = converted<Complex>(shape, at);
  Matrix<Complex>& matrix = *matrices_of(moved)[number];
  for (std::size_t e = 0; e < matrix.size(); ++e) {
    matrix.data()[e] += Complex(0.0, kComplexStep * direction.data()[e]);
  }
  return reference_loss(shape, moved, windows, targets).imag() / kComplexStep;
}

}  // namespace dewpoint::transformer::test
