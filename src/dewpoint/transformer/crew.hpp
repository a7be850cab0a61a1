// The threads of one step: work in blocks that do not depend on how many there are.
//
// Bodies are handed on by reference, so that nothing is allocated for them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::transformer {

/// Below so many operations the calling thread is done sooner than others are started. Measured in
/// November 2026: a parallel loop costs 6 us on two idle cores, some hundred on busy ones.
inline constexpr double kEmpiricalOperationsPerStart = 1e6;

class Crew {
 public:
  explicit Crew(const RunContext& context) : context_{context.threads, context.stop, {}} {}

  /// body(i) for every i below count; `operations` is what all of them cost together.
  template <class Body>
  void for_each(std::size_t count, double operations, const Body& body) const {
    if (operations < kEmpiricalOperationsPerStart) {
      for (std::size_t i = 0; i < count; ++i) body(i);
      return;
    }
    parallel_for(count, context_, std::cref(body));
  }

  /// body(range) for the blocks of count items.
  template <class Body>
  void for_blocks(std::size_t count, std::size_t block, double operations, const Body& body) const {
    for_each((count + block - 1) / block, operations, [&](std::size_t i) {
      body(Range{i * block, std::min(count, (i + 1) * block)});
    });
  }

  /// body(lane, i) for every i below count, one after the other within a lane: what belongs to a
  /// lane is free to use. Which lane an item falls to is not determined.
  template <class Body>
  void on_lanes(std::size_t lanes, std::size_t count, double operations, const Body& body) const {
    std::atomic<std::size_t> next = 0;
    for_each(lanes, operations, [&](std::size_t lane) {
      for (std::size_t i = next++; i < count; i = next++) body(lane, i);
    });
  }

 private:
  RunContext context_;
};

}  // namespace dewpoint::transformer
