#include "dewpoint/store/cell_memory.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/store/study.hpp"
#include "store/scratch_folder.hpp"
#include "store/sweep_support.hpp"

namespace dewpoint::store {
namespace {

using test::expect_same;
using test::key_of;
using test::ScratchFolder;
using test::sweep_cell;
using test::sweep_head;
using test::sweep_plan;

CellForm form_of(const SweepPlan& plan) { return {plan.measured, plan.predicted}; }

// Some cells of a plan, one of them exact, into whatever keeps them.
void put_some(CellStore& store, const SweepPlan& plan) {
  store.set_plan(plan);
  SweepCell exact = sweep_cell(3, 1);
  exact.exact = true;
  store.put(plan.places[1].key, sweep_cell(1), {});
  store.put(plan.places[4].key, sweep_cell(2), {});
  store.put(plan.places[5].key, exact, {});
  store.flush();
}

TEST(CellMemory, GivesTheFrameOfTheFile) {
  const ScratchFolder folder;
  SweepFile file(folder / "a.study", sweep_head());
  put_some(file, sweep_plan());
  file.close();
  CellMemory memory;
  memory.open(form_of(sweep_plan()), {});
  put_some(memory, sweep_plan());
  EXPECT_EQ(to_json(memory.frame("phase")).dump(),
            to_json(read_study(folder / "a.study").frames[0]).dump());
}

TEST(CellMemory, FindsCellsThatAnEarlierPlanWanted) {
  CellMemory memory;
  memory.open(form_of(sweep_plan()), {});
  put_some(memory, sweep_plan());
  memory.set_plan(sweep_plan({0.0, 0.25}));
  const auto known = memory.cells_to_continue({});
  EXPECT_EQ(known.size(), 3U);
  expect_same(known.at(key_of(0.0, "cube")), sweep_cell(1));
  const Frame frame = memory.frame("phase");
  EXPECT_EQ(frame.dimension("rho").coordinates, (std::vector<double>{0.0, 0.25}));
  EXPECT_EQ(frame.variable("contraction").cells[1].mean, 1.0);
  EXPECT_EQ(frame.variable("contraction").cells[2].samples, 0U);
}

TEST(CellMemory, ComputesOtherPredictionsAnewAndForgetsOtherObservables) {
  CellMemory memory;
  SweepPlan plan = sweep_plan();
  memory.open(form_of(plan), {});
  put_some(memory, plan);
  plan.predicted = {{"contraction_theory"}, {"critical_rho"}};
  memory.open(form_of(plan), [](const std::string& key, const std::string& parameters) {
    return std::vector<double>{key == key_of(0.0, "cube") ? 0.5 : 0.25,
                               static_cast<double>(parameters.size())};
  });
  SweepCell expected = sweep_cell(1);
  expected.predictions = {0.5, 22.0};
  EXPECT_EQ(memory.cells_to_continue({}).size(), 3U);
  expect_same(memory.cells_to_continue({}).at(key_of(0.0, "cube")), expected);

  plan.measured.pop_back();
  memory.open(form_of(plan), {});
  EXPECT_TRUE(memory.cells_to_continue({}).empty());
}

}  // namespace
}  // namespace dewpoint::store
