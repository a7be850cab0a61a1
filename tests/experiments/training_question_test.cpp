// What may be asked of a training run, and what its data are.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "dewpoint/question/field.hpp"
#include "dewpoint/training/parameters.hpp"
#include "experiments/training_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)
using Change = std::function<void(TrainingQuestion&)>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- standards ----------------------------------------------------------------------------------

TEST(TrainingQuestion, TheStandardOfAdamIsThatOfThePaper) {
  const TrainingQuestion question = standard_question(Optimiser::adam);
  EXPECT_EQ(question.optimiser, Optimiser::adam);
  EXPECT_EQ(question.data, TrainingData::sampled);
  EXPECT_EQ(question.context, 19U);
  EXPECT_EQ(question.sequences, 100'000U);
  EXPECT_EQ(question.batch, 0U);
  EXPECT_EQ(question.width, 256U);
  EXPECT_EQ(question.deviation, 0.0);
  EXPECT_EQ(question.adam.rate, 1.5e-4);
  EXPECT_EQ(question.precision, Precision::single_);
  EXPECT_EQ(question.until, 3000.0);
  EXPECT_EQ(question.every, 5.0);
}

TEST(TrainingQuestion, DescentAndFlowHaveStandardsOfTheirOwn) {
  const TrainingQuestion descent = standard_question(Optimiser::descent);
  EXPECT_EQ(descent.adam.rate, 0.1);
  EXPECT_EQ(descent.data, TrainingData::sampled);
  EXPECT_EQ(descent.precision, Precision::double_);
  const TrainingQuestion flow = standard_question(Optimiser::flow);
  EXPECT_EQ(flow.data, TrainingData::population);
  EXPECT_EQ(flow.width, 16U);
  EXPECT_EQ(flow.deviation, 1e-3);
  EXPECT_EQ(flow.until, 200.0);
  EXPECT_EQ(flow.every, 0.25);
}

TEST(TrainingQuestion, EveryStandardIsAllowed) {
  for (const auto& [name, optimiser] : words_of(Optimiser{})) {
    TrainingQuestion question = standard_question(optimiser);
    question.chain = training::test::standard_chain();
    EXPECT_NO_THROW(check(question)) << name;
    const training::StageThresholds thresholds = standard_thresholds(optimiser);
    EXPECT_EQ(thresholds.start, kStartOfRise * thresholds.rise) << name;
  }
  EXPECT_EQ(standard_thresholds(Optimiser::adam).rise, 0.1);
  EXPECT_EQ(standard_thresholds(Optimiser::descent).rise, 0.02);
  EXPECT_EQ(standard_thresholds(Optimiser::flow).rise, 0.005);
}

TEST(TrainingQuestion, NamesAreReadAsTheyAreWritten) {
  EXPECT_EQ(words_of(Optimiser{}).size(), 3U);
  for (const auto& [name, optimiser] : words_of(Optimiser{}))
    EXPECT_EQ(question::word_for(optimiser), name);
  EXPECT_EQ(words_of(TrainingData{}).size(), 3U);
  for (const auto& [name, data] : words_of(TrainingData{}))
    EXPECT_EQ(question::word_for(data), name);
}

// ---- refusals -----------------------------------------------------------------------------------

void expect_refused(Optimiser optimiser, const Change& change, const std::string& message) {
  TrainingQuestion question = quick(optimiser);
  change(question);
  const Error error = error_of([&] { check(question); });
  EXPECT_EQ(error.code(), Code::bad_value);
  EXPECT_EQ(std::string(error.what()), message);
}

TEST(TrainingQuestion, SizesThatMakeNoSenseAreRefused) {
  const auto refused = [](const Change& change, const std::string& message) {
    expect_refused(Optimiser::adam, change, message);
  };
  refused([](auto& q) { q.context = 0; }, "s: 0 is not in [1, 10000]");
  refused([](auto& q) { q.context = 10'001; }, "s: 10001 is not in [1, 10000]");
  refused([](auto& q) { q.sequences = 0; }, "sequences: 0 is not in [1, 100000000]");
  refused([](auto& q) { q.width = 0; }, "m: 0 is not in [1, 8192]");
  refused([](auto& q) { q.width = 8193; }, "m: 8193 is not in [1, 8192]");
  refused([](auto& q) { q.deviation = -1.0; }, "init: -1 is not 0 (for 1/m) or above");
  refused([](auto& q) { q.deviation = kNaN; }, "init: nan is not 0 (for 1/m) or above");
  refused([](auto& q) { q.batch = 2001; }, "batch: 2001 is not in [0, 2000]");
}

TEST(TrainingQuestion, BatchesNeedSequencesAndSteps) {
  for (const TrainingData data : {TrainingData::exact, TrainingData::population}) {
    expect_refused(
        Optimiser::adam,
        [&](auto& q) {
          q.data = data;
          q.batch = 16;
        },
        "batch: 16 is only for sampled data; exact and population have no sequences to choose "
        "from");
  }
  expect_refused(
      Optimiser::flow,
      [](auto& q) {
        q.data = TrainingData::sampled;
        q.batch = 16;
      },
      "batch: 16 is only for adam and descent; a flow sees all data at once");
}

TEST(TrainingQuestion, OptimisersThatCannotWorkAreRefused) {
  const auto refused = [](const Change& change, const std::string& message) {
    expect_refused(Optimiser::adam, change, message);
  };
  for (const auto& [rate, text] : {std::pair{0.0, "0"}, {-1e-3, "-0.001"}, {kInfinity, "inf"}}) {
    refused([&](auto& q) { q.adam.rate = rate; },
            "rate: " + std::string(text) + " is not a number above 0");
  }
  expect_refused(
      Optimiser::descent, [](auto& q) { q.adam.rate = kNaN; }, "rate: nan is not a number above 0");
  for (const double tolerance : {0.0, 1e-15, 0.1, kNaN}) {
    for (const char* field : {"rtol", "atol"}) {
      TrainingQuestion question = quick(Optimiser::flow);
      (std::string(field) == "rtol" ? question.flow.relative_tolerance
                                    : question.flow.absolute_tolerance) = tolerance;
      const Error error = error_of([&] { check(question); });
      EXPECT_EQ(error.code(), Code::bad_value);
      EXPECT_TRUE(std::string(error.what()).starts_with(std::string(field) + ": "));
      EXPECT_TRUE(std::string(error.what()).ends_with(" is not in [1e-14, 0.01]")) << error.what();
    }
  }
}

/// Refused by name, or a run that can be made.
void expect_refused_or_possible(const char* field, const Change& change) {
  TrainingQuestion question = quick();
  question.until = 5.0;
  change(question);
  try {
    check(question);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_TRUE(std::string(error.what()).starts_with(field)) << error.what();
    return;
  }
  EXPECT_EQ(finished(question)->time(), 5.0) << field;
}

// At the edge of what is allowed there is a message or a run, never a broken expectation.
TEST(TrainingQuestion, NumbersOfAdamAtTheirEdges) {
  for (const double decay : {-0.1, 0.0, 1e-300, 1.0 - 0x1p-53, 1.0, kNaN}) {
    expect_refused_or_possible("beta1: ", [&](auto& q) { q.adam.first_decay = decay; });
    expect_refused_or_possible("beta2: ", [&](auto& q) { q.adam.second_decay = decay; });
  }
  for (const double epsilon : {0.0, 1e-300, 1e-40, 1e-30, 1.0, kInfinity}) {
    expect_refused_or_possible("eps: ", [&](auto& q) { q.adam.epsilon = epsilon; });
  }
}

TEST(TrainingQuestion, DurationsThatMakeNoSenseAreRefused) {
  const auto refused = [](const Change& change, const std::string& message) {
    expect_refused(Optimiser::adam, change, message);
  };
  refused([](auto& q) { q.until = 0.0; }, "steps: 0 is not a number above 0");
  refused([](auto& q) { q.until = 10.5; }, "steps: 10.5 is not a whole number");
  refused([](auto& q) { q.until = kInfinity; }, "steps: inf is not a number above 0");
  refused([](auto& q) { q.every = 0.0; }, "record-every: 0 is not a number above 0");
  refused([](auto& q) { q.every = 2.5; }, "record-every: 2.5 is not a whole number of steps");
  refused(
      [](auto& q) {
        q.until = 100'001.0;
        q.every = 1.0;
      },
      "record-every: 1 is not enough: more than 100000 records");
  expect_refused(
      Optimiser::flow, [](auto& q) { q.until = -1.0; }, "time: -1 is not a number above 0");
  EXPECT_NO_THROW([] {
    TrainingQuestion question = quick(Optimiser::flow);
    question.until = 10.5;
    question.every = 0.3;
    check(question);
  }());
}

TEST(TrainingQuestion, MomentsThatMakeNoSenseAreRefused) {
  const auto refused = [](const std::vector<double>& moments, const std::string& message) {
    expect_refused(
        Optimiser::adam, [&](auto& q) { q.moments = moments; }, message);
  };
  refused({-1.0}, "moments: -1 is not in [0, 200]");
  refused({0.0, 201.0}, "moments: 201 is not in [0, 200]");
  refused({1.5}, "moments: 1.5 is not a whole number of steps");
  refused({kNaN}, "moments: nan is not in [0, 200]");
  refused(std::vector<double>(101, 0.0), "moments: 101 is not at most 100 of them");
  refused({10.0, 5.0}, "moments: 10 is not the least: give them in order");
}

// ---- data ---------------------------------------------------------------------------------------

TrainingQuestion seen_as(TrainingData data) {
  TrainingQuestion question = quick();
  question.data = data;
  question.until = 5.0;
  return question;
}

TEST(TrainingData, RowsAreDistinctContexts) {
  EXPECT_EQ(finished(seen_as(TrainingData::population))->rows(), 0U);
  // d C(s + d − 2, d − 1): the last token, and the histogram of the others.
  TrainingQuestion question = seen_as(TrainingData::exact);
  EXPECT_EQ(finished(question)->rows(), 5320U);
  question.context = 5;
  EXPECT_EQ(finished(question)->rows(), 140U);
  question.context = 1;
  EXPECT_EQ(finished(question)->rows(), 4U);
  question = seen_as(TrainingData::sampled);
  question.sequences = 1;
  EXPECT_EQ(finished(question)->rows(), 1U);
  question.sequences = 2000;
  const std::size_t rows = finished(question)->rows();
  EXPECT_GT(rows, 140U);
  EXPECT_LT(rows, 2000U);
  question.batch = 64;
  EXPECT_EQ(finished(question)->rows(), rows);
}

// Entries of M are sums of 32 products of two numbers of size σ: below 7 √32 σ² < 40 σ² but for
// one in 10¹¹. No logit is larger, and no loss farther from log d than the difference of two; 1e-15
// is the rounding of log 4.
TEST(TrainingData, AModelWithoutWeightsGuesses) {
  for (const TrainingData data :
       {TrainingData::sampled, TrainingData::exact, TrainingData::population}) {
    TrainingQuestion question = seen_as(data);
    question.deviation = 1e-6;
    const training::Record first = finished(question)->records()[0];
    EXPECT_NEAR(first.loss, std::log(4.0), 80e-12 + 1e-15) << question::word_for(data);
    for (const double loss : first.group_loss) {
      EXPECT_NEAR(loss, std::log(4.0), 80e-12 + 1e-15) << question::word_for(data);
    }
  }
}

double weighted(const training::Record& record, const std::vector<double>& law) {
  double sum = 0.0;
  for (std::size_t k = 0; k < law.size(); ++k) sum += law[k] * record.group_loss[k];
  return sum;
}

// The loss is the mean over groups with the law of the last token: π for the population, and
// π + 0.8^(s−1) (1/4 − π) after s − 1 steps of the chain from a uniform start. Sums of 5320
// positive terms are right to 5320 · 2⁻⁵³ < 1e-12 of themselves.
TEST(TrainingData, GroupsWeighWhatTheChainSays) {
  const std::vector<double>& law = training::test::kStandardLaw;
  std::vector<double> last = law;
  for (double& p : last) p += std::pow(0.8, 18.0) * (0.25 - p);
  TrainingQuestion question = seen_as(TrainingData::population);
  question.deviation = 0.5;
  const training::Record population = finished(question)->records()[0];
  EXPECT_NEAR(population.loss, weighted(population, law), 2e-12);
  question.data = TrainingData::exact;
  const training::Record exact = finished(question)->records()[0];
  EXPECT_NEAR(exact.loss, weighted(exact, last), 2e-12);
  EXPECT_GT(std::abs(weighted(exact, law) - exact.loss), 1e-6);
  EXPECT_GT(std::abs(population.loss - exact.loss), 1e-6);
}

// One sequence has a loss between log d − R and log d + R, R the range of the entries of M, so a
// standard deviation of at most R: the mean of N is known to R/√N.
TEST(TrainingData, SamplesAreOfTheExactExpectation) {
  TrainingQuestion question = seen_as(TrainingData::exact);
  question.deviation = 0.25;
  const training::Record exact = finished(question)->records()[0];
  question.data = TrainingData::sampled;
  question.sequences = 50'000;
  const training::Record sampled = finished(question)->records()[0];
  const auto maps = training::token_maps(
      training::initial_parameters(4, question.width, question.deviation, question.seed, 0));
  const auto [least, most] =
      std::minmax_element(maps.value.data(), maps.value.data() + maps.value.size());
  EXPECT_NEAR(sampled.loss, exact.loss,
              dewpoint::test::kSigmas * (*most - *least) / std::sqrt(5e4));
  EXPECT_NE(sampled.loss, exact.loss);
}

TEST(TrainingData, AResidualChangesTheLoss) {
  TrainingQuestion question = seen_as(TrainingData::exact);
  question.deviation = 0.25;
  const double without = finished(question)->records()[0].loss;
  question.residual = true;
  EXPECT_NE(finished(question)->records()[0].loss, without);
}

TEST(TrainingData, NoDeviationMeansOneOverTheWidth) {
  TrainingQuestion question = seen_as(TrainingData::exact);
  question.deviation = 0.0;
  const auto standard = finished(question);
  question.deviation = 1.0 / 32.0;
  expect_same_attachments(*standard, *finished(question));
}

}  // namespace
}  // namespace dewpoint::experiments
