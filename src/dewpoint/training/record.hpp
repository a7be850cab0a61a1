// The numbers of one recorded time of a training run.
//
//     attention            a_qj ∝ exp Φ_qj           every token counted once
//     weighted attention   a_qj ∝ π_j exp Φ_qj       counted as often as a long context shows it
//     entropy of query q   −Σ_j a_qj log a_qj        in nats, from 0 to log d
//
// With e = W0_0/|W0_0|, the direction of the embedding of token 0, the embedding of token i is
//
//     W0_i = parallel_i e + (a rest across e of length perpendicular_i);
//
// where W0_0 = 0 there is no direction: everything is across. The rank-one fraction σ₁²/Σσ² says
// how much of a matrix one direction explains; a matrix of zeros has 0.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/parameters.hpp"
#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {

struct Record {
  double time = 0.0;
  double loss = 0.0;
  std::vector<double> group_loss;
  Matrix<double> attention;                                                    // row: query
  Matrix<double> weighted_attention;                                           // row: query
  std::vector<double> entropy, weighted_entropy;                               // per query
  std::vector<double> embedding_norm, parallel, perpendicular;                 // per token
  std::vector<double> embedding_singular_values, unembedding_singular_values;  // decreasing, d
  double embedding_rank_one = 0.0, unembedding_rank_one = 0.0;                 // σ₁²/Σσ²
  double embedding_size = 0.0, unembedding_size = 0.0, query_size = 0.0, key_size = 0.0;  // |W|_F
  double conserved_drift = 0.0;  // gradient flow only; NaN otherwise
  Matrix<double> embedding;      // W0

  Record() = default;
  /// All of its parts in their sizes, filled with zeros.
  Record(std::size_t vocabulary, std::size_t width);
};

/// What there is to say about these weights. The loss is that of the whole data set, also where
/// training sees minibatches; `conserved_drift` is left at NaN for a flow to fill in.
///
///   Accuracy    singular values to kSingularValueRoundings · ε · σ₁ each; where m < d, the last
///               d − m are 0. Weights that are not finite make NaNs.
///   Properties  (1) rows of both attention maps sum to 1.
///               (2) parallel² + perpendicular² = embedding_norm²; token 0 has perpendicular 0.
///               (3) Σσ² = |W|_F².
[[nodiscard]] Record record_of(double time, const Parameters<double>& parameters,
                               const TokenLoss& loss, std::span<const double> stationary);

/// Householder QR of the m x d matrix, then Jacobi rotations (from d = 16 on: bidiagonalisation) on
/// a d x d one: backward stable, each with an error of a small multiple of √(m d) ε σ₁. Checked to
/// m d = 1024.
inline constexpr double kSingularValueRoundings = 64.0;

}  // namespace dewpoint::training
