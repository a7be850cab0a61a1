#include "dewpoint/report/borrowed_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace dewpoint::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Letters are measured values, '?' was measured without a value, '.' is a hole; rows from the top.
SparseGrid grid_of(const std::vector<std::string>& rows) {
  SparseGrid grid;
  for (std::size_t i = 0; i < rows.front().size(); ++i) grid.x.push_back(double(i));
  for (std::size_t j = 0; j < rows.size(); ++j) grid.y.push_back(double(j));
  for (std::size_t i = 0; i < grid.x.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const char cell = rows[rows.size() - 1 - j][i];
      const bool known = cell != '.' && cell != '?';
      grid.z.push_back(known ? double(cell) : kNaN);
      grid.state.push_back(known         ? CellState::measured
                           : cell == '?' ? CellState::unknown
                                         : CellState::hole);
    }
  }
  return grid;
}

std::vector<std::string> rows_of(const SparseGrid& grid) {
  std::vector<std::string> rows(grid.y.size(), std::string(grid.x.size(), '.'));
  for (std::size_t i = 0; i < grid.x.size(); ++i) {
    for (std::size_t j = 0; j < grid.y.size(); ++j) {
      const double z = grid.z[i * grid.y.size() + j];
      if (!std::isnan(z)) rows[grid.y.size() - 1 - j][i] = static_cast<char>(z);
    }
  }
  return rows;
}

std::vector<std::string> filled(const std::vector<std::string>& rows) {
  SparseGrid grid = grid_of(rows);
  static_cast<void>(borrow(grid));
  return rows_of(grid);
}

using Rows = std::vector<std::string>;

// Rows a, b and c were asked for; between them only some columns were refined.
TEST(BorrowedCells, ReachHalfWayToTheNextMeasuredOne) {
  EXPECT_EQ(filled({"aaaa", "..x.", "bbbb", "...y", "cccc"}),
            (Rows{"aaaa", "bbxb", "bbbb", "cccy", "cccc"}));
}

// The refined cell x reaches one row up and down; farther away the nearest lies to the side.
TEST(BorrowedCells, AreTheNearestOnThePanelNotInTheColumn) {
  EXPECT_EQ(filled({"a.b.c", "dxe.f", "g.h.i", "j.k.l", "m.n.o"}),
            (Rows{"axbbc", "dxeef", "gxhhi", "jjkkl", "mmnno"}));
}

// Property (3): refined along both axes, twice.
TEST(BorrowedCells, LeaveNoHoleInARefinedGrid) {
  SparseGrid grid;
  for (int i = 0; i <= 16; ++i) grid.x.push_back(i);
  for (int j = 0; j <= 12; ++j) grid.y.push_back(j);
  for (int i = 0; i <= 16; ++i) {
    for (int j = 0; j <= 12; ++j) {
      const bool coarse = i % 4 == 0 && j % 4 == 0;
      const bool finer = (i % 2 == 0 && j % 2 == 0 && (i % 4 == 0 || j % 4 == 0)) && i + j < 12;
      const bool finest = (i % 4 == 0 || j % 4 == 0) && i + j > 6 && i + j < 9;
      const bool known = coarse || finer || finest;
      grid.z.push_back(known ? 100.0 * i + j : kNaN);
      grid.state.push_back(known ? CellState::measured : CellState::hole);
    }
  }
  const std::vector<double> before = grid.z;
  const std::set<double> measured(before.begin(), before.end());
  const std::vector<bool> borrowed = borrow(grid);
  ASSERT_EQ(borrowed.size(), before.size());
  for (std::size_t k = 0; k < before.size(); ++k) {
    EXPECT_FALSE(std::isnan(grid.z[k])) << k;
    EXPECT_EQ(borrowed[k], std::isnan(before[k]));
    if (!borrowed[k]) {
      EXPECT_EQ(grid.z[k], before[k]);  // property (1)
    }
    EXPECT_EQ(measured.count(grid.z[k]), 1U);  // property (2)
  }
}

TEST(BorrowedCells, StayUnknownOutsideOfWhatWasMeasured) {
  EXPECT_EQ(filled({"ab..", "cd..", "...."}), (Rows{"ab..", "cd..", "...."}));
}

TEST(BorrowedCells, NeitherLendNorFillWhatHasNoValue) {
  EXPECT_EQ(filled({"a?b", "...", "c?d"}), (Rows{"a.b", "ccd", "c.d"}));
}

TEST(BorrowedCells, AreNoneInAFullGrid) {
  SparseGrid grid = grid_of({"abc", "def"});
  EXPECT_TRUE(borrow(grid).empty());
  EXPECT_EQ(rows_of(grid), (Rows{"abc", "def"}));
}

}  // namespace
}  // namespace dewpoint::report
