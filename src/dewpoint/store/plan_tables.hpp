// The plan of a sweep in its tables: sweep_dimension, sweep_coordinate, sweep_variable, sweep_axis,
// sweep_place, and the names of its cells. Private to the store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/store/database.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::store {

/// Bit for bit.
[[nodiscard]] bool same_dimension(const Dimension& a, const Dimension& b);
[[nodiscard]] bool same_variables(const std::vector<SweepVariable>& a,
                                  const std::vector<SweepVariable>& b);
[[nodiscard]] bool same_form(const CellForm& a, const CellForm& b);
/// The names of the variables that only one of them has, or that differ in what they run over.
[[nodiscard]] std::string different_names(const std::vector<SweepVariable>& a,
                                          const std::vector<SweepVariable>& b);

/// Values of all these variables within one cell.
[[nodiscard]] std::size_t value_count(const std::vector<SweepVariable>& variables);

/// The axes, then each dimension that variables have within a cell, once.
[[nodiscard]] std::vector<Dimension> dimensions_of(const SweepPlan& plan);

/// Replaces the plan; cells that are new to the file get a row without replicas. Throws
/// Error{bad_value} for axes that span more places than a frame can hold, and Error{stopped} on a
/// request to stop, which is looked for every few thousand cells.
void write_plan(Database& database, const SweepPlan& plan, const std::stop_token& stop = {});

/// Whether this is the plan of the file already: a third of the time of writing it again.
[[nodiscard]] bool has_plan(Database& database, const SweepPlan& plan);

/// Axes and variables, no places.
[[nodiscard]] SweepPlan read_plan_head(Database& database);
/// The places of a plan whose head was read, by level and then row by row.
[[nodiscard]] std::vector<SweepPlace> read_places(Database& database,
                                                  const std::vector<Dimension>& axes);

/// The number of every cell of the file by its key; read from the table, whatever its index says.
[[nodiscard]] std::unordered_map<std::string, std::int64_t> read_cell_numbers(Database& database);

}  // namespace dewpoint::store
