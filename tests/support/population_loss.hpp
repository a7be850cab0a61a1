// The long-context loss of the one-layer model, its gradient and its Hessian, written once more
// from the definition for tests of the theory: full weight matrices and no reduction.
//
//     Φ = W0 WQ WKᵀ W0ᵀ,  M = W0 W1,  A_ij ∝ π_j e^{Φ_ij},  L = −Σ π_i P_ij log softmax(A M)_ij
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/ode.hpp"

namespace dewpoint::test {

/// W0 (d x m), W1 (m x d), WQ and WK (m x m), all 0 to begin with.
template <class Scalar>
struct Weights {
  Matrix<Scalar> w0, w1, wq, wk;

  Weights(std::size_t d, std::size_t m) : w0(d, m), w1(m, d), wq(m, m), wk(m, m) {}

  [[nodiscard]] std::size_t size() const { return 2 * (w0.size() + wq.size()); }
  /// All entries: the four matrices in this order, row by row.
  [[nodiscard]] std::vector<Scalar> flat() const {
    std::vector<Scalar> all;
    for (const Matrix<Scalar>* part : {&w0, &w1, &wq, &wk}) {
      all.insert(all.end(), part->data(), part->data() + part->size());
    }
    return all;
  }
  void assign(std::span<const Scalar> all) {
    for (Matrix<Scalar>* part : {&w0, &w1, &wq, &wk}) {
      std::copy_n(all.data(), part->size(), part->data());
      all = all.subspan(part->size());
    }
  }
};

struct Population {
  std::vector<double> law;
  Matrix<double> transition;

  Population(std::span<const double> pi, MatrixView<const double> p);
};

/// M, A and the predictions softmax(A M).
template <class Scalar>
struct TokenState {
  Matrix<Scalar> m, attention, prediction;
};
using PopulationState = TokenState<double>;
[[nodiscard]] PopulationState population_state(const Population& data, const Weights<double>& w);

[[nodiscard]] double population_loss(const Population& data, const Weights<double>& w);

[[nodiscard]] Weights<double> population_gradient(const Population& data, const Weights<double>& w);

/// ∂L/∂M and ∂L/∂Φ.
struct TokenGradients {
  Matrix<double> by_m, by_phi;
};
[[nodiscard]] TokenGradients token_gradients(const Population& data, const Weights<double>& w);

/// θ' = −∇L over weights of the size of `like`, for the solver of differential equations.
[[nodiscard]] OdeSlope flow_slope(const Population& data, Weights<double> like);

/// −∇²L by complex steps of the gradient: no truncation to speak of.
[[nodiscard]] Matrix<double> flow_jacobian(const Population& data, const Weights<double>& at);

/// Independent N(0, deviation²) weights.
[[nodiscard]] Weights<double> random_weights(std::size_t d, std::size_t m, double deviation,
                                             const std::string& name);

}  // namespace dewpoint::test
