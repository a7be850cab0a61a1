// What every experiment returns and every study stores: named variables over named dimensions.
//
// A grid, a trajectory, a table of heads and a single number are all Frames; a scalar is a variable
// over no dimensions. Each value carries its standard error and its number of samples. Cells of a
// variable are in row-major order of its dimensions (the last one runs fastest), so that a Frame
// opens in xarray as it is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/core/estimate.hpp"

namespace dewpoint {

struct Dimension {
  std::string name;
  std::vector<double> coordinates;
  std::vector<std::string> labels =
      {};  // where the coordinates are names: 0, 1, ... stand for them
};

struct Variable {
  std::string name;
  std::vector<std::string> dimensions;
  std::vector<Estimate> cells;
};

class Frame {
 public:
  explicit Frame(std::string name = {}) : name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The same numbers under another name.
  [[nodiscard]] Frame renamed(std::string name) const;
  [[nodiscard]] const std::vector<Dimension>& dimensions() const { return dimensions_; }
  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }

  void add_dimension(std::string name, std::vector<double> coordinates);
  /// A dimension along names; its coordinates are 0, 1, 2, ...
  void add_labelled_dimension(std::string name, std::vector<std::string> labels);
  /// Adds a variable over dimensions already declared; its cells start empty (0 samples).
  Variable& add_variable(std::string name, std::vector<std::string> dimensions = {});

  [[nodiscard]] const Dimension& dimension(std::string_view name) const;
  [[nodiscard]] const Variable& variable(std::string_view name) const;
  [[nodiscard]] Variable& variable(std::string_view name);
  [[nodiscard]] const Variable* find_variable(std::string_view name) const;

  /// Position of a cell in Variable::cells, one index per dimension of the variable.
  [[nodiscard]] std::size_t cell_index(const Variable& variable,
                                       const std::vector<std::size_t>& position) const;

 private:
  std::string name_;
  std::vector<Dimension> dimensions_;
  std::vector<Variable> variables_;
};

}  // namespace dewpoint
