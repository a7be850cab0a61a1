#include <algorithm>
#include <chrono>
#include <utility>

#include "dewpoint/studies/runner.hpp"
#include "dewpoint/studies/schedule.hpp"

namespace dewpoint::studies {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostTimings = 5;  // of one tile

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds per unit of work of one replica: the tile as the runner would hand it out, on one thread.
double timed_once(const Experiment& experiment, const Plan& plan, const Tile& tile,
                  std::uint64_t seed, std::uint64_t replica, const std::stop_token& stop) {
  Task task;
  for (const std::size_t cell : tile.cells) task.points.push_back(plan.cells[cell].point());
  task.first_replica = replica;
  if (tile.parts > 1) task.part = 0;
  const TaskResult result = perform(task, experiment, seed, stop);
  if (result.stopped) throw Error(Code::stopped, kStoppedOnRequest);
  if (!result.failure.empty()) throw Error(result.failure_code, result.failure);
  return result.seconds * static_cast<double>(tile.parts) / tile.work;
}

// The least of a few timings while they take no longer than `patience`: the first one pays for
// pages and libraries that the others find ready.
double timed(const Experiment& experiment, const Plan& plan, const Tile& tile, std::uint64_t seed,
             double patience, const std::stop_token& stop) {
  const Clock::time_point start = Clock::now();
  double least = timed_once(experiment, plan, tile, seed, tile.from, stop);
  for (int i = 1; i < kMostTimings && seconds_since(start) < patience; ++i) {
    const std::uint64_t replica = tile.from + static_cast<std::uint64_t>(i);
    least = std::min(least, timed_once(experiment, plan, tile, seed, replica, stop));
  }
  return least;
}

std::vector<Need> needs_of(const StudyText& study, const Experiment& experiment, const Plan& plan,
                           const std::map<std::string, store::SweepCell>& known) {
  const auto observables = experiment.observables(plan.cells.at(0).point());
  const Demand demand = demand_of(study.precision, experiment, observables);
  std::vector<Need> needs;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const auto found = known.find(plan.cells[i].key);
    const bool usable =
        found != known.end() && found->second.moments.size() == positions_of(observables);
    const store::SweepCell cell = usable ? found->second : store::SweepCell{};
    const std::uint64_t want =
        demand.replicas(cell, experiment.deterministic(plan.cells[i].point()));
    if (want > cell.replicas) needs.push_back({i, cell.replicas, want});
  }
  return needs;
}

}  // namespace

CostEstimate estimate_cost(const StudyText& study, const Experiment& experiment,
                           const std::map<std::string, store::SweepCell>& known, double patience,
                           std::stop_token stop) {
  const Plan plan = grid_plan(study, experiment, stop);
  const std::vector<Need> needs = needs_of(study, experiment, plan, known);
  CostEstimate estimate;
  estimate.cells = plan.cells.size();
  estimate.form = stored_form(plan, experiment);
  estimate.missing = needs.size();
  estimate.at_least = study.precision.target_error > 0.0 || study.refinement.has_value();
  for (const Need& need : needs) estimate.replicas += need.want - need.have;
  if (needs.empty()) return estimate;

  std::vector<Tile> tiles = tiles_of(experiment, plan.cells, needs);
  std::sort(tiles.begin(), tiles.end(),
            [](const Tile& a, const Tile& b) { return a.work < b.work; });
  double work = 0.0;
  for (const Tile& tile : tiles) work += tile.work * static_cast<double>(tile.to - tile.from);

  // Small, typical, large: one goes on only to what the time will probably allow.
  const Clock::time_point start = Clock::now();
  double low = 0.0, high = 0.0, weight = 0.0, seconds = 0.0;
  for (const std::size_t chosen : {std::size_t{0}, tiles.size() / 2, tiles.size() - 1}) {
    const Tile& tile = tiles[chosen];
    const double left = patience - seconds_since(start);
    if (estimate.measured > 0 && high * tile.work > left) break;
    const double rate = timed(experiment, plan, tile, study.seed, left / 6.0, stop);
    low = estimate.measured == 0 ? rate : std::min(low, rate);
    high = std::max(high, rate);
    weight += tile.work;
    seconds += rate * tile.work;
    estimate.measured += tile.cells.size();
    if (chosen == tiles.size() - 1) break;
  }
  estimate.seconds = work * seconds / weight;
  estimate.low = work * low;
  estimate.high = work * high;
  return estimate;
}

}  // namespace dewpoint::studies
