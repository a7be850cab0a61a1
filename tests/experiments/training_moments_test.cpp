// Weights and cosines that a training run keeps on its way.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "dewpoint/question/field.hpp"
#include "experiments/training_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)

TEST(TrainingMoments, MomentsBetweenRecordsAreKeptAndChangeNothing) {
  for (const Kind& kind : kinds_of_steps()) {
    SCOPED_TRACE(kind.name);
    const auto plain = finished(kind.question);
    TrainingQuestion question = kind.question;
    question.moments = {0.0, 7.0, 85.0, 101.0, 200.0};
    const auto run = finished(question);
    EXPECT_EQ(times_of(run->moments()), question.moments);
    EXPECT_EQ(bytes_of(*run), bytes_of(*plain));
    const auto study = study_of(*run);
    EXPECT_EQ(attached(study, "state"), attached(study_of(*plain), "state"));
    EXPECT_EQ(attached(study, "200/WQ.npy"), attached(study_of(*plain), "200/WQ.npy"));
    question.until = 7.0;
    question.moments = {};
    EXPECT_EQ(attached(study, "7/WK.npy"), attached(study_of(*finished(question)), "7/WK.npy"));
  }
}

TEST(TrainingMoments, MomentsOfAStoppedRunAreStillThereWhenItIsResumed) {
  TrainingQuestion question = quick();
  question.moments = {7.0, 85.0, 101.0};
  expect_same_attachments(*finished(question), *resumed(question, *stopped_at(question, 90.0)));
}

/// Every kept W0, named "8/W0.npy", is that of a run that ends at its time.
void expect_weights_of_their_time(const store::StudyRecord& study, TrainingQuestion question) {
  question.moments = {};
  std::size_t kept = 0;
  for (const store::Attachment& one : study.attachments) {
    if (!one.name.ends_with("/W0.npy")) continue;
    question.until = std::stod(one.name);
    const auto expected = finished(question)->records().back().embedding;
    EXPECT_TRUE(one.bytes == npy_of(expected)) << one.name;
    ++kept;
  }
  EXPECT_GT(kept, 0U);
}

// Stopped at 8, between the records of 5 and 10; and stopped again before anything was done.
TEST(TrainingMoments, WeightsCarryTheTimeTheyAreFrom) {
  TrainingQuestion question = quick();
  question.moments = {8.0};
  const auto run = stopped_at(question, 8.0);
  expect_weights_of_their_time(study_of(*run), question);
  question.moments = {};
  TrainingRun again(question, 0, {});
  again.restore(study_of(*run));
  expect_weights_of_their_time(study_of(again), question);
}

TEST(TrainingMoments, MomentsThatAreCloseHaveNamesOfTheirOwn) {
  TrainingQuestion question = quick(Optimiser::flow);
  question.until = 2.0;
  question.moments = {1.0, 1.00000001};
  std::set<std::string> names;
  const auto attachments = finished(question)->attachments();
  for (const store::Attachment& one : attachments) names.insert(one.name);
  EXPECT_EQ(names.size(), attachments.size());
}

TEST(TrainingMoments, RevisitKeepsTheStagesAndChangesNoRecord) {
  for (const Optimiser optimiser : {Optimiser::adam, Optimiser::flow}) {
    SCOPED_TRACE(question::word_for(optimiser));
    const TrainingQuestion question = quick(optimiser);
    const auto run = finished(question);
    const auto stages = training::find_stages(run->records(), standard_thresholds(optimiser));
    ASSERT_TRUE(stages.condensation);
    const auto before = study_of(*run);
    run->revisit(stages, {});
    const auto after = study_of(*run);
    EXPECT_EQ(attached(after, "records"), attached(before, "records"));
    EXPECT_EQ(attached(after, "state"), attached(before, "state"));
    EXPECT_EQ(times_of(run->moments()), stage_moments(run->records(), stages));

    TrainingQuestion known = question;
    known.moments = stage_moments(run->records(), stages);
    expect_same_attachments(*run, *finished(known));
  }
}

TEST(TrainingMoments, RevisitOfARunWithoutStagesKeepsStartAndEnd) {
  TrainingQuestion question = quick();
  question.until = 10.0;
  const auto run = finished(question);
  run->revisit(training::find_stages(run->records(), {}), {});
  EXPECT_EQ(times_of(run->moments()), (std::vector<double>{0.0, 10.0}));
}

}  // namespace
}  // namespace dewpoint::experiments
