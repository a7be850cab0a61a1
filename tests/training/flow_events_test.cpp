// The events of gradient flow: where they are, that they stay there, and what does not count.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dewpoint/training/flow.hpp"
#include "dewpoint/training/flow_system.hpp"
#include "support/test_seed.hpp"
#include "training/flow_cases.hpp"

namespace dewpoint::training {
namespace {

using namespace test_flow;

TEST(FlowEvents, FindsTimesThatDoNotDependOnTheTolerances) {
  const auto loss = population();
  const auto start = small_start(test::seed());
  const auto coarse = followed(*loss, start, {1e-8, 1e-12}, 160.0);
  const auto fine = followed(*loss, start, {1e-9, 1e-13}, 160.0);
  const auto before = moments(coarse->events());
  const auto after = moments(fine->events());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-3) << i;
  EXPECT_NEAR(coarse->events().focus_peak_value, fine->events().focus_peak_value, 1e-6);
  EXPECT_FALSE(coarse->events().turned[0]);
}

// Five starts of an independent program, whose times are multiples of 0.25 as far as their rounding
// tells, so late by up to 0.25: half-dilution 12.10 to 12.24 after the peak and the turn of token 1
// 5.78 to 5.85 after it are what all five allow. 43 starts here spread by 0.01 and 0.02
// around 12.22 and 5.80; ten such deviations are added.
TEST(FlowEvents, HalvesAndTurnsAsLongAfterThePeakFromEveryStart) {
  const auto loss = population();
  for (std::uint64_t replica = 0; replica < 3; ++replica) {
    const auto flow = followed(*loss, small_start(test::seed(), replica), {}, 90.0);
    const double peak = flow->events().focus_peak.value();
    EXPECT_GT(flow->events().half_dilution.value() - peak, 12.10 - 0.1);
    EXPECT_LT(flow->events().half_dilution.value() - peak, 12.24 + 0.1);
    EXPECT_GT(flow->events().turned[1].value() - peak, 5.78 - 0.2);
    EXPECT_LT(flow->events().turned[1].value() - peak, 5.85 + 0.2);
    EXPECT_NEAR(flow->events().focus_peak_value, 0.2600, 0.001);
  }
}

// Every event, looked at: a second flow goes to each time, and the signal is where it should be.
// Times are good to 1e-6 here and the signals move at rates below 1.
TEST(FlowEvents, MeetsEverySignalAtItsEvent) {
  const auto loss = population();
  const auto start = small_start(test::seed(), 1);
  const FlowOptions options{.relative_tolerance = 1e-9, .absolute_tolerance = 1e-13};
  const FlowEvents events = followed(*loss, start, options, 160.0)->events();
  FlowSystem system(*loss, 16);
  const auto at = [&](const std::optional<double>& t) {
    return numbers_of(followed(*loss, start, options, t.value())->parameters());
  };
  EXPECT_NEAR(system.rank_one_fraction(at(events.condensed)), 0.9, 1e-6);
  EXPECT_NEAR(system.focus(at(events.focus_start)), 0.25 + 0.005 * 0.75, 1e-6);
  const auto peak = at(events.focus_peak);
  EXPECT_NEAR(system.focus(peak), events.focus_peak_value, 1e-9);
  EXPECT_NEAR(system.focus_rate(peak), 0.0, 1e-6);
  EXPECT_LT(system.focus(at(*events.focus_peak - 0.5)), events.focus_peak_value);
  EXPECT_LT(system.focus(at(*events.focus_peak + 0.5)), events.focus_peak_value);
  EXPECT_NEAR(system.focus(at(events.half_dilution)), events.focus_peak_value / 2.0, 1e-6);
  EXPECT_NEAR(system.rank_one_fraction(at(events.second_direction)), 0.99, 1e-6);
  for (std::size_t token = 1; token < 4; ++token) {
    EXPECT_NEAR(system.alignment(at(events.turned[token]), token), 0.0, 1e-5) << token;
    EXPECT_LT(system.alignment(at(*events.turned[token] + 0.5), token), 0.0) << token;
  }
}

// First t at which ds_0/dt, looked at every 0.05, has become negative.
double first_root_of_focus_rate(const TokenLoss& loss, const Parameters<double>& start,
                                double from) {
  FlowSystem system(loss, start.width());
  auto flow = gradient_flow(loss, start, {});
  double before = -1.0;
  for (int i = 0; i < 400; ++i) {
    if (!flow->advance(from + 0.05 * i, {})) break;
    const double rate = system.focus_rate(numbers_of(flow->parameters()));
    if (before > 0.0 && rate <= 0.0) return flow->time();
    before = rate;
  }
  return std::numeric_limits<double>::infinity();
}

// The attention of a random start wiggles, too little to see. Of the starts 0 to 9, several have a
// root of ds_0/dt before W0 has condensed, and start 2 has one at t = 8.8, after that. The peak is
// near t = 60 in all of them.
TEST(FlowEvents, IsNotFooledByTheWigglesOfARandomStart) {
  const auto loss = population();
  int early = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto start = small_start(seed);
    const FlowEvents events = followed(*loss, start, {}, 75.0)->events();
    if (first_root_of_focus_rate(*loss, start, 0.0) < events.condensed.value()) ++early;
    EXPECT_GT(events.focus_peak.value(), 50.0) << seed;
    EXPECT_GT(events.focus_peak_value, 0.255) << seed;
  }
  EXPECT_GE(early, 1);
  const double condensed = followed(*loss, small_start(2), {}, 10.0)->events().condensed.value();
  EXPECT_LT(first_root_of_focus_rate(*loss, small_start(2), condensed), 10.0);
}

TEST(FlowEvents, CountsACondensedStartAsCondensed) {
  const auto loss = population();
  Parameters<double> start(4, 1);
  for (std::size_t i = 0; i < 4; ++i) start.embedding(i, 0) = 0.1 / static_cast<double>(1 + i);
  EXPECT_EQ(gradient_flow(*loss, start, {})->events().condensed, 0.0);
  EXPECT_FALSE(gradient_flow(*loss, small_start(test::seed()), {})->events().condensed);
}

}  // namespace
}  // namespace dewpoint::training
