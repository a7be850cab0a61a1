// What a study lacks, cut into pieces of work: pure logic, without threads, files and clocks.
//
// Cells that agree in everything but the experiment's ladder, and that have and want the same
// replicas, form a *tile*. A tile is handed out in pieces: a few replicas of all its cells at a
// time, or one part of one replica where an experiment divides them. Pieces come back in any order;
// Arrivals puts them in the order of the replicas, so that how a study was cut changes no bit of
// it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "dewpoint/store/cell_store.hpp"
#include "dewpoint/studies/plan.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "dewpoint/studies/task.hpp"

namespace dewpoint::studies {

/// Where the values of one observable lie among those of a cell.
struct ValueRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

[[nodiscard]] std::size_t positions_of(const std::vector<Observable>& observables);
/// Throws Error{bad_value} with the names there are.
[[nodiscard]] ValueRange range_of(const std::vector<Observable>& observables,
                                  const std::string& name);

/// An observable by its name; without one, the experiment's order parameter.
[[nodiscard]] std::string named_or_order_parameter(const std::string& name,
                                                   const Experiment& experiment);

/// How many replicas a cell should have, by what it has.
///
/// With a target its error is looked at after fewest, 2·fewest, 4·fewest, ..., most replicas and
/// never in between, so that it does not matter when a run was stopped. A position that is not a
/// number will not become one: it asks for nothing.
///
///   Properties  (1) replicas(cell) ≥ cell.replicas; equal: the cell is finished.
///               (2) for a cell that grows one replica at a time it never decreases.
class Demand {
 public:
  /// `target`: of the observable of precision.target_observable.
  Demand(const Precision& precision, ValueRange target);
  [[nodiscard]] std::uint64_t replicas(const store::SweepCell& cell, bool deterministic) const;

 private:
  [[nodiscard]] bool precise(const store::SweepCell& cell) const;

  Precision precision_;
  ValueRange target_;
};

/// The demand of a study. Throws as range_of where its target is not measured.
[[nodiscard]] Demand demand_of(const Precision& precision, const Experiment& experiment,
                               const std::vector<Observable>& observables);

/// A cell that lacks replicas have..want−1.
struct Need {
  std::size_t cell = 0;  // index in the plan
  std::uint64_t have = 0;
  std::uint64_t want = 0;
};

struct Tile {
  std::vector<std::size_t> cells;  // indices in the plan
  std::uint64_t from = 0;          // the replicas from..to−1 of all of them are missing
  std::uint64_t to = 0;
  std::size_t parts = 1;  // of a replica
  double work = 1.0;      // of one replica of all cells, in the experiment's unit
  double rate = 0.0;      // seconds per unit; 0: not measured yet
};

inline constexpr std::size_t kLargestTile = 64;    // cells
inline constexpr std::size_t kLargestJoined = 32;  // of several rows of the ladder

/// Expected cost of a replica; 1 where the experiment says nothing that can be compared.
[[nodiscard]] double work_of(const Experiment& experiment, const Point& point);

/// Cells that differ in the first parameter of the ladder alone, a row, come together first. Short
/// rows that differ in the others too are joined: what they share weighs little in long ones.
[[nodiscard]] std::vector<Tile> tiles_of(const Experiment& experiment,
                                         const std::vector<PlannedCell>& cells,
                                         const std::vector<Need>& needs);

/// What is handed out at once.
struct Piece {
  std::shared_ptr<Tile> tile;
  std::uint64_t first = 0;
  std::uint64_t replicas = 1;
  std::optional<std::size_t> part = {};
  int threads = 1;
  [[nodiscard]] double work() const;
};

/// The order of work: the tile with the largest expected cost first, in pieces that take about
/// kPieceSeconds by what has been measured so far.
class Schedule {
 public:
  static constexpr double kPieceSeconds = 0.2;
  /// A rate seen elsewhere is a guess: a tile's first piece is this much shorter.
  static constexpr double kGuess = 0.1;
  /// Numbers that a piece brings back, unless one replica has more.
  static constexpr std::size_t kPieceValues = std::size_t{1} << 16;

  /// `threads` compute, `per_task` of them at most on one task; a cell has `positions` values.
  Schedule(int threads, int per_task, std::size_t positions);

  void add(Tile tile);
  /// The next piece; none where everything is handed out.
  [[nodiscard]] std::optional<Piece> next();
  /// A piece has come back.
  void done(const Piece& piece, double seconds);

  [[nodiscard]] bool empty() const { return units_waiting_ == 0; }
  [[nodiscard]] double work_left() const;

 private:
  struct Waiting {
    double cost = 0.0;
    std::uint64_t order = 0;   // of arrival, where costs are equal
    std::uint64_t handed = 0;  // replicas, or parts of them
    std::shared_ptr<Tile> tile;
    [[nodiscard]] std::uint64_t units() const { return (tile->to - tile->from) * tile->parts; }
    bool operator<(const Waiting& other) const {
      return cost != other.cost ? cost < other.cost : order > other.order;
    }
  };

  [[nodiscard]] std::uint64_t replicas_at_once(const Waiting& waiting) const;
  [[nodiscard]] int threads_for_next() const;

  int threads_;
  int per_task_;
  std::size_t positions_;
  std::priority_queue<Waiting> waiting_;
  std::optional<Waiting> current_;
  std::uint64_t added_ = 0;
  std::uint64_t units_waiting_ = 0;
  double work_waiting_ = 0.0;
  double work_out_ = 0.0;
  int threads_out_ = 0;
  double rate_ = 0.0;  // seconds per unit of work, lately
};

/// Replicas of a tile that have come in, and what they cost.
struct Arrival {
  std::uint64_t first = 0;
  std::uint64_t replicas = 0;
  std::vector<double> values;       // as TaskResult's
  std::vector<double> predictions;  // with replica 0
  double seconds = 0.0;
  int rank = 0;
};

/// The pieces of one tile in the order of their replicas.
class Arrivals {
 public:
  /// `next`: the first replica that is missing.
  explicit Arrivals(std::uint64_t next) : next_(next) {}

  /// Takes some replicas of the tile.
  void add(Arrival arrival);
  /// Takes one part of one of `parts`; true when the replica is complete: then take_parts() has it.
  [[nodiscard]] bool add_part(std::uint64_t replica, std::size_t part, std::size_t parts,
                              TaskResult result);
  [[nodiscard]] std::vector<TaskResult> take_parts(std::uint64_t replica);

  /// What follows on the replicas that were taken before; none: something is missing.
  [[nodiscard]] std::optional<Arrival> next();
  [[nodiscard]] std::uint64_t next_replica() const { return next_; }

 private:
  struct Parts {
    std::vector<TaskResult> results;
    std::size_t missing = 0;
  };

  std::uint64_t next_;
  std::map<std::uint64_t, Arrival> early_;
  std::map<std::uint64_t, Parts> parts_;
};

}  // namespace dewpoint::studies
