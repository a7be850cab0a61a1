// A plan, and the cells that it wants: what a runner needs of whoever keeps them, a file
// (sweep_file.hpp) or the memory of this process (cell_memory.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/frame.hpp"

namespace dewpoint::store {

/// A variable of every cell: over the axes of the plan and, within a cell, over `inner`.
struct SweepVariable {
  std::string name;
  std::vector<Dimension> inner = {};
  [[nodiscard]] std::size_t positions() const;  // within a cell, the last of `inner` runs fastest
};

/// Where a cell lies, one index per axis.
struct SweepPlace {
  std::vector<std::size_t> index;
  std::string key;         // 32 hexadecimal digits
  std::string parameters;  // canonical, as a JSON object
  int level = 0;           // of refinement; 0: the grid as it was asked for
};

struct SweepPlan {
  std::vector<Dimension> axes;  // coordinates increasing, or labels
  std::vector<SweepVariable> measured;
  std::vector<SweepVariable> predicted;  // named as in the frames: "contraction_theory"
  std::vector<SweepPlace> places;        // each key once
};

/// What every cell of a store holds.
struct CellForm {
  std::vector<SweepVariable> measured;
  std::vector<SweepVariable> predicted;
};

/// What is known of one cell after `replicas` replicas.
struct SweepCell {
  std::uint64_t replicas = 0;
  std::vector<RunningMoments> moments;  // all positions of all measured variables, in their order
  std::vector<double> predictions;      // the same for the predicted ones; NaN is unknown
  bool exact = false;                   // the measured values have no error, however few replicas
};

/// One commit of one cell: which replicas were added, and what they cost.
struct SweepEffort {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  double seconds = 0.0;
  int rank = 0;
};

/// The predictions of a cell, of which key and canonical parameters are known, all positions in
/// their order; NaN: not known.
using Predictor =
    std::function<std::vector<double>(const std::string& key, const std::string& parameters)>;

class CellStore {
 public:
  CellStore() = default;
  CellStore(const CellStore&) = delete;
  CellStore& operator=(const CellStore&) = delete;
  virtual ~CellStore() = default;

  /// Everything known about every cell, whatever plan wanted it, for whoever only adds what is
  /// missing: a cell that is exact or has `enough` replicas may come without its numbers. Nothing:
  /// no cell has enough, nor is any exact.
  [[nodiscard]] virtual std::unordered_map<std::string, SweepCell> cells_to_continue(
      std::optional<std::uint64_t> enough) const = 0;

  /// Whether set_plan would change nothing; parameters of places are not looked at.
  [[nodiscard]] virtual bool has_plan(const SweepPlan& plan) const = 0;
  /// Replaces the plan; cells that it does not want stay. What it measures must be what the
  /// finished cells have, else Error{bad_value}. On a request to stop Error{stopped}, and the old
  /// plan stays.
  virtual void set_plan(const SweepPlan& plan, const std::stop_token& stop = {}) = 0;

  /// Replaces what is known of a cell of the plan.
  virtual void put(const std::string& key, SweepCell cell, const SweepEffort& effort) = 0;
  /// Returns when everything that was put is safe.
  virtual void flush() = 0;
};

}  // namespace dewpoint::store
