// Training under laws of the logits: what is counted, measured in heads and asked beyond the length
// of training, on small models and by hand.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/scaled_training.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dewpoint/experiments/longer_contexts.hpp"
#include "dewpoint/experiments/text_windows.hpp"
#include "dewpoint/transformer/reference.hpp"
#include "experiments/text_cases.hpp"
#include "transformer/model_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)
using transformer::Look;
using transformer::Shape;
using transformer::Targets;
using transformer::Windows;
using transformer::test::converted;
using transformer::test::some_weights;

constexpr double kFloatUnit = std::numeric_limits<float>::epsilon() / 2.0;

// ---- convergence and stability ------------------------------------------------------------------

std::vector<Look> looks_with(const std::vector<double>& losses) {
  std::vector<Look> looks(losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    looks[i].step = 10.0 * static_cast<double>(i);
    looks[i].validation_loss = losses[i];
  }
  return looks;
}

TEST(StepsToALoss, AreOnTheLineBetweenTwoLooks) {
  const std::vector<Look> looks = looks_with({4.0, 3.0, 3.5, 1.5});
  EXPECT_EQ(steps_to(looks, 4.5), 0.0);
  EXPECT_EQ(steps_to(looks, 3.25), 7.5);
  EXPECT_EQ(steps_to(looks, 3.0), 10.0);
  EXPECT_EQ(steps_to(looks, 2.5), 25.0);
  EXPECT_TRUE(std::isnan(steps_to(looks, 1.0)));
  EXPECT_TRUE(std::isnan(steps_to({}, 1.0)));
}

// Losses that alternate by 0.01 around 3: the deviation is 0.0148, six of them 0.089.
std::vector<double> steady_losses(std::size_t count) {
  std::vector<double> losses(count);
  for (std::size_t i = 0; i < count; ++i) losses[i] = i % 2 == 0 ? 3.01 : 2.99;
  return losses;
}

TEST(Spikes, AreLossesFarAboveThoseBefore) {
  std::vector<double> losses = steady_losses(300);
  EXPECT_EQ(spikes_in(losses), 0U);
  losses[150] = 3.08;
  losses[50] = 9.0;  // there is nothing to compare it with
  EXPECT_EQ(spikes_in(losses), 0U);
  losses[200] = 3.10;
  losses[250] = 30.0;
  EXPECT_EQ(spikes_in(losses), 2U);
  for (double& loss : losses) loss = 8.0 * loss - 20.0;  // Property (1)
  EXPECT_EQ(spikes_in(losses), 2U);
  EXPECT_EQ(spikes_in(std::span(losses).first(kSpikeWindow)), 0U);
}

// Property (2): the mean is 0.01 of them.
TEST(Spikes, AreNotAmongIndependentNormalLosses) {
  std::vector<double> losses(20'000);
  Stream(1, "spikes").normals(0, losses);
  EXPECT_EQ(spikes_in(losses), 0U);
}

// ---- heads --------------------------------------------------------------------------------------

const Shape kHeads{.vocabulary = 9,
                   .width = 8,
                   .layers = 2,
                   .heads = 2,
                   .residual = true,
                   .value_matrix = true,
                   .causal = true,
                   .pre_norm = true};

// All keys alike: entropy log n, a token's weight is its share of the positions, and c positions of
// one token beside n − c of others have weights of c/n.
TEST(HeadPhases, OfEvenAttentionAreThoseOfTheHistogram) {
  transformer::Weights<float> weights(kHeads);
  std::fill_n(weights.embedding.data(), weights.embedding.size(), 1.0F);
  const Windows windows{{0, 0, 0, 1, 2, 0}, 5};  // the last queries see 4 and 5 tokens
  const HeadPhases found = head_phases(kHeads, weights, windows);
  ASSERT_EQ(found.entropy.size(), 4U);
  for (std::size_t head = 0; head < 4; ++head) {
    EXPECT_NEAR(found.entropy[head], 1.0, 4 * kFloatUnit);
    // Rows 2, 3 and 4 of the second half see {0 0 0}, {0 0 0 1}, {0 0 0 1 2}.
    EXPECT_NEAR(found.largest_weight[head], (1.0 + 0.75 + 0.6) / 3.0, 8 * kFloatUnit);
    EXPECT_GT(found.phase[head], 1.0);  // Property (2)
  }
}

TEST(HeadPhases, AreAboveOneWhereATokenHasMoreThanHalf) {  // Property (2)
  const Windows windows = transformer::test::random_windows(9, 24, 1, "phases");
  for (const double strength : {0.1, 1.0, 10.0}) {
    transformer::Weights<double> weights = some_weights(kHeads, 3);
    for (auto& layer : weights.layers) {
      std::for_each_n(layer.query.data(), layer.query.size(), [&](double& q) { q *= strength; });
    }
    const auto rounded = converted<float>(kHeads, weights);
    const HeadPhases found = head_phases(kHeads, rounded, windows);
    const HeadPhases again = head_phases(kHeads, rounded, windows, {3, {}, {}});
    EXPECT_EQ(found.phase, again.phase);  // Property (1)
    EXPECT_EQ(found.entropy, again.entropy);
    for (std::size_t head = 0; head < 4; ++head) {
      EXPECT_GT(found.entropy[head], 0.0);
      EXPECT_LT(found.entropy[head], 1.0);
      if (strength == 1.0) continue;
      EXPECT_EQ(found.phase[head] > 1.0, strength > 1.0) << found.phase[head];
    }
  }
}

TEST(HeadPhases, OfALawAreThoseOfItsLogits) {
  const Windows windows = transformer::test::random_windows(9, 24, 2, "phases");
  Shape shape = kHeads;
  shape.layers = 1;
  transformer::Weights<double> weights = some_weights(shape, 3);
  const auto once = converted<float>(shape, weights);
  std::for_each_n(weights.layers[0].query.data(), weights.layers[0].query.size(),
                  [](double& q) { q *= 2.0; });
  const HeadPhases wanted = head_phases(shape, converted<float>(shape, weights), windows);
  shape.scaling = "constant:2";
  const HeadPhases found = head_phases(shape, once, windows);
  EXPECT_EQ(found.phase, wanted.phase);  // a factor of 2 rounds nothing
  EXPECT_EQ(found.largest_weight, wanted.largest_weight);
}

// ---- longer contexts ----------------------------------------------------------------------------

std::vector<std::int32_t> some_text(std::size_t tokens) {
  return transformer::test::random_windows(9, tokens - 1, 1, "longer").tokens;
}

// The loss of the last half of a context, by the plain model; sums of some thousand terms in
// float32, as a random walk.
TEST(LossGivenLongerContexts, IsThatOfThePlainModelForTheSameTokens) {
  constexpr std::size_t s = 8;
  const std::vector<std::int32_t> text = some_text(200);
  Windows windows = longer_windows(text, s);
  ASSERT_EQ(windows.context, 8 * s);
  windows.tokens.resize(3 * (8 * s + 1));
  Shape shape = kHeads;
  shape.scaling = "ssmax:n0=8";
  const auto rounded = converted<float>(shape, some_weights(shape, 5));
  const auto weights = converted<double>(shape, rounded);
  for (const std::size_t factor : kLengthFactors) {
    double sum = 0.0;
    for (std::size_t w = 0; w < 3; ++w) {
      const auto window = windows.window(w).last(factor * s + 1);
      auto pass = transformer::reference_pass<double>(shape, weights, window.first(factor * s));
      for (std::size_t position = factor * s - s / 2; position < factor * s; ++position) {
        const auto logits = pass.logits.row(position);
        const double wanted = logits[static_cast<std::size_t>(window[position + 1])];
        sum += training::take_plain_softmax<double>(logits) - wanted;
      }
    }
    const double found = loss_given(shape, rounded, windows, s, factor);
    EXPECT_NEAR(found, sum / 12.0, 6.0 * std::sqrt(5000.0) * kFloatUnit * found) << factor;
    EXPECT_EQ(loss_given(shape, rounded, windows, s, factor, {3, {}, {}}), found);
  }
}

TEST(LongerWindows, AreEnoughForTheTargetsOrRefused) {
  const std::vector<std::int32_t> text = some_text(20'000);
  EXPECT_EQ(longer_windows(text, 32).size(), kLongerTargets / 16);
  EXPECT_EQ(longer_windows(text, 512).size(), kLongerTargets / 256);
  const Error error = text_error_of([&] { (void)longer_windows(std::span(text).first(256), 32); });
  expect_refusal(error, Code::bad_value, "s: 32 needs a validation part of at least 257 tokens");
}

// ---- runs ---------------------------------------------------------------------------------------

ScaledQuestion scaled_question(const std::string& law) {
  ScaledQuestion question;
  question.text = small_question();
  question.text.shape.causal = true;
  question.text.targets = Targets::all;
  question.text.validate_every = question.text.every;
  question.text.shape.scaling = transformer::scaling_text(law, question.text.context);
  question.evaluations = {"", "log-n:n0=8"};
  return question;
}

TEST(ScaledRun, IsTheTextRunWithWhatIsAskedOfIt) {
  const ScaledQuestion question = scaled_question("ssmax");
  const ScaledRecord record = scaled_run(question, small_corpus(), 0);
  const auto run = finished_text(question.text);
  ASSERT_EQ(record.looks.size(), run->looks().size());
  EXPECT_EQ(record.heads.size(), record.looks.size());
  EXPECT_EQ(record.looks.back().validation_loss, run->looks().back().validation_loss);
  EXPECT_EQ(record.batch_losses.size(), question.text.steps);
  EXPECT_FALSE(record.diverged);
  const Windows windows = longer_windows(small_corpus()->validation, 8);
  ASSERT_EQ(record.longer.size(), 3U);
  for (std::size_t k = 0; k < kLengthFactors.size(); ++k) {
    EXPECT_EQ(record.longer[0][k],
              loss_given(run->shape(), run->state().weights, windows, 8, kLengthFactors[k]));
  }
  EXPECT_NE(record.longer[1], record.longer[0]);
}

// Up to n0 = s these laws are 1.
TEST(ScaledRun, UnderALawThatBeginsAtItsLengthIsTheConstantOne) {
  const ScaledRecord record = scaled_run(scaled_question("constant"), small_corpus(), 0);
  EXPECT_EQ(record.longer[0], record.longer[1]);
  EXPECT_EQ(record.longer[2][0], record.longer[0][0]);
  EXPECT_NE(record.longer[2][3], record.longer[0][3]);
}

TEST(ScaledRun, ThatDivergesSaysSoAndHasNoLossBeyond) {
  ScaledQuestion question = scaled_question("sqrt-log");
  question.text.adam.rate = 1e4;
  const ScaledRecord record = scaled_run(question, small_corpus(), 0);
  ASSERT_TRUE(record.diverged);
  EXPECT_EQ(record.heads.size(), record.looks.size());
  for (const auto& of_law : record.longer) {
    for (const double loss : of_law) EXPECT_TRUE(std::isnan(loss));
  }
}

TEST(ScaledRun, RefusesALawThatThereIsNot) {
  ScaledQuestion question = scaled_question("constant");
  question.evaluations = {"nosuch"};
  expect_refusal(text_error_of([&] { check(question); }), Code::bad_value, "scaling: ");
}

}  // namespace
}  // namespace dewpoint::experiments
