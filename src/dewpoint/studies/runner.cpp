#include "dewpoint/studies/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "dewpoint/studies/schedule.hpp"

namespace dewpoint::studies {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{20};  // until a request to stop is noticed
constexpr std::chrono::milliseconds kBetweenReports{100};
constexpr std::size_t kBetweenStops =
    4096;  // cells that are admitted before a request is looked for

struct CellState {
  store::SweepCell known;
  double work = 1.0;
  bool finished = false;
  bool grown = false;  // in this run
};

// Whether more than the number of replicas decides what is missing.
bool needs_numbers(const StudyText& study) {
  return study.refinement.has_value() || study.precision.target_error > 0.0;
}

class Run {
 public:
  Run(const StudyText& study, const Experiment& experiment, Plan plan, store::CellStore& store,
      Workers& workers, const RunOptions& options);

  RunOutcome run();

 private:
  struct Open {  // a tile of which something was handed out
    Arrivals arrivals;
    std::uint64_t to;
  };
  struct Out {
    Piece piece;
    std::shared_ptr<Open> open;
  };

  // The plan.
  void run_levels();
  void admit_new_cells();
  [[nodiscard]] bool is_outdated(const Point& point) const;
  [[nodiscard]] bool refine();
  void keep_plan();

  // The work.
  void work_through();
  void hand_out();
  [[nodiscard]] Task task_of(const Piece& piece) const;
  void take(TaskResult result);
  void take_whole(const Out& out, TaskResult result);
  void take_part(const Out& out, TaskResult result);
  void commit(const Tile& tile, const Arrival& arrival);
  void decide(const Tile& tile);
  void settle(std::size_t cell, std::vector<Need>& needs);
  void stop();
  void fail(Code code, const std::string& message);
  void abandon();
  void report(bool now);

  const StudyText& study_;
  const Experiment& experiment_;
  store::CellStore& store_;
  Workers& workers_;
  const RunOptions& options_;

  Plan plan_;
  bool plan_kept_ = false;
  std::unordered_map<std::string, store::SweepCell> stored_;
  std::vector<Observable> observables_;
  std::size_t positions_;    // values of a replica of a cell
  std::size_t predictions_;  // of a cell
  Demand demand_;
  Schedule schedule_;
  std::vector<CellState> cells_;  // of the plan, in its order

  std::uint64_t next_id_ = 0;
  std::unordered_map<std::uint64_t, Out> out_;
  std::vector<TaskResult> collected_;  // came in together last
  std::unordered_map<const Tile*, std::shared_ptr<Open>> open_;
  bool ending_ = false;
  std::string failure_;  // empty: none
  Code failure_code_ = Code::bad_value;

  RunOutcome outcome_;
  double work_done_ = 0.0;
  Clock::time_point reported_;
};

Run::Run(const StudyText& study, const Experiment& experiment, Plan plan, store::CellStore& store,
         Workers& workers, const RunOptions& options)
    : study_(study),
      experiment_(experiment),
      store_(store),
      workers_(workers),
      options_(options),
      plan_(std::move(plan)),
      stored_(store.cells_to_continue(
          needs_numbers(study) ? std::nullopt : std::optional(study.precision.replicas))),
      observables_(experiment.observables(plan_.cells.at(0).point())),
      positions_(positions_of(observables_)),
      predictions_(options.predictions
                       ? positions_of(experiment.predictions(plan_.cells.at(0).point()))
                       : 0),
      demand_(demand_of(study.precision, experiment, observables_)),
      schedule_(workers.threads(), workers.threads() / workers.ranks(), positions_) {}

RunOutcome Run::run() {
  try {
    run_levels();
  } catch (const Error& error) {
    abandon();
    if (error.code() != Code::stopped) throw;
    outcome_.stopped = true;
  } catch (...) {
    abandon();
    throw;
  }
  store_.flush();
  report(true);
  outcome_.planned = plan_.cells.size();
  if (!failure_.empty()) throw Error(failure_code_, failure_);
  return outcome_;
}

// ---- the plan ---------------------------------------------------------------------------------

void Run::run_levels() {
  const std::size_t levels = study_.refinement ? study_.refinement->levels : 0;
  admit_new_cells();
  work_through();
  for (std::size_t level = 0; level < levels && !ending_; ++level) {
    if (!refine()) break;
    admit_new_cells();
    work_through();
  }
  keep_plan();
}

// Cells of the plan that come after those that are known.
void Run::admit_new_cells() {
  std::vector<Need> needs;
  cells_.reserve(plan_.cells.size());
  for (std::size_t i = cells_.size(); i < plan_.cells.size(); ++i) {
    if ((i + 1) % kBetweenStops == 0) RunContext{0, options_.stop, {}}.throw_if_stopped();
    const PlannedCell& planned = plan_.cells[i];
    const Point point = planned.point();
    CellState& cell = cells_.emplace_back();
    auto stored = stored_.extract(planned.key);
    if (!stored.empty()) cell.known = std::move(stored.mapped());
    cell.known.exact = experiment_.deterministic(point);
    const bool has_numbers =
        cell.known.moments.size() == positions_ && cell.known.predictions.size() == predictions_;
    const bool is_enough = !needs_numbers(study_) && cell.known.replicas > 0 &&
                           demand_.replicas(cell.known, cell.known.exact) == cell.known.replicas;
    if (!has_numbers && !is_enough) {
      cell.known = {0, std::vector<RunningMoments>(positions_), {}, cell.known.exact};
    }
    settle(i, needs);
    if (!cell.finished) cell.work = work_of(experiment_, point);
    outcome_.reused += cell.finished ? 1 : 0;
    if (!cell.finished && cell.known.replicas == 0 && is_outdated(point)) ++outcome_.outdated;
  }
  for (Tile& tile : tiles_of(experiment_, plan_.cells, needs)) schedule_.add(std::move(tile));
}

// Whether the point is kept as an earlier version of the experiment computed it.
bool Run::is_outdated(const Point& point) const {
  if (stored_.empty()) return false;
  const auto keys = former_keys(experiment_, study_.seed, point);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return stored_.contains(key); });
}

// False: there is nothing to add.
bool Run::refine() {
  const ValueRange range =
      range_of(observables_, named_or_order_parameter(study_.refinement->observable, experiment_));
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < plan_.cells.size(); ++i) index.emplace(plan_.cells[i].key, i);
  const auto value = [&](const PlannedCell& planned) {
    const auto& moments = cells_[index.at(planned.key)].known.moments;
    double sum = 0.0;
    for (std::size_t p = 0; p < range.count; ++p) sum += moments[range.first + p].mean();
    return sum / static_cast<double>(range.count);
  };
  Plan finer = refined(study_, experiment_, plan_, value);
  DEWPOINT_EXPECTS(finer.cells.size() >= plan_.cells.size());
  const bool grown = finer.cells.size() > plan_.cells.size();
  if (grown) {
    plan_ = std::move(finer);
    plan_kept_ = false;
  }
  return grown;
}

void Run::keep_plan() {
  if (plan_kept_) return;
  store::SweepPlan stored = stored_places(plan_, experiment_);
  if (!options_.predictions) stored.predicted.clear();
  if (!store_.has_plan(stored)) {
    add_parameters(stored, plan_);
    store_.set_plan(stored, options_.stop);
  }
  plan_kept_ = true;
}

// ---- the work ---------------------------------------------------------------------------------

void Run::work_through() {
  while (true) {
    const bool something_left = !out_.empty() || !schedule_.empty();
    if (something_left && options_.stop.stop_requested()) stop();
    hand_out();
    if (out_.empty()) return;
    collected_ = workers_.collect(kPatience);
    for (TaskResult& result : collected_) take(std::move(result));
    report(false);
  }
}

void Run::hand_out() {
  while (!ending_ && out_.size() < workers_.capacity()) {
    std::optional<Piece> piece = schedule_.next();
    if (!piece) return;
    keep_plan();
    std::shared_ptr<Open>& open = open_[piece->tile.get()];
    if (!open) open = std::make_shared<Open>(Open{Arrivals(piece->tile->from), piece->tile->to});
    Task task = task_of(*piece);
    task.id = next_id_++;
    out_.emplace(task.id, Out{std::move(*piece), open});
    workers_.submit(std::move(task));
  }
}

Task Run::task_of(const Piece& piece) const {
  Task task;
  for (const std::size_t cell : piece.tile->cells) task.points.push_back(plan_.cells[cell].point());
  task.first_replica = piece.first;
  task.replicas = piece.replicas;
  task.part = piece.part;
  task.threads = piece.threads;
  task.predicts = options_.predictions;
  return task;
}

void Run::take(TaskResult result) {
  const Out out = std::move(out_.extract(result.id).mapped());
  schedule_.done(out.piece, result.seconds);
  outcome_.seconds += result.seconds * out.piece.threads;
  if (!result.failure.empty()) fail(result.failure_code, result.failure);
  if (result.stopped) stop();
  if (out.piece.part) {
    take_part(out, std::move(result));
  } else {
    take_whole(out, std::move(result));
  }
  const Tile& tile = *out.piece.tile;
  while (const std::optional<Arrival> arrival = out.open->arrivals.next()) commit(tile, *arrival);
  if (out.open->arrivals.next_replica() == out.open->to) {
    open_.erase(&tile);
    decide(tile);
  }
}

void Run::take_whole(const Out& out, TaskResult result) {
  const std::uint64_t replicas = result.values.size() / (positions_ * out.piece.tile->cells.size());
  if (replicas == 0) return;
  out.open->arrivals.add({out.piece.first, replicas, std::move(result.values),
                          std::move(result.predictions), result.seconds, result.rank});
}

void Run::take_part(const Out& out, TaskResult result) {
  if (result.stopped || !result.failure.empty()) return;
  Arrivals& arrivals = out.open->arrivals;
  const std::uint64_t replica = out.piece.first;
  const std::size_t parts = out.piece.tile->parts;
  if (!arrivals.add_part(replica, *out.piece.part, parts, std::move(result))) return;
  std::vector<TaskResult> all = arrivals.take_parts(replica);
  Arrival arrival{replica, 1, {}, std::move(all[0].predictions), 0.0, all[0].rank};
  std::vector<std::vector<double>> values;
  for (TaskResult& part : all) {
    arrival.seconds += part.seconds;
    values.push_back(std::move(part.values));
  }
  const Point point = plan_.cells[out.piece.tile->cells[0]].point();
  try {
    arrival.values = experiment_.join(point, study_.seed, replica, values);
    arrivals.add(std::move(arrival));
  } catch (const Error& error) {
    fail(error.code(), failure_text(experiment_, point, error.what()));
  }
}

void Run::commit(const Tile& tile, const Arrival& arrival) {
  const std::size_t count = tile.cells.size();
  DEWPOINT_EXPECTS(arrival.values.size() == arrival.replicas * count * positions_);
  DEWPOINT_EXPECTS(arrival.first > 0 || arrival.predictions.size() == count * predictions_);
  for (std::size_t c = 0; c < count; ++c) {
    CellState& cell = cells_[tile.cells[c]];
    store::SweepCell& known = cell.known;
    const double share = cell.work / tile.work;
    for (std::size_t r = 0; r < arrival.replicas; ++r) {
      const double* values = arrival.values.data() + (r * count + c) * positions_;
      for (std::size_t p = 0; p < positions_; ++p) {
        if (!std::isnan(values[p])) known.moments[p].add(values[p]);
      }
    }
    known.replicas += arrival.replicas;
    if (arrival.first == 0) {
      const double* begin = arrival.predictions.data() + c * predictions_;
      known.predictions.assign(begin, begin + predictions_);
    }
    store_.put(plan_.cells[tile.cells[c]].key, known,
               {arrival.first, known.replicas, arrival.seconds * share, arrival.rank});
    outcome_.computed += std::exchange(cell.grown, true) ? 0 : 1;
    outcome_.replicas += arrival.replicas;
    work_done_ += cell.work * static_cast<double>(arrival.replicas);
  }
}

// A tile has all replicas it was to get: its cells are finished or go on together.
void Run::decide(const Tile& tile) {
  std::vector<Need> needs;
  for (const std::size_t cell : tile.cells) settle(cell, needs);
  for (Tile& next : tiles_of(experiment_, plan_.cells, needs)) {
    next.rate = tile.rate;
    schedule_.add(std::move(next));
  }
}

void Run::settle(std::size_t cell, std::vector<Need>& needs) {
  const store::SweepCell& known = cells_[cell].known;
  const std::uint64_t want = demand_.replicas(known, known.exact);
  cells_[cell].finished = want == known.replicas;
  if (cells_[cell].finished) {
    ++outcome_.finished;
  } else {
    needs.push_back({cell, known.replicas, want});
  }
}

void Run::stop() {
  if (!outcome_.stopped) workers_.stop();
  outcome_.stopped = ending_ = true;
}

// The first failure ends the run; what is under way still counts.
void Run::fail(Code code, const std::string& message) {
  ending_ = true;
  if (failure_.empty()) failure_code_ = code;
  if (failure_.empty()) failure_ = message;
}

// After an exception: nothing of this run may be under way when it leaves.
void Run::abandon() {
  workers_.stop();
  for (const TaskResult& result : collected_) out_.erase(result.id);  // it may be one of them
  while (!out_.empty()) {
    for (const TaskResult& result : workers_.collect(kPatience)) out_.erase(result.id);
  }
}

void Run::report(bool now) {
  if (!options_.progress || (!now && Clock::now() < reported_ + kBetweenReports)) return;
  reported_ = Clock::now();
  RunProgress progress;
  progress.planned = plan_.cells.size();
  progress.finished = outcome_.finished;
  progress.work_done = work_done_;
  progress.work_left = schedule_.work_left();
  options_.progress(progress);
}

}  // namespace

RunOutcome run_study(const StudyText& study, const Experiment& experiment, Plan plan,
                     store::CellStore& store, Workers& workers, const RunOptions& options) {
  return Run(study, experiment, std::move(plan), store, workers, options).run();
}

}  // namespace dewpoint::studies
