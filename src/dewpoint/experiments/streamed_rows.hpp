// Sampled rows of a cloud that is never in memory: n = 1e6 .. 1e8 tokens.
//
// A few hundred queries are enough for λ and for the means over rows; what is large is the keys.
// They are functions of their number (tokens/token_block.hpp), so a block of them is made, weighed
// for the queries, multiplied with their offsets and forgotten:
//
//     Z_i = Σ_j w_ij,   S_i = Σ_j (w_ij − shift) o_j,   O = Σ_j o_j,   o_j = y_j − centre,
//     x'_i = centre + (S_i + shift O + o_i)/Z_i + α x_i.
//
// The centre is the mean of the sampled tokens, which stands for the mean of all (any centre gives
// the same x'; a near one keeps the offsets small), and the shift the weight at their mean gap. A
// token's own weight, exactly 1, is added in double, as are the products of all blocks: what
// docs/design/0002-float32-without-drift.md asks for.
//
// The work is cut into parts: blocks of kRowBlock queries times segments of the keys, a rule of n,
// d and the number of rows alone. Parts need nothing of each other and may be computed anywhere;
// joined in their order they give the same bytes. The blocks are wide because every block of
// queries has its keys made anew, which is as dear as weighing them for about 350 queries (d = 64);
// the segments share the keys among those who compute.
//
// Memory: O(kRowBlock · d) for a part and O(rows · d · segments) for joining them, whatever n is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_replica.hpp"

namespace dewpoint::experiments {

/// From so many tokens on, sampled rows are streamed.
inline constexpr std::size_t kStreamedTokens = std::size_t{1} << 18;

/// Most queries of a part.
inline constexpr std::size_t kRowBlock = 1024;
/// Keys are cut into segments of about so many, but into no more than kMostSegments, and no more
/// than keep all that the parts hand on within kMostNumbers.
inline constexpr std::size_t kSegmentTokens = std::size_t{1} << 16;
inline constexpr std::size_t kMostSegments = 64;
inline constexpr std::size_t kMostNumbers = std::size_t{1} << 23;

/// Whether sample_point streams: sampled rows of at least kStreamedTokens tokens of a law that has
/// blocks, of the plain layer without mask and without Jacobian norm (all else needs the whole
/// cloud).
[[nodiscard]] bool streams_rows(const PhasePoint& point);

/// Into how many parts a replica is cut; `point` is resolved and samples rows of a law with blocks,
/// whatever its n.
[[nodiscard]] std::size_t streamed_parts(const PhasePoint& point);

/// What a part hands on: for each of its queries four moments, the weight on its own cluster and
/// S_i; then O. At most kRowBlock · (d + 5) + d numbers.
///
///   Properties  (1) equal bytes for any number of threads.
[[nodiscard]] std::vector<double> streamed_part(const PhasePoint& point, std::uint64_t replica,
                                                std::size_t part, const RunContext& context);

/// The replica from all its parts, in order.
///
///   Properties  (2) agrees with sample_point on the cloud in memory, same rows, to the accuracy of
///                   float32.
[[nodiscard]] PointSample join_streamed(const PhasePoint& point, std::uint64_t replica,
                                        const std::vector<std::vector<double>>& parts);

/// All parts one after the other, and joined.
[[nodiscard]] PointSample sample_streamed_rows(const PhasePoint& point, std::uint64_t replica,
                                               const RunContext& context);

}  // namespace dewpoint::experiments
