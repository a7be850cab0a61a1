// The state of a gradient flow as bytes of this machine.
//
// Everything is a double: a mark, the sizes, then the fields in order. What has not happened yet is
// NaN. The history of the solver is not kept: a flow that is restored starts with short steps of
// low order, and agrees with one that was never interrupted to within the tolerances.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/training/flow.hpp"

namespace dewpoint::training {

struct FlowState {
  double time = 0.0;
  std::vector<double> weights;  // W0, W1, WQ, WK row by row
  Conserved at_start;
  FlowEvents events;
  bool single = false;  // flow_watch.hpp
  FlowWork work;
};

[[nodiscard]] std::vector<std::byte> to_bytes(const FlowState& state);

/// Throws Error{malformed_file} when the bytes are not those of a flow of these sizes.
[[nodiscard]] FlowState flow_state(std::span<const std::byte> bytes, std::size_t vocabulary,
                                   std::size_t width);

}  // namespace dewpoint::training
