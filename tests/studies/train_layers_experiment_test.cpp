// Training of several layers and heads as a study sees it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/train_layers_experiment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/experiments/layer_dynamics.hpp"
#include "dewpoint/training/chain.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

const Experiment& train_layers() { return train_layers_experiment(); }

Point quick(const Point& more = {}) {
  Point point = {{"sequences", 500.0}, {"m", 16.0},    {"batch", 32.0}, {"steps", 40.0},
                 {"rate", 0.01},       {"start", 2.0}, {"heads", 2.0},  {"record-every", 10.0}};
  for (const auto& [name, value] : more) point[name] = value;
  return train_layers().resolved(point);
}

experiments::LayerQuestion quick_question() {
  experiments::LayerQuestion question;
  question.chain = training::named_chain("lambda", {0.75, 0.19, 0.05, 0.01}, 0.8);
  question.shape.vocabulary = 4;
  question.shape.width = 16;
  question.shape.layers = 2;
  question.shape.heads = 2;
  question.shape.residual = true;
  question.deviation = 2.0 / 16.0;
  question.sequences = 500;
  question.batch = 32;
  question.adam.rate = 0.01;
  question.steps = 40;
  question.seed = 77;
  return question;
}

TEST(TrainLayersExperiment, AReplicaIsTheRunOfThatNumber) {
  for (const std::uint64_t replica : {0, 1}) {
    const auto numbers =
        experiments::layer_numbers(experiments::layer_run(quick_question(), replica, {}), 2, 2);
    const Point point = quick();
    const std::vector<double> values = replica_of(train_layers(), point, 77, replica);
    const auto value = [&](const char* name, std::size_t position = 0) {
      return measured(train_layers(), point, values, name, position);
    };
    EXPECT_EQ(value("final_loss"), numbers.final_loss);
    EXPECT_EQ(value("retraction"), numbers.retraction);
    EXPECT_EQ(value("focus_peak"), std::max(numbers.focus_peak[0], numbers.focus_peak[1]));
    EXPECT_EQ(value("focus_end"), std::max(numbers.focus_end[0], numbers.focus_end[1]));
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(value("retractions", k), numbers.retractions[k]);
  }
}

TEST(TrainLayersExperiment, EveryOptionOfTheModelReachesIt) {
  const auto loss = [](const Point& more) {
    return replica_of(train_layers(), quick(more), 77, 0).front();
  };
  const double plain = loss({});
  EXPECT_NE(loss({{"layers", 3.0}}), plain);
  EXPECT_NE(loss({{"heads", 4.0}}), plain);
  EXPECT_NE(loss({{"residual", false}}), plain);
  EXPECT_NE(loss({{"branch", 0.5}}), plain);
  EXPECT_NE(loss({{"value", "matrix"}}), plain);
  EXPECT_NE(loss({{"norm", "pre"}}), plain);
  EXPECT_NE(loss({{"causal", true}}), plain);
  EXPECT_NE(loss({{"start", 1.0}}), plain);
  EXPECT_NE(loss({{"s", 10.0}}), plain);
  EXPECT_NE(loss({{"lambda", 0.5}}), plain);
  EXPECT_EQ(loss({{"branch", 1.0}, {"value", "none"}, {"norm", "none"}}), plain);
}

TEST(TrainLayersExperiment, TheStandardIsTheModelOfThePaper) {
  const Point point = train_layers().resolved({});
  EXPECT_EQ(number_of(point, "m"), 256.0);
  EXPECT_EQ(number_of(point, "rate"), 1.5e-4);
  EXPECT_EQ(number_of(point, "start"), 1.0);
  EXPECT_EQ(number_of(point, "s"), 19.0);
  EXPECT_TRUE(flag_of(point, "residual"));
  EXPECT_EQ(word_of(point, "value"), "none");
}

TEST(TrainLayersExperiment, ABranchOf0IsOneOverTheLayers) {
  EXPECT_EQ(number_of(quick({{"branch", 0.0}, {"layers", 4.0}}), "branch"), 0.25);
  EXPECT_EQ(number_of(quick({{"branch", 0.0}, {"residual", false}}), "branch"), 1.0);
}

TEST(TrainLayersExperiment, TheOrderOfTheLawMakesNoDifference) {
  EXPECT_EQ(canonical_text(quick({{"pi", "0.05,0.75,0.01,0.19"}})), canonical_text(quick()));
}

TEST(TrainLayersExperiment, PredictsTheLossOfTheBestPredictor) {
  const Point point = quick();
  EXPECT_EQ(predicted(train_layers(), point, "final_loss_theory"),
            training::best_loss(quick_question().chain, 19));
}

TEST(TrainLayersExperiment, MoreStepsLayersAndWidthAreMoreWork) {
  const double work = train_layers().work(quick());
  EXPECT_GT(train_layers().work(quick({{"steps", 80.0}})), work);
  EXPECT_GT(train_layers().work(quick({{"layers", 3.0}})), work);
  EXPECT_GT(train_layers().work(quick({{"m", 32.0}})), work);
  EXPECT_GT(train_layers().work(quick({{"causal", true}})), work);
}

TEST(TrainLayersExperiment, ARunThatDivergesSaysWhatToChange) {
  try {
    (void)replica_of(train_layers(), quick({{"rate", 1e4}}), 77, 0);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_TRUE(std::string(error.what()).starts_with("rate: 10000 with start 2 diverges"))
        << error.what();
  }
}

TEST(TrainLayersExperiment, WhatMakesNoSenseIsRefused) {
  expect_refused(train_layers(), {{"heads", 3.0}}, "heads: 3 ");
  expect_refused(train_layers(), {{"heads", 0.0}}, "heads: 0 ");
  expect_refused(train_layers(), {{"layers", 0.0}}, "layers: 0 ");
  expect_refused(train_layers(), {{"layers", 65.0}}, "layers: 65 ");
  expect_refused(train_layers(), {{"layers", 1.5}}, "layers: 1.5 ");
  expect_refused(train_layers(), {{"branch", -1.0}}, "branch: -1 ");
  expect_refused(train_layers(), {{"branch", 0.5}, {"residual", false}}, "branch: 0.5 ");
  expect_refused(train_layers(), {{"start", 0.0}}, "start: 0 ");
  expect_refused(train_layers(), {{"start", -1.0}}, "start: -1 ");
  expect_refused(train_layers(), {{"m", 0.0}}, "m: 0 ");
  expect_refused(train_layers(), {{"batch", 0.0}}, "batch: 0 ");
  expect_refused(train_layers(), {{"batch", 2e5}}, "batch: 200000 ");
  expect_refused(train_layers(), {{"s", 0.0}}, "s: 0 ");
  expect_refused(train_layers(), {{"rate", 0.0}}, "rate: 0 ");
  expect_refused(train_layers(), {{"steps", 0.0}}, "steps: 0 ");
  expect_refused(train_layers(), {{"record-every", 0.0}}, "record-every: 0 ");
  expect_refused(train_layers(), {{"pi", "0.5,half"}}, "pi: ");
  expect_refused(train_layers(), {{"lambda", 1.0}}, "lambda: ");
  expect_refused(train_layers(), {{"chain", "ring"}}, "chain: ");
}

}  // namespace
}  // namespace dewpoint::studies
