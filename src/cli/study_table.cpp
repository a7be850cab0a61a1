#include "cli/study_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"

namespace dewpoint::cli {
namespace {

constexpr std::size_t kShownByDefault = 4;

// Index of a coordinate for every dimension that `at` fixes; the others are free.
struct Fixed {
  std::string dimension;
  std::size_t index;
};

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name);
  return names;
}

std::string coordinate_text(const Dimension& dimension, std::size_t index) {
  if (!dimension.labels.empty()) return dimension.labels[index];
  return fmt::format("{:.10g}", dimension.coordinates[index]);
}

Fixed fixed_at(const Frame& frame, const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos) {
    throw Error(Code::bad_value, fmt::format("at: '{}' is not axis=value", text));
  }
  const Dimension& dimension = frame.dimension(text.substr(0, sign));
  const std::string wanted = text.substr(sign + 1);
  double number = std::nan("");
  std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  for (std::size_t i = 0; i < dimension.coordinates.size(); ++i) {
    const bool same = dimension.labels.empty() ? dimension.coordinates[i] == number
                                               : dimension.labels[i] == wanted;
    if (same) return {dimension.name, i};
  }
  std::vector<std::string> allowed;
  for (std::size_t i = 0; i < dimension.coordinates.size(); ++i) {
    allowed.push_back(coordinate_text(dimension, i));
  }
  throw Error(Code::bad_value, fmt::format("at: {} is nowhere '{}'; allowed: {}", dimension.name,
                                           wanted, fmt::join(allowed, ", ")));
}

const Variable& variable_named(const Frame& frame, const std::string& name) {
  if (const Variable* found = frame.find_variable(name)) return *found;
  throw Error(Code::bad_value, fmt::format("observable: '{}' is not in the study; allowed: {}",
                                           name, fmt::join(names_of(frame.variables()), ", ")));
}

// Those asked for, or the first few over the most dimensions that the first one has.
std::vector<const Variable*> shown_variables(const Frame& frame, const TableRequest& request) {
  std::vector<const Variable*> shown;
  for (const std::string& name : request.observables) {
    shown.push_back(&variable_named(frame, name));
    if (shown.back()->dimensions != shown.front()->dimensions) {
      throw Error(
          Code::bad_value,
          fmt::format("observable: '{}' is over ({}), '{}' over ({}); ask for one at a time",
                      shown.front()->name, fmt::join(shown.front()->dimensions, ", "), name,
                      fmt::join(shown.back()->dimensions, ", ")));
    }
  }
  if (!shown.empty() || frame.variables().empty()) return shown;
  for (const Variable& variable : frame.variables()) {
    const bool alike = variable.dimensions == frame.variables().front().dimensions;
    if (alike && shown.size() < kShownByDefault) shown.push_back(&variable);
  }
  return shown;
}

// Row-major positions of one cell, one per dimension.
std::vector<std::size_t> position_of(const Frame& frame, const Variable& variable,
                                     std::size_t cell) {
  std::vector<std::size_t> position(variable.dimensions.size());
  for (std::size_t k = position.size(); k-- > 0;) {
    const std::size_t extent = frame.dimension(variable.dimensions[k]).coordinates.size();
    position[k] = cell % extent;
    cell /= extent;
  }
  return position;
}

bool is_at(const std::vector<Fixed>& fixed, const Variable& variable,
           const std::vector<std::size_t>& position) {
  return std::all_of(fixed.begin(), fixed.end(), [&](const Fixed& place) {
    for (std::size_t k = 0; k < position.size(); ++k) {
      if (variable.dimensions[k] == place.dimension) return position[k] == place.index;
    }
    return true;
  });
}

bool is_known(const Estimate& cell) { return cell.samples > 0 || !std::isnan(cell.mean); }

std::string cell_text(const Estimate& cell) {
  if (!is_known(cell)) return "-";
  return cell.samples == 0 ? fmt::format("{:.6g}", cell.mean) : to_string(cell);
}

}  // namespace

Table table_of(const Frame& frame, const TableRequest& request) {
  Table table;
  const std::vector<const Variable*> shown = shown_variables(frame, request);
  if (shown.empty()) return table;
  std::vector<Fixed> fixed;
  for (const std::string& text : request.at) fixed.push_back(fixed_at(frame, text));
  const Variable& first = *shown.front();
  for (const std::string& name : first.dimensions) {
    table.columns.push_back({name, name, !frame.dimension(name).labels.empty()});
  }
  for (const Variable* variable : shown) table.columns.push_back({variable->name, variable->name});

  table.records = Json::array();
  for (std::size_t cell = 0; cell < first.cells.size(); ++cell) {
    if (!is_known(first.cells[cell])) continue;
    const auto position = position_of(frame, first, cell);
    if (!is_at(fixed, first, position)) continue;
    ++table.matching;
    if (request.rows > 0 && table.matching > request.rows) continue;
    Json record;
    for (std::size_t k = 0; k < position.size(); ++k) {
      record[first.dimensions[k]] =
          coordinate_text(frame.dimension(first.dimensions[k]), position[k]);
    }
    for (const Variable* variable : shown)
      record[variable->name] = cell_text(variable->cells[cell]);
    table.records.push_back(std::move(record));
  }
  return table;
}

}  // namespace dewpoint::cli
