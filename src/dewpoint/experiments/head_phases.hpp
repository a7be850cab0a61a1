// In which phase the heads of a small transformer are, on windows of a text.
//
// The logits s of a query over the n positions that it sees, as the softmax sees them. Texts repeat
// their tokens, and in the first layer equal tokens have equal keys: often several positions share
// the largest logit, and such a row has no dew point. So positions that hold the same token are
// taken together, as in a histogram (transformer/batch.hpp):
//
//     S_t = log Σ_{j holds t} e^{s_j},     p_t = e^{S_t}/Σ_u e^{S_u},
//
//     entropy          H/log n, H that of the weights of all positions
//     largest weight   max_t p_t
//     phase            β/β_dew of S at β = 1 (observables/dew_point.hpp): above 1 exactly where
//                      the largest weight is above 1/2, the drop; below it the vapour
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/transformer/batch.hpp"
#include "dewpoint/transformer/weights.hpp"

namespace dewpoint::experiments {

/// Per head, the heads of the first layer first: means of entropy and largest weight over queries,
/// and the median of phases. NaN where no query was measured, or the weights are not finite.
struct HeadPhases {
  std::vector<double> entropy, largest_weight, phase;
};

/// Of kPhaseRows queries of every window (or as many as there are), evenly spaced in its second
/// half, so that they see contexts of about its length.
///
///   Domain      a causal shape, weights of it; contexts of at least 4 tokens, all below V.
///   Accuracy    that of logits in float32, for the phase relative to their gaps.
///   Properties  (1) equal bytes for any number of threads.
///               (2) phase is above 1 where the median query has a token with more than half of its
///                   weight.
[[nodiscard]] HeadPhases head_phases(const transformer::Shape& shape,
                                     const transformer::Weights<float>& weights,
                                     const transformer::Windows& windows,
                                     const RunContext& context = {});

inline constexpr std::size_t kPhaseRows = 32;

}  // namespace dewpoint::experiments
