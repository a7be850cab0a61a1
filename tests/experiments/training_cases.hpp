// Training runs that the tests share: small, quick, and through focus and dilution all the same.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/npy_writer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/training_run.hpp"
#include "support/test_seed.hpp"
#include "training/standard_chain.hpp"

namespace dewpoint::experiments::test {

using training::Precision;

/// m = 32 and 2000 sequences. Adam at this rate condenses near step 20 and focuses on token 0
/// between steps 45 and 100, a hundredth of the weights and a tenth of the steps of the standard.
inline TrainingQuestion quick(Optimiser optimiser = Optimiser::adam) {
  TrainingQuestion question = standard_question(optimiser);
  question.chain = training::test::standard_chain();
  question.seed = dewpoint::test::seed();
  if (optimiser == Optimiser::flow) {
    question.until = 20.0;
    question.every = 1.0;
    return question;
  }
  question.sequences = 2000;
  question.width = 32;
  question.deviation = 0.01;
  question.until = 200.0;
  if (optimiser == Optimiser::adam) question.adam.rate = 2e-3;
  return question;
}

/// A run to its end.
inline std::unique_ptr<TrainingRun> finished(const TrainingQuestion& question,
                                             std::uint64_t replica = 0, int threads = 1) {
  auto run = std::make_unique<TrainingRun>(question, replica, RunContext{threads, {}, {}});
  run->advance({threads, {}, {}});
  return run;
}

inline std::vector<std::byte> bytes_of(const TrainingRun& run) {
  return training::to_bytes(run.records());
}

inline store::StudyRecord study_of(const TrainingRun& run) {
  store::StudyRecord study;
  study.attachments = run.attachments();
  return study;
}

inline bool has(const store::StudyRecord& study, const std::string& name) {
  return std::any_of(study.attachments.begin(), study.attachments.end(),
                     [&](const store::Attachment& one) { return one.name == name; });
}

inline std::vector<std::byte> attached(const store::StudyRecord& study, const std::string& name) {
  const auto bytes = study.attachment(name);
  return {bytes.begin(), bytes.end()};
}

/// Names and bytes of everything that a run keeps.
inline void expect_same_attachments(const TrainingRun& a, const TrainingRun& b) {
  const auto first = a.attachments();
  const auto second = b.attachments();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name, second[i].name);
    EXPECT_TRUE(first[i].bytes == second[i].bytes) << first[i].name;
  }
}

inline std::vector<double> times_of(std::span<const training::Record> records) {
  std::vector<double> times;
  for (const training::Record& record : records) times.push_back(record.time);
  return times;
}

inline std::vector<double> times_of(std::span<const training::Condensation> moments) {
  std::vector<double> times;
  for (const training::Condensation& moment : moments) times.push_back(moment.time);
  return times;
}

/// What is thrown; fails where nothing is.
template <class Action>
Error error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {Code::bad_value, ""};
}

struct Kind {
  const char* name;
  TrainingQuestion question;
};

/// Everything that goes forward in steps.
inline std::vector<Kind> kinds_of_steps() {
  std::vector<Kind> kinds = {{"adam", quick()},
                             {"adam in double", quick()},
                             {"descent", quick(Optimiser::descent)},
                             {"minibatch", quick()},
                             {"descent in minibatches", quick(Optimiser::descent)}};
  kinds[1].question.precision = Precision::double_;
  kinds[3].question.batch = 64;
  kinds[4].question.batch = 64;
  return kinds;
}

/// A run that is told to stop as soon as something at `time` has been written down.
inline std::unique_ptr<TrainingRun> stopped_at(const TrainingQuestion& question, double time) {
  std::stop_source source;
  auto run = std::make_unique<TrainingRun>(question, 0, RunContext{});
  const Error error = error_of([&] {
    run->advance({1, source.get_token(), {}}, [&](std::span<const training::Record>) {
      if (run->time() >= time) source.request_stop();
    });
  });
  EXPECT_EQ(error.code(), Code::stopped);
  return run;
}

inline std::unique_ptr<TrainingRun> resumed(const TrainingQuestion& question,
                                            const TrainingRun& from) {
  auto run = std::make_unique<TrainingRun>(question, 0, RunContext{});
  run->restore(study_of(from));
  run->advance({});
  return run;
}

inline std::vector<std::byte> npy_of(const Matrix<double>& matrix) {
  const std::string text = checkpoint::npy_bytes(std::span(matrix.data(), matrix.size()),
                                                 {matrix.rows(), matrix.cols()});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace dewpoint::experiments::test
