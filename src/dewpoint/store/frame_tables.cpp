#include "dewpoint/store/frame_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/schema.hpp"

namespace dewpoint::store {
namespace {

// ------------------------------------------------------------------------------------ writing

void write_dimensions(Database& database, std::size_t frame, const Frame& content) {
  auto dimension = database.prepare("INSERT INTO dimension VALUES (?, ?, ?, ?)");
  auto coordinate = database.prepare("INSERT INTO coordinate VALUES (?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < content.dimensions().size(); ++i) {
    const Dimension& along = content.dimensions()[i];
    dimension.run(frame, i, along.name, along.coordinates.size());
    for (std::size_t k = 0; k < along.coordinates.size(); ++k) {
      coordinate.run(frame, i, k, along.coordinates[k], label_at(along, k));
    }
  }
}

std::size_t position_of(const Frame& frame, const std::string& dimension) {
  const auto& all = frame.dimensions();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Dimension& d) { return d.name == dimension; });
  DEWPOINT_EXPECTS(found != all.end());
  return static_cast<std::size_t>(found - all.begin());
}

void write_axes(Database& database, std::size_t frame, std::size_t position,
                const Variable& variable, const Frame& content) {
  auto axis = database.prepare("INSERT INTO axis VALUES (?, ?, ?, ?, ?)");
  std::size_t stride = 1;
  for (std::size_t i = variable.dimensions.size(); i-- > 0;) {
    const std::size_t dimension = position_of(content, variable.dimensions[i]);
    axis.run(frame, position, i, dimension, stride);
    stride *= content.dimensions()[dimension].coordinates.size();
  }
  DEWPOINT_EXPECTS(variable.cells.size() == stride);
}

void write_variables(Database& database, std::size_t frame, const Frame& content) {
  auto variable = database.prepare("INSERT INTO variable VALUES (?, ?, ?)");
  auto value = database.prepare("INSERT INTO frame_value VALUES (?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < content.variables().size(); ++i) {
    const Variable& values = content.variables()[i];
    variable.run(frame, i, values.name);
    write_axes(database, frame, i, values, content);
    for (std::size_t k = 0; k < values.cells.size(); ++k) {
      const auto& [mean, standard_error, samples] = values.cells[k];
      value.run(frame, i, k, mean, standard_error, samples);
    }
  }
}

// ------------------------------------------------------------------------------------ reading

// A Frame takes a repeated name for its caller's mistake; here it is the file's.
template <class Items>
void expect_new_name(const Items& items, const std::string& name) {
  for (const auto& item : items) {
    if (item.name == name) damaged(fmt::format("two rows named '{}' in one frame", name));
  }
}

Dimension read_dimension(Database& database, std::int64_t frame, std::size_t position,
                         const std::string& name, std::size_t extent, int schema) {
  DimensionReader dimension(name);
  auto query =
      database.prepare(fmt::format("SELECT position, value, {} FROM coordinate "
                                   "WHERE frame = ? AND dimension = ? ORDER BY position",
                                   schema == 1 ? "NULL" : "label"));
  query.bind(frame, position);
  while (query.step()) dimension.add(query, "coordinate");
  return std::move(dimension).finish(extent);
}

void read_dimensions(Database& database, std::int64_t id, int schema, Frame& frame) {
  auto query = database.prepare(
      "SELECT position, name, extent FROM dimension WHERE frame = ? ORDER BY position");
  query.bind(id);
  while (query.step()) {
    const std::size_t position = frame.dimensions().size();
    expect_position(query.integer(0), position, "dimension");
    expect_new_name(frame.dimensions(), query.text(1));
    const std::size_t extent = count_from(query.integer(2), "extent");
    add_dimension(frame, read_dimension(database, id, position, query.text(1), extent, schema));
  }
}

std::vector<std::string> read_axes(Database& database, std::int64_t id, std::size_t variable,
                                   const Frame& frame) {
  std::vector<std::string> names;
  auto query = database.prepare(
      "SELECT position, dimension FROM axis WHERE frame = ? AND variable = ? ORDER BY position");
  query.bind(id, variable);
  while (query.step()) {
    expect_position(query.integer(0), names.size(), "axis");
    const std::size_t dimension = count_from(query.integer(1), "dimension");
    if (dimension >= frame.dimensions().size()) damaged("an axis along no dimension");
    names.push_back(frame.dimensions()[dimension].name);
  }
  return names;
}

std::optional<std::size_t> cells_over(const std::vector<std::string>& dimensions,
                                      const Frame& frame) {
  std::vector<std::size_t> extents;
  for (const auto& name : dimensions) extents.push_back(frame.dimension(name).coordinates.size());
  return product(extents);
}

std::vector<Estimate> read_values(Database& database, std::int64_t frame, std::size_t variable,
                                  int schema) {
  std::vector<Estimate> cells;
  auto query =
      database.prepare(fmt::format("SELECT position, mean, standard_error, samples FROM {} "
                                   "WHERE frame = ? AND variable = ? ORDER BY position",
                                   schema == 1 ? "cell" : "frame_value"));
  query.bind(frame, variable);
  while (query.step()) {
    expect_position(query.integer(0), cells.size(), "frame_value");
    cells.push_back(
        {query.number(1), query.number(2), count_from(query.integer(3), "number of samples")});
  }
  return cells;
}

void read_variables(Database& database, std::int64_t id, int schema, Frame& frame) {
  auto query =
      database.prepare("SELECT position, name FROM variable WHERE frame = ? ORDER BY position");
  query.bind(id);
  while (query.step()) {
    const std::size_t position = frame.variables().size();
    expect_position(query.integer(0), position, "variable");
    expect_new_name(frame.variables(), query.text(1));
    std::vector<std::string> dimensions = read_axes(database, id, position, frame);
    std::vector<Estimate> cells = read_values(database, id, position, schema);
    // Checked before the frame makes room: a damaged file must not ask for a terabyte.
    if (cells.size() != cells_over(dimensions, frame)) {
      damaged(fmt::format("variable '{}' has {} cells", query.text(1), cells.size()));
    }
    frame.add_variable(query.text(1), std::move(dimensions)).cells = std::move(cells);
  }
}

}  // namespace

void write_frames(Database& database, const std::vector<Frame>& frames) {
  auto frame = database.prepare("INSERT INTO frame VALUES (?, ?)");
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frame.run(i, frames[i].name());
    write_dimensions(database, i, frames[i]);
    write_variables(database, i, frames[i]);
  }
}

std::vector<Frame> read_frames(Database& database, int schema) {
  std::vector<Frame> frames;
  auto query = database.prepare("SELECT id, name FROM frame ORDER BY id");
  while (query.step()) {
    Frame& frame = frames.emplace_back(query.text(1));
    read_dimensions(database, query.integer(0), schema, frame);
    read_variables(database, query.integer(0), schema, frame);
  }
  return frames;
}

void DimensionReader::add(const Statement& row, const char* table) {
  expect_position(row.integer(0), dimension_.coordinates.size(), table);
  dimension_.coordinates.push_back(row.number(1));
  if (!row.is_null(2)) dimension_.labels.push_back(row.text(2));
}

Dimension DimensionReader::finish(std::size_t extent) && {
  const std::size_t found = dimension_.coordinates.size();
  const std::size_t labels = dimension_.labels.size();
  if (found != extent || (labels != 0 && labels != found)) {
    damaged(fmt::format("dimension '{}' lacks coordinates", dimension_.name));
  }
  for (std::size_t i = 0; i < labels; ++i) {
    if (dimension_.coordinates[i] == static_cast<double>(i)) continue;
    damaged(fmt::format("the labels of dimension '{}' are not numbered", dimension_.name));
  }
  return std::move(dimension_);
}

void add_dimension(Frame& frame, Dimension dimension) {
  if (dimension.labels.empty()) {
    frame.add_dimension(std::move(dimension.name), std::move(dimension.coordinates));
  } else {
    frame.add_labelled_dimension(std::move(dimension.name), std::move(dimension.labels));
  }
}

std::optional<std::string_view> label_at(const Dimension& dimension, std::size_t index) {
  if (dimension.labels.empty()) return {};
  return dimension.labels[index];
}

std::optional<std::size_t> product(const std::vector<std::size_t>& extents) {
  std::size_t cells = 1;
  for (const std::size_t extent : extents) {
    if (extent != 0 && cells > std::numeric_limits<std::size_t>::max() / extent) return {};
    cells *= extent;
  }
  return cells;
}

}  // namespace dewpoint::store
