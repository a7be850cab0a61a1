#include "dewpoint/studies/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#define XXH_INLINE_ALL  // the header is the library
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/studies/older_names.hpp"

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

/// Place number `cell`, row by row.
Place place_of(std::size_t cell, const std::vector<Dimension>& axes) {
  Place place(axes.size());
  for (std::size_t k = axes.size(); k-- > 0;) {
    place[k] = cell % axes[k].coordinates.size();
    cell /= axes[k].coordinates.size();
  }
  return place;
}

std::size_t cell_count(const std::vector<Dimension>& axes) {
  std::size_t cells = 1;
  for (const Dimension& axis : axes) cells *= axis.coordinates.size();
  return cells;
}

/// Keys of one experiment and seed.
class KeyMaker {
 public:
  KeyMaker(const Experiment& experiment, std::uint64_t seed)
      : KeyMaker(experiment, seed, experiment.schema()) {}
  KeyMaker(const Experiment& experiment, std::uint64_t seed, int schema)
      : front_(fmt::format("{}\n{}\n{}\n", experiment.name(), schema, seed)) {
    if (dynamic_cast<const KeyedByOlderNames*>(&experiment) == nullptr) return;
    for (const Field& field : experiment.parameters()) {
      if (!field.formerly.empty()) renamed_.push_back(&field);
    }
  }

  [[nodiscard]] std::string key(const Point& point) const {
    const std::string text =
        front_ + canonical_text(renamed_.empty() ? point : under_older_names(point));
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  [[nodiscard]] Point under_older_names(Point point) const {
    for (const Field* field : renamed_) {
      if (auto entry = point.extract(field->name)) {
        entry.key() = field->formerly;
        point.insert(std::move(entry));
      }
    }
    return point;
  }

  std::string front_;
  std::vector<const Field*> renamed_;
};

/// Makes the cells of a range; the refusal of the first that is refused.
std::optional<Error> fill(const StudyText& study, const Experiment& experiment, Range range,
                          const RunContext& context, Plan& plan) {
  const KeyMaker keys(experiment, study.seed);
  PointPacker packer;
  Point given = study.fixed;
  for (std::size_t number = range.begin; number < range.end; ++number) {
    context.throw_if_stopped();
    PlannedCell& cell = plan.cells[number];
    cell.place = place_of(number, plan.axes);
    for (std::size_t k = 0; k < cell.place.size(); ++k) {
      set_coordinate(given, plan.axes[k], cell.place[k]);
    }
    try {
      const Point point = experiment.resolved(given);
      expect_finite(point);
      cell.key = keys.key(point);
      cell.packed = packer.packed(point);
    } catch (const Error& error) {
      return Error(
          error.code(),
          fmt::format("the cell {}: {}", combination_text(plan.axes, cell.place), error.what()));
    }
  }
  return {};
}

void expect_different(const Plan& plan) {
  std::unordered_map<std::string_view, const PlannedCell*> seen(plan.cells.size());
  for (const PlannedCell& cell : plan.cells) {
    const auto [earlier, is_new] = seen.emplace(cell.key, &cell);
    if (is_new) continue;
    throw Error(Code::bad_value,
                fmt::format("grid: the cells {} and {} are the same point; allowed: axes that all "
                            "matter",
                            combination_text(plan.axes, earlier->second->place),
                            combination_text(plan.axes, cell.place)));
  }
}

// Reads canonical_text().
Point point_in(const std::string& text) {
  Point point;
  const auto object = nlohmann::json::parse(text);
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) {
      point[name] = value.get<std::string>();
    } else if (value.is_boolean()) {
      point[name] = value.get<bool>();
    } else {
      point[name] = value.get<double>();
    }
  }
  return point;
}

// Few and large blocks, two per thread so that all end together. A small plan is one block.
std::size_t cells_at_once(std::size_t count) {
  constexpr std::size_t fewest = 1024;
  const std::size_t blocks = 2 * std::max(std::thread::hardware_concurrency(), 1U);
  return std::max(fewest, (count + blocks - 1) / blocks);
}

}  // namespace

std::string cell_key(const Experiment& experiment, std::uint64_t seed, const Point& point) {
  return KeyMaker(experiment, seed).key(point);
}

std::vector<std::string> former_keys(const Experiment& experiment, std::uint64_t seed,
                                     const Point& point) {
  std::vector<std::string> keys;
  for (int schema = 1; schema < experiment.schema(); ++schema) {
    keys.push_back(KeyMaker(experiment, seed, schema).key(point));
  }
  return keys;
}

store::Predictor predictor_of(const Experiment& experiment, std::uint64_t seed, std::size_t count,
                              std::stop_token stop) {
  const KeyMaker keys(experiment, seed);
  const RunContext context{0, std::move(stop), {}};
  return
      [&experiment, keys, count, context](const std::string& key, const std::string& parameters) {
        context.throw_if_stopped();
        try {
          const Point point = experiment.resolved(point_in(parameters));
          if (keys.key(point) == key) return experiment.predict(point);
        } catch (const std::exception&) {
          // Of an earlier version of the experiment: no plan will ask for it again.
        }
        return std::vector<double>(count, kUnknown);
      };
}

Plan grid_plan(const StudyText& study, const Experiment& experiment, const std::stop_token& stop) {
  Plan plan;
  for (const GridAxis& axis : study.grid) plan.axes.push_back(dimension_of(axis));
  const std::size_t count = cell_count(plan.axes);
  plan.cells.resize(count);
  const std::size_t at_once = cells_at_once(count);
  std::vector<std::optional<Error>> refusals((count + at_once - 1) / at_once);
  const RunContext context{.threads = 0, .stop = stop, .progress = {}};
  parallel_for(refusals.size(), context, [&](std::size_t block) {
    const Range range{block * at_once, std::min((block + 1) * at_once, count)};
    refusals[block] = fill(study, experiment, range, context, plan);
  });
  for (const auto& refusal : refusals) {
    if (refusal) throw Error(*refusal);
  }
  context.throw_if_stopped();
  expect_different(plan);
  return plan;
}

store::CellForm stored_form(const Plan& plan, const Experiment& experiment) {
  DEWPOINT_EXPECTS(!plan.cells.empty());
  store::CellForm form;
  const Point first = plan.cells.front().point();
  for (Observable& observable : experiment.observables(first)) {
    form.measured.push_back({observable.name, std::move(observable.inner)});
  }
  for (Observable& prediction : experiment.predictions(first)) {
    form.predicted.push_back({prediction.name, std::move(prediction.inner)});
  }
  return form;
}

store::SweepPlan stored_places(const Plan& plan, const Experiment& experiment) {
  auto [measured, predicted] = stored_form(plan, experiment);
  store::SweepPlan stored{plan.axes, std::move(measured), std::move(predicted), {}};
  stored.places.reserve(plan.cells.size());
  for (const PlannedCell& cell : plan.cells) {
    stored.places.push_back({cell.place, cell.key, {}, cell.level});
  }
  return stored;
}

void add_parameters(store::SweepPlan& stored, const Plan& plan) {
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    stored.places[i].parameters = canonical_text(plan.cells[i].point());
  }
}

}  // namespace dewpoint::studies
