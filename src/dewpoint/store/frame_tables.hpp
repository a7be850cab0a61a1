// Frames in the tables of a finished result: frame, dimension, coordinate, variable, axis and
// frame_value. Private to the store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/store/database.hpp"

namespace dewpoint::store {

void write_frames(Database& database, const std::vector<Frame>& frames);

/// `schema` of the file: schema 1 had other names, and no labels.
[[nodiscard]] std::vector<Frame> read_frames(Database& database, int schema);

/// Appends coordinates to a dimension, one after the other; labels for all of them or for none.
class DimensionReader {
 public:
  explicit DimensionReader(std::string name) : dimension_{std::move(name), {}, {}} {}
  /// Columns of the current row: position, value, label.
  void add(const Statement& row, const char* table);
  /// Checks that `extent` of them came.
  [[nodiscard]] Dimension finish(std::size_t extent) &&;

 private:
  Dimension dimension_;
};

/// Adds it with its labels.
void add_dimension(Frame& frame, Dimension dimension);

/// The label at an index; none where the dimension has no labels.
[[nodiscard]] std::optional<std::string_view> label_at(const Dimension& dimension,
                                                       std::size_t index);

/// Product of extents; nothing when it overflows.
[[nodiscard]] std::optional<std::size_t> product(const std::vector<std::size_t>& extents);

}  // namespace dewpoint::store
