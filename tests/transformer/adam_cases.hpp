// States and gradients of the size of those in a run, for the tests of Adam and of its files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "dewpoint/transformer/adam.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::transformer::test {

/// Normal draws of this deviation.
template <class Real>
[[nodiscard]] Weights<Real> draws(const Shape& shape, double deviation, const std::string& name) {
  const Stream stream = dewpoint::test::stream("adam/" + name);
  Weights<Real> weights(shape);
  std::uint64_t next = 0;
  for (Matrix<Real>* matrix : matrices_of(weights)) {
    for (std::size_t e = 0; e < matrix->size(); ++e) {
      matrix->data()[e] = static_cast<Real>(deviation * stream.normal(next++));
    }
  }
  return weights;
}

template <class Real>
[[nodiscard]] Weights<Real> some_gradient(const Shape& shape, const std::string& name) {
  return draws<Real>(shape, 1e-3, "gradient/" + name);
}

/// In the middle of a run: second moments are squares.
template <class Real>
[[nodiscard]] AdamState<Real> some_state(const Shape& shape, const std::string& name) {
  AdamState<Real> state(shape, draws<Real>(shape, 0.1, "weights/" + name));
  state.first = draws<Real>(shape, 1e-3, "first/" + name);
  state.second = draws<Real>(shape, 1e-3, "second/" + name);
  for (Matrix<Real>* matrix : matrices_of(state.second)) {
    std::for_each_n(matrix->data(), matrix->size(), [](Real& entry) { entry *= entry; });
  }
  state.done = 17;
  return state;
}

template <class Real>
[[nodiscard]] bool same_bytes(const Weights<Real>& a, const Weights<Real>& b) {
  const auto left = matrices_of(a), right = matrices_of(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](auto* x, auto* y) {
    return x->rows() == y->rows() && x->cols() == y->cols() &&
           std::memcmp(x->data(), y->data(), x->size() * sizeof(Real)) == 0;
  });
}

template <class Real>
[[nodiscard]] bool same_bytes(const AdamState<Real>& a, const AdamState<Real>& b) {
  return a.done == b.done && same_bytes(a.weights, b.weights) && same_bytes(a.first, b.first) &&
         same_bytes(a.second, b.second);
}

}  // namespace dewpoint::transformer::test
