// The frame of a sweep, wherever its cells are kept. Private to the store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/store/cell_store.hpp"

namespace dewpoint::store {

/// A cell of which something is known, at its place: row by row over the axes of the plan.
struct PlacedCell {
  std::size_t place;
  const SweepCell* content;
};

[[nodiscard]] std::size_t place_number(const SweepPlace& place, const std::vector<Dimension>& axes);

/// What read_study() gives: over the axes and what the variables have within a cell, measured ones
/// first. Places of `plan` are not looked at.
[[nodiscard]] Frame sweep_frame(const std::string& name, const SweepPlan& plan,
                                const std::vector<PlacedCell>& cells);

/// `exact`: the error of a mean is 0.
[[nodiscard]] Estimate estimate_of(const RunningMoments& moments, bool exact);

}  // namespace dewpoint::store
