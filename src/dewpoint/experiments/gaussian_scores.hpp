// Softmax over independent Gaussian scores, by drawing them: the random energy model as an
// experiment.
//
// One draw is N standard normal scores u_1..u_N. From it come the largest scores and, at each
// inverse temperature β asked for, the partition function Z = Σ_j e^{βu_j}, the largest weight
// e^{βM}/Z, and the weight 1/(1 + Z e^{−βm}) of one more key with the given score m. Scores of
// deviation σ are these at βσ.
//
// Nothing is approximated: N numbers are drawn and summed, so N is limited by patience, to about
// 1e6. The laws that hold beyond are in theory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::experiments {

/// One softmax over the scores of a draw.
struct ScoreSoftmax {
  double inverse_temperature;  // β
  double planted_score = 0.0;  // m
};

struct GaussianScores {
  std::size_t scores = 100'000;         // N
  std::size_t draws = 1'000;            // errors fall as its square root
  std::size_t top = 4;                  // how many of the largest scores are kept
  std::vector<ScoreSoftmax> softmaxes;  // all on the same draws
  std::uint64_t seed = 1;
};

/// Means over draws for one softmax.
struct SoftmaxMeans {
  Estimate log_partition;   // log Z
  Estimate largest_weight;  // e^{βM}/Z
  Estimate planted_weight;  // 1/(1 + Z e^{−βm})
};

/// Means over draws. With u_(1) ≥ u_(2) ≥ .. the ordered scores and Φ̄ the normal upper tail,
/// entry k of the gaps belongs to u_(k+2).
struct GaussianScoreMeans {
  Estimate largest;                     // u_(1)
  std::vector<Estimate> gaps;           // u_(1) − u_(k+2)
  std::vector<Estimate> tail_gaps;      // log Φ̄(u_(k+2)) − log Φ̄(u_(1)): exponential scores
  std::vector<SoftmaxMeans> softmaxes;  // as asked for
};

/// Draws, measures and averages, O(draws · N).
///
///   Domain      1 ≤ top ≤ N, draws ≥ 2, β ≥ 0.
///   Properties  (1) the same bytes for any number of threads.
///               (2) mean tail gaps are 1, 1 + 1/2, 1 + 1/2 + 1/3, .. for every N.
///               (3) at β = 0: Z = N, largest weight 1/N, planted weight 1/(N + 1).
///               (4) the mean of Z is N e^{β²/2}.
[[nodiscard]] GaussianScoreMeans gaussian_scores(const GaussianScores& question,
                                                 const RunContext& context = {});

}  // namespace dewpoint::experiments
