// What the claims of FD measure with: the weights as one vector, the flow of the population loss up
// to an event, and spectra of its Hessian.
//
// Everything here measures. It goes through training (the loss, its gradient, its Hessian products)
// and knows no formula of theory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/chain.hpp"
#include "dewpoint/training/parameters.hpp"
#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::claims {

using Weights = training::Parameters<double>;

/// The stationary law and the λ of the experiments, [FD, Section 5.1, D.1].
inline const std::vector<double> kExperimentLaw{0.75, 0.19, 0.05, 0.01};
inline constexpr double kPersistence = 0.8;

/// One of the four chains with the population loss that goes with it.
struct Population {
  training::Chain chain;
  std::unique_ptr<training::TokenLoss> loss;
};
[[nodiscard]] Population population(std::vector<double> law, std::string_view chain = "lambda");

// ---- weights ---------------------------------------------------------------------------------

/// W0, W1, WQ, WK row by row, and back.
[[nodiscard]] std::vector<double> flat(const Weights& weights);
[[nodiscard]] Weights unflat(std::span<const double> values, std::size_t vocabulary,
                             std::size_t width);

/// Draw number `replica` of N(0, 1) weights, times `size`: the same draw for every size.
[[nodiscard]] Weights drawn_weights(std::size_t vocabulary, std::size_t width, double size,
                                    std::uint64_t seed, std::uint64_t replica);

/// Weights of the point W0 = embedding, W1 = unembedding, WQ = WK = 0.
[[nodiscard]] Weights outer_weights(MatrixView<const double> embedding,
                                    MatrixView<const double> unembedding);

/// a bᵀ.
[[nodiscard]] Matrix<double> outer_product(std::span<const double> a, std::span<const double> b);
/// √Σ x², of all entries.
[[nodiscard]] double norm(std::span<const double> values);
[[nodiscard]] double norm(const Matrix<double>& matrix);
/// ‖a − b‖.
[[nodiscard]] double distance(std::span<const double> a, std::span<const double> b);
[[nodiscard]] double distance(const Matrix<double>& a, const Matrix<double>& b);
/// ‖matrix/‖matrix‖ − direction‖.
[[nodiscard]] double misalignment(const Matrix<double>& matrix, const Matrix<double>& direction);

// ---- gradient and Hessian --------------------------------------------------------------------

[[nodiscard]] Weights gradient(const training::TokenLoss& loss, const Weights& weights);
[[nodiscard]] training::TokenMaps token_slope(const training::TokenLoss& loss,
                                              const Weights& weights);

/// −∇²L over all weights, column by column from Hessian products.
[[nodiscard]] Matrix<double> flow_jacobian(const training::TokenLoss& loss, const Weights& weights);

/// Eigenvalues of a symmetric matrix, increasing. Each is known to the size of the matrix units in
/// the last place of the largest.
[[nodiscard]] std::vector<double> eigenvalues(MatrixView<const double> symmetric);

/// e^{Jt} x for a symmetric J.
[[nodiscard]] std::vector<double> linear_flow(const Matrix<double>& jacobian,
                                              std::span<const double> start, double time);

/// How the model attends at the last token, A_ij ∝ π_j e^{Φ_ij}, and what it predicts from
/// attention that is π in every row, softmax(πᵀM).
[[nodiscard]] Matrix<double> attention(std::span<const double> law, const Matrix<double>& scores);
[[nodiscard]] std::vector<double> uniform_prediction(std::span<const double> law,
                                                     const Weights& weights);
/// max|Φ|.
[[nodiscard]] double largest_score(const Weights& weights);

// ---- gradient flow ---------------------------------------------------------------------------

/// Something that is watched along the flow: it happens when the value rises through 0.
using Signal = std::function<double(double time, const Weights& weights)>;

/// When it happened and where the weights were; time NaN and the last weights if it did not.
struct Passage {
  double time;
  Weights weights;
};

/// Relative tolerance of the integration below. The steps' errors add up: over a time T a result is
/// taken to be known to kFlowError (1 + T).
inline constexpr double kFlowTolerance = 1e-12;
inline constexpr double kFlowError = 1e-11;

/// The flow θ' = −∇L, from `start` at time 0, at the first event of each signal before `longest`.
[[nodiscard]] std::vector<Passage> passages(const training::TokenLoss& loss, const Weights& start,
                                            const std::vector<Signal>& signals, double longest);

/// The same at given times, which must not decrease.
[[nodiscard]] std::vector<Weights> flowed(const training::TokenLoss& loss, const Weights& start,
                                          std::span<const double> times);

/// The largest attention of the last token on the first along the flow, after max|Φ| has reached
/// 0.05, on a grid of 1600 times `step` apart.
[[nodiscard]] double largest_focus(const Population& data, const Weights& start, double step);

}  // namespace dewpoint::claims
