// Studies that earlier versions wrote: read as they are, never changed, never misread.
#include <gtest/gtest.h>

#include "dewpoint/store/sweep_file.hpp"
#include "store/scratch_folder.hpp"
#include "store/study_support.hpp"

namespace dewpoint::store {
namespace {

using test::error_of;
using test::expect_same;
using test::read_bytes;
using test::run_sql;
using test::says;
using test::ScratchFolder;

// What version 0.1.0 wrote, without its views.
constexpr const char* kFirstSchema = R"(
PRAGMA application_id = 1145395024; PRAGMA user_version = 1;
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
CREATE TABLE axis (
  frame INTEGER NOT NULL, variable INTEGER NOT NULL, position INTEGER NOT NULL,
  dimension INTEGER NOT NULL, stride INTEGER NOT NULL,
  PRIMARY KEY (frame, variable, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE cell (
  frame INTEGER NOT NULL, variable INTEGER NOT NULL, position INTEGER NOT NULL,
  mean ANY CHECK (typeof(mean) IN ('real', 'null')),
  standard_error ANY CHECK (typeof(standard_error) IN ('real', 'null')),
  samples INTEGER NOT NULL CHECK (samples >= 0),
  PRIMARY KEY (frame, variable, position)
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('experiment', 'phase map'), ('seed', '18446744073709551615'),
  ('version', '0.1.0'), ('command', 'dewpoint phase map'), ('created', '2026-01-31T12:00:00Z');
INSERT INTO parameter VALUES (0, 'replicas', '8'), (1, 'alpha', '0');
INSERT INTO frame VALUES (0, 'map');
INSERT INTO dimension VALUES (0, 0, 'rho', 2), (0, 1, 'gamma', 2);
INSERT INTO coordinate VALUES (0, 0, 0, -0.0), (0, 0, 1, 0.5), (0, 1, 0, 1.0), (0, 1, 1, 9e999);
INSERT INTO variable VALUES (0, 0, 'contraction');
INSERT INTO axis VALUES (0, 0, 0, 0, 2), (0, 0, 1, 1, 1);
INSERT INTO cell VALUES (0, 0, 0, 0.25, 0.5, 8), (0, 0, 1, NULL, NULL, 0),
  (0, 0, 2, -9e999, 0.0, 1), (0, 0, 3, 0.1, 1e-3, 9223372036854775807);
)";

StudyRecord record_of_first_schema() {
  using Limits = std::numeric_limits<double>;
  Frame frame("map");
  frame.add_dimension("rho", {-0.0, 0.5});
  frame.add_dimension("gamma", {1.0, Limits::infinity()});
  frame.add_variable("contraction", {"rho", "gamma"}).cells = {
      {0.25, 0.5, 8},
      {},
      {-Limits::infinity(), 0.0, 1},
      {0.1, 1e-3, std::numeric_limits<std::int64_t>::max()}};
  return {"phase map",
          {{"replicas", "8"}, {"alpha", "0"}},
          std::numeric_limits<std::uint64_t>::max(),
          "0.1.0",
          "dewpoint phase map",
          "2026-01-31T12:00:00Z",
          {frame}};
}

TEST(FirstSchema, IsReadExactlyAndNotChanged) {
  const ScratchFolder folder;
  run_sql(folder / "old.study", kFirstSchema);
  const std::string before = read_bytes(folder / "old.study");
  expect_same(read_study(folder / "old.study"), record_of_first_schema());
  EXPECT_EQ(read_bytes(folder / "old.study"), before);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"old.study"});
}

TEST(FirstSchema, IsSummarisedAsAFinishedResult) {
  const ScratchFolder folder;
  run_sql(folder / "old.study", kFirstSchema);
  const StudySummary summary = summarise(folder / "old.study");
  EXPECT_FALSE(summary.sweep);
  EXPECT_FALSE(summary.running);
  EXPECT_EQ(summary.experiment, "phase map");
  EXPECT_EQ(summary.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(summary.created, "2026-01-31T12:00:00Z");
}

TEST(FirstSchema, IsRewrittenInTheNewestOne) {
  const ScratchFolder folder;
  run_sql(folder / "old.study", kFirstSchema);
  write_study(folder / "old.study", read_study(folder / "old.study"));
  expect_same(read_study(folder / "old.study"), record_of_first_schema());
  run_sql(folder / "old.study", "SELECT label FROM coordinate; SELECT mean FROM frame_value");
}

TEST(SecondSchema, IsReadWithoutAttachments) {
  const ScratchFolder folder;
  write_study(folder / "old.study", record_of_first_schema());
  run_sql(folder / "old.study", "DROP TABLE attachment; PRAGMA user_version = 2");
  expect_same(read_study(folder / "old.study"), record_of_first_schema());
}

TEST(FirstSchema, CannotBeContinued) {
  const ScratchFolder folder;
  run_sql(folder / "old.study", kFirstSchema);
  const std::string before = read_bytes(folder / "old.study");
  SweepHead head;
  head.experiment = "phase map";
  const Error error = error_of([&] { SweepFile(folder / "old.study", head); });
  EXPECT_EQ(error.code(), Code::malformed_file);
  EXPECT_TRUE(says(error, "finished result")) << error.what();
  EXPECT_EQ(read_bytes(folder / "old.study"), before);
}

}  // namespace
}  // namespace dewpoint::store
