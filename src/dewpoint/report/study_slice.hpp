// The part of a study that a figure shows: one observable at the places that were asked for.
//
// Axes with one value left are fixed; the others are free, and a figure gives each of them a role:
// along x or y, one line per value, one panel per value. Theory is looked up at the same place, in
// the same frame: "<observable>_theory" and "critical_<axis>", over all axes or some of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "dewpoint/report/axis.hpp"
#include "dewpoint/report/figure_request.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// Position on every axis, by name.
using Place = std::map<std::string, std::size_t>;

struct FreeAxis {
  const Dimension* dimension;
  std::vector<std::size_t> positions;  // shown, at least two

  [[nodiscard]] const std::string& name() const { return dimension->name; }
  [[nodiscard]] bool is_numeric() const { return dimension->labels.empty(); }
  [[nodiscard]] std::size_t size() const { return positions.size(); }
  [[nodiscard]] std::vector<double> values() const;
};

class StudySlice {
 public:
  /// Throws Error{bad_value} on names and values that the study does not have, with those it has.
  /// The study must outlive its slice.
  StudySlice(const store::StudyRecord& study, const FigureRequest& request);
  StudySlice(const StudySlice&) = delete;  // axes are known by their addresses
  StudySlice& operator=(const StudySlice&) = delete;
  ~StudySlice() = default;

  [[nodiscard]] const Frame& frame() const { return *frame_; }
  [[nodiscard]] const Variable& observable() const { return *observable_; }
  [[nodiscard]] const Place& fixed() const { return fixed_; }
  [[nodiscard]] const std::vector<FreeAxis>& axes() const { return axes_; }  // as the variable's

  /// The free axis with this name, which must be one of numbers that increase if `numeric`. Throws
  /// Error{bad_value} otherwise, with the names that are allowed.
  [[nodiscard]] const FreeAxis& axis(const std::string& name, bool numeric) const;

  /// The last axis of numbers that is not among `taken`: one with at least kBroad values if there
  /// is any, else with two; null when there is none.
  [[nodiscard]] const FreeAxis* last_numeric(const std::vector<const FreeAxis*>& taken) const;

  /// The free axes that are not among `taken`.
  [[nodiscard]] std::vector<const FreeAxis*> others(
      const std::vector<const FreeAxis*>& taken) const;

  /// All combinations of positions on some axes, the last fastest, at the fixed ones.
  [[nodiscard]] std::vector<Place> places(const std::vector<const FreeAxis*>& along) const;

  /// A variable of the frame at a place; all unknown where it has an axis that the place lacks.
  [[nodiscard]] Estimate value(const Variable& variable, const Place& place) const;

  /// "n = 512, simplex": the place on some axes.
  [[nodiscard]] std::string place_label(const Place& place,
                                        const std::vector<const FreeAxis*>& along) const;

  /// Fixed axes, parameters, samples, seed, version.
  [[nodiscard]] std::string caption() const;

 private:
  void choose_observable(const std::string& name);
  void choose_positions(const FigureRequest& request);

  const store::StudyRecord* study_;
  const Frame* frame_ = nullptr;
  const Variable* observable_ = nullptr;
  Place fixed_;
  std::vector<FreeAxis> axes_;
};

/// Whether the values are positive, at least three, the last at least eight times the first, and
/// spaced more evenly in their logarithms than by themselves.
[[nodiscard]] bool grows_by_factors(const std::vector<double>& increasing_values);

/// The scale of an axis that a figure shows.
[[nodiscard]] AxisScale axis_scale(const FreeAxis& axis, bool logarithmic, bool linear);

/// From here on an axis is worth a direction of its own.
inline constexpr std::size_t kBroad = 5;

/// Panels of one figure.
inline constexpr std::size_t kMostPanels = 12;

/// Throws Error{bad_value} when the axes would give more panels than one figure holds.
void expect_few_panels(const std::vector<const FreeAxis*>& axes);

}  // namespace dewpoint::report
