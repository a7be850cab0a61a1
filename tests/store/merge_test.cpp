#include <gtest/gtest.h>

#include <functional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "store/scratch_folder.hpp"
#include "store/sweep_support.hpp"

namespace dewpoint::store {
namespace {

using test::Cells;
using test::error_of;
using test::expect_same;
using test::key_of;
using test::read_bytes;
using test::says;
using test::ScratchFolder;
using test::sweep_cell;
using test::sweep_head;
using test::sweep_plan;
using test::write_sweep;
using Names = std::vector<std::string>;

TEST(Merge, HasAllCellsOverTheUnionOfTheAxes) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan({0.0, 0.75}, {"sphere", "cube"}),
              {{key_of(0.0, "cube"), sweep_cell(1)}, {key_of(0.75, "sphere"), sweep_cell(2)}});
  write_sweep(folder / "b.study", sweep_plan({0.5, 0.75}, {"simplex", "cube"}),
              {{key_of(0.5, "simplex"), sweep_cell(3)}});
  merge({folder / "a.study", folder / "b.study"}, folder / "c.study");
  EXPECT_EQ(folder.names(), (Names{"a.study", "b.study", "c.study"}));

  const StudyRecord record = read_study(folder / "c.study");
  const Frame& frame = record.frames[0];
  EXPECT_EQ(frame.dimension("rho").coordinates, (std::vector<double>{0.0, 0.5, 0.75}));
  EXPECT_EQ(frame.dimension("law").labels, (Names{"sphere", "cube", "simplex"}));
  const auto& cells = frame.variable("contraction").cells;
  EXPECT_EQ(cells[0 * 3 + 1].mean, 1.0);
  EXPECT_EQ(cells[2 * 3 + 0].mean, 2.0);
  EXPECT_EQ(cells[1 * 3 + 2].mean, 3.0);
  const StudySummary summary = summarise(folder / "c.study");
  EXPECT_EQ(summary.planned, 7U);  // 4 + 4, one of them in both
  EXPECT_EQ(summary.measured, 3U);
  EXPECT_EQ(summary.sessions.size(), 2U);
  EXPECT_EQ(summary.sessions[1].outcome, "finished");
  EXPECT_EQ(summary.seconds, 1.5);
  EXPECT_EQ(summary.text, sweep_head().text);
  EXPECT_EQ(summary.created, summarise(folder / "a.study").created);
}

TEST(Merge, TakesTheCellWithMostReplicas) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(),
              {{key_of(0.0, "cube"), sweep_cell(1, 4)}, {key_of(0.5, "cube"), sweep_cell(2, 8)}});
  write_sweep(folder / "b.study", sweep_plan(),
              {{key_of(0.0, "cube"), sweep_cell(3, 16)}, {key_of(0.5, "cube"), sweep_cell(4, 8)}});
  merge({folder / "a.study", folder / "b.study"}, folder / "c.study");
  expect_same(
      read_cells_if_present(folder / "c.study"),
      Cells{{key_of(0.0, "cube"), sweep_cell(3, 16)}, {key_of(0.5, "cube"), sweep_cell(2, 8)}});
}

TEST(Merge, KeepsCellsThatNoPlanWants) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan({0.25}), {{key_of(0.25, "cube"), sweep_cell(1)}});
  write_sweep(folder / "a.study", sweep_plan({0.5}), {{key_of(0.5, "cube"), sweep_cell(2)}});
  merge({folder / "a.study"}, folder / "c.study");
  expect_same(read_cells_if_present(folder / "c.study"), read_cells_if_present(folder / "a.study"));
  EXPECT_EQ(summarise(folder / "c.study").kept, 1U);
}

TEST(Merge, CanBeContinuedAndWrittenOverAnInput) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(), {{key_of(0.0, "cube"), sweep_cell(1)}});
  write_sweep(folder / "b.study", sweep_plan(), {{key_of(0.5, "cube"), sweep_cell(2)}});
  merge({folder / "a.study", folder / "b.study"}, folder / "a.study");
  SweepFile file(folder / "a.study", sweep_head());
  EXPECT_EQ(file.cells().size(), 2U);
  file.set_plan(sweep_plan());
  file.put(key_of(0.75, "cube"), sweep_cell(3), {});
  file.close();
  EXPECT_EQ(summarise(folder / "a.study").measured, 3U);
}

TEST(Merge, IsTheSameForAnyNumberOfSteps) {
  const ScratchFolder folder;
  const auto part = [&](const char* name, double rho) {
    write_sweep(folder / name, sweep_plan({rho}), {{key_of(rho, "cube"), sweep_cell(rho)}});
    return folder / name;
  };
  const auto a = part("a", 0.5), b = part("b", 0.0), c = part("c", 0.75);
  merge({a, b, c}, folder / "at once");
  merge({a, b}, folder / "half");
  merge({folder / "half", c}, folder / "in steps");
  expect_same(read_study(folder / "in steps").frames[0], read_study(folder / "at once").frames[0]);
}

// --------------------------------------------------------------------------------------- misfits

/// The message for a pair of studies of which the second is changed.
Error misfit(const std::function<void(SweepHead&, SweepPlan&)>& change) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(), {});
  SweepHead head = sweep_head();
  SweepPlan plan = sweep_plan();
  change(head, plan);
  write_sweep(folder / "b.study", plan, {}, head);
  const Error error = error_of([&] {
    merge({folder / "a.study", folder / "b.study"}, folder / "c.study");
  });
  EXPECT_EQ(error.code(), Code::bad_value);
  EXPECT_TRUE(says(error, "a.study' and '") && says(error, "b.study': ")) << error.what();
  EXPECT_EQ(folder.names(), (Names{"a.study", "b.study"}));
  return error;
}

TEST(Merge, SaysWhatDoesNotFit) {
  const auto expect = [](const Error& error, const char* what) {
    EXPECT_TRUE(says(error, what)) << error.what();
  };
  expect(misfit([](SweepHead& head, SweepPlan&) { head.experiment = "dew"; }),
         "the experiments are 'phase' and 'dew'");
  expect(misfit([](SweepHead& head, SweepPlan&) { head.seed = 8; }), "the seeds are 7 and 8");
  expect(misfit([](SweepHead& head, SweepPlan&) { head.parameters.pop_back(); }),
         "parameter d is 64 and unset");
  expect(misfit([](SweepHead&, SweepPlan& plan) { plan.axes[0].name = "n"; }),
         "the axes are rho, law and n, law");
  expect(misfit([](SweepHead&, SweepPlan& plan) { plan.axes[1].labels.clear(); }),
         "axis law has numbers and names");
  expect(misfit([](SweepHead&, SweepPlan& plan) { plan.measured[1].inner.clear(); }),
         "the variables differ");
  expect(misfit([](SweepHead&, SweepPlan& plan) { plan.places[2].key = "another"; }),
         "cells at the same place were made differently");
}

TEST(Merge, RefusesResultsNothingAndStudiesThatSomebodyRuns) {
  const ScratchFolder folder;
  EXPECT_EQ(error_of([&] { merge({}, folder / "c.study"); }).code(), Code::bad_value);
  write_study(folder / "a.study", {});
  EXPECT_TRUE(
      says(error_of([&] { merge({folder / "a.study"}, folder / "c.study"); }), "finished result"));
  write_sweep(folder / "b.study", sweep_plan(), {});
  const SweepFile running(folder / "c.study", sweep_head());
  EXPECT_TRUE(says(error_of([&] { merge({folder / "b.study"}, folder / "c.study"); }),
                   "is being run by another process"));
}

}  // namespace
}  // namespace dewpoint::store
