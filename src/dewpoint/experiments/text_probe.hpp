// What a run on text looks at: which tokens, which sentence.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/experiments/text_training.hpp"

namespace dewpoint::experiments {

/// The tokens that the question names, or those of choose_probe(); their norms are followed too.
/// Throws Error{bad_value} for a name that no token has, for one that is given twice, for a
/// text of a single token, and for a sentence without tokens or with more than kLongestSentence.
[[nodiscard]] transformer::Probe probe_of(const TextQuestion& question, const text::Corpus& corpus);

inline constexpr std::size_t kLongestSentence = 256;

/// Names of tokens, as shown to people.
[[nodiscard]] std::vector<std::string> names_of(const text::Corpus& corpus,
                                                const std::vector<std::int32_t>& tokens);

/// Ids from the most frequent one in the training part on; equal counts in order of id.
[[nodiscard]] std::vector<std::int32_t> tokens_by_count(const text::Corpus& corpus);

}  // namespace dewpoint::experiments
