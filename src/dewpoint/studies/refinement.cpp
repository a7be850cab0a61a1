// One level of refinement of a plan.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/axis_values.hpp"
#include "dewpoint/studies/plan.hpp"

namespace dewpoint::studies {
namespace {

/// Two neighbours along an axis with room between them.
struct Interval {
  std::size_t low;   // the cell, by its position in the plan
  std::size_t axis;  // of the plan
  double middle;     // the coordinate of the new cell
  double change;
};

std::size_t axis_position(const Plan& plan, const std::string& name) {
  const auto found = std::find_if(plan.axes.begin(), plan.axes.end(),
                                  [&](const Dimension& axis) { return axis.name == name; });
  DEWPOINT_EXPECTS(found != plan.axes.end() && found->labels.empty());
  return static_cast<std::size_t>(found - plan.axes.begin());
}

Spacing spacing_of(const StudyText& study, const Experiment& experiment, const std::string& name) {
  Spacing spacing;
  for (const GridAxis& axis : study.grid) {
    if (axis.name == name) spacing.logarithmic = axis.logarithmic;
  }
  for (const Field& parameter : experiment.parameters()) {
    if (parameter.name == name) spacing.whole = parameter.kind == Kind::whole;
  }
  return spacing;
}

/// The cells such that those of a line along `axis` stand together, from low to high.
std::vector<std::size_t> line_by_line(const Plan& plan, std::size_t axis) {
  std::vector<std::size_t> order(plan.cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto& left = plan.cells[a].place;
    const auto& right = plan.cells[b].place;
    for (std::size_t k = 0; k < left.size(); ++k) {
      if (k != axis && left[k] != right[k]) return left[k] < right[k];
    }
    return left[axis] < right[axis];
  });
  return order;
}

bool on_one_line(const PlannedCell& a, const PlannedCell& b, std::size_t axis) {
  for (std::size_t k = 0; k < a.place.size(); ++k) {
    if (k != axis && a.place[k] != b.place[k]) return false;
  }
  return true;
}

void append_intervals(std::vector<Interval>& intervals, const Plan& plan,
                      const std::vector<double>& values, std::size_t axis, const Spacing& spacing) {
  const std::vector<std::size_t> order = line_by_line(plan, axis);
  const std::vector<double>& coordinates = plan.axes[axis].coordinates;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const PlannedCell& low = plan.cells[order[i]];
    const PlannedCell& high = plan.cells[order[i + 1]];
    if (!on_one_line(low, high, axis)) continue;
    const auto middle =
        between(coordinates[low.place[axis]], coordinates[high.place[axis]], spacing);
    if (!middle) continue;
    intervals.push_back(
        {order[i], axis, *middle, std::abs(values[order[i]] - values[order[i + 1]])});
  }
}

/// Those with the largest change; what changes by 0, or by no number, is never among them.
std::vector<Interval> largest(std::vector<Interval> intervals, double share) {
  // 0.29 of 100 are 29, although the product is a little less
  const auto wanted =
      static_cast<std::size_t>(share * static_cast<double>(intervals.size()) + 1e-9);
  std::erase_if(intervals, [](const Interval& interval) { return !(interval.change > 0.0); });
  // stable: candidates of one cell stand in the order of `along`
  std::stable_sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.change != b.change ? a.change > b.change : a.low < b.low;
  });
  if (intervals.size() > std::max<std::size_t>(wanted, 1)) {
    intervals.resize(std::max<std::size_t>(wanted, 1));
  }
  return intervals;
}

void expect_room(std::size_t cells) {
  if (cells <= kMostCells) return;
  throw Error(Code::bad_value,
              fmt::format("refine: up to {} cells; allowed: at most {}", cells, kMostCells));
}

/// The point as the study would have asked for it, with one coordinate replaced; resolved. None
/// where the experiment refuses it.
std::optional<Point> point_between(const StudyText& study, const Experiment& experiment,
                                   const Plan& plan, const Interval& interval) {
  Point given = study.fixed;
  for (std::size_t k = 0; k < plan.axes.size(); ++k) {
    const Dimension& axis = plan.axes[k];
    const std::size_t index = plan.cells[interval.low].place[k];
    if (!axis.labels.empty()) {
      given[axis.name] = axis.labels[index];
    } else {
      given[axis.name] = k == interval.axis ? interval.middle : axis.coordinates[index];
    }
  }
  try {
    return experiment.resolved(given);
  } catch (const Error& error) {
    if (error.code() != Code::bad_value) throw;
    return std::nullopt;
  }
}

// ------------------------------------------------------------------------------------ new axes

/// Adds coordinates to an axis; where the old ones went.
std::vector<std::size_t> widen(Dimension& axis, const std::vector<double>& added) {
  const std::vector<double> old = axis.coordinates;
  axis.coordinates.insert(axis.coordinates.end(), added.begin(), added.end());
  std::sort(axis.coordinates.begin(), axis.coordinates.end());
  axis.coordinates.erase(std::unique(axis.coordinates.begin(), axis.coordinates.end()),
                         axis.coordinates.end());
  std::vector<std::size_t> moved;
  for (const double value : old) {
    const auto place = std::lower_bound(axis.coordinates.begin(), axis.coordinates.end(), value);
    moved.push_back(static_cast<std::size_t>(place - axis.coordinates.begin()));
  }
  return moved;
}

struct NewCell {
  PlannedCell cell;  // with the place of the lower neighbour
  std::size_t axis;
  double middle;
};

void append_cells(Plan& plan, std::vector<NewCell> added) {
  for (std::size_t k = 0; k < plan.axes.size(); ++k) {
    if (!plan.axes[k].labels.empty()) continue;
    std::vector<double> middles;
    for (const NewCell& cell : added) {
      if (cell.axis == k) middles.push_back(cell.middle);
    }
    const std::vector<std::size_t> moved = widen(plan.axes[k], middles);
    const std::vector<double>& coordinates = plan.axes[k].coordinates;
    for (PlannedCell& cell : plan.cells) cell.place[k] = moved[cell.place[k]];
    for (NewCell& cell : added) {
      std::size_t& index = cell.cell.place[k];
      const auto middle = std::lower_bound(coordinates.begin(), coordinates.end(), cell.middle);
      index =
          cell.axis == k ? static_cast<std::size_t>(middle - coordinates.begin()) : moved[index];
    }
  }
  std::sort(added.begin(), added.end(),
            [](const NewCell& a, const NewCell& b) { return a.cell.place < b.cell.place; });
  for (NewCell& cell : added) plan.cells.push_back(std::move(cell.cell));
}

}  // namespace

Plan refined(const StudyText& study, const Experiment& experiment, const Plan& plan,
             const std::function<double(const PlannedCell&)>& value) {
  DEWPOINT_EXPECTS(study.refinement.has_value());
  std::vector<double> values;
  values.reserve(plan.cells.size());
  std::unordered_set<std::string_view> keys(plan.cells.size());
  int level = 0;
  for (const PlannedCell& cell : plan.cells) {
    values.push_back(value(cell));
    keys.insert(cell.key);
    level = std::max(level, cell.level);
  }
  std::vector<Interval> intervals;
  for (const std::string& name : study.refinement->along) {
    append_intervals(intervals, plan, values, axis_position(plan, name),
                     spacing_of(study, experiment, name));
  }
  intervals = largest(std::move(intervals), study.refinement->share);
  std::vector<NewCell> added;
  added.reserve(intervals.size());  // keys are looked at where they are
  expect_room(plan.cells.size() + intervals.size());
  PointPacker packer;
  for (const Interval& interval : intervals) {
    const auto point = point_between(study, experiment, plan, interval);
    if (!point) continue;
    std::string key = cell_key(experiment, study.seed, *point);
    if (keys.contains(key)) continue;
    PlannedCell cell{plan.cells[interval.low].place, packer.packed(*point), std::move(key),
                     level + 1};
    added.push_back({std::move(cell), interval.axis, interval.middle});
    keys.insert(added.back().cell.key);
  }
  Plan result = plan;
  append_cells(result, std::move(added));
  return result;
}

}  // namespace dewpoint::studies
