// A training run as numbers, frames and a table of runs.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "experiments/training_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)

TrainingQuestion without_stages() {
  TrainingQuestion question = quick();
  question.until = 10.0;
  return question;
}

training::Stages stages_of(const TrainingRun& run) {
  return training::find_stages(run.records(), standard_thresholds(Optimiser::adam));
}

TrainingNumbers numbers_of(const TrainingRun& run) {
  return training_numbers(run.records(), stages_of(run));
}

std::map<std::string, double> by_name(const TrainingNumbers& numbers) {
  std::map<std::string, double> named;
  for (std::size_t i = 0; i < numbers.names.size(); ++i) {
    named[numbers.names[i]] = numbers.scalars[i];
  }
  return named;
}

TEST(TrainingNumbers, AreTheStagesThatWereFound) {
  const auto run = finished(quick());
  const training::Stages stages = stages_of(*run);
  const TrainingNumbers numbers = numbers_of(*run);
  auto named = by_name(numbers);
  ASSERT_TRUE(stages.condensation && stages.cycles[0].peak && stages.cycles[0].half);
  EXPECT_EQ(named["final_loss"], run->records().back().loss);
  EXPECT_EQ(named["condensation"], *stages.condensation);
  EXPECT_EQ(named["focus"], *stages.cycles[0].start);
  EXPECT_EQ(named["peak"], *stages.cycles[0].peak);
  EXPECT_EQ(named["peak_value"], stages.cycles[0].peak_value);
  EXPECT_EQ(named["half_dilution"], *stages.cycles[0].half);
  EXPECT_EQ(named["cycles"], static_cast<double>(stages.completed_cycles()));
  EXPECT_EQ(numbers.peak[0], *stages.cycles[0].peak);
  EXPECT_EQ(numbers.half[0], *stages.cycles[0].half);
  EXPECT_EQ(numbers.start.size(), 3U);
  EXPECT_EQ(numbers.peak_value.size(), 3U);
  ASSERT_EQ(numbers.retraction.size(), 4U);
  ASSERT_FALSE(stages.retractions[2].empty());
  double deepest = 0.0;
  for (const auto& one : stages.retractions[2]) deepest = std::max(deepest, one.depth());
  EXPECT_EQ(numbers.retraction[2], deepest);
}

// Before condensation nothing has been seen; the largest s_k and the number of cycles are known.
TEST(TrainingNumbers, WhatWasNotSeenIsNoNumber) {
  const auto run = finished(without_stages());
  const TrainingNumbers numbers = numbers_of(*run);
  auto named = by_name(numbers);
  for (const char* stage : {"condensation", "focus", "peak", "half_dilution", "new_direction"}) {
    EXPECT_TRUE(std::isnan(named.at(stage))) << stage;
  }
  EXPECT_EQ(named.at("cycles"), 0.0);
  EXPECT_EQ(named.at("final_loss"), run->records().back().loss);
  EXPECT_NEAR(named.at("peak_value"), 0.25, 0.01);
  for (const auto* values : {&numbers.start, &numbers.peak, &numbers.half, &numbers.retraction}) {
    for (const double value : *values) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(StageMoments, AreInOrderEachOnceFromStartToEnd) {
  for (const TrainingQuestion& question : {quick(), without_stages()}) {
    const auto run = finished(question);
    const training::Stages stages = stages_of(*run);
    const std::vector<double> moments = stage_moments(run->records(), stages);
    EXPECT_EQ(moments.front(), 0.0);
    EXPECT_EQ(moments.back(), question.until);
    EXPECT_EQ(std::adjacent_find(moments.begin(), moments.end(), std::greater_equal<>()),
              moments.end());
    for (const auto& time : {stages.condensation, stages.cycles[0].start, stages.cycles[0].peak,
                             stages.cycles[1].peak, stages.cycles[2].peak, stages.new_direction}) {
      if (!time) continue;
      EXPECT_EQ(std::count(moments.begin(), moments.end(), *time), 1);
    }
  }
  EXPECT_EQ(
      stage_moments(finished(without_stages())->records(), stages_of(*finished(without_stages()))),
      (std::vector<double>{0.0, 10.0}));
}

// ---- several runs -------------------------------------------------------------------------------

TEST(TrainReplicas, AreTheRunsOneByOneOnAnyNumberOfThreads) {
  TrainingQuestion question = quick();
  question.until = 100.0;
  for (const int threads : {1, 3}) {
    const auto all =
        train_replicas(question, standard_thresholds(Optimiser::adam), 3, {threads, {}, {}});
    ASSERT_EQ(all.size(), 3U);
    for (std::size_t r = 0; r < 3; ++r) {
      const TrainingNumbers alone = numbers_of(*finished(question, r));
      EXPECT_EQ(all[r].names, alone.names);
      EXPECT_EQ(by_name(all[r])["final_loss"], by_name(alone)["final_loss"]);
      EXPECT_EQ(by_name(all[r])["condensation"], by_name(alone)["condensation"]);
      EXPECT_EQ(all[r].peak_value, alone.peak_value);
    }
  }
}

TEST(TrainReplicas, ADivergingRateEndsAllOfThem) {
  TrainingQuestion question = quick(Optimiser::descent);
  question.adam.rate = 20.0;
  const Error error = error_of([&] { (void)train_replicas(question, {}, 3, {2, {}, {}}); });
  EXPECT_EQ(error.code(), Code::bad_value);
  EXPECT_TRUE(std::string(error.what()).starts_with("rate: 20 diverges")) << error.what();
}

TEST(TrainReplicas, StopOnRequest) {
  std::stop_source source;
  source.request_stop();
  const Error error = error_of([&] {
    (void)train_replicas(quick(), {}, 3, {2, source.get_token(), {}});
  });
  EXPECT_EQ(error.code(), Code::stopped);
}

TEST(RunsFrame, HasARowForEveryRunAndNoSamplesForWhatWasNotSeen) {
  const std::vector<TrainingNumbers> runs = {numbers_of(*finished(quick())),
                                             numbers_of(*finished(without_stages()))};
  const Frame frame = runs_frame(runs);
  EXPECT_EQ(frame.name(), "runs");
  EXPECT_EQ(frame.dimension("run").coordinates, (std::vector<double>{0.0, 1.0}));
  EXPECT_EQ(frame.dimension("cycle").coordinates, (std::vector<double>{0.0, 1.0, 2.0}));
  EXPECT_EQ(frame.dimension("token").coordinates, (std::vector<double>{0.0, 1.0, 2.0, 3.0}));
  for (const std::string& name : runs[0].names) {
    EXPECT_EQ(frame.variable(name).dimensions, std::vector<std::string>{"run"}) << name;
    EXPECT_EQ(frame.variable(name).cells.size(), 2U) << name;
  }
  for (const char* name : {"cycle_start", "cycle_peak", "cycle_peak_value", "cycle_half"}) {
    EXPECT_EQ(frame.variable(name).dimensions, (std::vector<std::string>{"run", "cycle"})) << name;
    EXPECT_EQ(frame.variable(name).cells.size(), 6U) << name;
  }
  EXPECT_EQ(frame.variable("retraction").dimensions, (std::vector<std::string>{"run", "token"}));
  EXPECT_EQ(frame.variable("retraction").cells.size(), 8U);

  const auto& peaks = frame.variable("cycle_peak").cells;
  EXPECT_EQ(peaks[0].mean, runs[0].peak[0]);
  EXPECT_EQ(peaks[0].samples, 1U);
  EXPECT_EQ(peaks[3].samples, 0U);
  EXPECT_EQ(frame.variable("peak").cells[0].mean, runs[0].peak[0]);
  EXPECT_EQ(frame.variable("peak").cells[1].samples, 0U);
}

TEST(TrainingFrames, HoldTheTrajectoryTheStagesAndTheChain) {
  const TrainingQuestion question = quick();
  const auto run = finished(question);
  const training::Stages stages = stages_of(*run);
  const auto names = [&] {
    std::vector<std::string> found;
    for (const Frame& frame : training_frames(question, *run, stages)) {
      found.push_back(frame.name());
    }
    return found;
  };
  EXPECT_EQ(names(),
            (std::vector<std::string>{"trajectory", "stages", "cycles", "retraction", "data"}));
  run->revisit(stages, {});
  EXPECT_EQ(names(), (std::vector<std::string>{"trajectory", "condensation", "stages", "cycles",
                                               "retraction", "data"}));
  const Frame data = training_frames(question, *run, stages).back();
  EXPECT_EQ(data.variable("stationary").cells[3].mean, 0.01);
  EXPECT_EQ(data.variable("transition").cells[4 + 1].mean, question.chain.transition(1, 1));
}

}  // namespace
}  // namespace dewpoint::experiments
