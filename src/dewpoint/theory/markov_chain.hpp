// The Markov chains that the theory of training speaks about: laws, covariances, entropies.
//
// Tokens x_1, x_2, ... move by a row-stochastic matrix P with stationary law π, πP = π, all π_i
// above 0. Training under long contexts sees the chain through π and two matrices,
//
//     V(π) = diag(π) − ππᵀ           covariance of one token's indicator,
//     K    = diag(π) P − ππᵀ         covariance of the indicators of a token and the next one.
//
// For the chain of [FD, Eq (2)], P = λ I + (1 − λ) 1πᵀ, K = λ V(π). Both annihilate the vector of
// ones, K on both sides.
//
// "Two groups" is the law for which [FD] proves its theorems: π_1 for the frequent token, the same
// probability for each of the d − 1 others.
//
// A law comes as a span and P as a view. That π is positive and sums to 1, and that πP = π, is the
// caller's promise (training/chain.hpp checks what users give).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::theory {

/// The two-group law with the chain λ I + (1 − λ) 1πᵀ.
struct TwoGroups {
  double top = 0.0;          // π_1 in (1/d, 1)
  std::size_t tokens = 0;    // d ≥ 2
  double persistence = 0.0;  // λ in (0, 1)
};

/// (π_1, (1 − π_1)/(d − 1), ..., (1 − π_1)/(d − 1)).
[[nodiscard]] std::vector<double> two_group_law(double top, std::size_t tokens);

/// λ I + (1 − λ) 1πᵀ: stay, or draw afresh from π.
[[nodiscard]] Matrix<double> persistent_chain(std::span<const double> law, double persistence);

/// H(π) = −Σ π_i log π_i: the loss of a model that ignores its input.
[[nodiscard]] double law_entropy(std::span<const double> law);

/// −Σ π_i P_ij log P_ij, with 0 log 0 = 0: the loss of the best predictor.
///
///   Properties  (1) at most H(π), with equality when the rows of P are π.
[[nodiscard]] double chain_entropy_rate(std::span<const double> law,
                                        MatrixView<const double> transition);

/// V(π) x = π ∘ (x − πᵀx).
[[nodiscard]] std::vector<double> covariance_times(std::span<const double> law,
                                                   std::span<const double> x);

/// K x = π ∘ (Px − πᵀx).
[[nodiscard]] std::vector<double> pair_covariance_times(std::span<const double> law,
                                                        MatrixView<const double> transition,
                                                        std::span<const double> x);

/// Kᵀ x = Pᵀ(π ∘ x) − π (πᵀx).
[[nodiscard]] std::vector<double> pair_covariance_transposed_times(
    std::span<const double> law, MatrixView<const double> transition, std::span<const double> x);

/// A vector as length times direction. The direction of a vector that is 0 up to rounding
/// (shorter than `negligible`) is 0, and so is its length.
struct Ray {
  double length = 0.0;
  std::vector<double> direction;
};
[[nodiscard]] Ray ray_of(std::span<const double> x, double negligible = 0.0);

/// x − mean(x), its part orthogonal to the vector of ones.
[[nodiscard]] std::vector<double> centred(std::span<const double> x);

}  // namespace dewpoint::theory
