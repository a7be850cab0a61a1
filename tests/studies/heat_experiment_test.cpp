// The drift of a query, as a study sees it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/heat_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/experiments/backward_heat.hpp"
#include "dewpoint/scores/keys.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

const Experiment& heat() { return heat_experiment(); }

// Property (1).
TEST(HeatExperiment, ReplicaZeroIsTheVerb) {
  const scores::VonMisesFisherKeys law(4, {{3.0, 0.8, 1.0}});
  const std::vector<double> gradient{0.0, 3.0 * std::sin(0.8), 0.0, 0.0};
  experiments::KeyOutput asked;
  asked.keys = 1200;
  asked.draws = 9;
  asked.inverse_temperatures = {15.0};
  asked.seed = 77;
  const auto verb = experiments::heat_drift(law, gradient, asked).front();
  const Point point = heat().resolved(
      {{"d", 4.0}, {"kappa", 3.0}, {"angle", 0.8}, {"n", 1200.0}, {"beta", 15.0}, {"draws", 9.0}});
  const std::vector<double> values = replica_of(heat(), point, 77, 0);
  EXPECT_EQ(measured(heat(), point, values, "drift"), verb.along_gradient.mean);
  EXPECT_EQ(measured(heat(), point, values, "relative_drift"), verb.relative_drift.mean);
  EXPECT_EQ(measured(heat(), point, values, "noise_squared"), verb.noise.mean);
  EXPECT_EQ(measured(heat(), point, values, "noise_to_signal"), verb.noise_to_signal.mean);
  EXPECT_EQ(measured(heat(), point, values, "gap"), verb.gap.mean);
  EXPECT_NE(replica_of(heat(), point, 77, 1), values);
}

// Property (2).
TEST(HeatExperiment, PointsDoNotNoticeTheirTile) {
  std::vector<Point> tile;
  for (const double beta : {30.0, 1.0, 200.0}) {
    tile.push_back(heat().resolved({{"n", 1500.0}, {"beta", beta}, {"draws", 4.0}}));
  }
  expect_no_effect_of_tile(heat(), tile);
}

// Theory has infinitely many keys. The output is a ratio of sums, whose bias the experiment
// estimates to first order in 1/n_eff; twice its size allows for what is beyond.
TEST(HeatExperiment, DriftAndGapAreThoseOfManyKeys) {
  const Point point = heat().resolved(
      {{"d", 3.0}, {"kappa", 2.0}, {"angle", 1.0}, {"n", 2000.0}, {"beta", 20.0}, {"draws", 10.0}});
  experiments::KeyOutput asked;
  asked.keys = 2000;
  asked.draws = 200;
  asked.inverse_temperatures = {20.0};
  asked.seed = seed();
  const auto bias =
      experiments::key_output(scores::VonMisesFisherKeys(3, {{2.0, 1.0, 1.0}}), asked).front().bias;
  const auto estimates = over_replicas(heat(), point);
  const double across = 2.0 * std::abs(bias[1].mean), along = 2.0 * std::abs(bias[0].mean);
  expect_theory(heat(), point, estimates, "drift", across);
  expect_theory(heat(), point, estimates, "gap", along);
  const double steepness = 2.0 * std::sin(1.0);
  expect_theory(heat(), point, estimates, "relative_drift", across * 20.0 / steepness);
}

// The law has relative errors d²/β and (4/3)/n_eff, n_eff = n f/β: 9 % and 3 %.
TEST(HeatExperiment, NoiseFollowsItsLaw) {
  const Point point = heat().resolved({{"d", 3.0},
                                       {"kappa", 2.0},
                                       {"angle", 1.0},
                                       {"n", 5000.0},
                                       {"beta", 100.0},
                                       {"draws", 10.0}});
  const auto estimates = over_replicas(heat(), point);
  for (const char* name : {"noise_to_signal", "noise_squared"}) {
    const double law = predicted(heat(), point, std::string(name) + "_theory");
    expect_theory(heat(), point, estimates, name, 0.12 * law);
  }
}

TEST(HeatExperiment, NoiseHasNoLawWhereOneKeyIsLeft) {
  const Point point = heat().resolved({{"d", 200.0}, {"n", 5.0}, {"beta", 1e9}});
  EXPECT_TRUE(std::isnan(predicted(heat(), point, "noise_to_signal_theory")));
}

TEST(HeatExperiment, TwoWaysToAskAreOnePoint) {
  const Point critical = heat().resolved({{"heat", 1.0}});
  EXPECT_EQ(canonical_text(critical), resolved_text(heat(), {}));
  EXPECT_EQ(number_of(critical, "beta"), predicted(heat(), critical, "critical_beta"));
  EXPECT_NEAR(predicted(heat(), critical, "noise_to_signal_theory"), 1.0, 1e-12);
  EXPECT_EQ(canonical_text(critical),
            resolved_text(heat(), {{"beta", number_of(critical, "beta")}}));
}

// Keys of stored cells are made of this text.
TEST(HeatExperiment, APointIsAddressedAsEver) {
  EXPECT_EQ(heat().schema(), 2);
  EXPECT_EQ(resolved_text(heat(), {{"d", 3.0}, {"n", 1e4}, {"beta", 9.0}, {"draws", 25.0}}),
            R"({"angle":1,"beta":9,"d":3,"draws":25,"kappa":5,"n":10000})");
}

TEST(HeatExperiment, BadValuesAreNamed) {
  expect_refused(heat(), {{"d", 1.0}}, "d: ");
  expect_refused(heat(), {{"kappa", 0.0}}, "kappa: ");
  expect_refused(heat(), {{"angle", 4.0}}, "angle: ");
  expect_refused(heat(), {{"n", 1.0}}, "n: ");
  expect_refused(heat(), {{"draws", 1.0}}, "draws: ");
  expect_refused(heat(), {{"beta", 0.0}}, "beta: ");
  expect_refused(heat(), {{"heat", -1.0}}, "heat: ");
  expect_refused(heat(), {{"heat", 1e300}}, "heat: ");
  expect_refused(heat(), {{"heat", 1.0}, {"beta", 1.0}}, "beta: 1 is given beside heat");
}

}  // namespace
}  // namespace dewpoint::studies
