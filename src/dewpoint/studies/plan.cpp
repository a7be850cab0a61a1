#include "dewpoint/studies/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#define XXH_INLINE_ALL  // the header is the library
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::studies {
namespace {

using Place = std::vector<std::size_t>;

Dimension dimension_of(const GridAxis& axis) {
  if (axis.words.empty()) return {axis.name, axis.values};
  std::vector<double> coordinates(axis.words.size());
  std::iota(coordinates.begin(), coordinates.end(), 0.0);
  return {axis.name, std::move(coordinates), axis.words};
}

void set_coordinate(Point& point, const Dimension& axis, std::size_t index) {
  if (axis.labels.empty()) {
    point[axis.name] = axis.coordinates[index];
  } else {
    point[axis.name] = axis.labels[index];
  }
}

/// "at n=4, law=late".
std::string combination_text(const std::vector<Dimension>& axes, const Place& place) {
  Point point;
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    set_coordinate(point, axes[k], place[k]);
    texts.push_back(fmt::format("{}={}", axes[k].name, value_text(point[axes[k].name])));
  }
  return texts.empty() ? "of the study" : fmt::format("at {}", fmt::join(texts, ", "));
}

void expect_finite(const Point& point) {
  for (const auto& [name, value] : point) {
    const auto* number = std::get_if<double>(&value);
    if (number != nullptr && !std::isfinite(*number)) {
      throw Error(Code::bad_value,
                  fmt::format("{}: becomes {}; allowed: finite numbers", name, *number));
    }
  }
}

/// The next place row by row: false after the last. `changed` is the slowest axis that moved.
bool advance(Place& place, const std::vector<Dimension>& axes, std::size_t& changed) {
  for (changed = axes.size(); changed-- > 0;) {
    if (++place[changed] < axes[changed].coordinates.size()) return true;
    place[changed] = 0;
  }
  return false;
}

std::size_t cell_count(const std::vector<Dimension>& axes) {
  std::size_t cells = 1;
  for (const Dimension& axis : axes) cells *= axis.coordinates.size();
  return cells;
}

PlannedCell cell_at(const StudyText& study, const Experiment& experiment, const Point& given,
                    Place place) {
  PlannedCell cell{.place = std::move(place), .point = experiment.resolved(given), .key = {}};
  expect_finite(cell.point);
  cell.key = cell_key(experiment, study.seed, cell.point);
  return cell;
}

/// `seen`: the keys of the cells before the last.
void expect_new(std::unordered_set<std::string_view>& seen, const Plan& plan) {
  const PlannedCell& last = plan.cells.back();
  if (seen.insert(last.key).second) return;
  const auto earlier = std::find_if(plan.cells.begin(), plan.cells.end(),
                                    [&](const auto& cell) { return cell.key == last.key; });
  throw Error(Code::bad_value,
              fmt::format("grid: the cells {} and {} are the same point; allowed: axes that all "
                          "matter",
                          combination_text(plan.axes, earlier->place),
                          combination_text(plan.axes, last.place)));
}

}  // namespace

std::string cell_key(const Experiment& experiment, std::uint64_t seed, const Point& point) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n", experiment.name(), experiment.schema(), seed) +
      canonical_text(point);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Plan grid_plan(const StudyText& study, const Experiment& experiment) {
  Plan plan;
  for (const GridAxis& axis : study.grid) plan.axes.push_back(dimension_of(axis));
  plan.cells.reserve(cell_count(plan.axes));
  std::unordered_set<std::string_view> seen(cell_count(plan.axes));
  Point given = study.fixed;
  Place place(plan.axes.size(), 0);
  std::size_t changed = 0;
  do {
    for (std::size_t k = changed; k < place.size(); ++k) {
      set_coordinate(given, plan.axes[k], place[k]);
    }
    try {
      plan.cells.push_back(cell_at(study, experiment, given, place));
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("the cell {}: {}", combination_text(plan.axes, place), error.what()));
    }
    expect_new(seen, plan);
  } while (advance(place, plan.axes, changed));
  return plan;
}

store::SweepPlan stored_plan(const Plan& plan, const Experiment& experiment) {
  DEWPOINT_EXPECTS(!plan.cells.empty());
  store::SweepPlan stored{.axes = plan.axes, .measured = {}, .predicted = {}, .places = {}};
  const Point& first = plan.cells.front().point;
  for (Observable& observable : experiment.observables(first)) {
    stored.measured.push_back({observable.name, std::move(observable.inner)});
  }
  for (Observable& prediction : experiment.predictions(first)) {
    stored.predicted.push_back({prediction.name, std::move(prediction.inner)});
  }
  stored.places.reserve(plan.cells.size());
  for (const PlannedCell& cell : plan.cells) {
    stored.places.push_back({cell.place, cell.key, canonical_text(cell.point), cell.level});
  }
  return stored;
}

}  // namespace dewpoint::studies
