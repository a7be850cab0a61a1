// The cells of a sweep in their tables: cell, moment, prediction, effort. Private to the store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/store/database.hpp"
#include "dewpoint/store/plan_tables.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::store {

/// Where a value of a cell is kept: the number of its variable, and its position within the cell.
struct Slot {
  std::size_t variable, position;
};

/// Keeps its statements prepared; does not outlive the database.
class CellWriter {
 public:
  CellWriter(Database& database, const CellForm& form);
  /// Replaces what is known of a cell and returns its number; Error{bad_value} where the file has
  /// no cell of this key.
  std::int64_t write(const std::string& key, const SweepCell& cell);
  void write_effort(std::optional<std::int64_t> session, std::int64_t number,
                    const SweepEffort& effort);

 private:
  std::vector<Slot> measured_;
  std::vector<Slot> predicted_;
  Statement cell_;
  Statement moment_;
  Statement prediction_;
  Statement effort_;
};

struct StoredCell {
  std::int64_t number = 0;
  std::string key;
  SweepCell content;
};

/// Every cell of which something is known, by number; without numbers where it is exact or has
/// `enough` replicas. Rows that are missing are damage.
[[nodiscard]] std::vector<StoredCell> read_stored_cells(Database& database, const CellForm& form,
                                                        std::optional<std::uint64_t> enough = {});

/// Cells stay in the file by name; what they held is deleted.
void forget_cells(Database& database);

/// The frame that read_study() gives.
[[nodiscard]] Frame read_sweep_frame(Database& database, const std::string& name);

}  // namespace dewpoint::store
