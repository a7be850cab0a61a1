// The cells of a refined grid that nobody asked for.
//
// A refinement puts new cells between two neighbours, and with each of them a coordinate onto an
// axis. The table over all coordinates then has holes. In a figure a measured cell reaches up to
// half-way to the next measured one: a hole borrows the value of the measured cell that is nearest
// on the panel, both sides of the panel counted as 1.
//
// Only holes that lie between measured cells borrow: those with one on both sides in their row or
// in their column, where a hole that borrows counts as measured for the next. Outside of what was
// measured nothing is painted.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace dewpoint::report {

enum class CellState : unsigned char {
  measured,
  unknown,  // measured, without a value: neither lends nor borrows
  hole,
};

/// A table as HeatmapPanel::z: the cell of x[i], y[j] is number i · y.size() + j. Coordinates are
/// places on their axes and increase.
struct SparseGrid {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z;
  std::vector<CellState> state;
};

/// Fills the holes of z and says which: empty when there was nothing to fill.
///   Properties  (1) measured cells keep their values.
///               (2) every borrowed value is one that was measured.
///               (3) a full grid, refined along either axis or both, has no hole afterwards.
[[nodiscard]] std::vector<bool> borrow(SparseGrid& grid);

}  // namespace dewpoint::report
