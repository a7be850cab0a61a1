// One query on the sphere as a study sees it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/query_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/experiments/query.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

const Experiment& query() { return query_experiment(); }

void expect_same_numbers(const Point& point, const std::vector<double>& values,
                         const Frame& frame) {
  for (const Observable& observable : query().observables(point)) {
    const auto& cells = frame.variable(observable.name).cells;
    ASSERT_EQ(cells.size(), positions_of(observable)) << observable.name;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      EXPECT_EQ(measured(query(), point, values, observable.name, i), cells[i].mean)
          << observable.name;
    }
  }
}

// Property (1): in every unit of temperature, k the standard one.
TEST(QueryExperiment, ReplicaZeroIsTheVerb) {
  experiments::Query asked;
  asked.dimension = 7;
  asked.n = {1e9};
  asked.draws = 50;
  asked.seed = 77;
  for (const auto unit : {experiments::TemperatureUnit::theta, experiments::TemperatureUnit::edge,
                          experiments::TemperatureUnit::beta}) {
    asked.unit = unit;
    asked.temperatures = {1.7};
    const Point point = query().resolved(
        {{"d", 7.0}, {"n", 1e9}, {experiments::name_of(unit), 1.7}, {"draws", 50.0}});
    expect_same_numbers(point, replica_of(query(), point, 77, 0), experiments::query(asked).means);
  }
}

// Property (1), k chosen by its bound at the standard seed.
TEST(QueryExperiment, ReplicaZeroAtSeedOneIsTheVerbWithABound) {
  experiments::Query asked;
  asked.dimension = 5;
  asked.n = {1e6};
  asked.temperatures = {1.0};
  asked.bound = 1e-3;
  asked.draws = 20;
  const Point point =
      query().resolved({{"d", 5.0}, {"n", 1e6}, {"theta", 1.0}, {"bound", 1e-3}, {"draws", 20.0}});
  expect_same_numbers(point, replica_of(query(), point, 1, 0), experiments::query(asked).means);
}

// Property (2).
TEST(QueryExperiment, PointsDoNotNoticeTheirTile) {
  std::vector<Point> tile;
  for (const double theta : {3.0, 0.1, 1.0}) {
    tile.push_back(query().resolved({{"d", 4.0}, {"n", 1e5}, {"theta", theta}, {"draws", 20.0}}));
  }
  expect_no_effect_of_tile(query(), tile);
}

// Each batch has an error of its own, from 300 bounded values.
TEST(QueryExperiment, ReplicasDifferAsTheirErrorsSay) {
  const Point point = query().resolved({{"d", 3.0}, {"n", 1e4}, {"theta", 1.0}, {"draws", 300.0}});
  experiments::Query asked;
  asked.dimension = 3;
  asked.n = {1e4};
  asked.draws = 300;
  const auto batch = [&](std::uint64_t replica) {
    asked.seed = seed_of_replica(seed(), replica);
    return experiments::query(asked).means.variable("participation").cells[0];
  };
  const Estimate first = batch(0);
  for (std::uint64_t replica = 1; replica < 8; ++replica) {
    const Estimate other = batch(replica);
    const double value =
        measured(query(), point, replica_of(query(), point, seed(), replica), "participation");
    EXPECT_EQ(value, other.mean);
    EXPECT_NE(value, first.mean);
    EXPECT_NEAR(value, first.mean,
                kSigmas * std::hypot(first.standard_error, other.standard_error));
  }
}

TEST(QueryExperiment, MeansAreThoseOfTheoryAtFiniteN) {
  for (const double theta : {0.3, 1.0, 4.0}) {
    const Point point =
        query().resolved({{"d", 5.0}, {"n", 1e3}, {"theta", theta}, {"draws", 30.0}});
    const auto estimates = over_replicas(query(), point);
    for (const char* name : {"participation", "entropy", "bias", "scaled_bias", "scatter",
                             "scaled_scatter", "across_variance"}) {
      expect_theory(query(), point, estimates, name);
    }
  }
}

// n_eff = 8/θ² = 300: the theorem has the variance to 0.5 % there (theory/sphere_clt.hpp).
TEST(QueryExperiment, VariancesAreThoseOfTheCentralLimitTheoremWhileKeysAreMany) {
  const Point point = query().resolved(
      {{"d", 5.0}, {"n", 1e5}, {"theta", std::sqrt(8.0 / 300.0)}, {"draws", 30.0}});
  const auto estimates = over_replicas(query(), point);
  const double law = predicted(query(), point, "radial_variance_theory");
  expect_theory(query(), point, estimates, "radial_variance", 0.01 * law);
  const Point cold = query().resolved({{"d", 5.0}, {"n", 1e5}, {"theta", 10.0}});
  EXPECT_TRUE(std::isnan(predicted(query(), cold, "radial_variance_theory")));
}

TEST(QueryExperiment, WeightsBeyondTheLastKeyAreZero) {
  const Point point = query().resolved({{"n", 3.0}, {"draws", 10.0}, {"ranks", 5.0}});
  const std::vector<double> values = replica_of(query(), point, seed(), 0);
  double sum = 0.0;
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const double weight = measured(query(), point, values, "weight", rank);
    if (rank >= 3) {
      EXPECT_EQ(weight, 0.0);
    }
    sum += weight;
  }
  EXPECT_NEAR(sum, 1.0, 1e-14);  // roundings of ten draws of three weights
}

TEST(QueryExperiment, TwoWaysToAskAreOnePoint) {
  const auto text = [](const Point& given) { return resolved_text(query(), given); };
  const Point edge = query().resolved({{"d", 9.0}, {"edge", 2.0}});
  EXPECT_EQ(text({{"d", 9.0}, {"beta", number_of(edge, "beta")}}), canonical_text(edge));
  EXPECT_DOUBLE_EQ(number_of(edge, "beta"), 2.0 * predicted(query(), edge, "critical_beta"));
  EXPECT_EQ(text({{"theta", 1.0}}), text({}));
  EXPECT_EQ(text({{"n", 20.0}}), text({{"n", 20.0}, {"top", 20.0}}));
  EXPECT_EQ(text({{"n", 1e6}}), text({{"n", 1e6}, {"top", 64.0}}));
}

// Keys of stored cells are made of this text.
TEST(QueryExperiment, APointIsAddressedAsEver) {
  EXPECT_EQ(resolved_text(query(), {{"d", 3.0}, {"n", 1000.0}, {"beta", 1000.0}, {"draws", 200.0}}),
            R"({"beta":1000,"d":3,"draws":200,"n":1000,"ranks":8,"top":64})");
}

TEST(QueryExperiment, BadValuesAreNamed) {
  expect_refused(query(), {{"d", 1.0}}, "d: ");
  expect_refused(query(), {{"d", 513.0}}, "d: ");
  expect_refused(query(), {{"n", 1.0}}, "n: ");
  expect_refused(query(), {{"d", 2.0}, {"n", 1e200}}, "n: ");
  expect_refused(query(), {{"beta", 0.0}}, "beta: ");
  expect_refused(query(), {{"theta", -1.0}}, "theta: ");
  expect_refused(query(), {{"edge", -1.0}}, "edge: ");
  expect_refused(query(), {{"edge", 1.0}, {"beta", 1.0}}, "beta: 1 is given beside edge");
  expect_refused(query(), {{"edge", 1.0}, {"theta", 1.0}}, "edge: 1 is given beside theta");
  expect_refused(query(), {{"beta", 1e300}}, "beta: ");
  expect_refused(query(), {{"n", 1e300}, {"d", 3.0}, {"theta", 2.0}}, "theta: ");
  expect_refused(query(), {{"draws", 1.0}}, "draws: ");
  expect_refused(query(), {{"top", 7.0}}, "top: ");
  expect_refused(query(), {{"n", 100.0}, {"top", 200.0}}, "top: ");
  expect_refused(query(), {{"bound", 0.0}}, "bound: ");
  expect_refused(query(), {{"bound", 0.1}, {"top", 64.0}}, "bound: ");
  expect_refused(query(), {{"ranks", 0.0}}, "ranks: ");
}

}  // namespace
}  // namespace dewpoint::studies
