// A step of Adam against the formulas in wider numbers, against the optimiser of the one-layer
// model, and against itself on other threads and instruction sets.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/transformer/adam.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stop_token>
#include <string>

#include "dewpoint/core/kernels.hpp"
#include "support/matrices.hpp"
#include "training/standard_chain.hpp"
#include "transformer/adam_cases.hpp"

namespace dewpoint::transformer {
namespace {

using test::same_bytes;
using test::some_gradient;
using test::some_state;
using training::AdamOptions;

// Several blocks in one matrix, matrices that no vector divides, and one of a few entries.
const Shape kRagged{.vocabulary = 301, .width = 109, .layers = 2, .value_matrix = true};
const Shape kSmall{.vocabulary = 3, .width = 2};

// --- the formulas --------------------------------------------------------------------------------

template <class Real>
class AdamStep : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(AdamStep, Reals);

// One entry by the formulas of AdamOptions, in long double, and how far a step in Real may be from
// them: the roundings that the header counts, of ε/2 each. What is of second order in them is less
// than a thousandth of that.
struct Expected {
  long double weight, first, second;
  long double weight_error, first_error, second_error;
};

template <class Real>
Expected expected(const AdamOptions& o, int t, Real theta, Real m, Real v, Real g) {
  constexpr long double unit = 1.001L * std::numeric_limits<Real>::epsilon() / 2;
  constexpr long double wide_unit = 1.001L * std::numeric_limits<double>::epsilon() / 2;
  const long double b1 = o.first_decay, b2 = o.second_decay;
  const long double slope = g;
  Expected e{};
  e.first = b1 * m + (1 - b1) * slope;
  e.second = b2 * v + (1 - b2) * slope * slope;
  const long double factor =
      o.rate / (1 - std::pow(b1, static_cast<long double>(t))) /
      (std::sqrt(e.second / (1 - std::pow(b2, static_cast<long double>(t)))) + o.epsilon);
  const long double size = std::abs(b1 * m) + std::abs((1 - b1) * slope);
  const long double digits = std::floor(std::log2(static_cast<long double>(t))) + 1;
  e.weight = theta - factor * e.first;
  e.first_error = kFirstRoundings * unit * size;
  e.second_error = kSecondRoundings * unit * e.second;
  e.weight_error =
      (kChangeRoundings * unit + kPowerRoundings * digits * wide_unit) * factor * size +
      unit * std::abs(e.weight);
  return e;
}

// Numbers of the state that are further from the formulas than that.
template <class Real>
std::size_t count_wrong(const AdamOptions& options, int t, const AdamState<Real>& before,
                        const Weights<Real>& gradient, const AdamState<Real>& after) {
  std::size_t wrong = 0;
  const auto old_weights = matrices_of(before.weights), old_first = matrices_of(before.first),
             old_second = matrices_of(before.second), slopes = matrices_of(gradient),
             weights = matrices_of(after.weights), first = matrices_of(after.first),
             second = matrices_of(after.second);
  for (std::size_t n = 0; n < slopes.size(); ++n) {
    for (std::size_t e = 0; e < slopes[n]->size(); ++e) {
      const auto at = [e](const Matrix<Real>* matrix) { return matrix->data()[e]; };
      const Expected wanted = expected(options, t, at(old_weights[n]), at(old_first[n]),
                                       at(old_second[n]), at(slopes[n]));
      wrong += !(std::abs(at(first[n]) - wanted.first) <= wanted.first_error);
      wrong += !(std::abs(at(second[n]) - wanted.second) <= wanted.second_error);
      wrong += !(std::abs(at(weights[n]) - wanted.weight) <= wanted.weight_error);
    }
  }
  return wrong;
}

TYPED_TEST(AdamStep, IsTheFormulasToTheRoundingsThatTheHeaderCounts) {
  const AdamOptions options{.rate = 0.01};
  const Weights<TypeParam> gradient = some_gradient<TypeParam>(kRagged, "formulas");
  for (const int t : {1, 2, 3, 1000, 1'000'003}) {
    AdamState<TypeParam> state = some_state<TypeParam>(kRagged, "formulas");
    state.done = static_cast<std::uint64_t>(t) - 1;
    const AdamState<TypeParam> before = state;
    adam_step(options, gradient, state);
    EXPECT_EQ(state.done, static_cast<std::uint64_t>(t));
    EXPECT_EQ(count_wrong(options, t, before, gradient, state), 0U) << "step " << t;
    if (t < 5) {
      EXPECT_GT(count_wrong(options, t + 1, before, gradient, state), 1000U);
    }
  }
}

// From moments 0, m/(1 − β₁) = g and √(v/(1 − β₂)) = |g|. The roundings are those of the header.
TYPED_TEST(AdamStep, FirstGoesRateAgainstTheSignOfTheGradient) {
  const AdamOptions options{.rate = 0.5, .epsilon = 1e-3};
  AdamState<TypeParam> state(kSmall, Weights<TypeParam>(kSmall));
  Weights<TypeParam> gradient(kSmall);
  gradient.embedding(1, 0) = TypeParam(2);
  gradient.layers[0].key(1, 1) = TypeParam(-0.001);
  adam_step(options, gradient, state);
  const double error = (kChangeRoundings + 2 * kPowerRoundings + 1) *
                       static_cast<double>(std::numeric_limits<TypeParam>::epsilon()) / 2;
  EXPECT_NEAR(state.weights.embedding(1, 0), -0.5 * 2 / (2 + 1e-3), 0.5 * error);
  EXPECT_NEAR(state.weights.layers[0].key(1, 1), 0.25, 0.5 * error);
  EXPECT_EQ(state.weights.embedding(0, 0), TypeParam(0));
}

// --- properties ----------------------------------------------------------------------------------

template <class Real>
AdamState<Real> after_three_steps(int threads) {
  AdamState<Real> state = some_state<Real>(kRagged, "threads");
  for (const char* name : {"first", "second", "third"}) {
    adam_step({.rate = 0.01}, some_gradient<Real>(kRagged, name), state, {threads, {}, {}});
  }
  return state;
}

// Property (1).
TYPED_TEST(AdamStep, GivesTheSameBytesOnAnyNumberOfThreads) {
  const AdamState<TypeParam> one = after_three_steps<TypeParam>(1);
  for (const int threads : {0, 2, 5}) {
    EXPECT_TRUE(same_bytes(after_three_steps<TypeParam>(threads), one)) << threads;
  }
}

// Property (1). Would fail if a product were fused with a sum where the processor can.
TYPED_TEST(AdamStep, GivesTheSameBytesOnEveryInstructionSet) {
  const AdamState<TypeParam> best = after_three_steps<TypeParam>(1);
  for (const std::string& target : simd_targets()) {
    force_simd_target(target);
    EXPECT_TRUE(same_bytes(after_three_steps<TypeParam>(1), best)) << target;
  }
  force_simd_target("");
}

// Property (2).
TYPED_TEST(AdamStep, KeepsWhatIsNotFiniteWhereItIs) {
  constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  for (const TypeParam bad : {infinity, -infinity, std::numeric_limits<TypeParam>::quiet_NaN()}) {
    AdamState<TypeParam> clean = some_state<TypeParam>(kRagged, "bad"), struck = clean;
    Weights<TypeParam> gradient = some_gradient<TypeParam>(kRagged, "bad");
    adam_step({}, gradient, clean);
    gradient.layers[1].value(7, 13) = bad;
    adam_step({}, gradient, struck);
    TypeParam& entry = struck.weights.layers[1].value(7, 13);
    EXPECT_FALSE(std::isfinite(entry));
    entry = clean.weights.layers[1].value(7, 13);
    EXPECT_TRUE(same_bytes(struck.weights, clean.weights));
  }
}

// Without it m would stay at a few times the smallest number of all: 0.9 · 4 rounds to 4.
TYPED_TEST(AdamStep, LetsMomentsThatNobodyFeedsEndAtZero) {
  AdamState<TypeParam> state(kSmall, Weights<TypeParam>(kSmall));
  constexpr TypeParam least = std::numeric_limits<TypeParam>::min();
  state.first.embedding(0, 0) = -TypeParam(1.5) * least;
  state.second.embedding(0, 0) = TypeParam(1.0005) * least;
  const Weights<TypeParam> gradient(kSmall);
  adam_step({}, gradient, state);
  EXPECT_LT(state.first.embedding(0, 0), -least);
  EXPECT_EQ(state.second.embedding(0, 0), TypeParam(0));
  for (int t = 0; t < 5; ++t) adam_step({}, gradient, state);
  EXPECT_EQ(state.first.embedding(0, 0), TypeParam(0));
}

TEST(AdamStepOnRequest, IsTakenWhole) {
  std::stop_source source;
  source.request_stop();
  AdamState<float> state = some_state<float>(kRagged, "stop"), other = state;
  const Weights<float> gradient = some_gradient<float>(kRagged, "stop");
  adam_step({}, gradient, state, {2, source.get_token(), {}});
  adam_step({}, gradient, other);
  EXPECT_TRUE(same_bytes(state, other));
}

// --- against the optimiser of the one-layer model ------------------------------------------------

using training::Parameters;

std::array<const Matrix<double>*, 4> parts(const Parameters<double>& p) {
  return {&p.embedding, &p.unembedding, &p.query, &p.key};
}

void copy(const Matrix<double>& from, Matrix<double>& to) {
  std::copy_n(from.data(), from.size(), to.data());
}

Parameters<double> as_one_layer(const Weights<double>& weights) {
  Parameters<double> p(weights.embedding.rows(), weights.embedding.cols());
  copy(weights.embedding, p.embedding);
  copy(weights.unembedding, p.unembedding);
  copy(weights.layers[0].query, p.query);
  copy(weights.layers[0].key, p.key);
  return p;
}

// An epsilon above the gradient makes a step Lipschitz, |du/dg| ≤ 1/epsilon, so that a difference
// grows in a step by less than 2 · rate/epsilon · curvature = 2 · 0.01 · 10 (twice, as both moments
// carry it on). A step of at most rate, and a weight of at most 2, leave less than 4ε behind.
TEST(AdamStepOnOneLayer, IsPlainAdam) {
  const AdamOptions smooth{.rate = 1e-3, .epsilon = 0.1};
  const Shape shape{.vocabulary = 4, .width = 9};
  const auto rows = training::collapse(training::sample_sequences(
      training::test::standard_chain(), training::test::kStandardContext, 2000, 1, 0, {}));
  const auto loss = training::histogram_loss(rows, {});
  AdamState<double> state(shape, initial_weights<double>(shape, 0.4, 1, 0));
  const Parameters<double> start = as_one_layer(state.weights);
  const auto plain = training::plain_adam(*loss, start, smooth);
  constexpr int steps = 40;
  ASSERT_TRUE(plain->advance(steps, {}));

  Weights<double> gradient(shape);
  training::TokenMaps slope(4);
  for (int t = 0; t < steps; ++t) {
    const Parameters<double> now = as_one_layer(state.weights);
    loss->slope(0, training::token_maps(now), slope);
    const Parameters<double> found = training::weight_gradient(now, slope);
    for (std::size_t n = 0; n < 4; ++n) copy(*parts(found)[n], *matrices_of(gradient)[n]);
    adam_step(smooth, gradient, state);
  }
  const Parameters<double> wanted = plain->parameters(), found = as_one_layer(state.weights);
  const double bound = steps * 4 * std::numeric_limits<double>::epsilon() * std::pow(1.2, steps);
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_LE(dewpoint::test::largest_difference(*parts(found)[n], *parts(wanted)[n]), bound);
    EXPECT_GT(dewpoint::test::largest_difference(*parts(found)[n], *parts(start)[n]), 1e4 * bound);
  }
}

}  // namespace
}  // namespace dewpoint::transformer
