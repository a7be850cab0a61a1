// The forward pass once more, so plain that it can be read against the formulas: in double, layer
// by layer, one token after the other, no blocks, no BLAS.
//
// It shares with decoder.hpp how a checkpoint is read and what a configuration means, and nothing
// that computes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/scaling/rope.hpp"

namespace dewpoint::models {

/// Logits of every token, one row each. `rope` and `multiplier` as in ForwardOptions.
///
///   Domain      as Decoder::hidden_states.
///   Accuracy    double; weights are rounded to float32 as the fast pass rounds them.
[[nodiscard]] Matrix<double> reference_logits(const std::filesystem::path& model,
                                              std::span<const int> tokens,
                                              const std::optional<scaling::RopeScaling>& rope = {},
                                              const attention::LogitMultiplier& multiplier = {});

}  // namespace dewpoint::models
