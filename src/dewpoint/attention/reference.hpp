// The layer as one would write it on a blackboard: double, every sum in full, one row after the
// other. The fast paths (layer.hpp, sweep.hpp) are tested against it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "dewpoint/attention/layer.hpp"

namespace dewpoint::attention {

/// x'_i = Σ_j A_ij y_j + α x_i for the given rows (all tokens are keys), O(rows · n · d).
///
///   Accuracy    relative error of the contraction of a regular simplex at most kReferenceError
///               for n ≤ 512.
[[nodiscard]] LayerResult reference_layer(const TokenCloud& tokens, const Layer& parameters,
                                          std::span<const std::size_t> rows);
[[nodiscard]] LayerResult reference_layer(const TokenCloud& tokens, const Layer& parameters);

inline constexpr double kReferenceError = 1e-12;

}  // namespace dewpoint::attention
