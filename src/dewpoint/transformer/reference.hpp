// The small transformer written down plainly: one context at a time, all positions, every layer in
// full, no collapse, no BLAS. What network.hpp is tested against. Number is double, or
// std::complex<double> for derivatives by complex step: no formula here conjugates or takes a
// modulus, so all of them are analytic. Slow on purpose.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/scaling/schedule.hpp"
#include "dewpoint/training/layered_reference.hpp"
#include "dewpoint/transformer/batch.hpp"
#include "dewpoint/transformer/shape.hpp"
#include "dewpoint/transformer/weights.hpp"

namespace dewpoint::transformer {

/// What a context turns into.
template <class Number>
struct ReferencePass {
  std::vector<std::vector<Matrix<Number>>> attention;  // [layer][head], positions x positions
  Matrix<Number> logits;                               // positions x V
};

/// X_i = Z_i/√(mean Z_i² + ε)
template <class Number>
[[nodiscard]] Matrix<Number> plainly_normed(const Matrix<Number>& states) {
  Matrix<Number> normed = states;
  for (std::size_t i = 0; i < states.rows(); ++i) {
    Number squares{};
    for (const Number& z : states.row(i)) squares += z * z;
    const Number size = std::sqrt(squares / static_cast<double>(states.cols()) + kNormEpsilon);
    for (Number& x : normed.row(i)) x /= size;
  }
  return normed;
}

/// m of a query that sees so many keys, in a context of `all`.
[[nodiscard]] inline double plain_multiplier(const Shape& shape, std::size_t seen,
                                             std::size_t all) {
  if (shape.scaling.empty()) return 1.0;
  const scaling::Schedule law = scaling::named_schedule(shape.scaling, 0.0);
  return scaling::multiplier(law, static_cast<double>(law.static_factor ? all : seen));
}

/// softmax(m Q[:,S] K[:,S]ᵀ), under a causal mask over j ≤ i only.
template <class Number>
[[nodiscard]] Matrix<Number> plain_attention(const Shape& shape, const Matrix<Number>& queries,
                                             const Matrix<Number>& keys, Range columns) {
  Matrix<Number> weights(queries.rows(), keys.rows());
  for (std::size_t i = 0; i < queries.rows(); ++i) {
    const std::span<Number> seen = weights.row(i).first(shape.causal ? i + 1 : keys.rows());
    const double multiplier = plain_multiplier(shape, seen.size(), keys.rows());
    for (std::size_t j = 0; j < seen.size(); ++j) {
      for (std::size_t k = columns.begin; k < columns.end; ++k) {
        seen[j] += queries(i, k) * keys(j, k);
      }
      seen[j] *= multiplier;
    }
    training::take_plain_softmax<Number>(seen);
  }
  return weights;
}

/// out[:,S] = A V[:,S]
template <class Number>
void mix_plainly(const Matrix<Number>& attention, const Matrix<Number>& values, Range columns,
                 Matrix<Number>& out) {
  for (std::size_t i = 0; i < out.rows(); ++i) {
    for (std::size_t j = 0; j < values.rows(); ++j) {
      for (std::size_t k = columns.begin; k < columns.end; ++k) {
        out(i, k) += attention(i, j) * values(j, k);
      }
    }
  }
}

/// Z^l in place of Z^{l−1}; returns A_h of every head.
template <class Number>
std::vector<Matrix<Number>> apply_plain_layer(const Shape& shape, const LayerWeights<Number>& layer,
                                              Matrix<Number>& states) {
  const Matrix<Number> seen = shape.pre_norm ? plainly_normed(states) : states;
  const Matrix<Number> queries = training::plain_product(seen, layer.query);
  const Matrix<Number> keys = training::plain_product(seen, layer.key);
  const Matrix<Number> values =
      shape.value_matrix ? training::plain_product(seen, layer.value) : seen;
  std::vector<Matrix<Number>> attention;
  Matrix<Number> out(states.rows(), states.cols());
  for (std::size_t head = 0; head < shape.heads; ++head) {
    const Range columns{head * shape.head_width(), (head + 1) * shape.head_width()};
    attention.push_back(plain_attention(shape, queries, keys, columns));
    mix_plainly(attention.back(), values, columns, out);
  }
  for (std::size_t e = 0; e < states.size(); ++e) {
    Number& z = states.data()[e];
    z = shape.residual ? z + shape.branch * out.data()[e] : out.data()[e];
  }
  return attention;
}

/// The formulas of shape.hpp, one after the other.
///
///   Domain      tokens below V, weights of this shape.
template <class Number>
[[nodiscard]] ReferencePass<Number> reference_pass(const Shape& shape,
                                                   const Weights<Number>& weights,
                                                   std::span<const std::int32_t> context) {
  DEWPOINT_EXPECTS(weights.layers.size() == shape.layers);
  ReferencePass<Number> pass;
  Matrix<Number> states(context.size(), shape.width);
  for (std::size_t i = 0; i < context.size(); ++i) {
    std::ranges::copy(weights.embedding.row(static_cast<std::size_t>(context[i])),
                      states.row(i).begin());
  }
  for (const LayerWeights<Number>& layer : weights.layers) {
    pass.attention.push_back(apply_plain_layer(shape, layer, states));
  }
  pass.logits = training::plain_product(shape.pre_norm ? plainly_normed(states) : states,
                                        weights.unembedding);
  return pass;
}

/// Mean cross-entropy over all predictions that `targets` asks for.
///
///   Domain      as above, at least one window.
template <class Number>
[[nodiscard]] Number reference_loss(const Shape& shape, const Weights<Number>& weights,
                                    const Windows& windows, Targets targets) {
  const std::size_t s = windows.context, first = targets == Targets::all ? 0 : s - 1;
  Number sum{};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::span<const std::int32_t> window = windows.window(i);
    ReferencePass<Number> pass = reference_pass(shape, weights, window.first(s));
    for (std::size_t position = first; position < s; ++position) {
      const std::span<Number> logits = pass.logits.row(position);
      const Number wanted = logits[static_cast<std::size_t>(window[position + 1])];
      sum += training::take_plain_softmax<Number>(logits) - wanted;
    }
  }
  return sum / static_cast<double>(windows.size() * (s - first));
}

}  // namespace dewpoint::transformer
