#include "dewpoint/store/study.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/database.hpp"
#include "dewpoint/store/pending_file.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

// Numbers are ANY and not REAL: SQLite keeps a REAL column compact by storing whole numbers as
// integers, which loses the sign of -0.0. The constraint says what REAL would have said.
constexpr const char* kSchema = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE parameter (
  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, value TEXT NOT NULL
) STRICT;
CREATE TABLE frame (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE dimension (
  frame INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, extent INTEGER NOT NULL,
  PRIMARY KEY (frame, position), UNIQUE (frame, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE coordinate (
  frame INTEGER NOT NULL, dimension INTEGER NOT NULL, position INTEGER NOT NULL,
  value ANY CHECK (typeof(value) IN ('real', 'null')),
  PRIMARY KEY (frame, dimension, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE variable (
  frame INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (frame, position), UNIQUE (frame, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE axis (  -- dimensions of a variable; neighbours along one are `stride` cells apart
  frame INTEGER NOT NULL, variable INTEGER NOT NULL, position INTEGER NOT NULL,
  dimension INTEGER NOT NULL, stride INTEGER NOT NULL,
  PRIMARY KEY (frame, variable, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE cell (  -- row-major: the last axis runs fastest; NULL is unknown
  frame INTEGER NOT NULL, variable INTEGER NOT NULL, position INTEGER NOT NULL,
  mean ANY CHECK (typeof(mean) IN ('real', 'null')),
  standard_error ANY CHECK (typeof(standard_error) IN ('real', 'null')),
  samples INTEGER NOT NULL CHECK (samples >= 0),
  PRIMARY KEY (frame, variable, position)
) STRICT, WITHOUT ROWID;
CREATE VIEW point AS
  SELECT f.name AS frame, v.name AS variable,
    (SELECT group_concat(text, ' ') FROM (
       SELECT d.name || '=' || iif(x.value IS NULL, '?', printf('%.15g', x.value)) AS text
       FROM axis a
       JOIN dimension d ON d.frame = a.frame AND d.position = a.dimension
       JOIN coordinate x ON x.frame = a.frame AND x.dimension = a.dimension
         AND x.position = (c.position / a.stride) % d.extent
       WHERE a.frame = c.frame AND a.variable = c.variable ORDER BY a.position)) AS place,
    c.mean, c.standard_error, c.samples
  FROM cell c
  JOIN frame f ON f.id = c.frame
  JOIN variable v ON v.frame = c.frame AND v.position = c.variable;
CREATE VIEW plane AS
  SELECT f.name AS frame, v.name AS variable, x.value AS first, y.value AS second,
    c.mean, c.standard_error, c.samples
  FROM variable v
  JOIN frame f ON f.id = v.frame
  JOIN axis a ON a.frame = v.frame AND a.variable = v.position AND a.position = 0
  JOIN axis b ON b.frame = v.frame AND b.variable = v.position AND b.position = 1
  JOIN cell c ON c.frame = v.frame AND c.variable = v.position
  JOIN coordinate x ON x.frame = v.frame AND x.dimension = a.dimension
    AND x.position = c.position / a.stride
  JOIN coordinate y ON y.frame = v.frame AND y.dimension = b.dimension
    AND y.position = c.position % a.stride
  WHERE (SELECT count(*) FROM axis n
         WHERE n.frame = v.frame AND n.variable = v.position) = 2;
)";

// ------------------------------------------------------------------------------------ writing

void write_meta(Database& database, const StudyRecord& record) {
  auto meta = database.prepare("INSERT INTO meta VALUES (?, ?)");
  meta.run("experiment", record.experiment);
  meta.run("seed", fmt::format("{}", record.seed));  // an SQLite integer ends at 2^63 - 1
  meta.run("version", record.version);
  meta.run("command", record.command);
  meta.run("created", record.created);
  auto parameter = database.prepare("INSERT INTO parameter VALUES (?, ?, ?)");
  for (std::size_t i = 0; i < record.parameters.size(); ++i) {
    parameter.run(i, record.parameters[i].first, record.parameters[i].second);
  }
}

void write_dimensions(Database& database, std::size_t frame, const Frame& content) {
  auto dimension = database.prepare("INSERT INTO dimension VALUES (?, ?, ?, ?)");
  auto coordinate = database.prepare("INSERT INTO coordinate VALUES (?, ?, ?, ?)");
  for (std::size_t i = 0; i < content.dimensions().size(); ++i) {
    const auto& [name, coordinates] = content.dimensions()[i];
    dimension.run(frame, i, name, coordinates.size());
    for (std::size_t k = 0; k < coordinates.size(); ++k) {
      coordinate.run(frame, i, k, coordinates[k]);
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
  auto cell = database.prepare("INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < content.variables().size(); ++i) {
    const Variable& values = content.variables()[i];
    variable.run(frame, i, values.name);
    write_axes(database, frame, i, values, content);
    for (std::size_t k = 0; k < values.cells.size(); ++k) {
      const auto& [mean, standard_error, samples] = values.cells[k];
      cell.run(frame, i, k, mean, standard_error, samples);
    }
  }
}

void write_record(Database& database, const StudyRecord& record) {
  // The file is ours alone until it is renamed, and PendingFile syncs it.
  database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                               kStudyApplication,
                               kStudySchema)
                       .c_str());  // a PRAGMA takes no bound values; both are constants
  database.execute(kSchema);
  write_meta(database, record);
  auto frame = database.prepare("INSERT INTO frame VALUES (?, ?)");
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    frame.run(i, record.frames[i].name());
    write_dimensions(database, i, record.frames[i]);
    write_variables(database, i, record.frames[i]);
  }
  database.execute("COMMIT");
}

// ------------------------------------------------------------------------------------ reading

[[noreturn]] void damaged(const std::string& what) { throw DatabaseError(SQLITE_CORRUPT, what); }

std::size_t count_from(std::int64_t value, const char* what) {
  if (value < 0) damaged(fmt::format("a negative {}", what));
  return static_cast<std::size_t>(value);
}

void expect_position(std::int64_t found, std::size_t expected, const char* table) {
  if (found == static_cast<std::int64_t>(expected)) return;
  damaged(fmt::format("row {} of table {} has position {}", expected, table, found));
}

// A Frame takes a repeated name for its caller's mistake; here it is the file's.
template <class Items>
void expect_new_name(const Items& items, const std::string& name) {
  for (const auto& item : items) {
    if (item.name == name) damaged(fmt::format("two rows named '{}' in one frame", name));
  }
}

std::string read_meta(Database& database, std::string_view key) {
  auto query = database.prepare("SELECT value FROM meta WHERE key = ?");
  if (!query.bind(key).step()) damaged(fmt::format("no '{}' in table meta", key));
  return query.text(0);
}

std::uint64_t read_seed(Database& database) {
  const std::string text = read_meta(database, "seed");
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) damaged("the seed is no number");
  return seed;
}

std::vector<std::pair<std::string, std::string>> read_parameters(Database& database) {
  std::vector<std::pair<std::string, std::string>> parameters;
  auto query = database.prepare("SELECT name, value FROM parameter ORDER BY position");
  while (query.step()) parameters.emplace_back(query.text(0), query.text(1));
  return parameters;
}

std::vector<double> read_coordinates(Database& database, std::int64_t frame,
                                     std::size_t dimension) {
  std::vector<double> values;
  auto query = database.prepare(
      "SELECT position, value FROM coordinate WHERE frame = ? AND dimension = ? ORDER BY position");
  query.bind(frame, dimension);
  while (query.step()) {
    expect_position(query.integer(0), values.size(), "coordinate");
    values.push_back(query.number(1));
  }
  return values;
}

void read_dimensions(Database& database, std::int64_t id, Frame& frame) {
  auto query = database.prepare(
      "SELECT position, name, extent FROM dimension WHERE frame = ? ORDER BY position");
  query.bind(id);
  while (query.step()) {
    const std::size_t position = frame.dimensions().size();
    expect_position(query.integer(0), position, "dimension");
    expect_new_name(frame.dimensions(), query.text(1));
    std::vector<double> coordinates = read_coordinates(database, id, position);
    if (coordinates.size() != count_from(query.integer(2), "extent")) {
      damaged(fmt::format("dimension '{}' lacks coordinates", query.text(1)));
    }
    frame.add_dimension(query.text(1), std::move(coordinates));
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

// Cells of a variable over these dimensions; nothing when the number overflows.
std::optional<std::size_t> cells_over(const std::vector<std::string>& dimensions,
                                      const Frame& frame) {
  std::size_t cells = 1;
  for (const auto& name : dimensions) {
    const std::size_t extent = frame.dimension(name).coordinates.size();
    if (extent != 0 && cells > std::numeric_limits<std::size_t>::max() / extent) return {};
    cells *= extent;
  }
  return cells;
}

std::vector<Estimate> read_cells(Database& database, std::int64_t frame, std::size_t variable) {
  std::vector<Estimate> cells;
  auto query = database.prepare(
      "SELECT position, mean, standard_error, samples FROM cell "
      "WHERE frame = ? AND variable = ? ORDER BY position");
  query.bind(frame, variable);
  while (query.step()) {
    expect_position(query.integer(0), cells.size(), "cell");
    cells.push_back(
        {query.number(1), query.number(2), count_from(query.integer(3), "number of samples")});
  }
  return cells;
}

void read_variables(Database& database, std::int64_t id, Frame& frame) {
  auto query =
      database.prepare("SELECT position, name FROM variable WHERE frame = ? ORDER BY position");
  query.bind(id);
  while (query.step()) {
    const std::size_t position = frame.variables().size();
    expect_position(query.integer(0), position, "variable");
    expect_new_name(frame.variables(), query.text(1));
    std::vector<std::string> dimensions = read_axes(database, id, position, frame);
    std::vector<Estimate> cells = read_cells(database, id, position);
    // Checked before the frame makes room: a damaged file must not ask for a terabyte.
    if (cells.size() != cells_over(dimensions, frame)) {
      damaged(fmt::format("variable '{}' has {} cells", query.text(1), cells.size()));
    }
    frame.add_variable(query.text(1), std::move(dimensions)).cells = std::move(cells);
  }
}

std::vector<Frame> read_frames(Database& database) {
  std::vector<Frame> frames;
  auto query = database.prepare("SELECT id, name FROM frame ORDER BY id");
  while (query.step()) {
    Frame& frame = frames.emplace_back(query.text(1));
    read_dimensions(database, query.integer(0), frame);
    read_variables(database, query.integer(0), frame);
  }
  return frames;
}

std::int64_t read_pragma(Database& database, const char* sql) {
  auto query = database.prepare(sql);
  return query.step() ? query.integer(0) : 0;
}

void expect_study(Database& database, const fs::path& file) {
  if (read_pragma(database, "PRAGMA application_id") != kStudyApplication) {
    throw Error(Code::malformed_file, fmt::format("'{}' is not a Dewpoint study", file.string()));
  }
  const std::int64_t schema = read_pragma(database, "PRAGMA user_version");
  if (schema < 1 || schema > kStudySchema) {
    throw Error(Code::malformed_file,
                fmt::format("'{}' has study schema {}, this version of Dewpoint reads 1 to {}",
                            file.string(), schema, kStudySchema));
  }
  auto check = database.prepare("PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok") damaged("SQLite's check of its structure fails");
}

StudyRecord read_record(Database& database) {
  StudyRecord record;
  record.experiment = read_meta(database, "experiment");
  record.parameters = read_parameters(database);
  record.seed = read_seed(database);
  record.version = read_meta(database, "version");
  record.command = read_meta(database, "command");
  record.created = read_meta(database, "created");
  record.frames = read_frames(database);
  return record;
}

[[noreturn]] void throw_unreadable(const fs::path& file, std::string_view reason) {
  throw Error(Code::unreadable_file, fmt::format("cannot read '{}': {}", file.string(), reason));
}

// SQLite only says "unable to open database file"; the system knows why.
void expect_readable(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw_unreadable(file, std::generic_category().message(errno));
  ::close(descriptor);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) throw_unreadable(file, "not a regular file");
}

[[noreturn]] void throw_read_error(const fs::path& file, const DatabaseError& error) {
  switch (error.code()) {
    case SQLITE_NOTADB:
      throw Error(Code::malformed_file, fmt::format("'{}' is not a Dewpoint study", file.string()));
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_BUSY:
    case SQLITE_NOMEM:
    case SQLITE_IOERR:
      throw_unreadable(file, error.what());
    default:
      throw Error(Code::malformed_file,
                  fmt::format("study '{}' is damaged: {}", file.string(), error.what()));
  }
}

}  // namespace

const Frame& StudyRecord::frame(std::string_view name) const {
  const auto found = std::find_if(frames.begin(), frames.end(),
                                  [&](const Frame& frame) { return frame.name() == name; });
  if (found == frames.end()) {
    throw Error(Code::bad_value, fmt::format("the study has no frame named '{}'", name));
  }
  return *found;
}

void write_study(const fs::path& file, const StudyRecord& record) {
  PendingFile pending(file);
  try {
    Database database(pending.path(), SQLITE_OPEN_READWRITE);
    write_record(database, record);
  } catch (const DatabaseError& error) {
    if (error.code() != SQLITE_CONSTRAINT) throw_unwritable(file, error.what());
    throw Error(Code::bad_value, fmt::format("cannot write '{}': {}", file.string(), error.what()));
  }
  pending.commit();
}

StudyRecord read_study(const fs::path& file) {
  expect_readable(file);
  try {
    Database database(file, SQLITE_OPEN_READONLY);
    expect_study(database, file);
    return read_record(database);
  } catch (const DatabaseError& error) {
    throw_read_error(file, error);
  }
}

}  // namespace dewpoint::store
