// How much of a query's attention stays within its own cluster of tokens.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/centred_cloud.hpp"

namespace dewpoint::attention {

/// Σ_j exp(−β Δ_ij) over the tokens j of query i's own cluster, itself included (so at least 1),
/// for each query of `rows`. Tokens [k p, (k+1) p) are cluster k, p = cluster_size. O(rows · p)
/// gaps.
[[nodiscard]] std::vector<double> cluster_partitions(const GapSource& tokens,
                                                     std::size_t cluster_size,
                                                     double inverse_temperature,
                                                     std::span<const std::size_t> rows);

}  // namespace dewpoint::attention
