// Gradient flow over many starts, long times and full width, against an independent program.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/training/chain.hpp"
#include "dewpoint/training/flow.hpp"
#include "dewpoint/training/flow_system.hpp"
#include "dewpoint/training/histograms.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::training {
namespace {

Chain usual_chain() { return named_chain("lambda", {0.75, 0.19, 0.05, 0.01}, 0.8); }

Parameters<double> small_start(std::uint64_t replica) {
  return initial_parameters(4, 16, 1e-3, test::seed(), replica);
}

double loss_of(const TokenLoss& loss, const Parameters<double>& parameters) {
  TokenMaps slope(loss.vocabulary());
  return loss.slope(0, token_maps(parameters), slope);
}

RunningMoments moments_of(const std::vector<double>& values) {
  RunningMoments moments;
  for (const double value : values) moments.add(value);
  return moments;
}

// Two samples of one law: the means differ by their standard errors, the deviation taken from the
// larger sample; `resolution` is that of the published numbers.
void expect_same_mean(const std::vector<double>& ours, const std::vector<double>& published,
                      double resolution, const char* name) {
  const RunningMoments here = moments_of(ours);
  const double error = std::sqrt(here.variance() * (1.0 / static_cast<double>(ours.size()) +
                                                    1.0 / static_cast<double>(published.size())));
  EXPECT_NEAR(here.estimate().mean, moments_of(published).estimate().mean,
              test::kSigmas * error + resolution)
      << name;
}

// First t, looked at every 0.02, with r1(W0) above 0.99.
double single_direction_time(const TokenLoss& loss, const Parameters<double>& start) {
  const FlowSystem system(loss, start.width());
  std::vector<double> y(system.size());
  auto flow = gradient_flow(loss, start, {});
  for (int i = 1; i <= 1000; ++i) {
    if (!flow->advance(0.02 * i, {})) break;
    system.to_vector(flow->parameters(), y);
    if (system.rank_one_fraction(y) > 0.99) return flow->time();
  }
  return std::nan("");
}

// The other program: population loss, m = 16, start of deviation 1e-3, explicit Runge-Kutta method
// of order 8, five starts of its own. r1 and the peak are given to two digits; the rest to one, and
// as far as that tells they are multiples of 0.25, so late by up to 0.25.
TEST(LongGradientFlow, RunsTheFirstCycleAsAnIndependentProgramDoes) {
  const auto loss = population_loss(usual_chain(), {});
  std::vector<double> single, peak, value, half, turned, second;
  for (std::uint64_t replica = 0; replica < 20; ++replica) {
    auto flow = gradient_flow(*loss, small_start(replica), {});
    ASSERT_TRUE(flow->advance(165.0, {}));
    const FlowEvents& events = flow->events();
    single.push_back(single_direction_time(*loss, small_start(replica)));
    peak.push_back(events.focus_peak.value());
    value.push_back(events.focus_peak_value);
    half.push_back(events.half_dilution.value());
    turned.push_back(events.turned[1].value());
    second.push_back(events.second_direction.value());
  }
  expect_same_mean(single, {7.46, 6.60, 6.49, 6.21, 6.67}, 0.02, "r1 > 0.99");
  expect_same_mean(peak, {59.76, 58.97, 58.40, 58.75, 57.75}, 0.005, "peak");
  expect_same_mean(half, {72.0, 71.3, 70.8, 71.0, 70.0}, 0.25, "half-dilution");
  expect_same_mean(turned, {65.8, 65.0, 64.3, 64.8, 63.8}, 0.25, "token 1 turned");
  expect_same_mean(second, {137.7, 132.8, 132.7, 140.2, 132.3}, 0.25, "r1 < 0.99 again");
  expect_same_mean(value, std::vector<double>(5, 0.2600), 5e-5, "height of the peak");
}

// An explicit method is bound by the largest curvature and takes about 65,000 evaluations for
// T = 800 at any tolerance; BDF needs some thousands, products with the Hessian (two gradients
// each) included. The loss is stationary to first order in what is left of the error.
TEST(LongGradientFlow, NeedsFewEvaluationsWhereItIsStiff) {
  const auto loss = population_loss(usual_chain(), {});
  auto automatic = gradient_flow(*loss, small_start(0), {});
  auto adams = gradient_flow(*loss, small_start(0), {.method = FlowMethod::adams});
  ASSERT_TRUE(automatic->advance(800.0, {}));
  ASSERT_TRUE(adams->advance(800.0, {}));
  const FlowWork work = automatic->work();
  EXPECT_LT(work.evaluations + 2 * work.hessian_products, 10'000);
  EXPECT_GT(adams->work().evaluations, 40'000);
  EXPECT_NEAR(loss_of(*loss, automatic->parameters()), loss_of(*loss, adams->parameters()), 1e-7);
  EXPECT_LT(automatic->conserved_drift(), 1e-6);
}

// Contexts of 19 tokens, m = 256, start of deviation 1/m. Descent with rate 0.1 on three sampled
// sets of 100,000 sequences has its peak s_0 = 0.281 at steps 305 to 310 and half of it at 440 to
// 450, seen every 5 steps. The flow of the expectation, whose time is a tenth of those steps: the
// peak moves by the logarithm of the norm of m random numbers, relative deviation 1/sqrt(2m), over
// a growth rate above 0.13: 0.34 in t.
TEST(LongGradientFlow, RunsLikeDescentOnSampledSequencesOfFiniteLength) {
  constexpr std::size_t kWidth = 256;
  const auto loss = histogram_loss(exact_rows(usual_chain(), 19), {});
  auto flow =
      gradient_flow(*loss, initial_parameters(4, kWidth, 1.0 / kWidth, test::seed(), 0), {});
  ASSERT_TRUE(flow->advance(48.0, {}));
  const double spread = test::kSigmas * 0.34;
  EXPECT_NEAR(flow->events().focus_peak.value(), 30.75, spread + 0.25 + 0.5);
  EXPECT_NEAR(flow->events().focus_peak_value, 0.281, 0.002);
  EXPECT_NEAR(flow->events().half_dilution.value(), 44.5, spread + 0.5 + 0.5);
  EXPECT_LT(flow->conserved_drift(), 1e-7);
}

}  // namespace
}  // namespace dewpoint::training
