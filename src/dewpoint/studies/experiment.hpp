// An experiment as a study sees it: parameters by name in, numbers of one replica out.
//
// A *point* is a value for every parameter. A *replica* is the smallest independent repetition of
// the experiment at a point: one cloud of tokens, or one batch of draws. A study averages replicas
// 0, 1, 2, ... of every point, in this order, and keeps their moments, so that more can be added
// whenever somebody asks. Replica r of a point is a function of (point, seed, r) alone: where it
// is computed, with how many threads and beside which other points changes no bit of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::studies {

using question::canonical_text;
using question::Field;
using question::Kind;
using question::number_text;
using question::Point;
using question::Value;
using question::value_text;

/// `name = { ..., unit = "critical" }` in a study file stands for the parameter `stands_for`.
struct Unit {
  std::string name;        // "gamma"
  std::string unit;        // "critical"
  std::string stands_for;  // "c": gamma in units of 1/(1 − rho)
};

/// A number, or an array of them, that a replica gives.
struct Observable {
  std::string name;
  std::vector<Dimension> inner = {};  // over which it runs within a point: rank, layer
};

class Experiment {
 public:
  Experiment() = default;
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;
  virtual ~Experiment() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;  // one line
  /// Raised whenever the numbers of a point change: cells of another version are not reused.
  [[nodiscard]] virtual int schema() const = 0;
  [[nodiscard]] virtual const std::vector<Field>& parameters() const = 0;
  [[nodiscard]] virtual std::vector<Unit> units() const { return {}; }
  /// What a target error and a refinement mean where they name no observable.
  [[nodiscard]] virtual std::string order_parameter() const = 0;

  /// Checks and completes a point: every default filled in, units resolved (c becomes gamma), so
  /// that two ways to ask for one thing are one point. `given` has names from parameters() only,
  /// with values of the right kind. Takes microseconds: a plan asks it of every cell. Throws
  /// Error{bad_value} naming the parameter.
  ///   Properties  (1) resolved(resolved(p)) = resolved(p).
  [[nodiscard]] virtual Point resolved(const Point& given) const = 0;

  // ---- of resolved points only --------------------------------------------------------------

  /// The same for all points of a study: they may depend on parameters that are no axes.
  [[nodiscard]] virtual std::vector<Observable> observables(const Point& point) const = 0;
  /// What theory says, named as the observable with "_theory" behind it, or "critical_<axis>" for
  /// where on an axis the transition is expected; "critical_<axis>_<which>" where theories differ.
  /// A function of the point: finished cells get new ones, whenever these change.
  [[nodiscard]] virtual std::vector<Observable> predictions(const Point& /*point*/) const {
    return {};
  }
  /// All positions of all predictions, in their order; NaN: not known.
  [[nodiscard]] virtual std::vector<double> predict(const Point& /*point*/) const { return {}; }

  /// Nothing is random: one replica is the truth.
  [[nodiscard]] virtual bool deterministic(const Point& /*point*/) const { return false; }
  /// Expected cost of one replica, in any unit, for comparing points.
  [[nodiscard]] virtual double work(const Point& point) const = 0;
  /// Parameters over which points that agree in all others share work (a tile), the first the most.
  [[nodiscard]] virtual std::vector<std::string> ladder() const { return {}; }

  /// One replica of all points of a tile: for each, all positions of all observables. NaN: this
  /// replica has no such number; the others are averaged, and the samples say how many they were.
  [[nodiscard]] virtual std::vector<std::vector<double>> measure(
      std::span<const Point> tile, std::uint64_t seed, std::uint64_t replica,
      const RunContext& context) const = 0;

  /// Into how many parts a replica of this point may be divided; 1: it is not. A function of the
  /// point alone. Points with parts are measured one by one, part by part, and joined.
  [[nodiscard]] virtual std::size_t parts(const Point& /*point*/) const { return 1; }
  /// What a part hands to join(): up to some hundred kilobytes, as it travels to rank 0.
  [[nodiscard]] virtual std::vector<double> measure_part(const Point& point, std::uint64_t seed,
                                                         std::uint64_t replica, std::size_t part,
                                                         const RunContext& context) const;
  /// The values of a replica from all its parts, in order.
  [[nodiscard]] virtual std::vector<double> join(
      const Point& point, std::uint64_t seed, std::uint64_t replica,
      const std::vector<std::vector<double>>& parts) const;
};

/// All experiments, in the order of the documentation.
[[nodiscard]] const std::vector<const Experiment*>& experiments();
/// Throws Error{bad_value} with the nearest name.
[[nodiscard]] const Experiment& experiment_named(const std::string& name);

/// The seed of one batch of draws: the study's own for replica 0, so that one replica is what the
/// verb of that name measures.
[[nodiscard]] std::uint64_t seed_of_replica(std::uint64_t seed, std::uint64_t replica);

// ---- reading points ---------------------------------------------------------------------------

[[nodiscard]] double number_of(const Point& point, const std::string& name);
[[nodiscard]] std::size_t count_of(const Point& point, const std::string& name);
[[nodiscard]] const std::string& word_of(const Point& point, const std::string& name);
[[nodiscard]] bool flag_of(const Point& point, const std::string& name);
[[nodiscard]] bool has(const Point& point, const std::string& name);
/// `given` with every default of `parameters` that it lacks.
[[nodiscard]] Point with_defaults(const Point& given, const std::vector<Field>& parameters);

}  // namespace dewpoint::studies
