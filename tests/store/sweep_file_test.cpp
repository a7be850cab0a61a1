#include "dewpoint/store/sweep_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stop_token>
#include <thread>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/store/study.hpp"
#include "store/scratch_folder.hpp"
#include "store/sweep_support.hpp"

namespace dewpoint::store {
namespace {

using test::Cells;
using test::error_of;
using test::expect_same;
using test::key_of;
using test::read_bytes;
using test::run_sql;
using test::says;
using test::ScratchFolder;
using test::shell;
using test::sweep_cell;
using test::sweep_head;
using test::sweep_plan;
using test::write_sweep;
using Limits = std::numeric_limits<double>;
using Names = std::vector<std::string>;

// ---------------------------------------------------------------------------------- round trips

TEST(SweepFile, GivesBackEveryNumberBitForBit) {
  const ScratchFolder folder;
  SweepCell extremes;
  extremes.replicas = std::numeric_limits<std::int64_t>::max();
  extremes.moments = {{3, -0.0, Limits::denorm_min()},
                      {1, Limits::infinity(), Limits::quiet_NaN()},
                      {4, -Limits::infinity(), -0.0},
                      {2, 0x1.fffffffffffffp-1, 9007199254740993.0}};
  extremes.predictions = {Limits::quiet_NaN()};
  SweepCell minus_zero = sweep_cell(0.1);
  minus_zero.predictions = {-0.0};
  minus_zero.exact = true;
  const Cells cells = {{key_of(0.0, "sphere"), extremes}, {key_of(0.5, "cube"), minus_zero}};
  write_sweep(folder / "a.study", sweep_plan(), cells);
  expect_same(read_cells_if_present(folder / "a.study"), cells);
  SweepFile again(folder / "a.study", sweep_head());
  expect_same(again.cells(), cells);
}

TEST(SweepFile, KnowsNoMeanOfNoSamples) {
  const ScratchFolder folder;
  SweepCell blind = sweep_cell(0.1);
  blind.moments[1] = {};
  const std::string key = key_of(0.0, "sphere");
  write_sweep(folder / "a.study", sweep_plan(), {{key, blind}});
  expect_same(read_cells_if_present(folder / "a.study"), Cells{{key, blind}});
}

TEST(SweepFile, ReadsTheNumbersOfCellsThatAreContinuedOnly) {
  const ScratchFolder folder;
  SweepCell exact = sweep_cell(3, 1);
  exact.exact = true;
  const Cells cells = {{key_of(0.0, "sphere"), sweep_cell(1, 4)},
                       {key_of(0.5, "sphere"), sweep_cell(2, 8)},
                       {key_of(0.5, "cube"), exact}};
  write_sweep(folder / "a.study", sweep_plan(), cells);
  const auto read = SweepFile(folder / "a.study", sweep_head()).cells_to_continue(8);
  const Cells found(read.begin(), read.end());
  Cells expected = cells;
  expected[key_of(0.5, "sphere")] = {.replicas = 8, .moments = {}, .predictions = {}};
  expected[key_of(0.5, "cube")] = {.replicas = 1, .moments = {}, .predictions = {}, .exact = true};
  expect_same(found, expected);
}

TEST(SweepFile, IsOneFileWhenClosed) {
  const ScratchFolder folder;
  {
    SweepFile file(folder / "a.study", sweep_head());
    file.set_plan(sweep_plan());
    EXPECT_EQ(folder.names(), (Names{"a.study", "a.study-lock", "a.study-shm", "a.study-wal"}));
    file.put(key_of(0.0, "cube"), sweep_cell(1), {});
  }
  EXPECT_EQ(folder.names(), Names{"a.study"});
  EXPECT_EQ(read_cells_if_present(folder / "a.study").size(), 1U);
}

TEST(SweepFile, WithoutCellsOrPlanIsAStudyToo) {
  const ScratchFolder folder;
  SweepFile(folder / "a.study", sweep_head()).close();
  const StudyRecord record = read_study(folder / "a.study");
  ASSERT_EQ(record.frames.size(), 1U);
  EXPECT_TRUE(record.frames[0].variables().empty());
  EXPECT_EQ(summarise(folder / "a.study").planned, 0U);
  EXPECT_TRUE(read_cells_if_present(folder / "nothing.study").empty());
}

TEST(SweepFile, IsReadAsOneFrame) {
  const ScratchFolder folder;
  SweepCell exact = sweep_cell(2.0, 1);
  exact.exact = true;
  write_sweep(folder / "a.study", sweep_plan(),
              {{key_of(0.0, "cube"), sweep_cell(1.0)}, {key_of(0.75, "sphere"), exact}});
  Frame expected("phase");
  expected.add_dimension("rho", {0.0, 0.5, 0.75});
  expected.add_labelled_dimension("law", {"sphere", "cube"});
  expected.add_dimension("layer", {1, 2, 4});
  const SweepCell known = sweep_cell(1.0);
  auto& contraction = expected.add_variable("contraction", {"rho", "law"}).cells;
  contraction[1] = known.moments[0].estimate();
  contraction[4] = {exact.moments[0].mean(), 0.0, 1};
  auto& loss = expected.add_variable("loss", {"rho", "law", "layer"}).cells;
  for (std::size_t i = 0; i < 3; ++i) {
    loss[3 + i] = known.moments[1 + i].estimate();
    loss[12 + i] = {exact.moments[1 + i].mean(), 0.0, 1};
  }
  auto& theory = expected.add_variable("contraction_theory", {"rho", "law"}).cells;
  theory[1] = {-1.0, 0.0, 0};
  theory[4] = {-2.0, 0.0, 0};
  const StudyRecord record = read_study(folder / "a.study");
  ASSERT_EQ(record.frames.size(), 1U);
  expect_same(record.frames[0], expected);
  EXPECT_EQ(record.experiment, "phase");
  EXPECT_EQ(record.parameters, sweep_head().parameters);
  EXPECT_EQ(record.seed, 7U);
  EXPECT_EQ(record.command, sweep_head().command);
  EXPECT_EQ(record.created.size(), std::string("2026-01-31T12:00:00Z").size());
}

// ------------------------------------------------------------------------------------ going on

TEST(SweepFile, ReplacesACellThatGetsMoreReplicas) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(), {{key_of(0.5, "cube"), sweep_cell(1, 4)}});
  write_sweep(folder / "a.study", sweep_plan(), {{key_of(0.5, "cube"), sweep_cell(3, 8)}});
  expect_same(read_cells_if_present(folder / "a.study"),
              Cells{{key_of(0.5, "cube"), sweep_cell(3, 8)}});
  const StudySummary summary = summarise(folder / "a.study");
  EXPECT_EQ(summary.sessions.size(), 2U);
  EXPECT_EQ(summary.seconds, 1.0);
}

TEST(SweepFile, KeepsTheCellsThatANewPlanDoesNotWant) {
  const ScratchFolder folder;
  const Cells cells = {{key_of(0.0, "cube"), sweep_cell(1)}, {key_of(0.5, "cube"), sweep_cell(2)}};
  write_sweep(folder / "a.study", sweep_plan(), cells);
  SweepPlan plan = sweep_plan({0.25, 0.5}, {"cube", "simplex"});
  plan.places[0].level = 1;
  {
    SweepFile file(folder / "a.study", sweep_head());
    file.set_plan(plan);
    expect_same(file.cells(), cells);
    file.close();
  }
  const StudySummary summary = summarise(folder / "a.study");
  EXPECT_EQ(summary.planned, 4U);
  EXPECT_EQ(summary.measured, 1U);
  EXPECT_EQ(summary.kept, 1U);
  const Frame frame = read_study(folder / "a.study").frames[0];
  EXPECT_EQ(frame.dimension("rho").coordinates, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(frame.variable("contraction").cells[2].mean, 2.0);
  EXPECT_EQ(frame.variable("contraction").cells[0].samples, 0U);
}

TEST(SweepFile, DeletesCellsOfAnotherFormOnlyWhenTold) {
  const ScratchFolder folder;
  const Cells cells = {{key_of(0.0, "cube"), sweep_cell(1)}};
  write_sweep(folder / "a.study", sweep_plan(), cells);
  const std::string before = read_bytes(folder / "a.study");
  SweepPlan plan = sweep_plan();
  plan.measured[1].inner[0].coordinates = {1, 2, 3};
  SweepOpening opening{CellForm{plan.measured, plan.predicted}};
  const std::string said = fmt::format(
      "'{}' has 1 finished cell(s) with other observables (loss): -o OTHER.study keeps "
      "them, --replace deletes them",
      (folder / "a.study").string());
  const Error error = error_of([&] { SweepFile(folder / "a.study", sweep_head(), opening); });
  EXPECT_EQ(error.code(), Code::bad_value);
  EXPECT_EQ(error.what(), said);
  EXPECT_TRUE(read_bytes(folder / "a.study") == before);
  {
    SweepFile file(folder / "a.study", sweep_head());
    EXPECT_EQ(error_of([&] { file.set_plan(plan); }).what(), said);
    expect_same(file.cells(), cells);
  }
  opening.replace = true;
  SweepFile file(folder / "a.study", sweep_head(), opening);
  file.set_plan(plan);
  EXPECT_TRUE(file.cells().empty());
  file.put(key_of(0.0, "cube"), sweep_cell(5), {});
  expect_same(file.cells(), Cells{{key_of(0.0, "cube"), sweep_cell(5)}});
}

// What two versions predict of the same cells: the newer knows where the transition is.
SweepPlan plan_of_newer_version() {
  SweepPlan plan = sweep_plan();
  plan.predicted = {{"critical_rho"}, {"contraction_theory"}};
  return plan;
}

// Tells cells apart by what it is told of them.
std::vector<double> newer_predictions(const std::string& key, const std::string& parameters) {
  return {key == key_of(0.5, "cube") ? 0.5 : 0.25, static_cast<double>(parameters.size())};
}

TEST(SweepFile, ComputesOtherPredictionsAnewAndKeepsEveryCell) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a.study";
  write_sweep(path, sweep_plan(),
              {{key_of(0.5, "cube"), sweep_cell(1)}, {key_of(0.75, "sphere"), sweep_cell(2, 9)}});
  write_sweep(path, sweep_plan({0.0, 0.5}), {});  // which does not want the second
  const SweepPlan plan = plan_of_newer_version();
  const CellForm form{plan.measured, plan.predicted};
  EXPECT_NO_THROW(expect_form_if_present(path, form));
  EXPECT_EQ(read_study(path).frames[0].variable("contraction_theory").cells[3].mean, -1.0);

  Cells expected = {{key_of(0.5, "cube"), sweep_cell(1)},
                    {key_of(0.75, "sphere"), sweep_cell(2, 9)}};
  expected.at(key_of(0.5, "cube")).predictions = {0.5, 24.0};
  expected.at(key_of(0.75, "sphere")).predictions = {0.25, 27.0};
  {
    SweepFile file(path, sweep_head(), {form, false, false, newer_predictions});
    expect_same(file.cells(), expected);
    EXPECT_EQ(file.cells_to_continue(4).size(), 2U);
  }
  const Frame frame = read_study(path).frames[0];  // which compares every hash
  EXPECT_EQ(frame.dimension("rho").coordinates, (std::vector<double>{0.0, 0.5}));
  EXPECT_EQ(frame.variable("contraction").cells[3].samples, 4U);
  EXPECT_EQ(frame.variable("critical_rho").cells[3].mean, 0.5);
  EXPECT_TRUE(std::isnan(frame.variable("critical_rho").cells[0].mean));

  SweepFile file(path, sweep_head(), {form});  // a plan of this form is nothing new
  file.set_plan(plan);
  expect_same(file.cells(), expected);
}

TEST(SweepFile, DoesNotKnowPredictionsThatNobodyComputes) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(), {{key_of(0.5, "cube"), sweep_cell(1)}});
  SweepFile file(folder / "a.study", sweep_head());
  file.set_plan(plan_of_newer_version());
  SweepCell expected = sweep_cell(1);
  expected.predictions = {kUnknown, kUnknown};
  expect_same(file.cells(), Cells{{key_of(0.5, "cube"), expected}});
}

// A plan without finished cells is nobody's loss.
TEST(SweepFile, TakesAnotherFormWhereNothingIsFinished) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(), {});
  SweepPlan plan = sweep_plan();
  plan.measured[1].inner[0].coordinates = {1, 2, 3};
  SweepFile file(folder / "a.study", sweep_head(), {CellForm{plan.measured, plan.predicted}});
  EXPECT_NO_THROW(file.set_plan(plan));
}

TEST(SweepFile, TakesTheHeadOfTheLastRunAndTheTimeOfTheFirst) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(), {});
  test::remove_hashes(folder / "a.study");
  run_sql(folder / "a.study", "UPDATE meta SET value = 'long ago' WHERE key = 'created'");
  SweepHead head = sweep_head();
  head.parameters = {{"alpha", "1"}};
  head.text = "other";
  SweepFile(folder / "a.study", head).close();
  const StudySummary summary = summarise(folder / "a.study");
  EXPECT_EQ(summary.created, "long ago");
  EXPECT_EQ(summary.text, "other");
  EXPECT_EQ(read_study(folder / "a.study").parameters, head.parameters);
}

// 50 ms is the promise for a commit; the machine gets some more to wake up the writer.
TEST(SweepFile, CommitsWithoutBeingAsked) {
  const ScratchFolder folder;
  SweepFile file(folder / "a.study", sweep_head());
  file.set_plan(sweep_plan());
  file.put(key_of(0.0, "cube"), sweep_cell(1), {});
  for (int i = 0; i < 200 && read_cells_if_present(folder / "a.study").empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(read_cells_if_present(folder / "a.study").size(), 1U);
}

TEST(SweepFile, RefusesAKeyThatNoPlanHad) {
  const ScratchFolder folder;
  SweepFile file(folder / "a.study", sweep_head());
  file.set_plan(sweep_plan());
  file.put("unheard of", sweep_cell(1), {});
  EXPECT_EQ(error_of([&] { file.flush(); }).code(), Code::bad_value);
  EXPECT_EQ(error_of([&] { file.close(); }).code(), Code::bad_value);
}

TEST(SweepFile, RefusesAPlanThatNoFrameCanHold) {
  const ScratchFolder folder;
  SweepFile file(folder / "a.study", sweep_head());
  SweepPlan plan = sweep_plan();
  for (const char* name : {"a", "b", "c"}) {
    plan.axes.push_back({name, std::vector<double>(1000, 1.0)});
  }
  plan.places.clear();
  EXPECT_EQ(error_of([&] { file.set_plan(plan); }).code(), Code::bad_value);
  file.set_plan(sweep_plan());  // nothing of the other one is left
  file.close();
  EXPECT_EQ(summarise(folder / "a.study").planned, 6U);
}

TEST(SweepFile, RefusesAnotherExperimentAndAFinishedResult) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(), {});
  SweepHead head = sweep_head();
  head.experiment = "dew";
  const Error other = error_of([&] { SweepFile(folder / "a.study", head); });
  EXPECT_EQ(other.code(), Code::malformed_file);
  EXPECT_TRUE(says(other, "experiment 'phase', not of 'dew'")) << other.what();

  write_study(folder / "b.study", {});
  const Error finished = error_of([&] { SweepFile(folder / "b.study", sweep_head()); });
  EXPECT_EQ(finished.code(), Code::malformed_file);
  EXPECT_TRUE(says(finished, "finished result")) << finished.what();
  EXPECT_EQ(folder.names(), (Names{"a.study", "b.study"}));

  // Forced, it begins anew where it cannot go on, and nowhere else.
  for (const char* name : {"a.study", "b.study"}) {
    SweepFile({folder / name, true}, head).close();
    EXPECT_EQ(summarise(folder / name).experiment, "dew") << name;
  }
  write_sweep(folder / "c.study", sweep_plan(), {});
  SweepFile({folder / "c.study", true}, sweep_head()).close();
  EXPECT_EQ(summarise(folder / "c.study").planned, sweep_plan().places.size());
}

// -------------------------------------------------------------------------------------- looking

TEST(SweepFile, IsSummarised) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(),
              {{key_of(0.0, "cube"), sweep_cell(1, 4)}, {key_of(0.5, "cube"), sweep_cell(1, 16)}});
  const StudySummary summary = summarise(folder / "a.study");
  EXPECT_TRUE(summary.sweep);
  EXPECT_FALSE(summary.running);
  EXPECT_EQ(summary.title, "A small map");
  EXPECT_EQ(summary.text, sweep_head().text);
  EXPECT_EQ(summary.planned, 6U);
  EXPECT_EQ(summary.measured, 2U);
  EXPECT_EQ(summary.kept, 0U);
  EXPECT_EQ(summary.fewest_replicas, 4U);
  EXPECT_EQ(summary.most_replicas, 16U);
  EXPECT_EQ(summary.seconds, 1.0);
  ASSERT_EQ(summary.sessions.size(), 1U);
  EXPECT_EQ(summary.sessions[0].processor, "a processor");
  EXPECT_EQ(summary.sessions[0].threads, 2);
  EXPECT_EQ(summary.sessions[0].stopped, "2026-01-31T12:01:00Z");
  EXPECT_EQ(summary.sessions[0].outcome, "finished");
}

TEST(SweepFile, CanBeReadWithTheSqliteShell) {
  if (!test::has_shell()) GTEST_SKIP() << "no sqlite3 shell here";
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "a.study";
  SweepCell cell = sweep_cell(0.5, 4);
  cell.moments[0] = {4, 0.5, 12.0};  // error √(12 / 3 / 4) = 1
  write_sweep(file, sweep_plan(), {{key_of(0.5, "cube"), cell}});
  EXPECT_EQ(shell(file, "PRAGMA integrity_check"), "ok\n");
  EXPECT_EQ(shell(file, "SELECT * FROM result WHERE variable LIKE 'contraction%'"),
            "rho=0.5 law=cube|contraction|0.5|1.0|4\n"
            "rho=0.5 law=cube|contraction_theory|-0.5|0.0|0\n");
  EXPECT_EQ(shell(file, "SELECT frame, place FROM point WHERE variable = 'loss'"),
            "phase|rho=0.5 law=cube layer=1\nphase|rho=0.5 law=cube layer=2\n"
            "phase|rho=0.5 law=cube layer=4\n");
  EXPECT_EQ(shell(file,
                  "SELECT count(*) FROM pragma_table_list WHERE schema = 'main'"
                  " AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite%'"),
            "0\n");
}

// A plan is kept whole or not at all. Small ones are kept whatever was asked for.
TEST(SweepFile, KeepsTheOldPlanWhenItIsStoppedWhileItTakesALargeOne) {
  const ScratchFolder folder;
  const auto path = folder / "a.study";
  std::stop_source stop;
  stop.request_stop();
  SweepPlan large = sweep_plan();
  large.axes = {{"rho", std::vector<double>(10'000)}};
  std::iota(large.axes[0].coordinates.begin(), large.axes[0].coordinates.end(), 0.0);
  large.places.clear();
  for (std::size_t i = 0; i < 10'000; ++i) {
    large.places.push_back({{i}, fmt::format("{:032}", i), "{}", 0});
  }
  {
    SweepFile file(path, sweep_head());
    file.set_plan(sweep_plan(), stop.get_token());
    const Error error = error_of([&] { file.set_plan(large, stop.get_token()); });
    EXPECT_EQ(error.code(), Code::stopped);
    EXPECT_TRUE(file.has_plan(sweep_plan()));
    file.close();
  }
  EXPECT_EQ(summarise(path).planned, sweep_plan().places.size());
}

// 20 MB of title took a report 1.9 GB.
TEST(SweepFile, WithATextThatIsTooLongIsRefusedWithTheFieldAndItsLength) {
  const ScratchFolder folder;
  const auto path = folder / "a.study";
  {
    SweepFile file(path, sweep_head());
    file.set_plan(sweep_plan());
    file.close();
  }
  run_sql(path,
          "PRAGMA user_version = 3;"  // without hashes, as a stranger may write it
          "UPDATE meta SET value = printf('%.*c', 4096, 'x') WHERE key = 'title'");
  EXPECT_EQ(summarise(path).title.size(), 4096U);
  run_sql(path, "UPDATE meta SET value = printf('%.*c', 20000000, 'x') WHERE key = 'title'");
  const Error title = error_of([&] { static_cast<void>(summarise(path)); });
  EXPECT_EQ(title.code(), Code::malformed_file);
  EXPECT_TRUE(says(title, "title: 20000000 bytes; allowed: at most 4096")) << title.what();
  run_sql(path,
          "UPDATE meta SET value = 'x' WHERE key = 'title';"
          "UPDATE sweep_variable SET name = printf('%.*c', 2000000, 'x') WHERE id = 0");
  const Error name = error_of([&] { static_cast<void>(read_study(path)); });
  EXPECT_TRUE(says(name, "name: 2000000 bytes; allowed: at most 1048576")) << name.what();
}

}  // namespace
}  // namespace dewpoint::store
