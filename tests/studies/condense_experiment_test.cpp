// Condensation as a study sees it: the numbers of the verb, whatever else is measured beside them.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/condense_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/experiments/condense.hpp"
#include "dewpoint/studies/plan.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

const Experiment& condense() { return condense_experiment(); }

void expect_same_numbers(const Point& point, const std::vector<double>& values,
                         const Frame& frame) {
  for (const Observable& observable : condense().observables(point)) {
    const auto& cells = frame.variable(observable.name).cells;
    ASSERT_EQ(cells.size(), positions_of(observable)) << observable.name;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      EXPECT_EQ(measured(condense(), point, values, observable.name, i), cells[i].mean)
          << observable.name;
    }
  }
}

// Property (1), with k as it was asked for.
TEST(CondenseExperiment, ReplicaZeroIsTheVerbAtTheSameTop) {
  experiments::Condense asked;
  asked.n = {1e5};
  asked.loads = {1.3};
  asked.signals = {1.1};
  asked.deviation = 2.0;
  asked.query_keys = experiments::QueryKeys{16, false};
  asked.draws = 60;
  asked.top = 32;
  asked.seed = 77;
  const Point point = condense().resolved({{"n", 1e5},
                                           {"t", 1.3},
                                           {"signal", 1.1},
                                           {"sigma", 2.0},
                                           {"draws", 60.0},
                                           {"top", 32.0},
                                           {"keys-dimension", 16.0},
                                           {"unscaled", true}});
  expect_same_numbers(point, replica_of(condense(), point, 77, 0), experiments::condense(asked));
}

// Property (1), with k as both choose it at the standard seed.
TEST(CondenseExperiment, ReplicaZeroAtSeedOneIsTheVerbWithNothingSaid) {
  experiments::Condense asked;
  asked.n = {1e30};
  asked.loads = {0.9};
  asked.draws = 1000;
  const Point point = condense().resolved({{"n", 1e30}, {"t", 0.9}});
  expect_same_numbers(point, replica_of(condense(), point, 1, 0), experiments::condense(asked));
}

// Property (2).
TEST(CondenseExperiment, PointsDoNotNoticeTheirTile) {
  std::vector<Point> tile;
  for (const double t : {2.0, 0.4, 1.0, 1.7}) {
    tile.push_back(condense().resolved(
        {{"n", 1e8}, {"t", t}, {"planted", 6.0}, {"top", 64.0}, {"draws", 30.0}}));
  }
  expect_no_effect_of_tile(condense(), tile);
}

// Each batch has an error of its own, from its 400 bounded weights; two batches differ by less than
// kSigmas of the difference.
TEST(CondenseExperiment, ReplicasDifferAsTheirErrorsSay) {
  const Point point = condense().resolved({{"n", 1e6}, {"t", 1.5}, {"draws", 400.0}});
  experiments::Condense asked;
  asked.n = {1e6};
  asked.loads = {1.5};
  asked.draws = 400;
  asked.top = count_of(point, "top");
  const auto batch = [&](std::uint64_t replica) {
    asked.seed = seed_of_replica(seed(), replica);
    return experiments::condense(asked).variable("participation").cells[0];
  };
  const Estimate first = batch(0);
  for (std::uint64_t replica = 1; replica < 12; ++replica) {
    const Estimate other = batch(replica);
    const double value = measured(condense(), point, replica_of(condense(), point, seed(), replica),
                                  "participation");
    EXPECT_EQ(value, other.mean);
    EXPECT_NE(value, first.mean);
    EXPECT_NEAR(value, first.mean,
                kSigmas * std::hypot(first.standard_error, other.standard_error));
  }
}

// The sampler's own error is below 1e-3 of log Z, which is added.
TEST(CondenseExperiment, MeansAreThoseOfTheoryAtFiniteN) {
  for (const double n : {1e3, 1e9}) {
    for (const double t : {1.2, 2.0}) {
      const Point point =
          condense().resolved({{"n", n}, {"t", t}, {"sigma", 2.0}, {"draws", 50.0}});
      const auto estimates = over_replicas(condense(), point);
      expect_theory(condense(), point, estimates, "participation");
      expect_theory(condense(), point, estimates, "entropy");
      expect_theory(condense(), point, estimates, "mean_score");
      expect_theory(condense(), point, estimates, "log_partition", 1e-3);
    }
  }
}

TEST(CondenseExperiment, PredictsWhatItsDomainAllows) {
  const Point uniform = condense().resolved({{"n", 1e30}, {"t", 0.01}});
  EXPECT_TRUE(std::isnan(predicted(condense(), uniform, "log_partition_deviation_theory")));
  const Point random = condense().resolved({{"t", 1.5}, {"keys-dimension", 4.0}});
  EXPECT_TRUE(std::isnan(predicted(condense(), random, "participation_theory")));
  EXPECT_EQ(predicted(condense(), random, "critical_t"), 1.0);
  const Point wide = condense().resolved({{"n", 1e6}, {"sigma", 2.0}});
  EXPECT_NEAR(predicted(condense(), wide, "critical_beta"), std::sqrt(2.0 * std::log(1e6)) / 2.0,
              1e-14);
}

TEST(CondenseExperiment, TwoWaysToAskAreOnePoint) {
  const auto text = [](const Point& given) { return resolved_text(condense(), given); };
  const Point planted = condense().resolved({{"n", 1e6}, {"signal", 1.1}});
  EXPECT_EQ(text({{"n", 1e6}, {"planted", number_of(planted, "planted")}}),
            canonical_text(planted));
  const Point chosen = condense().resolved({{"n", 1e6}, {"t", 1.5}, {"bound", 1e-2}});
  EXPECT_EQ(text({{"n", 1e6}, {"t", 1.5}, {"top", number_of(chosen, "top")}}),
            canonical_text(chosen));
  EXPECT_EQ(text({{"n", 1234.4}}), text({{"n", 1234.0}}));
  EXPECT_EQ(text({{"unscaled", false}}), text({}));
  const double beta = 1.7 * std::sqrt(2.0 * std::log(1e6)) / 3.0;  // t = 1.7
  const Point cold = condense().resolved({{"n", 1e6}, {"sigma", 3.0}, {"beta", beta}});
  EXPECT_DOUBLE_EQ(number_of(cold, "t"), 1.7);
  EXPECT_FALSE(has(cold, "beta"));
}

TEST(CondenseExperiment, BadValuesAreNamed) {
  expect_refused(condense(), {{"n", 1.0}}, "n: ");
  expect_refused(condense(), {{"n", 1e301}}, "n: ");
  expect_refused(condense(), {{"t", 0.0}}, "t: ");
  expect_refused(condense(), {{"beta", -1.0}}, "beta: ");
  expect_refused(condense(), {{"beta", 1.0}, {"t", 1.0}}, "beta: ");
  expect_refused(condense(), {{"signal", 1e7}}, "signal: ");
  expect_refused(condense(), {{"planted", 1e101}}, "planted: ");
  expect_refused(condense(), {{"signal", 1.0}, {"planted", 1.0}}, "planted: ");
  expect_refused(condense(), {{"sigma", 0.0}}, "sigma: ");
  expect_refused(condense(), {{"draws", 1.0}}, "draws: ");
  expect_refused(condense(), {{"draws", 10.5}}, "draws: ");
  expect_refused(condense(), {{"top", 4.0}}, "top: ");
  expect_refused(condense(), {{"n", 100.0}, {"top", 101.0}}, "top: ");
  expect_refused(condense(), {{"bound", 2.0}}, "bound: ");
  expect_refused(condense(), {{"bound", 1e-12}}, "bound: ");
  expect_refused(condense(), {{"bound", 0.1}, {"top", 8.0}}, "bound: ");
  expect_refused(condense(), {{"keys-dimension", 0.0}}, "keys-dimension: ");
  expect_refused(condense(), {{"unscaled", true}}, "unscaled: ");
}

// Keys with the k that version 0.4 chose by a whole experiment per cell, under schema 3 of the
// experiment: what is computed now must be found again. Among them fewer scores than the least k, a
// k that falls and rises with t, and the largest n.
TEST(CondenseExperiment, PlansTheKeysThatItAlwaysPlanned) {
  StudyText study;
  study.experiment = "condense";
  study.fixed = {{"draws", 2.0}};
  study.grid = {{"n", {20, 1100, 1e6, 1e300}}, {"t", {0.05, 0.15, 0.6, 1, 3}}};
  const std::vector<std::string> expected = {
      "fc46434237f0b50fc443c139d5fefbd1", "71455750c823ecf182a07ef709700b89",
      "2482ae7dbae9051d484b312d88075ce7", "02f38a0e2e42a3ee820ea906fba7b920",
      "3f86201dd4926dcd2a0eb074fe04b99b", "5f102770c29f7e923279899e66830300",
      "12fc8f2734fe427b21860bbc1e99b5db", "148400c2ccaa98ff0c5bd2a6ae75a343",
      "a954398656a26246157f9503b4825e4c", "8f86f90abaa2824e653bea84e6912082",
      "d7c7e0806e581d297f08f1944bb96625", "11473e53adcf495505ce2175394b6e1e",
      "d4923529319844335e8f559c52c2251e", "467638211ed97a636c60f1926d0e6ae0",
      "6490273adbde7fea271520dc3c0b76bd", "1ac4cf0ed06f5ee68252562f69212bb9",
      "3d3bf23cdb2a525a9a40dd1f5a057730", "9ee8491fd8d8f62db14c15a51882ef30",
      "bcd82f75580366786ecf957f934a7fbd", "751ad4252f817de8af09acea017f5d53"};
  const Plan plan = grid_plan(study, condense());
  ASSERT_EQ(plan.cells.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(plan.cells[i].key, expected[i]) << canonical_text(plan.cells[i].point());
  }

  study.fixed = {{"draws", 2.0},  {"keys-dimension", 64.0}, {"unscaled", true},
                 {"bound", 0.01}, {"signal", 0.5},          {"n", 1000.0}};
  study.grid = {{"beta", {0.1, 0.5}}};
  const Plan queries = grid_plan(study, condense());
  EXPECT_EQ(queries.cells[0].key, "ac335ffd37e2bc8aae993593ff519a8d");
  EXPECT_EQ(queries.cells[1].key, "952cbc68b00405f7e41b9a720954045c");

  study.fixed = {{"draws", 2.0}, {"sigma", 2.5}, {"n", 100000.0}};
  study.grid = {{"planted", {1, 2}}};
  const Plan planted = grid_plan(study, condense());
  EXPECT_EQ(planted.cells[0].key, "21c3bbd509964006aeb3e521de2991b2");
  EXPECT_EQ(planted.cells[1].key, "512e33fa79fe3c5f3d5e959f6394265c");
}

}  // namespace
}  // namespace dewpoint::studies
