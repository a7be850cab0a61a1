// The cells of a study: every combination of its axes, and those that a refinement adds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/store/cell_store.hpp"
#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/studies/packed_point.hpp"
#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::studies {

struct PlannedCell {
  std::vector<std::size_t> place;  // one index per axis of the plan
  PackedPoint packed;              // resolved
  std::string key;
  int level = 0;
  [[nodiscard]] Point point() const { return packed.unpacked(); }
};

struct Plan {
  std::vector<Dimension> axes;
  std::vector<PlannedCell> cells;  // the grid row by row, then each level of refinement
};

/// Hash of experiment, its schema, seed and canonical point: 32 hexadecimal digits.
[[nodiscard]] std::string cell_key(const Experiment& experiment, std::uint64_t seed,
                                   const Point& point);

/// The keys that earlier versions of the experiment gave the same point.
[[nodiscard]] std::vector<std::string> former_keys(const Experiment& experiment, std::uint64_t seed,
                                                   const Point& point);

/// What the experiment predicts of a cell that is kept somewhere; `count` unknown values where it
/// has no such point any more. On a request to stop: Error{stopped}.
[[nodiscard]] store::Predictor predictor_of(const Experiment& experiment, std::uint64_t seed,
                                            std::size_t count, std::stop_token stop = {});

/// Every combination, in about 300 bytes each. Two combinations that resolve to the same point are
/// an error, as is a point that the experiment refuses: Error{bad_value} with the combination. On a
/// request to stop: Error{stopped}, within the time of one cell.
[[nodiscard]] Plan grid_plan(const StudyText& study, const Experiment& experiment,
                             const std::stop_token& stop = {});

/// The plan with one level more: `value` is the mean of the refinement's observable at a cell of
/// the plan. Candidates are neighbouring cells of the plan along an axis of `along` with a number
/// between them (whole, where the parameter is; axis_values.hpp); their change is |difference of
/// values|. Those among the largest `share` (rounded down, at least one; ties in the order of the
/// plan, then of `along`) and above 0 get a cell there, unless the experiment refuses its point or
/// the point is planned already.
///   Properties  (1) a function of the plan and the values: the same on any runner.
///               (2) cells of the plan stay in their order, with their points, keys and levels; the
///                   new ones follow, row by row.
[[nodiscard]] Plan refined(const StudyText& study, const Experiment& experiment, const Plan& plan,
                           const std::function<double(const PlannedCell&)>& value);

/// What every cell holds.
[[nodiscard]] store::CellForm stored_form(const Plan& plan, const Experiment& experiment);
/// What the store is told, but for the parameters of the cells: enough to compare plans.
[[nodiscard]] store::SweepPlan stored_places(const Plan& plan, const Experiment& experiment);
/// Adds these.
void add_parameters(store::SweepPlan& stored, const Plan& plan);

}  // namespace dewpoint::studies
