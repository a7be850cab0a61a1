// A frame as arrays: what npz and netCDF call its dimensions and variables, and their numbers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/exports/tables.hpp"

namespace dewpoint::exports {

struct FrameArrays {
  const Frame* frame;
  std::vector<std::string> dimensions;   // names of the arrays of coordinates
  std::vector<VariableNames> variables;  // in the order of the frame

  /// Positions of the dimensions of variable k among those of the frame.
  [[nodiscard]] std::vector<std::size_t> positions_of(std::size_t k) const;
};

/// `names` holds what is taken already; `spelling` makes a name fit the format.
[[nodiscard]] FrameArrays arrays_of(const Frame& frame, Names names,
                                    std::string (*spelling)(std::string_view));

[[nodiscard]] std::vector<std::string> clean_labels(const Dimension& dimension);
[[nodiscard]] std::vector<double> means_of(const Variable& variable);
[[nodiscard]] std::vector<double> errors_of(const Variable& variable);
[[nodiscard]] std::vector<std::int64_t> samples_of(const Variable& variable);

}  // namespace dewpoint::exports
