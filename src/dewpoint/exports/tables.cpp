#include "dewpoint/exports/tables.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace dewpoint::exports {
namespace {

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> dimension_set(const Table& table) {
  std::vector<std::string> names;
  for (const Dimension* dimension : table.dimensions) names.push_back(dimension->name);
  return sorted(std::move(names));
}

std::size_t stride_along(const Frame& frame, const Variable& variable, const std::string& name) {
  std::size_t stride = 1;
  for (std::size_t k = variable.dimensions.size(); variable.dimensions[--k] != name;) {
    stride *= frame.dimension(variable.dimensions[k]).coordinates.size();
  }
  return stride;
}

Table& table_over(const Frame& frame, const Variable& variable, std::vector<Table>& tables) {
  const auto wanted = sorted(variable.dimensions);
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const Table& table) {
    return dimension_set(table) == wanted;
  });
  if (found != tables.end()) return *found;
  Table& table = tables.emplace_back();
  for (const std::string& name : variable.dimensions) {
    table.dimensions.push_back(&frame.dimension(name));
  }
  return table;
}

void add(const Frame& frame, const Variable& variable, Table& table) {
  std::vector<std::size_t> strides;
  for (const Dimension* dimension : table.dimensions) {
    strides.push_back(stride_along(frame, variable, dimension->name));
  }
  table.variables.push_back({&variable, role_of(variable), std::move(strides)});
}

// Moves to the next place; false after the last.
bool advance(const Table& table, std::vector<std::size_t>& position) {
  for (std::size_t k = position.size(); k-- > 0;) {
    if (++position[k] < table.dimensions[k]->coordinates.size()) return true;
    position[k] = 0;
  }
  return false;
}

const Estimate* cell_at(const TableVariable& variable, const std::vector<std::size_t>& position) {
  std::size_t index = 0;
  for (std::size_t k = 0; k < position.size(); ++k) index += position[k] * variable.strides[k];
  return &variable.variable->cells[index];
}

}  // namespace

Role role_of(const Variable& variable) {
  const auto any = [&](auto condition) {
    return std::any_of(variable.cells.begin(), variable.cells.end(), condition);
  };
  const std::string_view name = variable.name;
  if (name.ends_with("_theory")) return Role::predicted;
  if (any([](const Estimate& cell) { return cell.samples > 0; })) return Role::measured;
  const bool bare = any([](const Estimate& cell) { return !std::isnan(cell.mean); });
  return bare || name.starts_with("critical_") ? Role::predicted : Role::measured;
}

bool is_known(const Estimate& cell, Role role) {
  return !std::isnan(cell.mean) || (role == Role::measured && cell.samples > 0);
}

std::vector<VariableNames> claim_names(const std::vector<const Variable*>& variables, Names& names,
                                       std::string (*spelling)(std::string_view)) {
  std::vector<VariableNames> result;
  for (const Variable* variable : variables) {
    result.push_back({names.claim(spelling(variable->name)), {}, {}});
  }
  for (std::size_t k = 0; k < variables.size(); ++k) {
    if (role_of(*variables[k]) == Role::predicted) continue;
    result[k].error = names.claim(result[k].mean + "_se");
    result[k].samples = names.claim(result[k].mean + "_samples");
  }
  return result;
}

std::vector<Table> tables_of(const Frame& frame) {
  std::vector<Table> tables;
  for (const Variable& variable : frame.variables()) {
    add(frame, variable, table_over(frame, variable, tables));
  }
  const auto main = std::max_element(
      tables.begin(), tables.end(),
      [](const Table& a, const Table& b) { return a.variables.size() < b.variables.size(); });
  if (main != tables.end()) std::rotate(tables.begin(), main, main + 1);
  return tables;
}

void for_each_row(const Table& table, const std::function<void(const Row&)>& visit) {
  for (const Dimension* dimension : table.dimensions) {
    if (dimension->coordinates.empty()) return;
  }
  Row row{std::vector<std::size_t>(table.dimensions.size(), 0),
          std::vector<const Estimate*>(table.variables.size())};
  do {
    bool known = false;
    for (std::size_t k = 0; k < table.variables.size(); ++k) {
      row.cells[k] = cell_at(table.variables[k], row.position);
      known = known || is_known(*row.cells[k], table.variables[k].role);
    }
    if (known) visit(row);
  } while (advance(table, row.position));
}

}  // namespace dewpoint::exports
