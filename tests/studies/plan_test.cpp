#include "dewpoint/studies/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <numeric>
#include <set>
#include <stop_token>

#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/older_names.hpp"
#include "studies/test_experiment.hpp"

namespace dewpoint::studies {
namespace {

using test::TestExperiment;
using Values = std::vector<double>;

StudyText study_over(std::vector<GridAxis> grid, std::vector<std::string> along = {}) {
  StudyText study;
  study.experiment = "test";
  study.grid = std::move(grid);
  study.refinement = Refinement{"step", 1, std::move(along), 0.25};
  return study;
}

double expected_step(const PlannedCell& cell) {
  return TestExperiment::expected_step(cell.point());
}

std::string refusal(const StudyText& study) {
  try {
    static_cast<void>(grid_plan(study, TestExperiment()));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// -------------------------------------------------------------------------------------------- keys

// Cells are found again by their keys: a change here loses every cell ever computed.
TEST(CellKey, IsThisOneForever) {
  const TestExperiment experiment;
  const Point point = experiment.resolved({{"x", 0.1 + 0.2}, {"n", 512.0}});
  EXPECT_EQ(canonical_text(point),
            "{\"cost\":0,\"fail\":-1,\"law\":\"early\",\"n\":512,\"pieces\":1,\"quiet\":false,"
            "\"x\":0.30000000000000004}");
  EXPECT_EQ(cell_key(experiment, 1, point), "442cca7cb21a6dfe7c46fcea120188d1");
}

TEST(CellKey, ChangesWithEverythingThatChangesTheNumbers) {
  const TestExperiment experiment;
  const Point point = experiment.resolved({{"x", 1.0}});
  const std::set<std::string> keys = {
      cell_key(experiment, 1, point), cell_key(experiment, 2, point),
      cell_key(TestExperiment(2), 1, point),
      cell_key(experiment, 1, experiment.resolved({{"x", std::nextafter(1.0, 2.0)}}))};
  EXPECT_EQ(keys.size(), 4U);
}

TEST(CellKey, IsOneForTwoWaysToAskForOnePoint) {
  const TestExperiment experiment;
  const Point late = {{"law", std::string("late")}};
  Point by_x = late;
  by_x["x"] = 3.0;
  Point by_c = late;
  by_c["c"] = 1.5;
  EXPECT_EQ(cell_key(experiment, 1, experiment.resolved(by_x)),
            cell_key(experiment, 1, experiment.resolved(by_c)));
  EXPECT_EQ(cell_key(experiment, 1, experiment.resolved({{"x", 0.0}})),
            cell_key(experiment, 1, experiment.resolved({{"x", -0.0}})));
}

// An experiment whose parameter n was called size before.
class Renamed : public TestExperiment {
 public:
  [[nodiscard]] const std::vector<Field>& parameters() const override {
    static const std::vector<Field> all = [] {
      std::vector<Field> fields = TestExperiment().parameters();
      for (Field& field : fields) {
        if (field.name == "n") field.formerly = "size";
      }
      return fields;
    }();
    return all;
  }
};

class Kept : public Renamed, public KeyedByOlderNames {};

TEST(CellKey, HasOlderNamesWhereTheExperimentKeepsThem) {
  const Point point = {{"n", 512.0}, {"x", 1.0}}, before = {{"size", 512.0}, {"x", 1.0}};
  EXPECT_EQ(cell_key(Kept(), 1, point), cell_key(TestExperiment(), 1, before));
  EXPECT_NE(cell_key(Kept(), 1, point), cell_key(TestExperiment(), 1, point));
  EXPECT_EQ(cell_key(Kept(), 1, {{"x", 1.0}}), cell_key(TestExperiment(), 1, {{"x", 1.0}}));
  EXPECT_EQ(cell_key(Renamed(), 1, point), cell_key(TestExperiment(), 1, point));
}

// --------------------------------------------------------------------------------------------
// grids

TEST(GridPlan, RunsThroughItsAxesTheSlowestFirst) {
  StudyText study = study_over({{"law", {}, {"late", "early"}}, {"n", {1, 2, 8}}, {"x", {0, 1}}});
  study.fixed["quiet"] = true;
  const Plan plan = grid_plan(study, TestExperiment());
  ASSERT_EQ(plan.axes.size(), 3U);
  EXPECT_EQ(plan.axes[0].labels, (std::vector<std::string>{"late", "early"}));
  EXPECT_EQ(plan.axes[0].coordinates, (Values{0, 1}));
  EXPECT_EQ(plan.axes[1].coordinates, (Values{1, 2, 8}));
  ASSERT_EQ(plan.cells.size(), 12U);
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const PlannedCell& cell = plan.cells[i];
    EXPECT_EQ(cell.place, (std::vector<std::size_t>{i / 6, i / 2 % 3, i % 2}));
    EXPECT_EQ(word_of(cell.point(), "law"), i < 6 ? "late" : "early");
    EXPECT_EQ(number_of(cell.point(), "n"), plan.axes[1].coordinates[i / 2 % 3]);
    EXPECT_EQ(number_of(cell.point(), "x"), static_cast<double>(i % 2));
    EXPECT_TRUE(flag_of(cell.point(), "quiet"));
    EXPECT_EQ(cell.key, cell_key(TestExperiment(), study.seed, cell.point()));
    EXPECT_EQ(cell.level, 0);
  }
}

TEST(GridPlan, OfNoAxesIsOneCell) {
  StudyText study = study_over({});
  study.fixed["x"] = 1.0;
  const Plan plan = grid_plan(study, TestExperiment());
  ASSERT_EQ(plan.cells.size(), 1U);
  EXPECT_TRUE(plan.cells[0].place.empty());
}

TEST(GridPlan, SaysWhichCombinationIsRefused) {
  EXPECT_EQ(refusal(study_over({{"x", {1, 2}}, {"n", {0, 1}}})),
            "the cell at x=1, n=0: n: less than 1");
  EXPECT_EQ(refusal(study_over({{"x", {1}}, {"c", {1}}})),
            "the cell at x=1, c=1: c: x is given too; allowed: one of them");
  EXPECT_EQ(refusal(study_over({})),
            "the cell of the study: x: missing; allowed: a number, or c instead");
  EXPECT_EQ(refusal(study_over({{"law", {}, {"late"}}, {"c", {1, 1.7e308}}})),
            "the cell at law=late, c=1.7e+308: x: becomes inf; allowed: finite numbers");
}

// An experiment in which a parameter does not matter: the second cell would be the first again.
class Forgetful : public TestExperiment {
 public:
  [[nodiscard]] Point resolved(const Point& given) const override {
    Point point = TestExperiment::resolved(given);
    point["n"] = 4.0;
    return point;
  }
};

TEST(GridPlan, RefusesTwoCombinationsThatAreOnePoint) {
  const StudyText study = study_over({{"n", {1, 2}}, {"x", {0.5, 1}}});
  try {
    static_cast<void>(grid_plan(study, Forgetful()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "grid: the cells at n=1, x=0.5 and at n=2, x=0.5 are the same point; allowed: "
                 "axes that all matter");
  }
}

// An experiment that is asked to stop while it is planned.
class Interrupted : public TestExperiment {
 public:
  explicit Interrupted(int after) : left_(after) {}
  [[nodiscard]] Point resolved(const Point& given) const override {
    if (--left_ == 0) stop_.request_stop();
    ++asked_;
    return TestExperiment::resolved(given);
  }
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  mutable std::stop_source stop_;
  mutable std::atomic<int> left_;
  mutable std::atomic<int> asked_ = 0;
};

// Of 10,000 cells, 100 are asked for before the request; then every thread ends with the cell that
// it is at. A machine has fewer than 1000 processors.
TEST(GridPlan, EndsWithinACellWhenItIsAskedToStop) {
  Values x(10'000);
  std::iota(x.begin(), x.end(), 0.0);
  const Interrupted experiment(100);
  try {
    static_cast<void>(grid_plan(study_over({{"x", x}}), experiment, experiment.token()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::stopped);
  }
  EXPECT_LT(experiment.asked(), 1100);
}

// Whatever words and flags stand between the numbers.
TEST(PackedPoint, GivesBackThePoint) {
  const std::vector<Point> points = {
      {},
      {{"a", -0.0}, {"b", std::string("word")}, {"c", true}},
      {{"a", 0.1}, {"b", std::string("word")}, {"c", true}},
      {{"a", 0.1}, {"b", std::string("other")}, {"c", true}},
      {{"a", 0.1}, {"b", std::string("other")}, {"c", false}},
      {{"a", std::string("0.1")}, {"b", 3.0}},
      {{"a", 0.1}, {"b", std::string("word")}, {"c", true}, {"d", 4.0}}};
  PointPacker packer;
  for (int round = 0; round < 2; ++round) {
    for (const Point& point : points) {
      EXPECT_EQ(packer.packed(point).unpacked(), point);
      EXPECT_EQ(PackedPoint(point).unpacked(), point);
    }
  }
  EXPECT_TRUE(std::signbit(number_of(packer.packed(points[1]).unpacked(), "a")));
  EXPECT_EQ(PackedPoint().unpacked(), Point());
}

TEST(StoredPlan, TellsTheStoreEverything) {
  const TestExperiment experiment;
  const Plan plan =
      grid_plan(study_over({{"law", {}, {"early", "late"}}, {"x", {1, 2}}}), experiment);
  store::SweepPlan stored = stored_places(plan, experiment);
  add_parameters(stored, plan);
  ASSERT_EQ(stored.axes.size(), 2U);
  EXPECT_EQ(stored.axes[0].labels, plan.axes[0].labels);
  ASSERT_EQ(stored.measured.size(), 2U);
  EXPECT_EQ(stored.measured[1].name, "profile");
  EXPECT_EQ(stored.measured[1].inner.at(0).coordinates, (Values{1, 2, 3}));
  ASSERT_EQ(stored.predicted.size(), 2U);
  EXPECT_EQ(stored.predicted[0].name, "step_theory");
  ASSERT_EQ(stored.places.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(stored.places[i].index, plan.cells[i].place);
    EXPECT_EQ(stored.places[i].key, plan.cells[i].key);
    EXPECT_EQ(stored.places[i].parameters, canonical_text(plan.cells[i].point()));
  }
}

// -------------------------------------------------------------------------------------- refinement

Values sorted_coordinates(const Plan& plan, std::size_t axis, int level) {
  Values found;
  for (const PlannedCell& cell : plan.cells) {
    if (cell.level == level) found.push_back(plan.axes[axis].coordinates[cell.place[axis]]);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Every cell lies where its place says, whatever happened to the axes.
void expect_consistent(const Plan& plan) {
  std::set<std::vector<std::size_t>> places;
  std::set<std::string> keys;
  for (const PlannedCell& cell : plan.cells) {
    ASSERT_EQ(cell.place.size(), plan.axes.size());
    for (std::size_t k = 0; k < plan.axes.size(); ++k) {
      const Dimension& axis = plan.axes[k];
      ASSERT_LT(cell.place[k], axis.coordinates.size());
      if (axis.labels.empty()) {
        EXPECT_EQ(number_of(cell.point(), axis.name), axis.coordinates[cell.place[k]]);
      } else {
        EXPECT_EQ(word_of(cell.point(), axis.name), axis.labels[cell.place[k]]);
      }
    }
    EXPECT_TRUE(places.insert(cell.place).second);
    EXPECT_TRUE(keys.insert(cell.key).second);
    EXPECT_EQ(cell.key, cell_key(TestExperiment(), 1, cell.point()));
  }
  for (const Dimension& axis : plan.axes) {
    EXPECT_TRUE(
        std::is_sorted(axis.coordinates.begin(), axis.coordinates.end(), std::less_equal<>()));
  }
}

TEST(Refined, PutsCellsWhereTheStepIs) {
  const TestExperiment experiment;
  StudyText study = study_over({{"n", {16}}, {"x", {0, 0.6, 1.2, 1.8, 2.4, 3.0}}}, {"x"});
  Plan plan = grid_plan(study, experiment);
  for (int level = 1; level <= 6; ++level) plan = refined(study, experiment, plan, expected_step);
  expect_consistent(plan);
  // One cell of the first levels is the middle of the interval with the step: [0.6, 1.2] at x = 1.
  EXPECT_EQ(sorted_coordinates(plan, 1, 1), Values{0.9});
  EXPECT_EQ(sorted_coordinates(plan, 1, 2), Values{1.05});
  for (int level = 3; level <= 6; ++level) {
    for (const double x : sorted_coordinates(plan, 1, level)) EXPECT_NEAR(x, 1.0, 0.3);
  }
  EXPECT_EQ(plan.cells.back().level, 6);
}

// Property (2).
TEST(Refined, KeepsWhatWasPlannedInItsOrder) {
  const TestExperiment experiment;
  const StudyText study = study_over({{"law", {}, {"early", "late"}}, {"x", {0, 1, 2, 3}}}, {"x"});
  const Plan plan = grid_plan(study, experiment);
  const Plan finer = refined(study, experiment, plan, expected_step);
  expect_consistent(finer);
  ASSERT_GT(finer.cells.size(), plan.cells.size());
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    EXPECT_EQ(finer.cells[i].key, plan.cells[i].key);
    EXPECT_EQ(finer.cells[i].point(), plan.cells[i].point());
    EXPECT_EQ(finer.cells[i].level, 0);
  }
}

TEST(Refined, TakesTheLargestShareWithTiesInTheOrderOfThePlan) {
  const TestExperiment experiment;
  StudyText study = study_over({{"x", {0, 1, 2, 3, 4, 5, 6, 7, 8}}}, {"x"});
  const Plan plan = grid_plan(study, experiment);
  // eight intervals: changes 1 1 1 5 1 1 1 1
  const auto value = [](const PlannedCell& cell) {
    const double x = number_of(cell.point(), "x");
    return x > 3.0 ? x + 4.0 : x;
  };
  study.refinement->share = 0.25;
  EXPECT_EQ(sorted_coordinates(refined(study, experiment, plan, value), 0, 1), (Values{0.5, 3.5}));
  study.refinement->share = 0.5;
  EXPECT_EQ(sorted_coordinates(refined(study, experiment, plan, value), 0, 1),
            (Values{0.5, 1.5, 2.5, 3.5}));
  study.refinement->share = 0.01;
  EXPECT_EQ(sorted_coordinates(refined(study, experiment, plan, value), 0, 1), Values{3.5});
  study.refinement->share = 1.0;
  EXPECT_EQ(sorted_coordinates(refined(study, experiment, plan, value), 0, 1).size(), 8U);
}

TEST(Refined, LeavesAlonePlacesWithoutAChangeOrWithoutAValue) {
  const TestExperiment experiment;
  StudyText study = study_over({{"x", {0, 1, 2, 3}}}, {"x"});
  study.refinement->share = 1.0;
  const Plan plan = grid_plan(study, experiment);
  const auto constant = [](const PlannedCell&) { return 2.0; };
  EXPECT_EQ(refined(study, experiment, plan, constant).cells.size(), 4U);
  const auto with_gap = [](const PlannedCell& cell) {
    const double x = number_of(cell.point(), "x");
    return x == 1.0 ? std::nan("") : x;
  };
  EXPECT_EQ(sorted_coordinates(refined(study, experiment, plan, with_gap), 0, 1), Values{2.5});
}

TEST(Refined, HalvesRatiosOnALogarithmicAxisAndKeepsWholeNumbersWhole) {
  const TestExperiment experiment;
  StudyText study = study_over({{"n", {1, 2, 4, 16}, {}, true}, {"x", {1.5}}}, {"n"});
  study.refinement->share = 1.0;
  const Plan plan = grid_plan(study, experiment);
  const auto value = [](const PlannedCell& cell) { return number_of(cell.point(), "n"); };
  // between 1 and 2 there is none; √8 is nearest to 3
  const Plan finer = refined(study, experiment, plan, value);
  EXPECT_EQ(sorted_coordinates(finer, 0, 1), (Values{3, 8}));
  EXPECT_EQ(finer.axes[0].coordinates, (Values{1, 2, 3, 4, 8, 16}));
  expect_consistent(finer);
}

// The interval from 1 to 2 changes most, but has no whole number in it: the next one is taken.
TEST(Refined, DoesNotSpendItsShareWhereThereIsNoRoom) {
  const TestExperiment experiment;
  StudyText study = study_over({{"n", {1, 2, 4}}, {"x", {1.5}}}, {"n"});
  study.refinement->share = 0.01;
  const auto value = [](const PlannedCell& cell) { return 1.0 / number_of(cell.point(), "n"); };
  const Plan finer = refined(study, experiment, grid_plan(study, experiment), value);
  EXPECT_EQ(sorted_coordinates(finer, 0, 1), Values{3});
}

TEST(Refined, RefinesSeveralAxesAndLinesThatAreNotFull) {
  const TestExperiment experiment;
  StudyText study = study_over({{"n", {2, 8, 32}}, {"x", {0.5, 1.5, 2.5}}}, {"n", "x"});
  study.refinement->share = 0.5;
  Plan plan = grid_plan(study, experiment);
  for (int level = 1; level <= 4; ++level) {
    const std::size_t before = plan.cells.size();
    plan = refined(study, experiment, plan, expected_step);
    EXPECT_GT(plan.cells.size(), before);
    expect_consistent(plan);
  }
}

// In units of the critical x the new cells are resolved like the old ones.
TEST(Refined, ResolvesUnits) {
  const TestExperiment experiment;
  StudyText study = study_over({{"law", {}, {"early", "late"}}, {"c", {0.5, 1.5}}}, {"c"});
  study.refinement->share = 1.0;
  const Plan finer = refined(study, experiment, grid_plan(study, experiment), expected_step);
  ASSERT_EQ(finer.cells.size(), 6U);
  EXPECT_EQ(number_of(finer.cells[4].point(), "x"), 1.0);
  EXPECT_EQ(number_of(finer.cells[5].point(), "x"), 2.0);
  EXPECT_EQ(finer.axes[1].coordinates, (Values{0.5, 1, 1.5}));
}

// Property (1): whatever order the values are asked in, and how often.
TEST(Refined, IsAFunctionOfPlanAndValues) {
  const TestExperiment experiment;
  const StudyText study = study_over({{"n", {2, 4, 8}}, {"x", {0, 0.5, 1, 1.5, 2}}}, {"x", "n"});
  const Plan plan = grid_plan(study, experiment);
  const Plan once = refined(study, experiment, plan, expected_step);
  const Plan again = refined(study, experiment, plan, expected_step);
  ASSERT_EQ(once.cells.size(), again.cells.size());
  for (std::size_t i = 0; i < once.cells.size(); ++i) {
    EXPECT_EQ(once.cells[i].key, again.cells[i].key);
    EXPECT_EQ(once.cells[i].place, again.cells[i].place);
  }
}

// A midpoint that the experiment refuses is left out, and the study goes on.
class EvenOnly : public TestExperiment {
 public:
  [[nodiscard]] Point resolved(const Point& given) const override {
    Point point = TestExperiment::resolved(given);
    if (count_of(point, "n") % 2 != 0) throw Error(Code::bad_value, "n: not even");
    return point;
  }
};

TEST(Refined, LeavesOutWhatTheExperimentRefusesOrHasAlready) {
  StudyText study = study_over({{"n", {2, 4, 8}}, {"x", {1.5}}}, {"n"});
  study.refinement->share = 1.0;
  const auto value = [](const PlannedCell& cell) { return number_of(cell.point(), "n"); };
  const EvenOnly even;
  EXPECT_EQ(sorted_coordinates(refined(study, even, grid_plan(study, even), value), 0, 1),
            Values{6});

  const Forgetful forgetful;
  StudyText one = study_over({{"n", {2}}, {"x", {0.5, 1.5}}}, {"n"});
  Plan plan = grid_plan(one, forgetful);
  plan.axes[0].coordinates = {2, 4};  // as if two cells had been planned that are one
  plan.cells[1].place = {1, 0};
  const auto rising = [](const PlannedCell& cell) { return static_cast<double>(cell.place[0]); };
  EXPECT_EQ(refined(one, forgetful, plan, rising).cells.size(), 2U);
}

// 100,000 cells are planned in a quarter of a second of one processor and refined in half a second;
// the bound leaves room for builds with all checks.
TEST(GridPlan, IsQuickForAHundredThousandCells) {
  Values x;
  for (int i = 0; i < 1000; ++i) x.push_back(0.001 * i);
  Values n;
  for (int i = 1; i <= 100; ++i) n.push_back(i);
  const StudyText study = study_over({{"n", n}, {"x", x}}, {"x", "n"});
  const TestExperiment experiment;
  const std::clock_t start = std::clock();
  const Plan plan = grid_plan(study, experiment);
  const Plan finer = refined(study, experiment, plan, expected_step);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(plan.cells.size(), 100'000U);
  EXPECT_EQ(finer.cells.size(), 100'000U + 24'975U);  // a quarter of 100 lines of 999 intervals
  EXPECT_LT(seconds, 8.0);
}

}  // namespace
}  // namespace dewpoint::studies
