// What must agree before a run on text goes on from a state of another one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "dewpoint/experiments/text_training.hpp"

namespace dewpoint::experiments {

/// Are contexts seen as histograms?
[[nodiscard]] bool sees_histograms(const TextQuestion& question);

/// Everything besides the shape that decides weights and looks, as texts by name: "adam", "seed",
/// "replica", "context", "batch", "targets", "contexts", "init", "probe", "sentence", "corpus" (a
/// hash of its tokens and their names), "validation_windows".
[[nodiscard]] transformer::Metadata configuration_of(const TextQuestion& question,
                                                     const text::Corpus& corpus,
                                                     const transformer::Probe& probe,
                                                     std::uint64_t replica);

/// Throws Error{bad_value}, one line naming the file, the first field of `wanted` in which `found`
/// differs, and both values.
void require_same_configuration(const std::string& name, const transformer::Metadata& found,
                                const transformer::Metadata& wanted);

}  // namespace dewpoint::experiments
