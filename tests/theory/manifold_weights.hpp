// Weight matrices of a point on the rank-one manifold, and the two gradients that vanish at a
// degenerate one, from the definition of the model.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/rank_one_flow.hpp"
#include "support/population_loss.hpp"

namespace dewpoint::test {

/// W0 = γαᵀ, W1 = αβᵀ, WQ = λ_Q αα̃ᵀ, WK = λ_K αα̃ᵀ with α the first and α̃ the second axis.
inline Weights<double> manifold_weights(const theory::RankOneState& state, Eigen::Index width) {
  const auto d = static_cast<Eigen::Index>(state.embedding.size());
  Weights<double> weights(d, width);
  for (Eigen::Index i = 0; i < d; ++i) {
    weights.w0(i, 0) = state.embedding[static_cast<std::size_t>(i)];
    weights.w1(0, i) = state.output[static_cast<std::size_t>(i)];
  }
  weights.wq(0, 1) = state.query;
  weights.wk(0, 1) = state.key;
  return weights;
}

inline Population persistent_population(std::span<const double> law, double persistence) {
  return {law, theory::persistent_chain(law, persistence)};
}

/// ∂L/∂M and ∂L/∂Φ.
struct TokenGradients {
  Eigen::MatrixXd by_m, by_phi;
};
inline TokenGradients token_gradients(const Population& data, const Weights<double>& weights) {
  const auto [m, attention, prediction] = population_state(data, weights);
  const Eigen::MatrixXd residual = data.law.asDiagonal() * (prediction - data.transition);
  TokenGradients result{attention.transpose() * residual, residual * m.transpose()};
  for (Eigen::Index i = 0; i < data.law.size(); ++i) {
    const Eigen::RowVectorXd row = attention.row(i);
    const Eigen::MatrixXd variance = Eigen::MatrixXd(row.asDiagonal()) - row.transpose() * row;
    result.by_phi.row(i) = (result.by_phi.row(i) * variance).eval();
  }
  return result;
}

/// The 2d columns of the space of weights along γ (α fixed) and β: an orthonormal basis.
inline Eigen::MatrixXd along_manifold(Eigen::Index d, Eigen::Index width) {
  Weights<double> unit(d, width);
  Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(unit.size(), 2 * d);
  for (Eigen::Index i = 0; i < d; ++i) {
    columns(i * width, i) = 1.0;          // W0(i, 0)
    columns(d * width + i, d + i) = 1.0;  // W1(0, i)
  }
  return columns;
}

}  // namespace dewpoint::test
