// The data of a training run: a Markov chain over d tokens.
//
// A sequence starts uniformly and moves by a row-stochastic matrix P with stationary law π. Four
// chains share any π whatever its numbers; the first is that of [FD, Eq (2)]:
//
//   lambda       λ I + (1 − λ) 1 πᵀ                      stay, or draw afresh from π
//   metropolis   0.6 I + 0.4 H,  H_ij = min(1, π_j/π_i)/(d − 1)
//   birth-death  0.2 π_{i+1}/π_i from i to i + 1, 0.2 from i + 1 to i
//   cycle        0.75 (I + diag(φ/π)(C − I)) + 0.25 (I + 1πᵀ)/2,  φ = 0.15 min π; not reversible
//
// Here C is the cyclic shift, i to i + 1. Tokens are numbered from 0 by decreasing π: token 0 is
// the most frequent one, and the neighbours of birth-death and cycle are neighbours in that order.
// Then each of the four has non-negative rows that sum to 1 for every π: all that can leave a token
// is at most 0.4 under metropolis and birth-death, and 0.75 · 0.15 + 0.125 under cycle.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::training {

struct Chain {
  std::string name;                 // "lambda", "metropolis", "birth-death", "cycle" or a file's
  std::vector<double> stationary;   // π: decreasing (but for kTie), sums to 1
  Matrix<double> transition;        // P: rows sum to 1, πP = π
  std::vector<std::size_t> origin;  // token k was number origin[k] of what the user gave

  [[nodiscard]] std::size_t vocabulary() const { return stationary.size(); }
};

inline constexpr std::size_t kMostTokens = 255;

/// Farthest that a law may sum from 1. What is nearer is divided by its sum.
inline constexpr double kSumTolerance = 1e-9;

/// Smallest stationary probability: ratios of two of them stay above 0 in a double.
inline constexpr double kLeastProbability = 1e-300;

/// Stationary probabilities of a given matrix that differ by at most this fraction are equal: such
/// tokens keep the order they were given in, whatever the last bits say. A rounding of every entry
/// of a matrix moves each of them by at most 2d roundings [O'Cinneide 1993], two of them apart by
/// 1.2e-13 for the largest d.
inline constexpr double kTie = 2e-13;

/// Error of a sum over tokens in one of the four chains, per token: each term has at most four
/// roundings, and each addition one.
inline constexpr double kChainError = 4 * 0x1p-53;

[[nodiscard]] const std::vector<std::string>& chain_names();

/// One of the four. Throws Error{bad_value} when the name is none of them, when π has fewer than 2
/// or more than kMostTokens entries, one below kLeastProbability, or a sum that differs from 1 by
/// more than kSumTolerance, or when λ (used by "lambda" only) is outside (0, 1).
///
///   Domain      π in any order; it is sorted, equals in the order given.
///   Accuracy    row sums of P, and (πP)_j relative to π_j, to d kChainError.
///   Properties  (1) πP = π.
///               (2) the rows of P are laws.
///               (3) birth-death and metropolis are reversible, π_i P_ij = π_j P_ji; cycle is not
///                   for d ≥ 3.
[[nodiscard]] Chain named_chain(std::string_view name, std::vector<double> stationary,
                                double persistence);

/// The chain of any row-stochastic matrix that has one stationary law and forgets its start:
/// irreducible and aperiodic. Rows that sum to 1 within kSumTolerance are divided by their sum.
/// Throws Error{bad_value} that names `source`, the row and what is wrong; also where a stationary
/// probability is below kLeastProbability.
///
///   Accuracy    π is solved by state reduction in extended precision. It adds, multiplies and
///               divides numbers of one sign, so every π_i, however small, has a relative error of
///               one rounding and at most 2d³ roundings of a long double.
///   Properties  (1) πP = π.
///               (2) token k of the chain is token origin[k] of the matrix.
///   Reference   [Grassmann, Taksar and Heyman 1985], [O'Cinneide 1993] for the error.
[[nodiscard]] Chain chain_of(Matrix<double> transition, std::string_view source);
/// The same from a file (checkpoint/number_table.hpp): .npy of shape (d, d), or d lines of d
/// numbers. Its name becomes that of the chain. Throws in addition Error{unreadable_file} and
/// Error{malformed_file}.
[[nodiscard]] Chain read_chain(const std::filesystem::path& file);

/// Largest modulus of an eigenvalue of P other than the 1 of π: how fast the start is forgotten.
/// It is the spectral radius of P − 1πᵀ, which has a 0 in the place of that 1.
[[nodiscard]] double second_eigenvalue(const Chain& chain);
/// −Σ π_i P_ij log P_ij, with 0 log 0 = 0: the loss of the best predictor under the stationary law.
[[nodiscard]] double entropy_rate(const Chain& chain);
/// The same for contexts of `context` tokens from a uniform start, whose last token is not yet
/// distributed as π: the least loss that any model can have on them.
[[nodiscard]] double best_loss(const Chain& chain, std::size_t context);
/// H(π) = −Σ π log π.
[[nodiscard]] double stationary_entropy(const Chain& chain);

}  // namespace dewpoint::training
