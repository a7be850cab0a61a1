// Diffuse, critical or condensed: the verdict on the rows of one bin.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/diagnosis/head_bins.hpp"

namespace dewpoint::diagnosis {

/// From fewer rows no phase is named.
inline constexpr std::size_t kLeastPhaseRows = 8;

/// Judges the median of τ. Its logarithm is taken as normal with the error of the bootstrap, or,
/// where replicates reach τ = 0 because maxima are tied, by the share of replicates.
///
///   Properties  (1) probabilities of the three phases add up to 1.
///               (2) a phase is named exactly when it has kPhaseProbability.
[[nodiscard]] PhaseVerdict judge_phase(const HeadBin& bin, std::size_t multiplier,
                                       bool without_first);

}  // namespace dewpoint::diagnosis
