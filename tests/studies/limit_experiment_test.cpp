// The limit law of weights, as a study sees it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/limit_experiment.hpp"

#include <gtest/gtest.h>

#include "dewpoint/experiments/critical_limit.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

const Experiment& limit() { return limit_experiment(); }

// Property (1).
TEST(LimitExperiment, ReplicasAreMeansOverTheDrawsOfTheLaw) {
  const Point point = limit().resolved(
      {{"theta", 0.7}, {"d", 6.0}, {"draws", 40.0}, {"top", 128.0}, {"ranks", 3.0}});
  for (const std::uint64_t replica : {0U, 4U}) {
    const auto weights =
        experiments::critical_limit_weights({0.7, 2.5, 40, 128, 128, seed_of_replica(77, replica)});
    const std::vector<double> values = replica_of(limit(), point, 77, replica);
    RunningMoments third, participation;
    for (std::size_t i = 0; i < weights.rows(); ++i) {
      third.add(weights(i, 2));
      double squares = 0.0;
      for (std::size_t k = 0; k < weights.cols(); ++k) squares += weights(i, k) * weights(i, k);
      participation.add(squares);
    }
    EXPECT_EQ(measured(limit(), point, values, "weight", 2), third.mean());
    EXPECT_EQ(measured(limit(), point, values, "largest_weight"),
              measured(limit(), point, values, "weight", 0));
    // A sum of 128 squares in another order.
    EXPECT_NEAR(measured(limit(), point, values, "participation"), participation.mean(), 1e-14);
  }
}

// Weights beyond the first 512 are below e^{−θ(512^{1/a} − Γ_1^{1/a})}: nothing, at these θ and a.
TEST(LimitExperiment, ParticipationIsThatOfTheory) {
  for (const double exponent : {0.5, 1.0, 2.0}) {
    for (const double theta : {1.0, 3.0}) {
      const Point point =
          limit().resolved({{"theta", theta}, {"exponent", exponent}, {"draws", 50.0}});
      expect_theory(limit(), point, over_replicas(limit(), point), "participation");
    }
  }
}

TEST(LimitExperiment, TwoWaysToAskAreOnePoint) {
  EXPECT_EQ(resolved_text(limit(), {{"d", 3.0}}), resolved_text(limit(), {}));
  EXPECT_EQ(resolved_text(limit(), {{"d", 6.0}}), resolved_text(limit(), {{"exponent", 2.5}}));
  EXPECT_EQ(predicted(limit(), limit().resolved({{"d", 6.0}}), "critical_theta"), 2.5);
}

// Keys of stored cells are made of this text.
TEST(LimitExperiment, APointIsAddressedAsEver) {
  EXPECT_EQ(limit().schema(), 2);
  EXPECT_EQ(resolved_text(limit(), {{"theta", 0.5}, {"d", 6.0}}),
            R"({"draws":1000,"exponent":2.5,"ranks":8,"theta":0.5,"top":512})");
}

// The ranges are those of theory/critical_sphere.hpp.
TEST(LimitExperiment, IsAskedWhereTheoryKnowsIt) {
  const auto range = [](const char* name) { return find_field(limit().parameters(), name)->range; };
  EXPECT_EQ(range("exponent"), question::in(theory::kLeastExponent, theory::kMostExponent));
  EXPECT_EQ(range("theta"), question::above(0.0, theory::kMostTheta));
  expect_refused(limit(), {{"theta", 0.0049}}, "theta: ");
  expect_refused(limit(), {{"theta", 0.49}, {"exponent", 100.0}}, "theta: ");
  (void)limit().resolved({{"theta", 0.005}});
}

TEST(LimitExperiment, BadValuesAreNamed) {
  expect_refused(limit(), {{"theta", 0.0}}, "theta: ");
  expect_refused(limit(), {{"theta", 1e4}}, "theta: ");
  expect_refused(limit(), {{"exponent", 0.4}}, "exponent: ");
  expect_refused(limit(), {{"d", 1.0}}, "d: ");
  expect_refused(limit(), {{"d", 3.0}, {"exponent", 1.0}}, "d: ");
  expect_refused(limit(), {{"draws", 1.0}}, "draws: ");
  expect_refused(limit(), {{"draws", 1e6}}, "draws: ");
  expect_refused(limit(), {{"top", 0.0}}, "top: ");
  expect_refused(limit(), {{"ranks", 0.0}}, "ranks: ");
  expect_refused(limit(), {{"top", 4.0}}, "ranks: ");
}

}  // namespace
}  // namespace dewpoint::studies
