// The loss of a model on contexts that are longer than those it was trained on.
//
// The same tokens are predicted at every length: the last s/2 of windows of 8 s tokens of a text,
// given the last s, 2 s, 4 s or 8 s tokens before and among them, so that what a longer context
// changes is not mixed up with what is predicted.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/transformer/batch.hpp"
#include "dewpoint/transformer/weights.hpp"

namespace dewpoint::experiments {

/// Contexts in units of the length of training.
inline constexpr std::array<std::size_t, 4> kLengthFactors = {1, 2, 4, 8};

/// Tokens that are predicted, about: s/2 in every window.
inline constexpr std::size_t kLongerTargets = 4096;

/// Windows of the longest contexts, evenly spaced in a text, for models trained at s tokens. Throws
/// Error{bad_value} naming "s" where the text is too short for one.
[[nodiscard]] transformer::Windows longer_windows(std::span<const std::int32_t> text,
                                                  std::size_t s);

/// Mean −log p of the last s/2 tokens (at least 1) of each window given its last factor · s tokens.
///
///   Domain      windows of longer_windows(text, s), a causal shape, weights of it; a factor of
///               kLengthFactors.
///   Accuracy    that of Network<float>.
///   Properties  (1) equal bytes for any number of threads.
[[nodiscard]] double loss_given(const transformer::Shape& shape,
                                const transformer::Weights<float>& weights,
                                const transformer::Windows& windows, std::size_t s,
                                std::size_t factor, const RunContext& context = {});

}  // namespace dewpoint::experiments
