#include "dewpoint/report/borrowed_cells.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

using Cells = std::vector<bool>;

std::size_t rows(const SparseGrid& grid) { return grid.y.size(); }

// Marks the holes of a line of cells, `step` apart, that lie between two marked cells; says whether
// there were any.
bool mark_between(const SparseGrid& grid, Cells& marked, std::size_t first, std::size_t step,
                  std::size_t count) {
  bool changed = false;
  std::optional<std::size_t> last;
  for (std::size_t k = 0; k < count; ++k) {
    if (!marked[first + k * step]) continue;
    for (std::size_t m = last ? *last + 1 : k; m < k; ++m) {
      const std::size_t cell = first + m * step;
      if (grid.state[cell] != CellState::hole) continue;
      marked[cell] = true;
      changed = true;
    }
    last = k;
  }
  return changed;
}

// Measured cells, and the holes between them.
Cells enclosed(const SparseGrid& grid) {
  Cells marked(grid.state.size());
  for (std::size_t cell = 0; cell < marked.size(); ++cell) {
    marked[cell] = grid.state[cell] == CellState::measured;
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t i = 0; i < grid.x.size(); ++i) {
      changed |= mark_between(grid, marked, i * rows(grid), 1, rows(grid));
    }
    for (std::size_t j = 0; j < rows(grid); ++j) {
      changed |= mark_between(grid, marked, j, rows(grid), grid.x.size());
    }
  }
  return marked;
}

struct Nearest {
  std::size_t cell = 0;
  double squared_distance = std::numeric_limits<double>::infinity();
};

double share(const std::vector<double>& places, std::size_t from, std::size_t to) {
  const double span = places.back() - places.front();
  return span > 0 ? (places[to] - places[from]) / span : 0.0;
}

// Looks along column i, outwards from row j, as far as something nearer may lie.
void look_along(const SparseGrid& grid, std::size_t i, std::size_t j, double squared_x,
                Nearest& nearest) {
  const auto look = [&](std::size_t row) {
    const double y = share(grid.y, j, row);
    const double squared = squared_x + y * y;
    const std::size_t cell = i * rows(grid) + row;
    if (squared >= nearest.squared_distance) return false;
    if (grid.state[cell] != CellState::measured) return true;
    nearest = {cell, squared};
    return false;
  };
  for (std::size_t row = j + 1; row-- > 0 && look(row);) {
  }
  for (std::size_t row = j + 1; row < rows(grid) && look(row); ++row) {
  }
}

std::size_t nearest_measured(const SparseGrid& grid, std::size_t i, std::size_t j) {
  Nearest nearest;
  const auto look = [&](std::size_t column) {
    const double x = share(grid.x, i, column);
    if (x * x >= nearest.squared_distance) return false;
    look_along(grid, column, j, x * x, nearest);
    return true;
  };
  for (std::size_t column = i + 1; column-- > 0 && look(column);) {
  }
  for (std::size_t column = i + 1; column < grid.x.size() && look(column); ++column) {
  }
  return nearest.cell;
}

}  // namespace

std::vector<bool> borrow(SparseGrid& grid) {
  DEWPOINT_EXPECTS(grid.z.size() == grid.x.size() * grid.y.size());
  DEWPOINT_EXPECTS(grid.state.size() == grid.z.size());
  const Cells inside = enclosed(grid);
  Cells borrowed(grid.z.size());
  const std::vector<double> measured = grid.z;
  for (std::size_t cell = 0; cell < borrowed.size(); ++cell) {
    borrowed[cell] = inside[cell] && grid.state[cell] == CellState::hole;
    if (!borrowed[cell]) continue;
    grid.z[cell] = measured[nearest_measured(grid, cell / rows(grid), cell % rows(grid))];
  }
  if (std::find(borrowed.begin(), borrowed.end(), true) == borrowed.end()) return {};
  return borrowed;
}

}  // namespace dewpoint::report
