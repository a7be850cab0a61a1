#include "dewpoint/store/schema.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSealTable = R"(
CREATE TABLE seal (  -- hash of a part of the file (integrity.hpp)
  part TEXT PRIMARY KEY, hash INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)";

constexpr const char* kCommonTables = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE parameter (
  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, value TEXT NOT NULL
) STRICT;
)";

// Numbers are ANY and not REAL: SQLite keeps a REAL column compact by storing whole numbers as
// integers, which loses the sign of -0.0. The constraint says what REAL would have said.
constexpr const char* kResultTables = R"(
CREATE TABLE frame (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE dimension (
  frame INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, extent INTEGER NOT NULL,
  PRIMARY KEY (frame, position), UNIQUE (frame, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE coordinate (  -- label: the name that a whole value 0, 1, ... stands for
  frame INTEGER NOT NULL, dimension INTEGER NOT NULL, position INTEGER NOT NULL,
  value ANY CHECK (typeof(value) IN ('real', 'null')), label TEXT,
  PRIMARY KEY (frame, dimension, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE variable (
  frame INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (frame, position), UNIQUE (frame, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE axis (  -- dimensions of a variable; neighbours along one are `stride` values apart
  frame INTEGER NOT NULL, variable INTEGER NOT NULL, position INTEGER NOT NULL,
  dimension INTEGER NOT NULL, stride INTEGER NOT NULL,
  PRIMARY KEY (frame, variable, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE frame_value (  -- row-major: the last axis runs fastest; NULL is unknown
  frame INTEGER NOT NULL, variable INTEGER NOT NULL, position INTEGER NOT NULL,
  mean ANY CHECK (typeof(mean) IN ('real', 'null')),
  standard_error ANY CHECK (typeof(standard_error) IN ('real', 'null')),
  samples INTEGER NOT NULL CHECK (samples >= 0),
  PRIMARY KEY (frame, variable, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE attachment (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE VIEW point AS
  SELECT f.name AS frame, v.name AS variable,
    (SELECT group_concat(text, ' ') FROM (
       SELECT d.name || '=' ||
         coalesce(x.label, iif(x.value IS NULL, '?', printf('%.15g', x.value))) AS text
       FROM axis a
       JOIN dimension d ON d.frame = a.frame AND d.position = a.dimension
       JOIN coordinate x ON x.frame = a.frame AND x.dimension = a.dimension
         AND x.position = (c.position / a.stride) % d.extent
       WHERE a.frame = c.frame AND a.variable = c.variable ORDER BY a.position)) AS place,
    c.mean, c.standard_error, c.samples
  FROM frame_value c
  JOIN frame f ON f.id = c.frame
  JOIN variable v ON v.frame = c.frame AND v.position = c.variable;
CREATE VIEW plane AS
  SELECT f.name AS frame, v.name AS variable, coalesce(x.label, x.value) AS first,
    coalesce(y.label, y.value) AS second, c.mean, c.standard_error, c.samples
  FROM variable v
  JOIN frame f ON f.id = v.frame
  JOIN axis a ON a.frame = v.frame AND a.variable = v.position AND a.position = 0
  JOIN axis b ON b.frame = v.frame AND b.variable = v.position AND b.position = 1
  JOIN frame_value c ON c.frame = v.frame AND c.variable = v.position
  JOIN coordinate x ON x.frame = v.frame AND x.dimension = a.dimension
    AND x.position = c.position / a.stride
  JOIN coordinate y ON y.frame = v.frame AND y.dimension = b.dimension
    AND y.position = c.position % a.stride
  WHERE (SELECT count(*) FROM axis n
         WHERE n.frame = v.frame AND n.variable = v.position) = 2;
)";

// A value of a variable has the number `place * positions + position`; along an axis of the
// variable, of the plan or within the cell, neighbours are `stride` such numbers apart.
constexpr const char* kSweepTables = R"(
CREATE TABLE session (  -- stopped and outcome: NULL while it runs, or where it was killed
  id INTEGER PRIMARY KEY, started TEXT NOT NULL, stopped TEXT, outcome TEXT,
  version TEXT NOT NULL, processor TEXT NOT NULL, simd TEXT NOT NULL,
  ranks INTEGER NOT NULL, threads INTEGER NOT NULL, command TEXT NOT NULL
) STRICT;
CREATE TABLE sweep_dimension (  -- the axes of the plan, then those within a cell (inner)
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, extent INTEGER NOT NULL,
  inner INTEGER NOT NULL CHECK (inner IN (0, 1))
) STRICT;
CREATE TABLE sweep_coordinate (
  dimension INTEGER NOT NULL, position INTEGER NOT NULL,
  value ANY CHECK (typeof(value) IN ('real', 'null')), label TEXT,
  PRIMARY KEY (dimension, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE sweep_variable (  -- positions: values within one cell
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  predicted INTEGER NOT NULL CHECK (predicted IN (0, 1)), positions INTEGER NOT NULL
) STRICT;
CREATE TABLE sweep_axis (
  variable INTEGER NOT NULL, position INTEGER NOT NULL, dimension INTEGER NOT NULL,
  stride INTEGER NOT NULL, PRIMARY KEY (variable, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE sweep_place (  -- where the cells of the plan lie, row-major over its axes
  cell INTEGER PRIMARY KEY, place INTEGER NOT NULL, level INTEGER NOT NULL
) STRICT;
CREATE TABLE cell (  -- exact: a number without error; hash: of all that is known of it
  id INTEGER PRIMARY KEY, replicas INTEGER NOT NULL CHECK (replicas >= 0),
  exact INTEGER NOT NULL CHECK (exact IN (0, 1)), key TEXT NOT NULL UNIQUE,
  parameters TEXT NOT NULL, hash INTEGER  -- NULL: written by a version that had no hashes
) STRICT;
CREATE TABLE moment (
  cell INTEGER NOT NULL, variable INTEGER NOT NULL, position INTEGER NOT NULL,
  samples INTEGER NOT NULL CHECK (samples >= 0),
  mean ANY CHECK (typeof(mean) IN ('real', 'null')),
  standard_error ANY CHECK (typeof(standard_error) IN ('real', 'null')),
  squared_deviations ANY CHECK (typeof(squared_deviations) IN ('real', 'null')),
  PRIMARY KEY (cell, variable, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE prediction (
  cell INTEGER NOT NULL, variable INTEGER NOT NULL, position INTEGER NOT NULL,
  value ANY CHECK (typeof(value) IN ('real', 'null')),
  PRIMARY KEY (cell, variable, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE effort (  -- one row per commit of a cell
  session INTEGER, cell INTEGER NOT NULL, from_replica INTEGER NOT NULL,
  to_replica INTEGER NOT NULL, seconds REAL NOT NULL, rank INTEGER NOT NULL
) STRICT;
CREATE VIEW result AS
  WITH value AS (
    SELECT cell, variable, position, mean, standard_error, samples FROM moment
    UNION ALL
    SELECT cell, variable, position, value, 0.0, 0 FROM prediction)
  SELECT
    (SELECT group_concat(text, ' ') FROM (
       SELECT d.name || '=' ||
         coalesce(x.label, iif(x.value IS NULL, '?', printf('%.15g', x.value))) AS text
       FROM sweep_axis a
       JOIN sweep_dimension d ON d.id = a.dimension
       JOIN sweep_coordinate x ON x.dimension = a.dimension
         AND x.position = ((p.place * v.positions + c.position) / a.stride) % d.extent
       WHERE a.variable = c.variable ORDER BY a.position)) AS place,
    v.name AS variable, c.mean, c.standard_error, c.samples AS replicas
  FROM value c
  JOIN sweep_place p ON p.cell = c.cell
  JOIN sweep_variable v ON v.id = c.variable;
CREATE VIEW point AS
  SELECT (SELECT value FROM meta WHERE key = 'experiment') AS frame, variable, place, mean,
    standard_error, replicas AS samples
  FROM result;
)";

constexpr const char* kResultKind = "result";
constexpr const char* kSweepKind = "sweep";

[[noreturn]] void throw_not_a_study(const fs::path& file) {
  std::error_code unknown;
  const bool empty = fs::file_size(file, unknown) == 0;
  throw Error(Code::malformed_file, fmt::format("'{}' {} a Dewpoint study", file.string(),
                                                empty ? "is empty, and not" : "is not"));
}

// A PRAGMA takes no bound values; both are constants.
void claim(Database& database) {
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                               kStudyApplication, kStudySchema)
                       .c_str());
}

StudyKind read_kind(Database& database) {
  const std::string kind = read_meta(database, "kind");
  if (kind == kSweepKind) return StudyKind::sweep;
  if (kind != kResultKind) damaged(fmt::format("unknown kind '{}' in table meta", kind));
  return StudyKind::result;
}

// A title is a line; a study file with its ranges and defaults written out may be long.
std::size_t most_bytes_of(std::string_view key) {
  if (key == "title") return 4096;
  return key == "text" ? std::size_t{16} << 20 : Statement::TextLimit().most;
}

}  // namespace

void create_tables(Database& database, StudyKind kind) {
  const bool sweep = kind == StudyKind::sweep;
  claim(database);
  database.execute(kCommonTables);
  database.execute(kSealTable);
  database.execute(sweep ? kSweepTables : kResultTables);
  write_meta(database, "kind", sweep ? kSweepKind : kResultKind);
}

void upgrade_sweep(Database& database) {
  claim(database);
  database.execute(kSealTable);
  database.execute("ALTER TABLE cell ADD COLUMN hash INTEGER");
}

StudyForm expect_study(Database& database, const fs::path& file) {
  if (single_number(database, "PRAGMA application_id") != kStudyApplication) {
    throw_not_a_study(file);
  }
  const std::int64_t schema = single_number(database, "PRAGMA user_version");
  if (schema < 1 || schema > kStudySchema) {
    throw Error(Code::malformed_file,
                fmt::format("'{}' has study schema {}, this version of Dewpoint reads 1 to {}",
                            file.string(), schema, kStudySchema));
  }
  return {static_cast<int>(schema), schema == 1 ? StudyKind::result : read_kind(database)};
}

bool is_empty(Database& database) {
  return single_number(database, "PRAGMA application_id") == 0 &&
         single_number(database, "SELECT count(*) FROM sqlite_schema") == 0;
}

std::int64_t single_number(Database& database, std::string_view sql) {
  auto query = database.prepare(sql);
  return query.step() ? query.integer(0) : 0;
}

void write_meta(Database& database, std::string_view key, std::string_view value) {
  database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)").run(key, value);
}

std::string read_meta(Database& database, std::string_view key) {
  auto query = database.prepare("SELECT value FROM meta WHERE key = ?");
  if (!query.bind(key).step()) damaged(fmt::format("no '{}' in table meta", key));
  return query.text(0, {most_bytes_of(key), key});
}

std::uint64_t read_seed(Database& database) {
  const std::string text = read_meta(database, "seed");
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) damaged("the seed is no number");
  return seed;
}

void write_parameters(Database& database, const TextPairs& parameters) {
  database.execute("DELETE FROM parameter");
  auto parameter = database.prepare("INSERT INTO parameter VALUES (?, ?, ?)");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameter.run(i, parameters[i].first, parameters[i].second);
  }
}

TextPairs read_parameters(Database& database) {
  TextPairs parameters;
  auto query = database.prepare("SELECT name, value FROM parameter ORDER BY position");
  while (query.step()) parameters.emplace_back(query.text(0), query.text(1));
  return parameters;
}

void damaged(const std::string& what) { throw DatabaseError(SQLITE_CORRUPT, what); }

std::size_t count_from(std::int64_t value, const char* what) {
  if (value < 0) damaged(fmt::format("a negative {}", what));
  return static_cast<std::size_t>(value);
}

void expect_position(std::int64_t found, std::size_t expected, const char* table) {
  if (found == static_cast<std::int64_t>(expected)) return;
  damaged(fmt::format("row {} of table {} has position {}", expected, table, found));
}

}  // namespace dewpoint::store
