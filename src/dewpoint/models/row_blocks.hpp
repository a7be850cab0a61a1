// Work on the rows of a matrix, cut into blocks of a fixed size whatever the number of threads; a
// block is computed by one thread, so results do not depend on threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::models {

inline constexpr std::size_t kRowBlock = 128;

/// Below so many operations the calling thread is done sooner than others are started. Measured in
/// November 2026: on two busy cores a parallel loop costs about half a millisecond.
inline constexpr double kEmpiricalOperationsPerStart = 1e7;

/// The context without its listener; on one thread where there is little to do.
[[nodiscard]] inline RunContext quiet_context(const RunContext& context, double operations) {
  const bool small = operations < kEmpiricalOperationsPerStart;
  return {small ? 1 : context.threads, context.stop, {}};
}

/// body(range) for every block of n rows. No progress is reported.
inline void for_row_blocks(std::size_t n, double operations_per_row, const RunContext& context,
                           const std::function<void(Range)>& body) {
  const auto rows = static_cast<double>(n);
  parallel_for((n + kRowBlock - 1) / kRowBlock, quiet_context(context, rows * operations_per_row),
               [&](std::size_t block) {
                 body({block * kRowBlock, std::min(n, (block + 1) * kRowBlock)});
               });
}

}  // namespace dewpoint::models
