#include "dewpoint/studies/schedule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>
#include <utility>

namespace dewpoint::studies {
namespace {

std::size_t positions_of(const Observable& observable) {
  std::size_t positions = 1;
  for (const Dimension& dimension : observable.inner) positions *= dimension.coordinates.size();
  return positions;
}

// Points with the same text may share a tile.
std::string group_text(Point point, std::span<const std::string> ladder, const Need& need) {
  for (const std::string& name : ladder) point.erase(name);
  return fmt::format("{} {} {}", canonical_text(point), need.have, need.want);
}

Tile new_tile(const Need& need, std::size_t parts) {
  Tile tile;
  tile.from = need.have;
  tile.to = need.want;
  tile.parts = parts;
  tile.work = 0.0;
  return tile;
}

// Rows that differ in other parameters of the ladder as well.
std::vector<Tile> joined_tiles(std::vector<Tile> tiles, const std::vector<PlannedCell>& cells,
                               const std::vector<std::string>& ladder) {
  std::vector<Tile> joined;
  std::unordered_map<std::string, std::size_t> open;
  for (Tile& tile : tiles) {
    const Need need{tile.cells.front(), tile.from, tile.to};
    std::size_t place = joined.size();
    if (tile.parts == 1) {
      const std::string text = group_text(cells[need.cell].point(), ladder, need);
      std::size_t& group = open.try_emplace(text, place).first->second;
      const bool fits =
          group < place && joined[group].cells.size() + tile.cells.size() <= kLargestJoined;
      place = group = fits ? group : place;
    }
    if (place == joined.size()) {
      joined.push_back(std::move(tile));
    } else {
      Tile& known = joined[place];
      known.cells.insert(known.cells.end(), tile.cells.begin(), tile.cells.end());
      known.work += tile.work;
    }
  }
  return joined;
}

}  // namespace

std::size_t positions_of(const std::vector<Observable>& observables) {
  std::size_t positions = 0;
  for (const Observable& observable : observables) positions += positions_of(observable);
  return positions;
}

ValueRange range_of(const std::vector<Observable>& observables, const std::string& name) {
  ValueRange range;
  std::vector<std::string> names;
  for (const Observable& observable : observables) {
    range.count = positions_of(observable);
    if (observable.name == name) return range;
    range.first += range.count;
    names.push_back(observable.name);
  }
  throw Error(Code::bad_value, fmt::format("observable = \"{}\": not measured; allowed: {}", name,
                                           fmt::join(names, ", ")));
}

double work_of(const Experiment& experiment, const Point& point) {
  const double work = experiment.work(point);
  return std::isfinite(work) && work > 0.0 ? work : 1.0;
}

std::string named_or_order_parameter(const std::string& name, const Experiment& experiment) {
  return name.empty() ? experiment.order_parameter() : name;
}

Demand demand_of(const Precision& precision, const Experiment& experiment,
                 const std::vector<Observable>& observables) {
  if (precision.target_error <= 0.0) return {precision, {}};
  return {precision,
          range_of(observables, named_or_order_parameter(precision.target_observable, experiment))};
}

Demand::Demand(const Precision& precision, ValueRange target)
    : precision_(precision), target_(target) {}

std::uint64_t Demand::replicas(const store::SweepCell& cell, bool deterministic) const {
  const auto at_least = [&](std::uint64_t wanted) { return std::max(cell.replicas, wanted); };
  if (deterministic) return at_least(1);
  if (precision_.target_error <= 0.0)
    return at_least(std::max<std::uint64_t>(precision_.replicas, 1));
  const std::uint64_t most = std::max<std::uint64_t>(precision_.most, 1);
  std::uint64_t round = std::min(std::max<std::uint64_t>(precision_.replicas, 8), most);
  while (round < cell.replicas && round < most) round = round > most / 2 ? most : 2 * round;
  if (cell.replicas < round || round == most || precise(cell)) return at_least(round);
  return round > most / 2 ? most : 2 * round;
}

bool Demand::precise(const store::SweepCell& cell) const {
  for (std::size_t p = target_.first; p < target_.first + target_.count; ++p) {
    if (cell.moments[p].estimate().standard_error > precision_.target_error) return false;
  }
  return true;
}

std::vector<Tile> tiles_of(const Experiment& experiment, const std::vector<PlannedCell>& cells,
                           const std::vector<Need>& needs) {
  const std::vector<std::string> ladder = experiment.ladder();
  const std::span<const std::string> first(ladder.data(), std::min<std::size_t>(ladder.size(), 1));
  std::vector<Tile> tiles;
  std::unordered_map<std::string, std::size_t> open;  // the last tile of each group
  for (const Need& need : needs) {
    const Point point = cells[need.cell].point();
    const std::size_t parts = experiment.parts(point);
    std::size_t tile = tiles.size();
    if (parts == 1 && !ladder.empty()) {
      std::size_t& group = open.try_emplace(group_text(point, first, need), tile).first->second;
      if (group < tiles.size() && tiles[group].cells.size() == kLargestTile) group = tile;
      tile = group;
    }
    if (tile == tiles.size()) tiles.push_back(new_tile(need, parts));
    tiles[tile].cells.push_back(need.cell);
    tiles[tile].work += work_of(experiment, point);
  }
  return ladder.size() > 1 ? joined_tiles(std::move(tiles), cells, ladder) : tiles;
}

double Piece::work() const {
  return tile->work * static_cast<double>(replicas) / static_cast<double>(part ? tile->parts : 1);
}

Schedule::Schedule(int threads, int per_task, std::size_t positions)
    : threads_(threads), per_task_(per_task), positions_(positions) {}

void Schedule::add(Tile tile) {
  DEWPOINT_EXPECTS(tile.from < tile.to && !tile.cells.empty());
  Waiting waiting;
  waiting.cost = tile.work * static_cast<double>(tile.to - tile.from);
  waiting.order = added_++;
  waiting.tile = std::make_shared<Tile>(std::move(tile));
  units_waiting_ += waiting.units();
  work_waiting_ += waiting.cost;
  waiting_.push(std::move(waiting));
}

std::optional<Piece> Schedule::next() {
  if (!current_) {
    if (waiting_.empty()) return std::nullopt;
    current_ = waiting_.top();
    waiting_.pop();
  }
  Tile& tile = *current_->tile;
  Piece piece;
  piece.tile = current_->tile;
  piece.first = tile.from + current_->handed / tile.parts;
  if (tile.parts > 1) {
    piece.part = current_->handed % tile.parts;
  } else {
    piece.replicas = replicas_at_once(*current_);
  }
  piece.threads = threads_for_next();
  threads_out_ += piece.threads;
  current_->handed += piece.replicas;
  units_waiting_ -= piece.replicas;
  work_waiting_ -= piece.work();
  work_out_ += piece.work();
  if (current_->handed == current_->units()) current_.reset();
  return piece;
}

// By the tile's own rate if it has one. What is left over is shared by all threads, so that they
// end together.
std::uint64_t Schedule::replicas_at_once(const Waiting& waiting) const {
  const Tile& tile = *waiting.tile;
  const double rate = tile.rate > 0.0 ? tile.rate : rate_;
  if (rate <= 0.0) return 1;
  const double share = rate_ * work_waiting_ / (2.0 * threads_);
  const double seconds = std::min(tile.rate > 0.0 ? kPieceSeconds : kGuess * kPieceSeconds, share);
  const std::size_t values = std::max<std::size_t>(tile.cells.size() * positions_, 1);
  const double most = std::min(seconds / (rate * tile.work),
                               static_cast<double>(kPieceValues) / static_cast<double>(values));
  const std::uint64_t left = waiting.units() - waiting.handed;
  if (most < 1.0) return 1;
  return most < static_cast<double>(left) ? static_cast<std::uint64_t>(most) : left;
}

// One, until fewer pieces are left than there are idle threads.
int Schedule::threads_for_next() const {
  const int idle = threads_ - threads_out_;
  if (idle <= 1 || units_waiting_ >= static_cast<std::uint64_t>(idle)) return 1;
  return std::clamp(idle / static_cast<int>(units_waiting_), 1, per_task_);
}

void Schedule::done(const Piece& piece, double seconds) {
  threads_out_ -= piece.threads;
  work_out_ -= piece.work();
  const double rate = std::max(seconds, 1e-7) * piece.threads / piece.work();
  const auto follow = [&](double& known) { known = known > 0.0 ? 0.5 * (known + rate) : rate; };
  follow(piece.tile->rate);
  follow(rate_);
}

// Sums of many terms and their differences: what rounding leaves of nothing is nothing.
double Schedule::work_left() const {
  return (empty() ? 0.0 : std::max(work_waiting_, 0.0)) +
         (threads_out_ == 0 ? 0.0 : std::max(work_out_, 0.0));
}

void Arrivals::add(Arrival arrival) {
  const std::uint64_t first = arrival.first;
  early_.emplace(first, std::move(arrival));
}

bool Arrivals::add_part(std::uint64_t replica, std::size_t part, std::size_t parts,
                        TaskResult result) {
  Parts& known =
      parts_.try_emplace(replica, Parts{std::vector<TaskResult>(parts), parts}).first->second;
  known.results[part] = std::move(result);
  return --known.missing == 0;
}

std::vector<TaskResult> Arrivals::take_parts(std::uint64_t replica) {
  return std::move(parts_.extract(replica).mapped().results);
}

std::optional<Arrival> Arrivals::next() {
  const auto found = early_.find(next_);
  if (found == early_.end()) return std::nullopt;
  Arrival arrival = std::move(early_.extract(found).mapped());
  next_ += arrival.replicas;
  return arrival;
}

}  // namespace dewpoint::studies
