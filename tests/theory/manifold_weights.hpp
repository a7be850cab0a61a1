// Weight matrices of a point on the rank-one manifold, and the directions along it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/rank_one_flow.hpp"
#include "support/population_loss.hpp"

namespace dewpoint::test {

/// W0 = γαᵀ, W1 = αβᵀ, WQ = λ_Q αα̃ᵀ, WK = λ_K αα̃ᵀ with α the first and α̃ the second axis.
inline Weights<double> manifold_weights(const theory::RankOneState& state, std::size_t width) {
  const std::size_t d = state.embedding.size();
  Weights<double> weights(d, width);
  for (std::size_t i = 0; i < d; ++i) {
    weights.w0(i, 0) = state.embedding[i];
    weights.w1(0, i) = state.output[i];
  }
  weights.wq(0, 1) = state.query;
  weights.wk(0, 1) = state.key;
  return weights;
}

inline Population persistent_population(std::span<const double> law, double persistence) {
  return {law, theory::persistent_chain(law, persistence)};
}

/// The 2d columns of the space of weights along γ (α fixed) and β: an orthonormal basis.
inline Matrix<double> along_manifold(std::size_t d, std::size_t width) {
  Matrix<double> columns(Weights<double>(d, width).size(), 2 * d);
  for (std::size_t i = 0; i < d; ++i) {
    columns(i * width, i) = 1.0;          // W0(i, 0)
    columns(d * width + i, d + i) = 1.0;  // W1(0, i)
  }
  return columns;
}

}  // namespace dewpoint::test
