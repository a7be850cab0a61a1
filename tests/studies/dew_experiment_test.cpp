// Dew points of laws, as a study sees them.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/dew_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/experiments/dew.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

const Experiment& dew() { return dew_experiment(); }

// Property (1). The verb's curve has other lengths too, and a top above the smallest of them.
TEST(DewExperiment, ReplicaZeroIsTheVerb) {
  const experiments::DewCurve asked{{50.0, 1e4, 1e12}, 30, 64, 77};
  for (const char* law : {"sphere:d=6", "gaussian-keys:d=16", "clustered:size=5"}) {
    const Frame curve = experiments::dew_curve(*scores::score_law(law), asked);
    for (std::size_t i = 0; i < asked.n.size(); ++i) {
      const Point point =
          dew().resolved({{"law", law}, {"n", asked.n[i]}, {"draws", 30.0}, {"top", 64.0}});
      const std::vector<double> values = replica_of(dew(), point, 77, 0);
      for (const Observable& observable : dew().observables(point)) {
        EXPECT_EQ(measured(dew(), point, values, observable.name),
                  curve.variable(observable.name).cells[i].mean)
            << observable.name;
      }
    }
  }
}

// Each batch has an error of its own, from 200 logarithms of dew points.
TEST(DewExperiment, ReplicasDifferAsTheirErrorsSay) {
  const Point point = dew().resolved({{"n", 1e6}, {"top", 64.0}, {"draws", 200.0}});
  const auto law = scores::score_law(word_of(point, "law"));
  const auto batch = [&](std::uint64_t replica) {
    const experiments::DewCurve asked{{1e6}, 200, 64, seed_of_replica(seed(), replica)};
    return experiments::dew_curve(*law, asked).variable("log_beta_dew").cells[0];
  };
  const Estimate first = batch(0);
  for (std::uint64_t replica = 1; replica < 8; ++replica) {
    const Estimate other = batch(replica);
    const double value =
        measured(dew(), point, replica_of(dew(), point, seed(), replica), "log_beta_dew");
    EXPECT_EQ(value, other.mean);
    EXPECT_NE(value, first.mean);
    EXPECT_NEAR(value, first.mean,
                kSigmas * std::hypot(first.standard_error, other.standard_error));
  }
}

// Roots are right to 1e-12 of log β, β_PR to the 1e-11 of its search.
TEST(DewExperiment, TheSimplexIsWhatTheorySays) {
  for (const double n : {100.0, 1e12}) {
    const Point point = dew().resolved({{"law", "simplex:rho=0.3"}, {"n", n}, {"draws", 2.0}});
    EXPECT_TRUE(dew().deterministic(point));
    const std::vector<double> values = replica_of(dew(), point, seed(), 0);
    EXPECT_TRUE(same_bytes(values, replica_of(dew(), point, seed(), 1)));
    for (const char* name : {"beta_dew_median", "log_beta_dew", "beta_pr"}) {
      const double theory = predicted(dew(), point, std::string(name) + "_theory");
      EXPECT_NEAR(measured(dew(), point, values, name), theory, 1e-10 * theory) << name;
    }
  }
}

TEST(DewExperiment, OnlyLawsWithoutRandomnessAreDeterministic) {
  EXPECT_TRUE(dew().deterministic(dew().resolved({{"law", "clustered"}})));
  EXPECT_FALSE(dew().deterministic(dew().resolved({{"law", "sphere:d=5"}})));
  const Point gaussian = dew().resolved({});
  EXPECT_TRUE(std::isnan(predicted(dew(), gaussian, "beta_pr_theory")));
}

TEST(DewExperiment, TwoWaysToAskAreOnePoint) {
  const auto text = [](const Point& given) { return resolved_text(dew(), given); };
  EXPECT_EQ(text({{"law", "gaussian"}}), text({{"law", "gaussian:sigma=1"}}));
  EXPECT_EQ(text({{"n", 31622.77}}), text({{"n", 31623.0}}));
  EXPECT_EQ(text({{"n", 100.0}}), text({{"n", 100.0}, {"top", 100.0}}));
  EXPECT_NE(text({{"n", 100.0}}), text({{"n", 100.0}, {"top", 99.0}}));
}

// Keys of stored cells are made of this text.
TEST(DewExperiment, APointIsAddressedAsEver) {
  EXPECT_EQ(dew().schema(), 2);
  EXPECT_EQ(resolved_text(dew(), {{"law", "vmf:d=5,kappa=4"}, {"n", 100.4}, {"draws", 50.0}}),
            R"({"draws":50,"law":"vmf:d=5,kappa=4,angle=0","n":100,"top":100})");
}

TEST(DewExperiment, BadValuesAreNamed) {
  expect_refused(dew(), {{"law", "gauss"}}, "law ");
  expect_refused(dew(), {{"law", "sphere:d=1"}}, "law ");
  expect_refused(dew(), {{"n", 2.0}}, "n: ");
  expect_refused(dew(), {{"law", "sphere:d=2"}, {"n", 1e200}}, "n: ");
  expect_refused(dew(), {{"draws", 1.0}}, "draws: ");
  expect_refused(dew(), {{"top", 2.0}}, "top: ");
}

}  // namespace
}  // namespace dewpoint::studies
