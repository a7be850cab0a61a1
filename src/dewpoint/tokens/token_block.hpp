// Some tokens of a cloud without the rest of it.
//
// Tokens of the random laws are functions of (seed, replica, number of the token): any of them can
// be made anywhere, so that a cloud of 1e8 tokens passes through a few megabytes of memory, block
// by block, as often as it is needed. An exact law (simplex, two-level) has n dimensions and a file
// is read whole: they have no blocks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/token_cloud.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::tokens {

/// Whether the law is made token by token: equicorrelated, clustered, sphere, half-sphere.
[[nodiscard]] bool has_blocks(const CloudParameters& parameters);

/// Tokens [begin, end) of a cloud, of a law that has blocks. `parameters` must be resolved, and its
/// n is that of the whole cloud. The block knows nothing of clusters (its cluster_size is 0).
///
///   Properties  (1) directions and norms are those of the same tokens of make_cloud, bit for bit.
[[nodiscard]] TokenCloud make_block(const CloudParameters& parameters, std::uint64_t seed,
                                    std::uint64_t replica, Range tokens);

/// The same for tokens chosen one by one, in the order given.
[[nodiscard]] TokenCloud make_tokens(const CloudParameters& parameters, std::uint64_t seed,
                                     std::uint64_t replica, std::span<const std::size_t> tokens);

}  // namespace dewpoint::tokens
