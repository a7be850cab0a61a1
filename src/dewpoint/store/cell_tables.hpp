// The cells of a sweep in their tables: cell, moment, prediction, effort. Private to the store.
//
// A cell is committed with the hash of everything that is known of it, and read back against it.
// The hash begins with what the cell is (number, key, parameters), so that numbers that went to
// another cell are found as well.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
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

struct CellMark {
  std::int64_t number;
  std::int64_t hash;
};

/// Keeps its statements prepared and knows the cells that are there when it is made; does not
/// outlive the database.
class CellWriter {
 public:
  CellWriter(Database& database, const CellForm& form);
  /// Replaces what is known of a cell; Error{bad_value} where the file has no cell of this key.
  CellMark write(const std::string& key, const SweepCell& cell);
  void write_effort(std::optional<std::int64_t> session, std::int64_t number,
                    const SweepEffort& effort);

 private:
  std::vector<Slot> measured_;
  std::vector<Slot> predicted_;
  std::unordered_map<std::string, CellMark> identities_;  // by key, with the hash of what it is
  Statement cell_;
  Statement moment_;
  Statement prediction_;
  Statement effort_;
};

struct StoredCell {
  std::int64_t number = 0;
  std::string key;
  std::string parameters;
  SweepCell content;
};

/// Of texts that somebody else keeps.
struct CellName {
  const std::string& key;
  const std::string& parameters;
};

/// Adds those that are not in the file yet, of which nothing is known; the numbers of all cells by
/// their keys.
std::unordered_map<std::string, std::int64_t> add_cells(Database& database,
                                                        const std::vector<CellName>& names,
                                                        const std::stop_token& stop = {});

/// Cells that are written before a request to stop is looked for.
inline constexpr std::int64_t kBetweenStops = 4096;

/// Every cell of which something is known, by number. Throws damage, naming the first cell that is
/// not as it was written. With `enough`, cells that are exact or have so many replicas come without
/// their numbers and unchecked: for a file whose cells were checked before.
[[nodiscard]] std::vector<StoredCell> read_stored_cells(Database& database, const CellForm& form,
                                                        std::optional<std::uint64_t> enough = {});

/// The same check, keeping nothing.
void expect_sound_cells(Database& database, const CellForm& form);

/// The cells that are as they were written, whatever happened to the others.
[[nodiscard]] std::vector<StoredCell> read_sound_cells(Database& database, const CellForm& form);

/// The numbers and hashes of all cells.
[[nodiscard]] std::unordered_map<std::int64_t, std::int64_t> read_hashes(Database& database);

/// Gives every cell, and the plan, these predictions in the place of those they have: computed
/// anew, unknown without `predict`. Within a transaction of the caller.
void renew_predictions(Database& database, const std::vector<SweepVariable>& predicted,
                       const Predictor& predict);

/// Deletes them all, with what they cost and where they lay.
void forget_cells(Database& database);

/// The frame that read_study() gives.
[[nodiscard]] Frame read_sweep_frame(Database& database, const std::string& name);

}  // namespace dewpoint::store
