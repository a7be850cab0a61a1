// The numbers along an axis: equal steps, equal ratios, and what lies between two neighbours.
//
// The address of a cell is a hash of its numbers, so a grid must be the same to the last bit on any
// machine. Equal ratios come from exp and log, which differ between libraries in their last bits;
// interior numbers are therefore rounded, equal ratios to 12 significant digits, equal steps to 15
// of the larger end. This also makes 0.15 of 3 × 0.05. End points are kept as they are.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace dewpoint::studies {

struct Spacing {
  bool logarithmic = false;  // equal ratios; ends above 0
  bool whole = false;        // rounded to whole numbers
};

/// `count` >= 2 numbers from `from` to `to` > `from`.
///   Properties  (1) the first is `from`, the last is `to`.
///               (2) they do not decrease; neighbours are equal only where rounding leaves no room.
[[nodiscard]] std::vector<double> spaced(double from, double to, std::size_t count,
                                         const Spacing& spacing);

/// The mean of two neighbours, arithmetic or geometric; none where there is no number between.
[[nodiscard]] std::optional<double> between(double low, double high, const Spacing& spacing);

}  // namespace dewpoint::studies
