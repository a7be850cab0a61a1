// The inner loops over the scores of one query of a real head, vectorised like those of
// kernels.hpp.
//
// Real scores have no best possible value, so gaps are taken from a score that the caller names,
// the largest of the row so far, and weights are w = e^{−rT} for a rate r: the temperature, or
// anything else that multiplies scores. Scores come as spans of any length and alignment; nothing
// outside of them is read. Sums leave float32 after at most kHeadRun additions per lane.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>

#include "dewpoint/core/kernels.hpp"

namespace dewpoint::kernels {

/// Additions of positive terms in one float32 lane before the sum moves on to float64: each rounds
/// by half a unit in the last place at most.
inline constexpr std::size_t kHeadRun = 16;

/// The largest score; −∞ for none.
[[nodiscard]] float largest_score(std::span<const float> scores);

/// The three largest scores in falling order, ties repeated; −∞ for those that are missing.
[[nodiscard]] std::array<float, 3> three_largest(std::span<const float> scores);

/// Σ T and Σ T² over scores, T = largest − score ≥ 0, unweighted.
struct GapSums {
  double gap = 0.0;
  double squared_gap = 0.0;
};

/// The moments of weights e^{−y}, y = rate · (largest − score), with y as the gap:
///
///     { Σ e^{−y}, Σ y e^{−y}, Σ y² e^{−y}, Σ e^{−2y} },      and Σ T, Σ T² into `plain` if given.
///
///   Domain      no score above `largest`, rate ≥ 0, y < 1e18.
///   Accuracy    relative to y as float32 rounds it (two roundings), each sum is as good as its
///               weights (kExpUlp, kExpUlpPerUnit) and kHeadRun additions.
[[nodiscard]] RowMoments score_moments(std::span<const float> scores, float largest, float rate,
                                       GapSums* plain = nullptr);

/// Σ y^k e^{−y} for k = 0..4, y = rate · max(0, reference − score): a score above the reference
/// adds exactly 1 to the first sum and nothing to the others.
///
///   Domain, Accuracy  as score_moments.
[[nodiscard]] std::array<double, 5> power_sums(std::span<const float> scores, float reference,
                                               float rate);

/// out = cap · tanh(rate · score / cap), in place or not.
///
///   Accuracy    kCapUlp units in the last place of float32, given the rounded argument.
void cap_scores(std::span<const float> scores, float rate, float cap, std::span<float> out);
inline constexpr double kCapUlp = 3.0;

/// scores ← e^{−rate · (largest − score)}; returns their sum.
[[nodiscard]] double weigh_scores(std::span<float> scores, float largest, float rate);

}  // namespace dewpoint::kernels
