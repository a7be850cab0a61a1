// Points of a plan in little memory.
//
// The points of a grid differ in numbers; names, words and flags are the same for many of them. A
// packed point is its numbers beside a pointer to what it shares: a hundred bytes, where a Point
// takes six hundred.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

class PackedPoint {
 public:
  PackedPoint() = default;
  /// Shares with no other.
  explicit PackedPoint(const Point& point);

  /// The point that was packed, to the last bit.
  [[nodiscard]] Point unpacked() const;

 private:
  friend class PointPacker;
  PackedPoint(std::shared_ptr<const Point> form, const Point& point);

  std::shared_ptr<const Point> form_;  // the point with 0 for every number; none: the empty point
  std::vector<double> numbers_;        // in the order of the names
};

/// Packs points that share. Not for two threads at once.
class PointPacker {
 public:
  [[nodiscard]] PackedPoint packed(const Point& point);

 private:
  std::shared_ptr<const Point> last_;
  std::map<Point, std::shared_ptr<const Point>> forms_;
};

}  // namespace dewpoint::studies
