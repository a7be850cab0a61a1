// Reading the frames of a study for a figure: what is there, in the form the figure needs.
//
// Whatever is missing or of another form is the study's fault, not the figure's: Error{bad_value},
// with the names of the frame and of the variable.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

using Names = std::vector<std::string>;

/// The frame with this name, or null.
[[nodiscard]] const Frame* find_frame(const store::StudyRecord& study, std::string_view name);

/// The variable with this name, which must be over these dimensions in this order.
[[nodiscard]] const Variable& variable_over(const Frame& frame, const std::string& name,
                                            const Names& dimensions);

/// The coordinates of a dimension, which must increase and be at least one.
[[nodiscard]] const std::vector<double>& increasing(const Frame& frame,
                                                    const std::string& dimension);

/// Position of a value; none when it is not there.
[[nodiscard]] std::optional<std::size_t> index_of(const std::vector<double>& values, double value);

/// All coordinates of a dimension over several frames, increasing, each once; null frames have
/// none.
[[nodiscard]] std::vector<double> all_coordinates(const std::vector<const Frame*>& frames,
                                                  const std::string& dimension);

/// Means of the `count` cells after the first `skip` blocks of `count`.
[[nodiscard]] std::vector<double> block_of_means(const Variable& variable, std::size_t skip,
                                                 std::size_t count);

/// Standard errors of all cells, NaN where one is not known; empty where none is.
[[nodiscard]] std::vector<double> known_errors(std::span<const Estimate> cells);

/// A curve: a variable over one dimension, at a fixed place of the others.
struct Row {
  std::vector<double> x;
  std::vector<double> mean;
  std::vector<double> error;
};

/// A variable over exactly one dimension, which must increase.
[[nodiscard]] Row row_of(const Frame& frame, const std::string& variable,
                         const std::string& dimension);

/// Row number `position` of a variable over (outer, inner); inner must increase.
[[nodiscard]] Row row_of(const Frame& frame, const std::string& variable, const std::string& outer,
                         std::size_t position, const std::string& inner);

/// "8 samples per cell", or "2 to 8 samples per cell"; cells without any do not count.
[[nodiscard]] std::string samples_of(const Variable& variable);

/// Parameters that the figure does not show, the samples of `measured` (null: nothing was), seed
/// and version: "alpha = 0 · 8 samples per cell · seed 17 · Dewpoint 0.1.0".
[[nodiscard]] std::string caption_of(const store::StudyRecord& study, const Names& shown,
                                     const Variable* measured);

}  // namespace dewpoint::report
