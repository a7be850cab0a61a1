// Runs with several layers and heads: what may be asked, and their way.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/layer_dynamics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <stop_token>
#include <string>

#include "dewpoint/training/layered_adam.hpp"
#include "experiments/layer_cases.hpp"
#include "experiments/training_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)

void expect_same_looks(const std::vector<LayerLook>& a, const std::vector<LayerLook>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].step, b[i].step);
    EXPECT_EQ(a[i].loss, b[i].loss);
    EXPECT_EQ(a[i].norms, b[i].norms);
    ASSERT_EQ(a[i].attention.size(), b[i].attention.size());
    for (std::size_t k = 0; k < a[i].attention.size(); ++k) {
      const Matrix<double>&first = a[i].attention[k], &second = b[i].attention[k];
      EXPECT_TRUE(std::equal(first.data(), first.data() + first.size(), second.data()));
    }
  }
}

// ---- the run ------------------------------------------------------------------------------------

// Property (1). With ε = 1 Adam is smooth: an error e of a gradient below 1 moves a weight by less
// than 2 · rate · e. A gradient passes through fewer than 600 roundings (twice those above), of
// terms that sum to less than 24, behind a slope of softmax, at most 1/4; roundings of both signs
// leave the root of their number: e < √600 · 24/4 · 2⁻²⁴ = 9e-6. Ten steps of rate 0.02 make
// 0.4 e = 4e-6 of it, at a curvature below 4 at most e^{0.2 · 4} = 2.3 of that: 1e-5. A norm of 16
// weights changes by at most 4 times as much; the loss by less than the slope, below 1 in norm,
// times the distance of all 1152 weights, 34 times as much.
TEST(LayerRun, IsThatOfTheCollapsedModelUpToRounding) {
  constexpr double kWeightError = 1e-5;
  for (const bool residual : {false, true}) {
    LayerQuestion question = small();
    question.shape.residual = residual;
    question.adam.rate = 0.02;
    question.adam.epsilon = 1.0;
    for (const std::uint64_t replica : {0, 2}) {
      const std::vector<LayerLook> looks = layer_run(question, replica, {});
      ASSERT_EQ(looks.size(), 3U);
      training::LayeredRun run;
      run.residual = residual;
      run.batch = question.batch;
      run.seed = question.seed;
      run.replica = replica;
      run.adam = question.adam;
      const auto start = training::initial_layers<float>(4, 16, 2, 0.2, question.seed, replica);
      training::LayeredAdam<float> adam(training::collapse(sequences_of(question, replica)), start,
                                        run);
      for (const LayerLook& look : looks) {
        ASSERT_TRUE(adam.advance(static_cast<std::uint64_t>(look.step), {}));
        EXPECT_NEAR(look.loss, adam.loss(), 34.0 * kWeightError) << look.step;
        const std::vector<double> norms = training::embedding_norms(adam.parameters());
        for (std::size_t k = 0; k < 4; ++k) {
          EXPECT_NEAR(look.norms[k], norms[k], 4.0 * kWeightError) << look.step;
        }
      }
      // The comparison sees the way: the norms have changed by more than it allows.
      EXPECT_GT(std::abs(looks[2].norms[0] - looks[0].norms[0]), 8.0 * kWeightError);
    }
  }
}

// Scores are sums of 16³ products of four weights of size 0.2, by absolute values below 100, with
// 32 roundings: 32 · 100 · 2⁻²⁴ = 2e-4; a weight moves by a quarter of what a score does, and the
// second layer adds that of the first.
TEST(LayerRun, LooksAtAttentionOfAContextWithEveryTokenOnce) {
  LayerQuestion question = small();
  const std::vector<LayerLook> looks = layer_run(question, 0, {});
  const auto start = training::initial_layers<float>(4, 16, 2, 0.2, question.seed, 0);
  const auto expected = training::layer_attention(start, true);
  ASSERT_EQ(looks[0].attention.size(), 2U);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t k = 0; k < 16; ++k) {
      EXPECT_NEAR(looks[0].attention[layer].data()[k], expected[layer].data()[k], 2e-4);
    }
  }
}

// Property (2).
TEST(LayerRun, ThreadsChangeNoByte) {
  for (const bool causal : {false, true}) {
    LayerQuestion question = small(2, 4);
    question.shape.causal = causal;
    question.shape.value_matrix = true;
    expect_same_looks(layer_run(question, 1, {1, {}, {}}), layer_run(question, 1, {3, {}, {}}));
  }
}

TEST(LayerRun, ReplicasAndSeedsDiffer) {
  LayerQuestion question = small();
  const double first = layer_run(question, 0, {}).back().loss;
  EXPECT_NE(layer_run(question, 1, {}).back().loss, first);
  ++question.seed;
  EXPECT_NE(layer_run(question, 0, {}).back().loss, first);
}

TEST(LayerRun, LooksAtMultiplesOfTheIntervalAndAtTheEndAndReportsProgress) {
  LayerQuestion question = small();
  question.steps = 12;
  std::vector<double> reported;
  const auto looks = layer_run(question, 0, {1, {}, [&](double done, double total) {
                                               reported.push_back(done);
                                               EXPECT_EQ(total, 12.0);
                                             }});
  std::vector<double> steps;
  for (const LayerLook& look : looks) steps.push_back(look.step);
  EXPECT_EQ(steps, (std::vector<double>{0.0, 5.0, 10.0, 12.0}));
  EXPECT_EQ(reported, steps);
}

TEST(LayerRun, NoDeviationMeansOneOverTheWidth) {
  LayerQuestion question = small();
  question.deviation = 0.0;
  const auto standard = layer_run(question, 0, {});
  question.deviation = 1.0 / 16.0;
  expect_same_looks(standard, layer_run(question, 0, {}));
}

// Every option changes the way, and none breaks it: attention stays a law.
TEST(LayerRun, EveryOptionChangesTheRun) {
  std::set<double> losses;
  const auto add = [&](const std::function<void(transformer::Shape&)>& change) {
    LayerQuestion question = small();
    change(question.shape);
    const std::vector<LayerLook> looks = layer_run(question, 0, {});
    ASSERT_EQ(looks.size(), 3U);
    EXPECT_TRUE(losses.insert(looks.back().loss).second);
    ASSERT_EQ(looks.back().attention.size(), question.shape.layers * question.shape.heads);
    for (const Matrix<double>& attention : looks.back().attention) {
      for (std::size_t i = 0; i < 4; ++i) {
        double sum = 0.0;
        for (const double weight : attention.row(i)) sum += weight;
        EXPECT_NEAR(sum, 1.0, 8 * 0x1p-24);
        if (question.shape.causal && i < 3) {
          EXPECT_EQ(attention(i, i + 1), 0.0);
        }
      }
    }
  };
  add([](transformer::Shape&) {});
  add([](transformer::Shape& shape) { shape.residual = false; });
  add([](transformer::Shape& shape) { shape.branch = 0.5; });
  add([](transformer::Shape& shape) { shape.value_matrix = true; });
  add([](transformer::Shape& shape) { shape.pre_norm = true; });
  add([](transformer::Shape& shape) { shape.causal = true; });
  add([](transformer::Shape& shape) { shape.heads = 4; });
  add([](transformer::Shape& shape) { shape.layers = 3; });
}

TEST(LayerRun, ARateThatDivergesEndsTheRunEarly) {
  LayerQuestion question = small();
  question.adam.rate = 1e4;
  question.every = 1;
  const std::vector<LayerLook> looks = layer_run(question, 0, {});
  EXPECT_LT(looks.size(), 11U);
  ASSERT_FALSE(looks.empty());
  for (const LayerLook& look : looks) EXPECT_LE(look.loss, kDiverged * std::log(4.0));
}

TEST(LayerRun, StopsOnRequest) {
  std::stop_source source;
  source.request_stop();
  const Error error = error_of([&] { (void)layer_run(small(), 0, {1, source.get_token(), {}}); });
  EXPECT_EQ(error.code(), Code::stopped);
}

// ---- what may be asked --------------------------------------------------------------------------

TEST(LayerQuestion, WhatMakesNoSenseIsRefused) {
  const auto refused = [](const std::function<void(LayerQuestion&)>& change,
                          const std::string& beginning) {
    LayerQuestion question = small();
    change(question);
    const Error error = error_of([&] { check(question); });
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_TRUE(std::string(error.what()).starts_with(beginning)) << error.what();
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NO_THROW(check(small()));
  refused([](auto& q) { q.shape.heads = 3; }, "heads: 3 ");
  refused([](auto& q) { q.shape.layers = 0; }, "layers: 0 ");
  refused([](auto& q) { q.shape.branch = -1.0; }, "branch: -1 ");
  refused([](auto& q) { q.deviation = -0.1; }, "init: -0.1 ");
  refused([](auto& q) { q.deviation = kNaN; }, "init: nan ");
  refused([](auto& q) { q.context = 0; }, "s: 0 ");
  refused([](auto& q) { q.sequences = 0; }, "sequences: 0 ");
  refused([](auto& q) { q.batch = 0; }, "batch: 0 ");
  refused([](auto& q) { q.batch = 501; }, "batch: 501 is not in [1, 500]");
  refused([](auto& q) { q.adam.rate = 0.0; }, "rate: 0 ");
  refused([](auto& q) { q.adam.first_decay = 1.0; }, "beta1: 1 ");
  refused([](auto& q) { q.adam.second_decay = kNaN; }, "beta2: nan ");
  refused([](auto& q) { q.adam.epsilon = 0.0; }, "eps: 0 ");
  refused([](auto& q) { q.steps = 0; }, "steps: 0 ");
  refused([](auto& q) { q.every = 0; }, "record-every: 0 ");
  refused(
      [](auto& q) {
        q.steps = 1'000'000;
        q.every = 1;
      },
      "record-every: 1 is not enough");
}

}  // namespace
}  // namespace dewpoint::experiments
