#include "dewpoint/store/plan_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/store/cell_tables.hpp"
#include "dewpoint/store/frame_tables.hpp"
#include "dewpoint/store/integrity.hpp"
#include "dewpoint/store/schema.hpp"
#include "dewpoint/store/sweep_frame.hpp"

namespace dewpoint::store {
namespace {

// A frame is dense: 2^27 estimates take 3 GB.
constexpr std::size_t kMostValues = std::size_t{1} << 27;

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same_variable(const SweepVariable& a, const SweepVariable& b) {
  return a.name == b.name &&
         std::equal(a.inner.begin(), a.inner.end(), b.inner.begin(), b.inner.end(), same_dimension);
}

const Dimension* find_dimension(const std::vector<Dimension>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Dimension& d) { return d.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// Values that a dense frame over these axes would hold; nothing when they are too many.
std::optional<std::size_t> frame_values(const SweepPlan& plan) {
  std::vector<std::size_t> extents;
  for (const Dimension& axis : plan.axes) extents.push_back(axis.coordinates.size());
  extents.push_back(value_count(plan.measured) + value_count(plan.predicted));
  const std::optional<std::size_t> values = product(extents);
  return values && *values <= kMostValues ? values : std::nullopt;
}

// ------------------------------------------------------------------------------------ writing

void write_dimensions(Database& database, const std::vector<Dimension>& dimensions,
                      std::size_t axes) {
  auto dimension = database.prepare("INSERT INTO sweep_dimension VALUES (?, ?, ?, ?)");
  auto coordinate = database.prepare("INSERT INTO sweep_coordinate VALUES (?, ?, ?, ?)");
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto& [name, coordinates, labels] = dimensions[i];
    DEWPOINT_EXPECTS(labels.empty() || labels.size() == coordinates.size());
    dimension.run(i, name, coordinates.size(), i >= axes);
    for (std::size_t k = 0; k < coordinates.size(); ++k) {
      coordinate.run(i, k, coordinates[k], label_at(dimensions[i], k));
    }
  }
}

void write_axes(Database& database, std::size_t variable, const std::vector<std::size_t>& along,
                const std::vector<Dimension>& dimensions) {
  auto axis = database.prepare("INSERT INTO sweep_axis VALUES (?, ?, ?, ?)");
  std::size_t stride = 1;
  for (std::size_t i = along.size(); i-- > 0;) {
    axis.run(variable, i, along[i], stride);
    stride *= dimensions[along[i]].coordinates.size();
  }
}

void write_variable(Database& database, std::size_t id, const SweepVariable& variable,
                    bool predicted, std::size_t axes, const std::vector<Dimension>& dimensions) {
  database.prepare("INSERT INTO sweep_variable VALUES (?, ?, ?, ?)")
      .run(id, variable.name, predicted, variable.positions());
  std::vector<std::size_t> along(axes);
  std::iota(along.begin(), along.end(), std::size_t{0});
  for (const Dimension& inner : variable.inner) {
    const Dimension* stored = find_dimension(dimensions, inner.name);
    along.push_back(static_cast<std::size_t>(stored - dimensions.data()));
  }
  write_axes(database, id, along, dimensions);
}

void write_places(Database& database, const std::vector<SweepPlace>& places,
                  const std::vector<Dimension>& axes, const std::stop_token& stop) {
  std::vector<CellName> names;
  names.reserve(places.size());
  for (const SweepPlace& place : places) names.push_back({place.key, place.parameters});
  const auto numbers = add_cells(database, names, stop);
  auto position = database.prepare("INSERT INTO sweep_place VALUES (?, ?, ?)");
  std::int64_t written = 0;
  for (const SweepPlace& place : places) {
    position.run(numbers.at(place.key), place_number(place, axes), place.level);
    if (++written % kBetweenStops == 0) RunContext{0, stop, {}}.throw_if_stopped();
  }
}

// Whether the places are stored in the order of the plan, as they are when it is set again.
bool has_places(Database& database, const SweepPlan& plan) {
  auto next = plan.places.begin();
  auto query = database.prepare(
      "SELECT p.place, p.level, c.key FROM sweep_place p JOIN cell c ON c.id = p.cell"
      " ORDER BY p.cell");
  for (; query.step(); ++next) {
    const bool same = next != plan.places.end() && next->key == query.text(2) &&
                      next->level == query.integer(1) &&
                      static_cast<std::int64_t>(place_number(*next, plan.axes)) == query.integer(0);
    if (!same) return false;
  }
  return next == plan.places.end();
}

// ------------------------------------------------------------------------------------ reading

struct StoredDimensions {
  std::vector<Dimension> all;
  std::size_t axes = 0;
};

Dimension read_dimension(Database& database, std::size_t id, const std::string& name,
                         std::size_t extent) {
  DimensionReader dimension(name);
  auto query = database.prepare(
      "SELECT position, value, label FROM sweep_coordinate WHERE dimension = ? ORDER BY position");
  query.bind(id);
  while (query.step()) dimension.add(query, "sweep_coordinate");
  return std::move(dimension).finish(extent);
}

StoredDimensions read_dimensions(Database& database) {
  StoredDimensions found;
  auto query = database.prepare("SELECT id, name, extent, inner FROM sweep_dimension ORDER BY id");
  while (query.step()) {
    expect_position(query.integer(0), found.all.size(), "sweep_dimension");
    if (find_dimension(found.all, query.text(1)) != nullptr) damaged("two dimensions of one name");
    const bool inner = query.integer(3) != 0;
    if (!inner && found.axes != found.all.size()) damaged("an axis of the plan after inner ones");
    const std::size_t extent = count_from(query.integer(2), "extent");
    found.all.push_back(read_dimension(database, found.all.size(), query.text(1), extent));
    found.axes += inner ? 0 : 1;
  }
  return found;
}

// A variable lies over all axes of the plan in their order, then over its inner dimensions.
std::vector<Dimension> read_inner(Database& database, std::size_t variable,
                                  const StoredDimensions& dimensions) {
  std::vector<Dimension> inner;
  std::size_t position = 0;
  auto query = database.prepare(
      "SELECT position, dimension FROM sweep_axis WHERE variable = ? ORDER BY position");
  query.bind(variable);
  for (; query.step(); ++position) {
    expect_position(query.integer(0), position, "sweep_axis");
    const std::size_t dimension = count_from(query.integer(1), "dimension");
    const bool fits = position < dimensions.axes
                          ? dimension == position
                          : dimension >= dimensions.axes && dimension < dimensions.all.size();
    if (!fits) damaged("a variable along no dimension");
    if (position >= dimensions.axes) inner.push_back(dimensions.all[dimension]);
  }
  if (position < dimensions.axes) damaged("a variable without the axes of the plan");
  return inner;
}

SweepVariable read_variable(Database& database, const Statement& row, std::size_t id,
                            const StoredDimensions& dimensions) {
  SweepVariable variable{row.text(1), read_inner(database, id, dimensions)};
  std::vector<std::size_t> extents;
  for (const Dimension& inner : variable.inner) extents.push_back(inner.coordinates.size());
  if (product(extents) != count_from(row.integer(3), "number of positions")) {
    damaged(fmt::format("variable '{}' does not fit its dimensions", variable.name));
  }
  return variable;
}

}  // namespace

std::size_t SweepVariable::positions() const {
  std::size_t count = 1;
  for (const Dimension& dimension : inner) count *= dimension.coordinates.size();
  return count;
}

bool same_dimension(const Dimension& a, const Dimension& b) {
  return a.name == b.name && a.labels == b.labels &&
         std::equal(a.coordinates.begin(), a.coordinates.end(), b.coordinates.begin(),
                    b.coordinates.end(), same_bits);
}

bool same_variables(const std::vector<SweepVariable>& a, const std::vector<SweepVariable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_variable);
}

bool same_form(const CellForm& a, const CellForm& b) {
  return same_variables(a.measured, b.measured) && same_variables(a.predicted, b.predicted);
}

std::string different_names(const std::vector<SweepVariable>& a,
                            const std::vector<SweepVariable>& b) {
  std::vector<std::string> names;
  const auto collect = [&](const auto& here, const auto& there) {
    for (const SweepVariable& variable : here) {
      const bool shared = std::any_of(there.begin(), there.end(), [&](const SweepVariable& other) {
        return same_variable(variable, other);
      });
      const bool known = std::find(names.begin(), names.end(), variable.name) != names.end();
      if (!shared && !known) names.push_back(variable.name);
    }
  };
  collect(a, b);
  collect(b, a);
  return names.empty() ? "in another order" : fmt::format("{}", fmt::join(names, ", "));
}

std::size_t value_count(const std::vector<SweepVariable>& variables) {
  return std::transform_reduce(variables.begin(), variables.end(), std::size_t{0}, std::plus<>(),
                               [](const SweepVariable& v) { return v.positions(); });
}

std::vector<Dimension> dimensions_of(const SweepPlan& plan) {
  std::vector<Dimension> all = plan.axes;
  for (const auto* variables : {&plan.measured, &plan.predicted}) {
    for (const SweepVariable& variable : *variables) {
      for (const Dimension& inner : variable.inner) {
        const Dimension* known = find_dimension(all, inner.name);
        DEWPOINT_EXPECTS(known == nullptr || same_dimension(*known, inner));
        if (known == nullptr) all.push_back(inner);
      }
    }
  }
  return all;
}

void write_plan(Database& database, const SweepPlan& plan, const std::stop_token& stop) {
  if (!frame_values(plan)) {
    throw Error(Code::bad_value,
                fmt::format("the axes of the study span more than {} values: ask for fewer "
                            "coordinates or fewer axes",
                            kMostValues));
  }
  database.execute(
      "DELETE FROM sweep_dimension; DELETE FROM sweep_coordinate; DELETE FROM sweep_variable;"
      "DELETE FROM sweep_axis; DELETE FROM sweep_place");
  const std::vector<Dimension> dimensions = dimensions_of(plan);
  write_dimensions(database, dimensions, plan.axes.size());
  std::size_t id = 0;
  for (const SweepVariable& variable : plan.measured) {
    write_variable(database, id++, variable, false, plan.axes.size(), dimensions);
  }
  for (const SweepVariable& variable : plan.predicted) {
    write_variable(database, id++, variable, true, plan.axes.size(), dimensions);
  }
  write_places(database, plan.places, plan.axes, stop);
  seal(database, StudyKind::sweep, Sealed::plan);
}

bool has_plan(Database& database, const SweepPlan& plan) {
  const SweepPlan stored = read_plan_head(database);
  const auto& axes = stored.axes;
  return same_form({plan.measured, plan.predicted}, {stored.measured, stored.predicted}) &&
         std::equal(axes.begin(), axes.end(), plan.axes.begin(), plan.axes.end(), same_dimension) &&
         has_places(database, plan);
}

SweepPlan read_plan_head(Database& database) {
  SweepPlan plan;
  StoredDimensions dimensions = read_dimensions(database);
  std::set<std::string> names;
  auto query =
      database.prepare("SELECT id, name, predicted, positions FROM sweep_variable ORDER BY id");
  for (std::size_t id = 0; query.step(); ++id) {
    expect_position(query.integer(0), id, "sweep_variable");
    const bool predicted = query.integer(2) != 0;
    if (!predicted && !plan.predicted.empty()) damaged("a measured variable after predicted ones");
    auto& variables = predicted ? plan.predicted : plan.measured;
    if (!names.insert(query.text(1)).second) damaged("two variables of one name");
    variables.push_back(read_variable(database, query, id, dimensions));
  }
  dimensions.all.resize(dimensions.axes);
  plan.axes = std::move(dimensions.all);
  if (!frame_values(plan)) damaged("too many values for one frame");
  return plan;
}

std::vector<SweepPlace> read_places(Database& database, const std::vector<Dimension>& axes) {
  std::vector<SweepPlace> places;
  std::size_t count = 1;
  for (const Dimension& axis : axes) count *= axis.coordinates.size();
  auto query = database.prepare(
      "SELECT p.place, p.level, c.key, c.parameters FROM sweep_place p JOIN cell c ON c.id = p.cell"
      " ORDER BY p.level, p.place");
  while (query.step()) {
    std::size_t number = count_from(query.integer(0), "place");
    if (number >= count) damaged("a cell outside the plan");
    std::vector<std::size_t> index(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
      index[i] = number % axes[i].coordinates.size();
      number /= axes[i].coordinates.size();
    }
    places.push_back(
        {std::move(index), query.text(2), query.text(3), static_cast<int>(query.integer(1))});
  }
  return places;
}

std::unordered_map<std::string, std::int64_t> read_cell_numbers(Database& database) {
  std::unordered_map<std::string, std::int64_t> numbers;
  auto query = database.prepare("SELECT id, key FROM cell NOT INDEXED");
  while (query.step()) numbers.emplace(query.text(1), query.integer(0));
  return numbers;
}

}  // namespace dewpoint::store
