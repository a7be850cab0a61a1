// Training as a study sees it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/train_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/experiments/training_run.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)
using experiments::Optimiser;

const Experiment& train() { return train_experiment(); }

/// 2000 sequences, m = 32 and a large rate: focus and dilution within 200 steps.
Point quick(const Point& more = {}) {
  Point point = {
      {"sequences", 2000.0}, {"m", 32.0}, {"init", 0.01}, {"rate", 2e-3}, {"steps", 200.0}};
  for (const auto& [name, value] : more) point[name] = value;
  return train().resolved(point);
}

experiments::TrainingQuestion quick_question(std::uint64_t seed) {
  experiments::TrainingQuestion question = experiments::standard_question(Optimiser::adam);
  question.chain = training::named_chain("lambda", {0.75, 0.19, 0.05, 0.01}, 0.8);
  question.sequences = 2000;
  question.width = 32;
  question.deviation = 0.01;
  question.adam.rate = 2e-3;
  question.until = 200.0;
  question.seed = seed;
  return question;
}

/// What a run measures, in the order of the observables.
std::vector<double> values_of(const experiments::TrainingQuestion& question,
                              std::uint64_t replica) {
  experiments::TrainingRun run(question, replica, {});
  run.advance({});
  const auto numbers = experiments::training_numbers(
      run.records(),
      training::find_stages(run.records(), experiments::standard_thresholds(question.optimiser)));
  std::vector<double> values = numbers.scalars;
  for (const auto& more :
       {numbers.start, numbers.peak, numbers.peak_value, numbers.half, numbers.retraction}) {
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

// A factor that was not there before: where it is 1, points are those of before.
TEST(TrainExperiment, AFactorOfOneOnTheScoresIsNoPartOfAPoint) {
  EXPECT_FALSE(has(quick(), "score-scale"));
  EXPECT_EQ(canonical_text(quick({{"score-scale", 1.0}})), canonical_text(quick()));
  EXPECT_EQ(number_of(quick({{"score-scale", 2.0}}), "score-scale"), 2.0);
  experiments::TrainingQuestion question = quick_question(3);
  question.score_scale = 2.0;
  EXPECT_EQ(replica_of(train(), quick({{"score-scale", 2.0}}), 3, 0).front(),
            values_of(question, 0).front());
  EXPECT_NE(replica_of(train(), quick(), 3, 0).front(), values_of(question, 0).front());
  const Point twice = quick({{"score-scale", 2.0}});
  EXPECT_EQ(train().predict(twice), train().predict(quick()));
}

// ---- what is measured ---------------------------------------------------------------------------

TEST(TrainExperiment, AReplicaIsTheRunOfThatNumber) {
  for (const std::uint64_t replica : {0, 1}) {
    const std::vector<double> values = replica_of(train(), quick(), 77, replica);
    EXPECT_TRUE(same_bytes(values, values_of(quick_question(77), replica)));
  }
  EXPECT_FALSE(
      same_bytes(replica_of(train(), quick(), 77, 0), replica_of(train(), quick(), 77, 1)));
  EXPECT_FALSE(train().deterministic(quick()));
}

TEST(TrainExperiment, AFlowIsMeasuredToo) {
  const Point point = train().resolved({{"optimiser", "flow"}, {"time", 10.0}, {"m", 4.0}});
  experiments::TrainingQuestion question = experiments::standard_question(Optimiser::flow);
  question.chain = training::named_chain("lambda", {0.75, 0.19, 0.05, 0.01}, 0.8);
  question.width = 4;
  question.until = 10.0;
  question.seed = 5;
  EXPECT_TRUE(same_bytes(replica_of(train(), point, 5, 0), values_of(question, 0)));
}

TEST(TrainExperiment, NumbersHaveTheShapesTheirObservablesSay) {
  for (const auto& [pi, d] : {std::pair{"0.75,0.19,0.05,0.01", 4U}, {"0.6,0.4", 2U}}) {
    const Point point = quick({{"pi", pi}, {"steps", 20.0}});
    const std::vector<Observable> all = train().observables(point);
    EXPECT_EQ(replica_of(train(), point, seed(), 0).size(), positions_of(all));
    EXPECT_EQ(all.size(), 13U);
    for (const Observable& observable : all) {
      const bool of_cycles = observable.name.rfind("cycle_", 0) == 0;
      const std::size_t expected = observable.name == "retraction" ? d : of_cycles ? d - 1 : 1;
      EXPECT_EQ(positions_of(observable), expected) << observable.name;
    }
  }
}

// Names of observables and numbers of a run are in the same order, or the study mixes them up.
TEST(TrainExperiment, NamesAreThoseOfTheNumbers) {
  experiments::TrainingRun run(quick_question(1), 0, {});
  run.advance({});
  const auto names =
      experiments::training_numbers(run.records(), training::find_stages(run.records(), {})).names;
  const std::vector<Observable> all = train().observables(quick());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(all[i].name, names[i]);
}

TEST(TrainExperiment, StagesThatAreNotSeenAreNoNumbers) {
  const Point point = quick({{"steps", 5.0}});
  const std::vector<double> values = replica_of(train(), point, seed(), 0);
  for (const char* name : {"condensation", "focus", "peak", "half_dilution", "new_direction",
                           "cycle_start", "cycle_peak", "cycle_half", "retraction"}) {
    EXPECT_TRUE(std::isnan(measured(train(), point, values, name))) << name;
  }
  EXPECT_EQ(measured(train(), point, values, "cycles"), 0.0);
  EXPECT_TRUE(std::isfinite(measured(train(), point, values, "final_loss")));
}

TEST(TrainExperiment, OtherPointsOfATileChangeNothing) {
  expect_no_effect_of_tile(train(), {quick({{"steps", 50.0}}), quick({{"m", 8.0}, {"steps", 30.0}}),
                                     quick({{"batch", 16.0}, {"steps", 30.0}})});
}

TEST(TrainExperiment, ADivergingPointIsNamed) {
  const Point point = quick({{"optimiser", "descent"}, {"rate", 20.0}});
  try {
    (void)replica_of(train(), point, seed(), 0);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_EQ(std::string(error.what()).rfind("rate: 20 diverges", 0), 0U) << error.what();
  }
}

// ---- what theory says ---------------------------------------------------------------------------

// The loss of a predictor that knows the chain, with ten digits.
TEST(TrainExperiment, TheBestLossIsThatOfTheChain) {
  const auto best = [](const Point& more) {
    return predicted(train(), quick(more), "final_loss_theory");
  };
  EXPECT_NEAR(best({}), 0.3061525898, 5e-11);
  EXPECT_NEAR(best({{"data", "exact"}}), 0.3061525898, 5e-11);
  EXPECT_NEAR(best({{"data", "population"}}), 0.302842199608, 5e-13);
  EXPECT_NEAR(best({{"data", "population"}, {"chain", "cycle"}}), 0.230097, 5e-7);
  // One token of context is uniform: the mean of the entropies of the rows.
  double mean = 0.0;
  for (const double p : {0.75, 0.19, 0.05, 0.01}) {
    const double stays = 0.8 + 0.2 * p;
    mean -= 0.25 * stays * std::log(stays);
    for (const double q : {0.75, 0.19, 0.05, 0.01}) {
      if (q != p) mean -= 0.25 * 0.2 * q * std::log(0.2 * q);
    }
  }
  EXPECT_NEAR(best({{"s", 1.0}}), mean, 1e-14);
}

// Longer contexts forget the uniform start at the rate 0.8 per token; 199 products with P of five
// roundings each are right to 1.2e-13.
TEST(TrainExperiment, LongContextsHaveTheLossOfThePopulation) {
  const double limit = predicted(train(), quick({{"data", "population"}}), "final_loss_theory");
  EXPECT_NEAR(predicted(train(), quick({{"s", 200.0}}), "final_loss_theory"), limit,
              std::pow(0.8, 199.0) + 1.2e-13);
}

TEST(TrainExperiment, WorkGrowsWithStepsAndWidth) {
  EXPECT_GT(train().work(quick({{"steps", 400.0}})), train().work(quick()));
  EXPECT_GT(train().work(quick({{"m", 512.0}})), train().work(quick()));
}

// ---- how it is asked ----------------------------------------------------------------------------

TEST(TrainExperiment, APointThatIsResolvedStaysAsItIs) {
  for (const Point& given :
       std::vector<Point>{{},
                          {{"optimiser", "descent"}},
                          {{"optimiser", "flow"}},
                          {{"optimiser", "flow"}, {"data", "exact"}, {"time", 3.5}},
                          {{"m", 64.0}, {"batch", 32.0}, {"residual", true}},
                          {{"pi", "0.1,0.2,0.7"}},
                          {{"pi", "0.6,0.3,0.1"}},
                          {{"pi", "0.2857142857,0.4285714286,0.2857142857"}}}) {
    const Point once = train().resolved(given);
    EXPECT_EQ(canonical_text(train().resolved(once)), canonical_text(once));
  }
}

TEST(TrainExperiment, DefaultsAreThoseOfTheOptimiser) {
  const auto filled = [](const char* optimiser, const char* name) {
    return number_of(train().resolved({{"optimiser", optimiser}}), name);
  };
  EXPECT_EQ(filled("adam", "rate"), 1.5e-4);
  EXPECT_EQ(filled("adam", "steps"), 3000.0);
  EXPECT_EQ(filled("adam", "init"), 1.0 / 256.0);
  EXPECT_EQ(filled("adam", "rise"), 0.1);
  EXPECT_EQ(filled("descent", "rate"), 0.1);
  EXPECT_EQ(filled("descent", "rise"), 0.02);
  EXPECT_EQ(filled("flow", "time"), 200.0);
  EXPECT_EQ(filled("flow", "m"), 16.0);
  EXPECT_EQ(filled("flow", "record-every"), 0.25);
  const Point flow = train().resolved({{"optimiser", "flow"}});
  EXPECT_EQ(word_of(flow, "data"), "population");
  EXPECT_FALSE(has(flow, "rate"));
  EXPECT_FALSE(has(flow, "steps"));
  EXPECT_EQ(number_of(train().resolved({{"m", 50.0}}), "init"), 0.02);
}

TEST(TrainExperiment, TokensAreOrderedByFrequency) {
  EXPECT_EQ(resolved_text(train(), {{"pi", "0.25,0.5,0.125,0.125"}}),
            resolved_text(train(), {{"pi", "0.5,0.25,0.125,0.125"}}));
}

TEST(TrainExperiment, BadValuesAreNamed) {
  expect_refused(train(), {{"optimiser", "flow"}, {"steps", 100.0}}, "steps: 100 ");
  expect_refused(train(), {{"optimiser", "flow"}, {"rate", 0.1}}, "rate: 0.1 ");
  expect_refused(train(), {{"time", 10.0}}, "time: 10 ");
  expect_refused(train(), {{"optimiser", "descent"}, {"time", 10.0}}, "time: 10 ");
  for (const char* pi : {"", "0.5", "0.5,", "0.5,half", "0.5;0.5", "0.5,0.5,0", "0.5,0.4",
                         "0.5,0.75,-0.25", "nan,0.5", "0.5, 0.5"}) {
    expect_refused(train(), {{"pi", pi}}, "pi: ");
  }
  expect_refused(train(), {{"chain", "ring"}}, "chain: ");
  for (const double lambda : {0.0, 1.0, -0.5, 2.0}) {
    expect_refused(train(), {{"lambda", lambda}}, "lambda: ");
  }
  expect_refused(train(), {{"batch", 16.0}, {"data", "exact"}}, "batch: 16 ");
  expect_refused(train(), {{"batch", 16.0}, {"data", "population"}}, "batch: 16 ");
  expect_refused(train(), {{"batch", 2e5}}, "batch: 200000 ");
  expect_refused(train(), {{"m", 0.0}}, "m: ");
  expect_refused(train(), {{"s", 0.0}}, "s: ");
  expect_refused(train(), {{"s", 2.5}}, "s: ");
  expect_refused(train(), {{"sequences", 0.0}}, "sequences: ");
  expect_refused(train(), {{"init", -0.1}}, "init: ");
  expect_refused(train(), {{"rate", 0.0}}, "rate: ");
  expect_refused(train(), {{"steps", 0.0}}, "steps: ");
  expect_refused(train(), {{"record-every", 2.5}}, "record");
  for (const double rise : {0.0, -0.1, 1.0}) {
    expect_refused(train(), {{"rise", rise}}, "rise: ");
  }
}

}  // namespace
}  // namespace dewpoint::studies
