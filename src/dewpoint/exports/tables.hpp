// A frame as tables: variables over the same dimensions stand side by side.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/exports/text.hpp"

namespace dewpoint::exports {

enum class Role { measured, predicted };

/// Predicted is what is called ..._theory, and what has values without samples. A variable that is
/// empty everywhere is predicted if it is called critical_..., else it waits to be measured.
[[nodiscard]] Role role_of(const Variable& variable);

/// Whether the cell says anything: a measured one has samples or a mean, a predicted one a value.
[[nodiscard]] bool is_known(const Estimate& cell, Role role);

/// Names that one variable takes in a file; the last two are empty for predicted ones.
struct VariableNames {
  std::string mean;
  std::string error;
  std::string samples;
};

/// x, x_se, x_samples for every variable, clear of each other and of what `names` already holds.
[[nodiscard]] std::vector<VariableNames> claim_names(const std::vector<const Variable*>& variables,
                                                     Names& names,
                                                     std::string (*spelling)(std::string_view));

struct TableVariable {
  const Variable* variable;
  Role role;
  std::vector<std::size_t> strides;  // of its cells, along each dimension of the table
};

struct Table {
  std::vector<const Dimension*> dimensions;  // in the order of its first variable
  std::vector<TableVariable> variables;      // in the order of the frame
};

/// The tables of a frame, each variable in one of them. First the one with most variables, then in
/// the order of the frame. No variable may have a dimension twice.
[[nodiscard]] std::vector<Table> tables_of(const Frame& frame);

struct Row {
  std::vector<std::size_t> position;   // along each dimension of the table
  std::vector<const Estimate*> cells;  // of each variable
};

/// Visits, row-major, the places at which at least one variable is known.
void for_each_row(const Table& table, const std::function<void(const Row&)>& visit);

}  // namespace dewpoint::exports
