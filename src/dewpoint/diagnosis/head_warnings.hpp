// What a reader of a head's numbers should know before believing them.
//
//   id                      when
//   few-rows                the longest bin has fewer than kFewRows rows
//   no-dew-points           no row of the longest bin has one: they were not asked for
//   correlated-rows         neighbouring rows are so alike that errors rest on a few blocks of text
//   first-key-holds-most    the text's first key holds more than half of the weight
//   sink-holds-most         the learned sink does
//   never-condenses         more than a tenth of the rows have a tied maximum
//   frozen                  one key holds 99 % of the weight without the sink: the softmax is a
//                           maximum, and its entropy and variance say nothing more
//   capped-scores           a multiplier changes the gaps of the best keys less than those of all:
//                           the scores are close to their cap
//   scores-overflow-half    a score is above the largest float16
//   laws-disagree           the law along the rows differs from that of random thinning
//   mixed-winners           the query's own key wins in some rows and not in others
//   no-single-tail          the best keys are no single Pareto tail: a cluster, for example
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/diagnosis/head_bins.hpp"

namespace dewpoint::diagnosis {

inline constexpr std::size_t kFewRows = 32;
inline constexpr double kLargestHalf = 65504.0;

/// Reads a diagnosis that is complete but for its warnings.
[[nodiscard]] std::vector<std::string> head_warnings(const HeadDiagnosis& head,
                                                     const std::vector<HeadBin>& bins,
                                                     const HeadOptions& options);

}  // namespace dewpoint::diagnosis
