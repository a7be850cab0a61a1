// Damage is found before a number is believed: bits that flip, logs that are cut, files that go.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "store/scratch_folder.hpp"
#include "store/sweep_support.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::store {
namespace {

using test::Cells;
using test::error_of;
using test::expect_same;
using test::key_of;
using test::read_bytes;
using test::read_error;
using test::remove_hashes;
using test::run_sql;
using test::says;
using test::ScratchFolder;
using test::sweep_cell;
using test::sweep_head;
using test::sweep_plan;
using test::write_bytes;
using test::write_sweep;
namespace fs = std::filesystem;

Cells every_cell(const SweepPlan& plan) {
  Cells cells;
  double mark = 1.0;
  for (const auto& place : plan.places) cells[place.key] = sweep_cell(mark += 0.5);
  return cells;
}

// ------------------------------------------------------------------------------------- one bit

/// Flips bits of a file at random places, one at a time, and calls `look` after each of them; what
/// it throws is a refusal. How many flips were refused.
int refused_flips(std::uint64_t flips, const fs::path& path, const char* name,
                  const std::function<void()>& look) {
  const std::string whole = read_bytes(path);
  const Stream stream = test::stream(name);
  int refused = 0;
  for (std::uint64_t flip = 0; flip < flips; ++flip) {
    const std::size_t bit = stream.bits(flip)[0] % (8 * whole.size());
    SCOPED_TRACE(fmt::format("{}: bit {} of byte {}", name, bit % 8, bit / 8));
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_bytes(path, damaged);
    try {
      look();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::malformed_file) << error.what();
      EXPECT_TRUE(says(error, path.string())) << error.what();
      EXPECT_FALSE(says(error, "\n")) << error.what();
      ++refused;
    }
  }
  return refused;
}

TEST(Integrity, AFlippedBitOfASweepIsRefusedOrChangesNothing) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  const SweepPlan plan = sweep_plan({0.0, 0.25, 0.5, 0.75}, {"sphere", "cube", "simplex"});
  write_sweep(path, plan, every_cell(plan));
  const StudyRecord record = read_study(path);
  const int refused =
      refused_flips(400, path, "Integrity/sweep", [&] { expect_same(read_study(path), record); });
  EXPECT_GT(refused, 0);
}

TEST(Integrity, AFlippedBitOfAResultIsRefusedOrChangesNothing) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  StudyRecord record;
  record.experiment = "phase map";
  record.parameters = {{"d", "64"}, {"replicas", "8"}};
  record.frames.emplace_back("map");
  record.frames[0].add_dimension("rho", {0.0, 0.25, 0.5, 0.75});
  for (auto& cell : record.frames[0].add_variable("contraction", {"rho"}).cells)
    cell = {0.7, 0.1, 8};
  record.attachments = {{"state", std::vector<std::byte>(5000, std::byte{7})}};
  write_study(path, record);
  const int refused =
      refused_flips(400, path, "Integrity/result", [&] { expect_same(read_study(path), record); });
  EXPECT_GT(refused, 0);
}

// A run adds replicas to what it finds: it must see what show sees.
TEST(Integrity, AFlippedBitIsRefusedByWhoeverContinues) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  const SweepPlan plan = sweep_plan();
  const Cells cells = every_cell(plan);
  write_sweep(path, plan, cells);
  const int refused = refused_flips(100, path, "Integrity/run", [&] {
    const std::string before = read_bytes(path);
    try {
      SweepFile file(path, sweep_head());
      expect_same(file.cells(), cells);
    } catch (const Error&) {
      EXPECT_TRUE(read_bytes(path) == before);
      throw;
    }
  });
  EXPECT_GT(refused, 0);
}

// --------------------------------------------------------------------------------------- names

TEST(Integrity, ADamagedCellIsNamedWithItsParameters) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  const SweepPlan plan = sweep_plan();
  for (const char* damage : {
           "UPDATE moment SET mean = mean + 1e-9 WHERE cell = 3 AND variable = 0",
           "UPDATE moment SET squared_deviations = -1.0 WHERE cell = 3 AND variable = 0",
           "UPDATE moment SET standard_error = 0.5 WHERE cell = 3 AND variable = 0",
           "UPDATE moment SET samples = 5 WHERE cell = 3 AND variable = 0",
           "DELETE FROM moment WHERE cell = 3 AND variable = 1 AND position = 2",
           "UPDATE prediction SET value = 2.5 WHERE cell = 3",
           "UPDATE cell SET replicas = 5 WHERE id = 3",
           "UPDATE cell SET exact = 1 WHERE id = 3",
           "UPDATE cell SET hash = hash + 1 WHERE id = 3",
       }) {
    SCOPED_TRACE(damage);
    write_sweep(path, plan, every_cell(plan));
    run_sql(path, damage);
    const std::string said = fmt::format(
        "study '{}' is damaged: cell 3 {{\"law\":\"sphere\",\"rho\":0.5}}: dewpoint run --repair "
        "computes again what is damaged",
        path.string());
    EXPECT_EQ(read_error(path).what(), said);
    EXPECT_EQ(error_of([&] { SweepFile(path, sweep_head()); }).what(), said);
    EXPECT_EQ(error_of([&] { merge({path}, folder / "b.study"); }).what(), said);
    EXPECT_EQ(error_of([&] { (void)read_cells_if_present(path); }).what(), said);
    fs::remove(path);
  }
}

TEST(Integrity, DamagedPartsAreNamed) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  for (const auto& [damage, part] : {
           std::pair("UPDATE meta SET value = 'x' WHERE key = 'title'", "its head is not as"),
           std::pair("UPDATE parameter SET value = '65' WHERE name = 'd'", "its head is not as"),
           std::pair("UPDATE sweep_coordinate SET value = 0.6 WHERE value = 0.5",
                     "its plan is not as"),
           std::pair("UPDATE sweep_place SET place = place + 1 WHERE cell = 6",
                     "its plan is not as"),
           std::pair("DELETE FROM seal", "its head is not as"),
       }) {
    SCOPED_TRACE(damage);
    write_sweep(path, sweep_plan(), every_cell(sweep_plan()));
    run_sql(path, damage);
    EXPECT_TRUE(says(read_error(path), part)) << read_error(path).what();
    fs::remove(path);
  }
}

TEST(Integrity, SqliteIsNotQuoted) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  write_sweep(path, sweep_plan(), every_cell(sweep_plan()));
  run_sql(path, "DROP TABLE prediction");
  const std::string said = fmt::format(
      "study '{}' is damaged: a table or a column is missing: dewpoint run --repair computes again "
      "what is damaged",
      path.string());
  EXPECT_EQ(read_error(path).what(), said);
  EXPECT_EQ(error_of([&] { SweepFile(path, sweep_head()); }).what(), said);
  StudyRecord twice;
  twice.parameters = {{"n", "1"}, {"n", "2"}};
  EXPECT_EQ(error_of([&] { write_study(path, twice); }).what(),
            fmt::format("cannot write '{}': two frames, parameters or attachments of one name",
                        path.string()));
}

// -------------------------------------------------------------------------------------- repair

TEST(Integrity, RepairKeepsEveryCellThatIsSound) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  const SweepPlan plan = sweep_plan();
  const SweepOpening repair{CellForm{plan.measured, plan.predicted}, false, true};
  Cells sound = every_cell(plan);
  for (const auto& [damage, lost] : {
           std::pair("UPDATE moment SET mean = 7.5 WHERE cell = 3 AND variable = 0", 3),
           std::pair("UPDATE cell SET key = 'another' WHERE id = 3", 3),
           std::pair("DELETE FROM cell WHERE id = 3", 3),
           std::pair("UPDATE meta SET value = 'x' WHERE key = 'title'", 0),
           std::pair("DELETE FROM sweep_place WHERE cell = 2", 0),
           std::pair("DELETE FROM sweep_variable", 0),
       }) {
    SCOPED_TRACE(damage);
    write_sweep(path, plan, sound);
    run_sql(path, damage);
    Cells kept = sound;
    if (lost > 0) kept.erase(plan.places[static_cast<std::size_t>(lost - 1)].key);
    SweepFile file(path, sweep_head(), repair);
    expect_same(file.cells(), kept);
    file.set_plan(plan);
    for (const auto& [key, cell] : sound) {
      if (!kept.contains(key)) file.put(key, cell, {0, cell.replicas, 0.5, 0});
    }
    file.close();
    expect_same(read_cells_if_present(path), sound);
    EXPECT_EQ(summarise(path).measured, plan.places.size());
    EXPECT_EQ(folder.names(), std::vector<std::string>{"a.study"});
    fs::remove(path);
  }
}

// Cells are sound or not by the predictions that they were written with.
TEST(Integrity, RepairKeepsSoundCellsOfOtherPredictions) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  const SweepPlan plan = sweep_plan();
  Cells cells = every_cell(plan);
  write_sweep(path, plan, cells);
  run_sql(path, "UPDATE prediction SET value = 7.5 WHERE cell = 3");
  const auto predict = [](const std::string&, const std::string&) {
    return std::vector<double>{0.25, 0.5};
  };
  SweepOpening opening{CellForm{plan.measured, {{"critical_rho"}, {"contraction_theory"}}}, false,
                       false, predict};
  EXPECT_EQ(error_of([&] { SweepFile(path, sweep_head(), opening); }).code(), Code::malformed_file);
  opening.repair = true;
  SweepFile file(path, sweep_head(), opening);
  cells.erase(plan.places[2].key);
  for (auto& [key, cell] : cells) cell.predictions = {0.25, 0.5};
  expect_same(file.cells(), cells);
}

TEST(Integrity, RepairLeavesASoundFileAlone) {
  const ScratchFolder folder;
  const SweepPlan plan = sweep_plan();
  write_sweep(folder / "a.study", plan, every_cell(plan));
  SweepFile file(folder / "a.study", sweep_head(), {{}, false, true});
  expect_same(file.cells(), every_cell(plan));
}

TEST(Integrity, WhatIsBeyondRepairIsLeftAsItIs) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  const SweepPlan plan = sweep_plan();
  write_sweep(path, plan, every_cell(plan));
  const std::string whole = read_bytes(path);
  const std::string zeros = std::string(4096, '\0') + whole.substr(4096);
  for (const std::string& content : {zeros, std::string("a text that is no study")}) {
    write_bytes(path, content);
    const Error error = error_of([&] { SweepFile(path, sweep_head(), {{}, false, true}); });
    EXPECT_EQ(error.code(), Code::malformed_file);
    EXPECT_TRUE(says(error, "beyond repair: move it away and run the same command again"))
        << error.what();
    EXPECT_TRUE(read_bytes(path) == content);
  }
}

// --------------------------------------------------------------------------------- older schema

TEST(Integrity, CellsWithoutHashesAreBelievedAndGetThemWhenWritten) {
  const ScratchFolder folder;
  const fs::path path = folder / "old.study";
  const SweepPlan plan = sweep_plan();
  Cells cells = every_cell(plan);
  write_sweep(path, plan, cells);
  const StudyRecord record = read_study(path);
  remove_hashes(path);
  const std::string before = read_bytes(path);
  expect_same(read_study(path), record);
  expect_same(read_cells_if_present(path), cells);
  EXPECT_EQ(summarise(path).measured, cells.size());
  EXPECT_TRUE(read_bytes(path) == before);

  const std::string grown = plan.places[2].key;
  cells[grown] = sweep_cell(9.0, 16);
  {
    SweepFile file(path, sweep_head());
    file.put(grown, cells[grown], {4, 16, 0.5, 0});
    file.close();
  }
  expect_same(read_cells_if_present(path), cells);
  run_sql(path, "UPDATE moment SET mean = 0.5 WHERE cell = 2 AND variable = 0");  // has no hash
  EXPECT_NO_THROW((void)read_study(path));
  run_sql(path, "UPDATE moment SET mean = 0.5 WHERE cell = 3 AND variable = 0");
  EXPECT_TRUE(says(read_error(path), "is damaged: cell 3 ")) << read_error(path).what();
}

TEST(Integrity, AResultOfSchemaThreeIsReadWithoutHashes) {
  const ScratchFolder folder;
  const fs::path path = folder / "old.study";
  StudyRecord record;
  record.experiment = "phase map";
  record.attachments = {{"state", {std::byte{1}}}};
  write_study(path, record);
  run_sql(path, "DROP TABLE seal; PRAGMA user_version = 3; VACUUM");
  expect_same(read_study(path), record);
}

// -------------------------------------------------------------------- what happens while it runs

TEST(Integrity, ALogThatIsCutWhileItIsWrittenIsNoticed) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  const SweepPlan plan = sweep_plan();
  SweepFile file(path, sweep_head());
  file.begin_session({"2026-01-31T12:00:00Z", "0.4.0", "a processor", "AVX2", 1, 2, "run"});
  file.set_plan(plan);
  for (const auto& [key, cell] : every_cell(plan)) file.put(key, cell, {});
  file.flush();
  file.end_session("2026-01-31T12:01:00Z", "finished");
  ASSERT_EQ(::truncate((path.string() + "-wal").c_str(), 0), 0);
  const Error error = error_of([&] { file.close(); });
  EXPECT_EQ(error.code(), Code::unwritable_file) << error.what();
  EXPECT_TRUE(says(error, path.string())) << error.what();
}

TEST(Integrity, CellsThatWereUndoneBehindTheWriterAreNoticed) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  const SweepPlan plan = sweep_plan();
  SweepFile file(path, sweep_head());
  file.begin_session({"2026-01-31T12:00:00Z", "0.4.0", "a processor", "AVX2", 1, 2, "run"});
  file.set_plan(plan);
  for (const auto& [key, cell] : every_cell(plan)) file.put(key, cell, {});
  file.flush();
  file.end_session("2026-01-31T12:01:00Z", "finished");
  run_sql(path, "UPDATE moment SET mean = 0.5 WHERE cell = 3 AND variable = 0");
  const Error error = error_of([&] { file.close(); });
  EXPECT_EQ(error.code(), Code::unwritable_file);
  EXPECT_TRUE(says(error, "check the disk and run it with --repair")) << error.what();
  EXPECT_EQ(state_of(summarise(path)), "failed");
}

TEST(Integrity, AStudyThatIsDeletedOrReplacedIsNoticedAtTheNextCommit) {
  for (const bool replaced : {false, true}) {
    const ScratchFolder folder;
    const fs::path path = folder / "a.study";
    SweepFile file(path, sweep_head());
    file.set_plan(sweep_plan());
    file.put(key_of(0.0, "cube"), sweep_cell(1), {});
    file.flush();
    fs::remove(path);
    if (replaced) write_bytes(path, "somebody else's");
    file.put(key_of(0.5, "cube"), sweep_cell(2), {});
    const Error error = error_of([&] { file.flush(); });
    EXPECT_EQ(error.code(), Code::unwritable_file);
    EXPECT_EQ(error.what(),
              fmt::format("cannot write '{}': it was deleted or replaced while the study ran: put "
                          "it back, or run the same command again",
                          path.string()));
    EXPECT_THROW(file.close(), Error);
    EXPECT_EQ(fs::exists(path) ? read_bytes(path) : "", replaced ? "somebody else's" : "");
  }
}

}  // namespace
}  // namespace dewpoint::store
