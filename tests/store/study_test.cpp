#include "dewpoint/store/study.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "dewpoint/core/error.hpp"
#include "store/scratch_folder.hpp"
#include "store/study_support.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::store {
namespace {

using test::error_of;
using test::expect_same;
using test::has_shell;
using test::read_bytes;
using test::read_error;
using test::run_sql;
using test::ScratchFolder;
using test::shell;
using test::with_full_disk;
using test::write_bytes;
using Limits = std::numeric_limits<double>;
using Names = std::vector<std::string>;

StudyRecord record_with(std::vector<Frame> frames) {
  StudyRecord record;
  record.experiment = "phase map";
  record.parameters = {{"replicas", "8"}, {"alpha", "0"}};
  record.seed = std::numeric_limits<std::uint64_t>::max();
  record.version = "0.1.0";
  record.command = "dewpoint phase map --replicas 8";
  record.created = "2026-01-31T12:00:00Z";
  record.frames = std::move(frames);
  return record;
}

// A map over rho and gamma whose cells are 0, 1, 2...
Frame small_map(std::size_t rows = 2, std::size_t columns = 3) {
  Frame frame("map");
  std::vector<double> rho(rows);
  std::vector<double> gamma(columns);
  for (std::size_t i = 0; i < rows; ++i) rho[i] = 0.25 * static_cast<double>(i);
  for (std::size_t i = 0; i < columns; ++i) gamma[i] = 1.0 + static_cast<double>(i);
  frame.add_dimension("rho", rho);
  frame.add_dimension("gamma", gamma);
  double value = 0.0;
  for (Estimate& cell : frame.add_variable("contraction", {"rho", "gamma"}).cells) {
    cell = {value, 0.5, 8};
    value += 1.0;
  }
  return frame;
}

void expect_round_trip(const StudyRecord& record) {
  const ScratchFolder folder;
  write_study(folder / "a.study", record);
  expect_same(read_study(folder / "a.study"), record);
  EXPECT_EQ(folder.names(), Names{"a.study"});
}

// ---------------------------------------------------------------------------------- round trips

TEST(Study, WithoutFramesComesBack) { expect_round_trip(record_with({})); }

TEST(Study, KeepsAScalar) {
  Frame frame("scalar");
  frame.add_variable("dew_point").cells[0] = {4.5, 0.25, 100};
  expect_round_trip(record_with({frame}));
}

TEST(Study, KeepsATrajectory) {
  Frame frame("trajectory");
  frame.add_dimension("step", {0, 1, 10, 100});
  frame.add_variable("loss", {"step"}).cells[2] = {1.0 / 3.0, 1e-3, 7};
  expect_round_trip(record_with({frame}));
}

TEST(Study, KeepsAMapAndSeveralFramesInOrder) {
  Frame second("another");
  second.add_variable("b");
  second.add_variable("a");
  expect_round_trip(record_with({small_map(), second}));
}

TEST(Study, KeepsFourDimensionsInEveryOrder) {
  Frame frame("phase_map");
  frame.add_dimension("n", {256, 512});
  frame.add_dimension("d", {8, 64, 512});
  frame.add_dimension("rho", {0.0, 0.5});
  frame.add_dimension("gamma", {1, 2, 4, 8});
  std::uint64_t samples = 0;
  for (auto& cell : frame.add_variable("forward", {"n", "d", "rho", "gamma"}).cells) {
    cell.samples = ++samples;
  }
  for (auto& cell : frame.add_variable("backward", {"gamma", "rho", "d", "n"}).cells) {
    cell.mean = 1.0 / static_cast<double>(++samples);
  }
  expect_round_trip(record_with({frame}));
}

TEST(Study, KeepsTheLabelsOfADimension) {
  Frame frame("laws");
  frame.add_labelled_dimension("law", {"sphere", "", "Gauß"});
  frame.add_dimension("n", {8, 16});
  frame.add_variable("loss", {"law", "n"}).cells[4] = {0.5, 0.25, 3};
  expect_round_trip(record_with({frame}));
}

TEST(Study, KeepsADimensionWithoutCoordinates) {
  Frame frame("nothing yet");
  frame.add_dimension("step", {});
  frame.add_variable("loss", {"step"});
  expect_round_trip(record_with({frame}));
}

TEST(Study, KeepsEveryDoubleBitForBit) {
  Frame frame("extremes");
  frame.add_dimension("x", {-0.0, Limits::infinity(), Limits::quiet_NaN(), 0.1});
  auto& cells = frame.add_variable("y", {"x"}).cells;
  cells[0] = {-0.0, 0.0, 0};
  cells[1] = {Limits::max(), Limits::denorm_min(), std::numeric_limits<std::int64_t>::max()};
  cells[2] = {-Limits::infinity(), Limits::quiet_NaN(), 1};
  cells[3] = {0x1.fffffffffffffp-1, 9007199254740993.0, 2};
  expect_round_trip(record_with({frame}));
}

TEST(Study, KeepsNamesInAnyScriptAndAwkwardTexts) {
  Frame frame("λ ρ γ 露点 'quoted\" ; DROP TABLE frame_value");
  frame.add_dimension("ρ\n", {1});
  frame.add_variable("", {"ρ\n"});
  StudyRecord record = record_with({frame});
  record.command = std::string("a\0b", 3);
  record.parameters = {{"", ""}, {"é", "=,;"}};
  expect_round_trip(record);
}

// -------------------------------------------------------------------------------------- writing

TEST(Study, KeepsAttachmentsByteForByteAndInOrder) {
  StudyRecord record = record_with({small_map()});
  std::vector<std::byte> all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i);
  record.attachments = {{"state", all}, {"empty", {}}, {"an older one", {std::byte{0}}}};
  expect_round_trip(record);
  EXPECT_EQ(record.attachment("state").size(), 256u);
  const Error error = error_of([&] { (void)record.attachment("weights"); });
  EXPECT_STREQ(error.what(), "the study has no attachment named 'weights'");
}

TEST(Study, ReplacesAnOlderOne) {
  const ScratchFolder folder;
  write_study(folder / "a.study", record_with({small_map(30, 30)}));
  write_study(folder / "a.study", record_with({small_map(1, 1)}));
  expect_same(read_study(folder / "a.study"), record_with({small_map(1, 1)}));
  EXPECT_EQ(folder.names(), Names{"a.study"});
}

// Of two studies each may be the work of hours.
TEST(Study, DoesNotReplaceAnotherExperimentUnlessForced) {
  const ScratchFolder folder;
  StudyRecord other = record_with({small_map()});
  other.experiment = "another";
  write_study(folder / "a.study", other);
  const Error error =
      error_of([&] { write_study(folder / "a.study", record_with({small_map()})); });
  EXPECT_EQ(error.code(), Code::bad_value);
  EXPECT_TRUE(test::says(error, "a study of 'another', not a study of 'phase map'"))
      << error.what();
  expect_same(read_study(folder / "a.study"), other);
  write_study({folder / "a.study", true}, record_with({small_map()}));
  expect_same(read_study(folder / "a.study"), record_with({small_map()}));
}

// Whoever replaces a study that is cut must be able to know it as one.
TEST(Study, IsKnownByItsHeaderWhenItIsDamaged) {
  const ScratchFolder folder;
  write_study(folder / "a.study", record_with({small_map(40, 40)}));
  const std::string whole = read_bytes(folder / "a.study");
  write_bytes(folder / "a.study", whole.substr(0, whole.size() / 2));
  EXPECT_TRUE(study_kind("phase map").is_ours(folder / "a.study"));
  write_bytes(folder / "a.study", whole.substr(0, 50));
  EXPECT_FALSE(study_kind("phase map").is_ours(folder / "a.study"));
  run_sql(folder / "other", "CREATE TABLE meta (key TEXT, value TEXT)");
  EXPECT_FALSE(study_kind().is_ours(folder / "other"));
}

TEST(Study, HasTheSameBytesWhenWrittenTwice) {
  const ScratchFolder folder;
  write_study(folder / "a.study", record_with({small_map()}));
  write_study(folder / "b.study", record_with({small_map()}));
  EXPECT_EQ(read_bytes(folder / "a.study"), read_bytes(folder / "b.study"));
}

TEST(Study, IsNotAnSqliteUriOrMemoryDatabase) {
  const ScratchFolder folder;
  for (const char* name : {":memory:", "file:a?mode=memory"}) {
    write_study(folder / name, record_with({small_map()}));
    expect_same(read_study(folder / name), record_with({small_map()}));
  }
}

TEST(Study, InAFolderThatDoesNotExistIsUnwritable) {
  const ScratchFolder folder;
  const Error error = error_of([&] { write_study(folder / "no" / "a.study", record_with({})); });
  EXPECT_EQ(error.code(), Code::unwritable_file);
  EXPECT_NE(std::string(error.what()).find("a.study': No such file"), std::string::npos);
}

TEST(Study, RefusesTwoFramesParametersOrAttachmentsWithOneName) {
  const ScratchFolder folder;
  write_study(folder / "a.study", record_with({small_map()}));
  StudyRecord parameters = record_with({});
  parameters.parameters = {{"n", "1"}, {"n", "2"}};
  StudyRecord attachments = record_with({});
  attachments.attachments = {{"state", {}}, {"state", {}}};
  for (const auto& record : {record_with({small_map(), small_map()}), parameters, attachments}) {
    EXPECT_EQ(error_of([&] { write_study(folder / "a.study", record); }).code(), Code::bad_value);
  }
  expect_same(read_study(folder / "a.study"), record_with({small_map()}));
  EXPECT_EQ(folder.names(), Names{"a.study"});
}

TEST(Study, OnAFullDiskLeavesTheOldFileAndNothingElse) {
  const ScratchFolder folder;
  write_study(folder / "a.study", record_with({small_map()}));
  const auto write_a_large_one = [&] {
    try {
      write_study(folder / "a.study", record_with({small_map(200, 200)}));
    } catch (const Error& error) {
      const bool names_it = std::string(error.what()).find("a.study") != std::string::npos;
      return error.code() == Code::unwritable_file && names_it ? 0 : 1;
    }
    return 2;
  };
  for (const rlim_t room : {0, 512, 4096, 100'000}) {
    EXPECT_EQ(with_full_disk(room, write_a_large_one), 0) << room;
    expect_same(read_study(folder / "a.study"), record_with({small_map()}));
    EXPECT_EQ(folder.names(), Names{"a.study"});
  }
}

// -------------------------------------------------------------------------------------- refusing

TEST(Study, ThatIsNotThereIsUnreadable) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "a.study";
  EXPECT_EQ(read_error(file).code(), Code::unreadable_file);
  EXPECT_EQ(read_error(file).what(),
            "cannot read '" + file.string() + "': No such file or directory");
  EXPECT_EQ(read_error(file.parent_path()).code(), Code::unreadable_file);
  EXPECT_EQ(read_error("").code(), Code::unreadable_file);
  EXPECT_TRUE(folder.names().empty());
}

TEST(Study, IsNotAnEmptyFileNorATextNorSomeoneElsesDatabase) {
  const ScratchFolder folder;
  write_bytes(folder / "empty", "");
  write_bytes(folder / "text", std::string(5000, 'x'));
  run_sql(folder / "other", "CREATE TABLE meta (key TEXT, value TEXT)");
  for (const char* name : {"empty", "text", "other"}) {
    const Error error = read_error(folder / name);
    EXPECT_EQ(error.code(), Code::malformed_file) << name;
    const std::string why = std::string(name) == "empty" ? "is empty, and not" : "is not";
    EXPECT_EQ(error.what(), "'" + (folder / name).string() + "' " + why + " a Dewpoint study");
  }
}

TEST(Study, OfANewerSchemaIsRefusedBySayingSo) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "a.study";
  write_study(file, record_with({small_map()}));
  run_sql(file, fmt::format("PRAGMA user_version = {}", kStudySchema + 1).c_str());
  EXPECT_EQ(read_error(file).code(), Code::malformed_file);
  EXPECT_EQ(read_error(file).what(),
            fmt::format("'{}' has study schema {}, this version of Dewpoint reads 1 to {}",
                        file.string(), kStudySchema + 1, kStudySchema));
}

TEST(Study, CutAnywhereIsRefused) {
  const ScratchFolder folder;
  write_study(folder / "a.study", record_with({small_map(40, 40)}));
  const std::string whole = read_bytes(folder / "a.study");
  for (std::size_t size = 0; size < whole.size(); size += 997) {
    write_bytes(folder / "b.study", whole.substr(0, size));
    EXPECT_EQ(read_error(folder / "b.study").code(), Code::malformed_file) << size;
  }
}

// Random damage may hit free space; otherwise it is an Error, never a crash (the suite also runs
// under sanitizers) and never another study.
TEST(Study, OverwrittenByRandomBytesIsTheSameOrRefused) {
  const ScratchFolder folder;
  const StudyRecord record = record_with({small_map(40, 40)});
  write_study(folder / "a.study", record);
  const std::string whole = read_bytes(folder / "a.study");
  const Stream stream = test::stream("Study/OverwrittenByRandomBytesIsReadOrRefused");
  int refused = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    std::string damaged = whole;
    const auto address = stream.bits(trial);
    const auto first = address[0] % damaged.size();
    for (std::size_t i = first; i < std::min(damaged.size(), first + 1 + address[1] % 512); ++i) {
      damaged[i] = static_cast<char>(stream.bits(1'000'000 * (trial + 1) + i)[0]);
    }
    write_bytes(folder / "b.study", damaged);
    try {
      expect_same(read_study(folder / "b.study"), record);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::malformed_file) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);  // a third of the file is free space, where nothing is read
}

TEST(Study, WhoseTablesContradictEachOtherIsRefused) {
  const ScratchFolder folder;
  for (const char* damage : {
           "DELETE FROM frame_value WHERE position = 3",
           "DELETE FROM frame_value",
           "DELETE FROM coordinate WHERE dimension = 1 AND position = 2",
           "UPDATE axis SET dimension = 7 WHERE position = 1",
           "UPDATE dimension SET extent = -1",
           "DELETE FROM meta WHERE key = 'seed'",
           "UPDATE meta SET value = '12x' WHERE key = 'seed'",
           "UPDATE meta SET value = '' WHERE key = 'seed'",
           "DROP TABLE parameter",
           "DROP TABLE attachment",
           "DROP TABLE attachment; CREATE TABLE attachment (name, bytes);"
           "INSERT INTO attachment VALUES ('state', 'a text')",
           "DROP TABLE meta; CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('seed', 1)",
           "ALTER TABLE frame RENAME TO old; CREATE VIEW frame AS SELECT * FROM old",
           "DROP TABLE variable; CREATE TABLE variable (frame, position, name);"
           "INSERT INTO variable VALUES (0, 0, 'a'), (0, 1, 'a')",
       }) {
    write_study(folder / "a.study", record_with({small_map()}));
    run_sql(folder / "a.study", damage);
    const Error error = read_error(folder / "a.study");
    EXPECT_EQ(error.code(), Code::malformed_file) << damage;
    EXPECT_NE(std::string(error.what()).find("is damaged: "), std::string::npos) << error.what();
  }
}

// Ten dimensions of 2^7 coordinates each: 2^70 cells are promised, none are there.
TEST(Study, ThatPromisesTooManyCellsIsRefusedBeforeMakingRoom) {
  const ScratchFolder folder;
  Frame frame("large");
  frame.add_dimension("x", std::vector<double>(128, 1.0));
  frame.add_variable("y", {"x"});
  write_study(folder / "a.study", record_with({frame}));
  for (int axis = 1; axis < 10; ++axis) {
    run_sql(folder / "a.study",
            fmt::format("INSERT INTO axis VALUES (0, 0, {}, 0, 1)", axis).c_str());
  }
  EXPECT_EQ(read_error(folder / "a.study").code(), Code::malformed_file);
}

// --------------------------------------------------------------------------------------- people

TEST(Study, CanBeReadWithTheSqliteShell) {
  if (!has_shell()) GTEST_SKIP() << "no sqlite3 shell here";
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "a.study";
  Frame scalar("scalar");
  scalar.add_variable("unknown");
  write_study(file, record_with({small_map(), scalar}));
  EXPECT_EQ(shell(file, "PRAGMA integrity_check"), "ok\n");
  EXPECT_EQ(shell(file, "SELECT value FROM meta WHERE key = 'experiment'"), "phase map\n");
  EXPECT_EQ(shell(file, "SELECT * FROM point WHERE mean = 5 OR mean IS NULL"),
            "map|contraction|rho=0.25 gamma=3|5.0|0.5|8\nscalar|unknown||||0\n");
  EXPECT_EQ(shell(file, "SELECT first, second, mean FROM plane WHERE second = 2"),
            "0.0|2.0|1.0\n0.25|2.0|4.0\n");
}

}  // namespace
}  // namespace dewpoint::store
