// One training run: the same bytes whatever happens on the way.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/training_run.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <stop_token>
#include <thread>

#include "experiments/training_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)

// ---- threads, replicas, watchers ----------------------------------------------------------------

TEST(TrainingRun, ThreadsChangeNoByte) {
  for (const Kind& kind : kinds_of_steps()) {
    SCOPED_TRACE(kind.name);
    TrainingQuestion question = kind.question;
    question.until = 60.0;
    const auto one = finished(question, 0, 1);
    for (const int threads : {2, 5}) expect_same_attachments(*one, *finished(question, 0, threads));
  }
}

TEST(TrainingRun, ThreadsChangeNoByteOfAFlow) {
  const auto one = finished(quick(Optimiser::flow), 0, 1);
  expect_same_attachments(*one, *finished(quick(Optimiser::flow), 0, 5));
}

// 2000 sequences have about 530 distinct rows, with a deviation of about 15: six equal counts would
// come by chance less than once in a million times.
TEST(TrainingRun, ReplicasHaveDataAndWeightsOfTheirOwn) {
  TrainingQuestion question = quick();
  question.until = 5.0;
  std::set<std::size_t> rows;
  std::set<double> first_weights;
  for (std::uint64_t replica = 0; replica < 6; ++replica) {
    const auto run = finished(question, replica);
    rows.insert(run->rows());
    first_weights.insert(run->records()[0].embedding(0, 0));
    expect_same_attachments(*run, *finished(question, replica));
  }
  EXPECT_GT(rows.size(), 1U);
  EXPECT_EQ(first_weights.size(), 6U);
}

TEST(TrainingRun, RecordsAreAtMultiplesOfTheIntervalAndAtTheEnd) {
  TrainingQuestion question = quick();
  question.until = 23.0;
  EXPECT_EQ(times_of(finished(question)->records()),
            (std::vector<double>{0.0, 5.0, 10.0, 15.0, 20.0, 23.0}));
}

// k · 0.7 / 0.7 is below k for k = 3, 6, 12: the next record must be looked for beyond that.
TEST(TrainingRun, AnIntervalThatIsNoBinaryFractionIsFollowedToTheEnd) {
  TrainingQuestion question = quick(Optimiser::flow);
  question.width = 4;
  question.every = 0.7;
  question.until = 10.5;
  std::stop_source source;
  TrainingRun run(question, 0, {});
  std::size_t calls = 0;
  EXPECT_NO_THROW(run.advance({1, source.get_token(), {}}, [&](std::span<const training::Record>) {
    if (++calls > 30) source.request_stop();
  }));
  ASSERT_EQ(run.records().size(), 16U);
  for (std::size_t k = 0; k < 16; ++k) {
    EXPECT_NEAR(run.records()[k].time, 0.7 * static_cast<double>(k), 1e-12);
  }
}

TEST(TrainingRun, AWatcherSeesEveryRecordAndProgressRises) {
  TrainingQuestion question = quick();
  question.until = 50.0;
  std::vector<std::size_t> seen;
  std::vector<double> done;
  TrainingRun run(question, 0, {});
  run.advance({1, {}, [&](double part, double whole) { done.push_back(part / whole); }},
              [&](std::span<const training::Record> records) { seen.push_back(records.size()); });
  EXPECT_EQ(seen, (std::vector<std::size_t>{2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 1.0);
}

// ---- stop and resume ----------------------------------------------------------------------------

TEST(TrainingRun, StoppedAndResumedIsTheUninterruptedRun) {
  for (const Kind& kind : kinds_of_steps()) {
    SCOPED_TRACE(kind.name);
    const auto straight = finished(kind.question);
    const auto first = stopped_at(kind.question, 85.0);
    EXPECT_EQ(first->records().size(), 18U);
    EXPECT_EQ(first->time(), 85.0);
    expect_same_attachments(*straight, *resumed(kind.question, *first));
  }
}

TEST(TrainingRun, ALongerRunGoesOnWithAShorterOne) {
  TrainingQuestion question = quick();
  const auto straight = finished(question);
  question.until = 100.0;
  const auto half = finished(question);
  question.until = 200.0;
  expect_same_attachments(*straight, *resumed(question, *half));
}

// The stop comes from outside at a moment that nobody chose; wherever that is, no step is lost.
TEST(TrainingRun, AStopBetweenTwoRecordsLosesNoStep) {
  TrainingQuestion question = quick();
  question.width = 4;
  question.sequences = 100;
  question.every = 1e6;
  question.until = 1e8;
  std::stop_source source;
  TrainingRun run(question, 0, {});
  const std::jthread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source.request_stop();
  });
  const Error error = error_of([&] { run.advance({1, source.get_token(), {}}); });
  EXPECT_EQ(error.code(), Code::stopped);
  EXPECT_FALSE(run.diverged());
  EXPECT_FALSE(run.records().empty());
  question.every = 1e8;
  question.until = run.time() + 100.0;
  const auto straight = finished(question);
  const auto gone_on = resumed(question, run);
  const auto expected = study_of(*straight);
  EXPECT_EQ(attached(study_of(*gone_on), "state"), attached(expected, "state"));
  EXPECT_EQ(training::to_bytes(gone_on->records().last(1)),
            training::to_bytes(straight->records().last(1)));
}

// Both flows make errors of at most about the tolerance times the largest weight in a step
// (flow_test.cpp); the loss changes at most by its slope, below 1 in every direction of M, times
// the change of M, whose entries are sums over 16 units of products of weights below 2.
TEST(TrainingRun, AFlowResumesWithinItsTolerances) {
  TrainingQuestion question = quick(Optimiser::flow);
  question.until = 40.0;
  const auto straight = finished(question);
  const auto gone_on = resumed(question, *stopped_at(question, 15.0));
  ASSERT_EQ(times_of(gone_on->records()), times_of(straight->records()));
  const auto steps =
      static_cast<double>(straight->flow()->work().steps + gone_on->flow()->work().steps);
  const double allowance = 2.0 * steps * question.flow.relative_tolerance;
  for (std::size_t i = 0; i < straight->records().size(); ++i) {
    const training::Record& a = straight->records()[i];
    const training::Record& b = gone_on->records()[i];
    EXPECT_NEAR(a.loss, b.loss, 2.0 * 16.0 * 2.0 * allowance) << a.time;
    for (std::size_t k = 0; k < a.embedding.size(); ++k) {
      EXPECT_NEAR(a.embedding.data()[k], b.embedding.data()[k], allowance) << a.time;
    }
  }
  EXPECT_EQ(training::to_bytes(straight->records().first(16)),
            training::to_bytes(gone_on->records().first(16)));
  EXPECT_EQ(straight->flow()->events().condensed, gone_on->flow()->events().condensed);
}

TEST(TrainingRun, AStopRightAwayKeepsTheStart) {
  std::stop_source source;
  source.request_stop();
  TrainingRun run(quick(), 0, {});
  const Error error = error_of([&] { run.advance({1, source.get_token(), {}}); });
  EXPECT_EQ(error.code(), Code::stopped);
  EXPECT_EQ(times_of(run.records()), std::vector<double>{0.0});
  EXPECT_FALSE(run.diverged());
}

TEST(TrainingRun, TheStateOfAnotherRunIsRefused) {
  const auto run = finished(quick());
  TrainingQuestion wider = quick();
  wider.width = 33;
  for (const TrainingQuestion& other : {wider, quick(Optimiser::descent)}) {
    TrainingRun into(other, 0, {});
    const Error error = error_of([&] { into.restore(study_of(*run)); });
    EXPECT_EQ(error.code(), Code::malformed_file) << error.what();
  }
}

// ---- divergence ---------------------------------------------------------------------------------

TEST(TrainingRun, ARateThatDivergesIsFoundAndTheLastGoodWeightsStay) {
  TrainingQuestion question = quick(Optimiser::descent);
  question.adam.rate = 20.0;
  question.every = 1.0;
  const auto run = finished(question);
  ASSERT_TRUE(run->diverged());
  const double last = run->records().back().time;
  EXPECT_LT(last, *run->diverged());
  EXPECT_LT(*run->diverged(), question.until);
  for (const training::Record& record : run->records()) {
    EXPECT_LE(record.loss, kDiverged * std::log(4.0));
  }
  const auto study = study_of(*run);
  EXPECT_FALSE(has(study, "state"));
  EXPECT_EQ(attached(study, "records"), bytes_of(*run));

  question.until = last;
  const auto good = finished(question);
  EXPECT_FALSE(good->diverged());
  const std::string at = std::to_string(static_cast<int>(last));
  for (const char* matrix : {"/W0.npy", "/W1.npy", "/WQ.npy", "/WK.npy"}) {
    EXPECT_EQ(attached(study, at + matrix), attached(study_of(*good), at + matrix)) << matrix;
  }
  EXPECT_EQ(attached(study, at + "/W0.npy"), npy_of(run->records().back().embedding));

  const Error error = divergence(question, *run);
  EXPECT_EQ(error.code(), Code::bad_value);
  EXPECT_NE(std::string(error.what()).find("rate: 20 diverges"), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("step " + at + ";"), std::string::npos) << error.what();
}

TEST(TrainingRun, ADivergedRunStaysWhereItIs) {
  TrainingQuestion question = quick(Optimiser::descent);
  question.adam.rate = 20.0;
  const auto run = finished(question);
  const auto before = bytes_of(*run);
  const auto at = run->diverged();
  run->advance({});
  EXPECT_EQ(bytes_of(*run), before);
  EXPECT_EQ(run->diverged(), at);
}

}  // namespace
}  // namespace dewpoint::experiments
