// Layers with random queries, keys and values against the random energy model, layer by layer.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/experiments/phase_depth.hpp"
#include "dewpoint/theory/random_energy.hpp"
#include "dewpoint/theory/random_heads.hpp"
#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

constexpr std::size_t kTokens = 256, kDimension = 64, kClouds = 12;
constexpr double kN = kTokens, kD = kDimension;

struct MeasuredStack {
  theory::RandomHeadStack stack;
  std::vector<theory::RandomHeadState> states;
  Frame frame;

  [[nodiscard]] Estimate at(const char* name, std::size_t layer) const {
    return frame.variable(name).cells[layer];
  }
  [[nodiscard]] double variance() const { return stack.scaled_deviation * stack.scaled_deviation; }
};

MeasuredStack measured(double load, std::size_t layers) {
  const double log_n = std::log(kN), deviation = theory::random_head_deviation(kD, 1.0);
  const double beta = load * theory::freezing_beta(log_n, deviation);
  experiments::PhaseDepth p;
  p.cloud.law = "sphere";
  p.cloud.n = kTokens;
  p.cloud.d = kDimension;
  p.gamma = {beta / log_n};
  p.form.heads = 1;
  p.layers = layers;
  p.norm->probes = 4;
  p.end_to_end = experiments::EndToEnd{0, 4};
  p.replication.replicas = kClouds;
  p.seed = test::seed();
  const theory::RandomHeadStack stack{log_n, static_cast<int>(kDimension), beta * deviation};
  return {stack,
          theory::random_head_trajectory(theory::random_head_state(stack, 1.0, 0.0), stack,
                                         static_cast<int>(layers)),
          experiments::phase_depth(p)};
}

// Score laws: a variance that is off by 1/d and a fourth cumulant of −6/d of it enter e^{2v} by
// (2 + 3.5 v) v/d; directions, tangents and projections are off by 2/d; the mean of ratios of the
// theory is a ratio of means there, off by the variance 2/d of a square length in d dimensions.
double law_error(double v) { return (4.0 + (2.0 + 3.5 * v) * v) / kD; }

TEST(RandomHeadLaw, OneLayerMakesTheCosinesOfTheRecursion) {
  for (const double load : {0.03, 0.1, 0.2, 0.4}) {
    const MeasuredStack layer = measured(load, 1);
    const Estimate cosine = layer.at("mean_cosine", 1);
    const double expected = 1.0 - layer.states[1].gap();
    EXPECT_NEAR(cosine.mean, expected,
                test::kSigmas * cosine.standard_error + law_error(layer.variance()) * expected)
        << load;
    const Estimate norm = layer.at("jacobian_norm", 1);
    const double eta = theory::random_head_gradient(layer.states[0], layer.stack);
    EXPECT_NEAR(norm.mean, eta,
                test::kSigmas * norm.standard_error + 2.0 * law_error(layer.variance()) * eta)
        << load;
  }
}

// A gap of relative error e becomes g³ with 3 e and the error of a step, of which anisotropy has as
// much. The first gap is 1 − cos, whose error is that of the cosine. Norms have one of each layer.
TEST(RandomHeadLaw, ACollapseFollowsTheRecursionAndTheGradientOfTheMeanOutlivesIt) {
  for (const double load : {0.1, 0.2, 0.4}) {
    const MeasuredStack stack = measured(load, 3);
    double error = law_error(stack.variance()) * (1.0 / stack.states[1].gap() - 1.0);
    for (std::size_t l = 1; l <= 3; ++l) {
      const Estimate gap = stack.at("log10_gap", l);
      EXPECT_NEAR(gap.mean, stack.states[l].log_gap / std::log(10.0),
                  test::kSigmas * gap.standard_error + error / std::log(10.0))
          << load << ' ' << l;
      const Estimate norm = stack.at("end_to_end_norm", l);
      const double all = stack.states[l].end_to_end();
      EXPECT_NEAR(norm.mean, all,
                  test::kSigmas * norm.standard_error +
                      static_cast<double>(l) * law_error(stack.variance()) * all)
          << load << ' ' << l;
      error = 3.0 * error + 2.0 * law_error(stack.variance() * stack.states[l].gap());
    }
  }
}

// Above freezing few keys at the edge of their law count: b_N for √(2 log n), 1/(2 log n) of it,
// and the edge of a sphere in place of a normal one, log n/d, in every layer.
TEST(RandomHeadLaw, AboveFreezingTokensCollapseSlowly) {
  const MeasuredStack stack = measured(2.0, 4);
  const double error = 0.5 / std::log(kN) + std::log(kN) / kD;
  for (std::size_t l = 1; l <= 4; ++l) {
    const Estimate cosine = stack.at("mean_cosine", l), norm = stack.at("jacobian_norm", l);
    const double expected = 1.0 - stack.states[l].gap();
    const double eta = theory::random_head_gradient(stack.states[l - 1], stack.stack);
    EXPECT_LT(expected, 0.1);
    EXPECT_NEAR(cosine.mean, expected,
                test::kSigmas * cosine.standard_error + static_cast<double>(l) * error * expected);
    EXPECT_NEAR(norm.mean, eta,
                test::kSigmas * norm.standard_error + static_cast<double>(l) * error * eta);
  }
}

}  // namespace
}  // namespace dewpoint
