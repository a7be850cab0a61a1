// What a query reads from explicit keys, as a study sees it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/output_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/experiments/key_output.hpp"
#include "dewpoint/scores/keys.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

const Experiment& output() { return output_experiment(); }

// Property (1); the verb's values are the identity.
TEST(OutputExperiment, ReplicaZeroIsTheVerb) {
  const auto law = scores::key_law("vmf:d=4,kappa=3,angle=0.4");
  experiments::KeyOutput asked;
  asked.keys = 1500;
  asked.draws = 7;
  asked.inverse_temperatures = {12.0};
  asked.values = Matrix<double>(4, 4);
  for (std::size_t k = 0; k < 4; ++k) asked.values(k, k) = 1.0;
  asked.seed = 77;
  const auto verb = experiments::key_output(*law, asked).front();
  const Point point = output().resolved(
      {{"keys", "vmf:d=4,kappa=3,angle=0.4"}, {"n", 1500.0}, {"beta", 12.0}, {"draws", 7.0}});
  const std::vector<double> values = replica_of(output(), point, 77, 0);
  const auto value = [&](const char* name) { return measured(output(), point, values, name); };
  EXPECT_EQ(value("gap"), verb.gap.mean);
  EXPECT_EQ(value("parallel_variance"), verb.parallel_variance.mean);
  EXPECT_EQ(value("tangential_variance"), verb.tangential_variance.mean);
  EXPECT_EQ(value("tangential_square"), verb.tangential_square.mean);
  EXPECT_EQ(value("participation"), verb.participation.mean);
  EXPECT_EQ(value("largest_weight"), verb.largest_weight.mean);
  EXPECT_EQ(value("entropy"), verb.entropy.mean);
}

// Property (2).
TEST(OutputExperiment, PointsDoNotNoticeTheirTile) {
  std::vector<Point> tile;
  for (const double beta : {30.0, 0.0, 400.0, 3.0}) {
    tile.push_back(output().resolved({{"n", 2000.0}, {"beta", beta}, {"draws", 5.0}}));
  }
  expect_no_effect_of_tile(output(), tile);
}

// Each batch has an error of its own, from 300 bounded values.
TEST(OutputExperiment, ReplicasDifferAsTheirErrorsSay) {
  const Point point = output().resolved({{"n", 100.0}, {"beta", 10.0}, {"draws", 300.0}});
  const auto law = scores::key_law(word_of(point, "keys"));
  experiments::KeyOutput asked;
  asked.keys = 100;
  asked.draws = 300;
  asked.inverse_temperatures = {10.0};
  const auto batch = [&](std::uint64_t replica) {
    asked.seed = seed_of_replica(seed(), replica);
    return experiments::key_output(*law, asked).front().gap;
  };
  const Estimate first = batch(0);
  for (std::uint64_t replica = 1; replica < 8; ++replica) {
    const Estimate other = batch(replica);
    const double value =
        measured(output(), point, replica_of(output(), point, seed(), replica), "gap");
    EXPECT_EQ(value, other.mean);
    EXPECT_NE(value, first.mean);
    EXPECT_NEAR(value, first.mean,
                kSigmas * std::hypot(first.standard_error, other.standard_error));
  }
}

TEST(OutputExperiment, MeansAreThoseOfTheoryForEveryLawOfKeys) {
  for (const char* keys : {"sphere:d=4", "vmf:d=5,kappa=4,angle=0.5",
                           "subsphere:dim=2,ambient=6,angle=0.4", "gaussian-keys:d=3"}) {
    const Point point =
        output().resolved({{"keys", keys}, {"n", 200.0}, {"edge", 0.7}, {"draws", 20.0}});
    const auto estimates = over_replicas(output(), point);
    for (const char* name : {"gap", "participation", "entropy"}) {
      expect_theory(output(), point, estimates, name);
    }
    if (word_of(point, "keys") != "sphere:d=4") continue;
    expect_theory(output(), point, estimates, "tangential_variance");
    expect_theory(output(), point, estimates, "tangential_square");
  }
}

// n_eff = n/(β coth β) = 400 at d = 3: the theorem misses 1 % of the variance along the query at
// 300 (theory/sphere_clt.hpp).
TEST(OutputExperiment, VarianceAlongTheQueryIsThatOfTheCentralLimitTheorem) {
  const Point point =
      output().resolved({{"keys", "sphere:d=3"}, {"n", 2000.0}, {"beta", 5.0}, {"draws", 20.0}});
  const double law = predicted(output(), point, "parallel_variance_theory");
  expect_theory(output(), point, over_replicas(output(), point), "parallel_variance", 0.01 * law);
}

TEST(OutputExperiment, ThickKeysHaveNoTheory) {
  const Point thick{{"keys", "subsphere:dim=2,ambient=6,noise=0.1"}, {"n", 200.0}};
  const Point point = output().resolved(thick);
  for (const double value : output().predict(point)) EXPECT_TRUE(std::isnan(value));
  Point at_edge = thick;
  at_edge["edge"] = 1.0;
  expect_refused(output(), at_edge, "edge: ");
}

TEST(OutputExperiment, TwoWaysToAskAreOnePoint) {
  const Point edge = output().resolved({{"n", 500.0}, {"edge", 2.0}});
  EXPECT_EQ(resolved_text(output(), {{"n", 500.0}, {"beta", number_of(edge, "beta")}}),
            canonical_text(edge));
  EXPECT_EQ(number_of(edge, "beta"), 2.0 * predicted(output(), edge, "critical_beta"));
  EXPECT_EQ(resolved_text(output(), {{"keys", "vmf:d=5,kappa=4"}}),
            resolved_text(output(), {{"keys", "vmf:kappa=4,d=5,angle=0,share=1"}}));
}

// Keys of stored cells are made of this text.
TEST(OutputExperiment, APointIsAddressedAsEver) {
  EXPECT_EQ(output().schema(), 2);
  EXPECT_EQ(resolved_text(output(), {{"keys", "vmf:d=5,kappa=4"}, {"n", 300.0}, {"draws", 4.0}}),
            R"({"beta":10,"draws":4,"keys":"vmf:d=5,kappa=4,angle=0","n":300})");
}

TEST(OutputExperiment, BadValuesAreNamed) {
  expect_refused(output(), {{"keys", "sphere:d=1"}}, "keys: ");
  expect_refused(output(), {{"keys", "cube"}}, "keys: ");
  expect_refused(output(), {{"keys", "gaussian-keys:d=1"}}, "keys: ");
  expect_refused(output(), {{"n", 1.0}}, "n: ");
  expect_refused(output(), {{"n", 1e10}}, "n: ");
  expect_refused(output(), {{"beta", -1.0}}, "beta: ");
  expect_refused(output(), {{"edge", -1.0}}, "edge: ");
  expect_refused(output(), {{"edge", 1.0}, {"beta", 1.0}}, "edge: 1 is given beside beta");
  expect_refused(output(), {{"edge", 1e307}, {"n", 1e9}}, "edge: ");
  expect_refused(output(), {{"draws", 1.0}}, "draws: ");
}

}  // namespace
}  // namespace dewpoint::studies
