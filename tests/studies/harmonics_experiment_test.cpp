// The growth of harmonics, as a study sees it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/harmonics_experiment.hpp"

#include <gtest/gtest.h>

#include "dewpoint/experiments/backward_heat.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

const Experiment& harmonics() { return harmonics_experiment(); }

// Property (1), and the closed form. On the circle the error of a step is the square of the
// amplitude before it, ε G at the second, and the roundings of positions over ε.
TEST(HarmonicsExperiment, IsTheVerbAndTheClosedForm) {
  const Point point = harmonics().resolved(
      {{"beta", 30.0}, {"degree", 3.0}, {"residual", 0.25}, {"particles", 500.0}, {"steps", 2.0}});
  experiments::HarmonicGrowth asked;
  asked.particles = 500;
  asked.attention_share = 0.75;
  asked.steps = 2;
  asked.inverse_temperatures = {30.0};
  asked.degrees = {3};
  const auto verb = experiments::harmonic_growth(asked).front().factors;
  const std::vector<double> values = replica_of(harmonics(), point, 1, 0);
  EXPECT_TRUE(same_bytes(values, verb));
  EXPECT_TRUE(same_bytes(values, replica_of(harmonics(), point, 2, 5)));
  const double amplitude = asked.amplitude * verb[0];
  const double error = amplitude * amplitude + experiments::kGrowthRoundings / asked.amplitude;
  for (std::size_t step = 0; step < 2; ++step) {
    EXPECT_NEAR(values[step], predicted(harmonics(), point, "growth_theory", step), error);
  }
}

TEST(HarmonicsExperiment, CompletesItsParticles) {
  EXPECT_EQ(number_of(harmonics().resolved({}), "particles"), 3000.0);
  EXPECT_EQ(number_of(harmonics().resolved({{"sphere", true}}), "particles"), 6000.0);
  EXPECT_TRUE(harmonics().deterministic(harmonics().resolved({})));
}

// Keys of stored cells are made of this text.
TEST(HarmonicsExperiment, APointIsAddressedAsEver) {
  EXPECT_EQ(harmonics().schema(), 1);
  EXPECT_EQ(resolved_text(harmonics(), {{"beta", 20.0}, {"degree", 3.0}}),
            R"({"beta":20,"degree":3,"particles":3000,"residual":0,"sphere":false,"steps":1})");
}

TEST(HarmonicsExperiment, BadValuesAreNamed) {
  expect_refused(harmonics(), {{"beta", 0.0}}, "beta: ");
  expect_refused(harmonics(), {{"degree", 0.0}}, "degree: ");
  expect_refused(harmonics(), {{"degree", 65.0}}, "degree: ");
  expect_refused(harmonics(), {{"residual", 1.0}}, "residual: ");
  expect_refused(harmonics(), {{"particles", 8.0}}, "particles: ");
  expect_refused(harmonics(), {{"particles", 40.0}}, "particles: ");
  expect_refused(harmonics(), {{"steps", 0.0}}, "steps: ");
}

}  // namespace
}  // namespace dewpoint::studies
