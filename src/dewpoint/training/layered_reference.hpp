// The model with several layers written down plainly: one sequence at a time, all positions, states
// in full width. It knows neither of the two collapses of layered_model.hpp and is what they are
// tested against. Number is double, or std::complex<double> for derivatives by complex step. Slow
// on purpose.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/layered_model.hpp"
#include "dewpoint/training/sequences.hpp"

namespace dewpoint::training {

/// a b
template <class Number>
[[nodiscard]] Matrix<Number> plain_product(const Matrix<Number>& a, const Matrix<Number>& b) {
  Matrix<Number> c(a.rows(), b.cols());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t k = 0; k < a.cols(); ++k) {
      for (std::size_t j = 0; j < b.cols(); ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

/// The softmax of x in its place; returns log Σ exp x.
template <class Number>
Number take_plain_softmax(std::span<Number> x) {
  double top = -std::numeric_limits<double>::infinity();
  for (const Number& entry : x) top = std::max(top, std::real(entry));
  Number total{};
  for (Number& entry : x) total += entry = std::exp(entry - top);
  for (Number& entry : x) entry /= total;
  return top + std::log(total);
}

/// Z^{l+1} from Z^l: positions x m.
template <class Number>
[[nodiscard]] Matrix<Number> plain_layer(const Matrix<Number>& states, const Matrix<Number>& query,
                                         const Matrix<Number>& key, bool residual) {
  const Matrix<Number> queries = plain_product(states, query), keys = plain_product(states, key);
  Matrix<Number> weights(states.rows(), states.rows());
  for (std::size_t i = 0; i < states.rows(); ++i) {
    for (std::size_t j = 0; j < states.rows(); ++j) {
      for (std::size_t k = 0; k < states.cols(); ++k) weights(i, j) += queries(i, k) * keys(j, k);
    }
    take_plain_softmax<Number>(weights.row(i));
  }
  Matrix<Number> next = plain_product(weights, states);
  if (residual) {
    for (std::size_t e = 0; e < next.size(); ++e) next.data()[e] += states.data()[e];
  }
  return next;
}

/// Mean cross-entropy at the last position.
template <class Number>
[[nodiscard]] Number layered_reference_loss(const LayeredParameters<Number>& p,
                                            const SequenceSet& sequences, bool residual) {
  Number sum{};
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const std::span<const std::uint8_t> sequence = sequences.sequence(i);
    Matrix<Number> states(sequences.context, p.width());
    for (std::size_t position = 0; position < sequences.context; ++position) {
      std::ranges::copy(p.embedding.row(sequence[position]), states.row(position).begin());
    }
    for (std::size_t layer = 0; layer < p.layers(); ++layer) {
      states = plain_layer(states, p.query[layer], p.key[layer], residual);
    }
    Matrix<Number> logits = plain_product(states, p.unembedding);
    const std::span<Number> last = logits.row(sequences.context - 1);
    const Number logit = last[sequence.back()];
    sum += take_plain_softmax<Number>(last) - logit;
  }
  return sum / static_cast<double>(sequences.size());
}

}  // namespace dewpoint::training
