#include "dewpoint/training/stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "training/stage_records.hpp"

namespace dewpoint::training {
namespace {

// ---- cycles -----------------------------------------------------------------------------------

TEST(FindStages, SeesFocusRiseAndDilute) {
  const Cycle cycle = only_cycle({0.5, 0.55, 0.57, 0.6, 0.75, 0.875, 0.75, 0.45, 0.43, 0.3});
  EXPECT_EQ(cycle.start, 20.0);
  EXPECT_EQ(cycle.peak, 50.0);
  EXPECT_EQ(cycle.half, 80.0);
  EXPECT_EQ(cycle.peak_value, 0.875);
  EXPECT_EQ(cycle.base, 0.5);
}

TEST(FindStages, SaysThatThereWasNoCycle) {
  const Stages stages = find_stages(focus_of_two({0.5, 0.6, 0.59, 0.1}), exact_thresholds());
  ASSERT_EQ(stages.cycles.size(), 1U);
  EXPECT_FALSE(stages.cycles[0].start || stages.cycles[0].peak || stages.cycles[0].half);
  EXPECT_EQ(stages.cycles[0].peak_value, 0.6);
  EXPECT_EQ(stages.completed_cycles(), 0U);
  EXPECT_FALSE(stages.new_direction);
}

TEST(FindStages, GivesNoHalfToAPeakThatDoesNotFall) {
  const Stages stages = find_stages(focus_of_two({0.5, 0.6, 0.7, 0.875, 0.7}), exact_thresholds());
  EXPECT_EQ(stages.cycles[0].start, 20.0);  // the rise above 0.625, not the start at 10
  EXPECT_EQ(stages.cycles[0].peak, 30.0);
  EXPECT_FALSE(stages.cycles[0].half);
  EXPECT_EQ(stages.completed_cycles(), 0U);
}

TEST(FindStages, TakesTheLevelItselfForNoRise) {
  EXPECT_FALSE(only_cycle({0.5, 0.625, 0.1}).peak);
  EXPECT_EQ(only_cycle({0.5, std::nextafter(0.625, 1.0), 0.1}).peak, 10.0);
}

TEST(FindStages, TakesHalfOfThePeakItselfForNoFall) {
  EXPECT_EQ(only_cycle({0.5, 0.75, 0.375, 0.25}).half, 30.0);
  EXPECT_EQ(only_cycle({0.5, 0.75, std::nextafter(0.375, 0.0), 0.25}).half, 20.0);
}

TEST(FindStages, StartsBehindTheStartLevelItself) {
  EXPECT_EQ(only_cycle({0.5, 0.5625, 0.6, 0.75, 0.125}).start, 20.0);
  EXPECT_EQ(only_cycle({0.6, 0.75, 0.125}).start, 0.0);  // above it since the first record
}

TEST(FindStages, TakesTheFirstOfEqualPeaksAndTheFirstOfTwoExcursions) {
  const Cycle cycle = only_cycle({0.5, 0.75, 0.7, 0.75, 0.25, 0.5, 1.0, 0.25});
  EXPECT_EQ(cycle.peak, 10.0);
  EXPECT_EQ(cycle.half, 40.0);
  EXPECT_EQ(cycle.peak_value, 0.75);
}

TEST(FindStages, AnswersWithoutRecords) {
  const Stages stages = find_stages({}, StageThresholds{});
  EXPECT_TRUE(stages.cycles.empty() && stages.retractions.empty());
  EXPECT_FALSE(stages.condensation);
}

// Queries 1 and 2 attend to token 0, later query 2 to token 1, which has risen once before: the
// early rise belongs to no cycle, because it was before cycle 0.
TEST(FindStages, LooksForTheSecondCycleFromTheStartOfTheFirst) {
  const std::vector<double> first = {0.3, 0.3, 0.3, 0.8, 0.3, 0.1, 0.1, 0.1, 0.1};
  const std::vector<double> second = {0.5, 0.9, 0.3, 0.5, 0.5, 0.6, 0.95, 0.5, 0.2};  // of the rest
  std::vector<Record> records;
  for (std::size_t t = 0; t < first.size(); ++t) {
    records.push_back(quiet_record(static_cast<double>(t), 3));
    for (const std::size_t q : {1U, 2U}) {
      const auto row = records.back().attention.row(q);
      row[0] = first[t];
      row[1] = (1.0 - first[t]) * second[t];
      row[2] = (1.0 - first[t]) * (1.0 - second[t]);
    }
  }
  const Stages stages = find_stages(records, exact_thresholds());
  ASSERT_EQ(stages.cycles.size(), 2U);
  EXPECT_EQ(stages.cycles[0].start, 3.0);
  EXPECT_EQ(stages.cycles[0].half, 4.0);
  EXPECT_EQ(stages.cycles[1].start, 5.0);
  EXPECT_EQ(stages.cycles[1].peak, 6.0);
  EXPECT_EQ(stages.cycles[1].half, 8.0);
  EXPECT_EQ(stages.completed_cycles(), 2U);

  // Cut before the first dilution, cycle 0 holds nothing back.
  const std::vector<Record> early(records.begin(), records.begin() + 4);
  EXPECT_EQ(find_stages(early, exact_thresholds()).cycles[1].peak, 1.0);
}

// ---- s_k --------------------------------------------------------------------------------------

TEST(FocusShare, IsTheMeanShareAmongTheRarerTokens) {
  Matrix<double> attention(3, 3);
  const double rows[3][3] = {{1.0, 0.0, 0.0}, {0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}};
  for (std::size_t q = 0; q < 3; ++q) std::copy_n(rows[q], 3, attention.row(q).data());
  EXPECT_EQ(focus_share(attention, 0, 0.5), 0.375);
  EXPECT_EQ(focus_share(attention, 1, 0.5), 0.5 / 0.75);
}

TEST(FocusShare, MeansNothingWhereMostAttentionIsOnCommonerTokens) {
  Matrix<double> attention(3, 3);
  const auto row = attention.row(2);
  row[0] = 0.5;
  row[1] = 0.5;
  EXPECT_EQ(focus_share(attention, 1, 0.5), 1.0);  // exactly the least mass counts
  row[0] = 0.625;
  row[1] = 0.375;
  EXPECT_EQ(focus_share(attention, 1, 0.5), 0.5);
}

TEST(FocusShare, CountsAQueryWithoutAttentionAsTheBase) {
  Matrix<double> attention(4, 4);
  attention(2, 1) = 1.0;  // query 3 has none on tokens 1, 2, 3
  attention(3, 0) = 1.0;
  EXPECT_EQ(focus_share(attention, 1, 0.5), (1.0 + 1.0 / 3.0) / 2.0);
}

// ---- condensation and directions ----------------------------------------------------------------

TEST(FindStages, FindsTheFirstTimeOfCondensation) {
  std::vector<Record> records = focus_of_two({0.5, 0.5, 0.5, 0.5});
  const double fractions[] = {0.5, 0.89, 0.9, 0.7};
  for (std::size_t t = 0; t < 4; ++t) records[t].embedding_rank_one = fractions[t];
  EXPECT_EQ(find_stages(records, StageThresholds{}).condensation, 20.0);
  records[2].embedding_rank_one = 0.89;
  EXPECT_FALSE(find_stages(records, StageThresholds{}).condensation);
}

TEST(FindStages, FindsANewDirectionOnlyAfterThePeakAndOnlyIfItGrew) {
  std::vector<Record> records = focus_of_two({0.5, 0.75, 0.7, 0.6, 0.3, 0.3});
  // Across with all of its length before the peak; then 1.25 times as much only at 40.
  const double across[] = {1.0, 0.5, 0.5, 0.6, 0.625, 0.7};
  const double norm[] = {1.0, 0.5, 0.5, 0.6, 0.625, 1.0};
  for (std::size_t t = 0; t < records.size(); ++t) {
    records[t].perpendicular[1] = across[t];
    records[t].embedding_norm[1] = norm[t];
  }
  const Stages stages = find_stages(records, exact_thresholds());
  EXPECT_EQ(stages.new_direction, 40.0);
  EXPECT_EQ(stages.new_tokens, std::vector<std::size_t>{1});
  records[4].embedding_norm[1] = 0.7;  // 0.625/0.7 < 0.9
  EXPECT_FALSE(find_stages(records, exact_thresholds()).new_direction);
}

// ---- retraction ---------------------------------------------------------------------------------

TEST(FindStages, FollowsSeveralRetractions) {
  const auto found = retractions_of({1.0, 2.0, 4.0, 3.0, 1.0, 2.0, 3.0, 2.8, 2.0, 1.9, 1.95});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].from, 20.0);
  EXPECT_EQ(found[0].until, 40.0);
  EXPECT_EQ(found[0].depth(), 0.75);
  EXPECT_EQ(found[1].from, 60.0);
  EXPECT_EQ(found[1].until, 90.0);  // still open at the end
  EXPECT_EQ(found[1].largest, 3.0);
  EXPECT_EQ(found[1].smallest, 1.9);
}

TEST(FindStages, LooksThroughSmallWiggles) {
  EXPECT_TRUE(retractions_of({1.0, 0.95, 1.0, 1.1, 1.0, 1.2}).empty());
  EXPECT_EQ(retractions_of({1.0, 0.5, 0.55, 0.4, 0.44, 0.3, 1.0}).size(), 1U);
}

TEST(FindStages, TakesTheHysteresisItselfForNoTurn) {
  EXPECT_TRUE(retractions_of({1.0, 0.875, 1.0}).empty());
  EXPECT_EQ(retractions_of({1.0, std::nextafter(0.875, 0.0), 1.0}).size(), 1U);
  // From the minimum 0.5 up to 0.5625 it is still the same retraction: the next fall deepens it.
  EXPECT_EQ(retractions_of({1.0, 0.5, 0.5625, 0.25}).size(), 1U);
  EXPECT_EQ(retractions_of({1.0, 0.5, std::nextafter(0.5625, 1.0), 0.25}).size(), 2U);
}

TEST(FindStages, FollowsEveryTokenForItself) {
  std::vector<Record> records = norms_of_first({1.0, 1.0, 1.0});
  records[1].embedding_norm[1] = 0.5;
  const Stages stages = find_stages(records, StageThresholds{});
  EXPECT_TRUE(stages.retractions[0].empty());
  ASSERT_EQ(stages.retractions[1].size(), 1U);
  EXPECT_EQ(stages.retractions[1][0].until, 10.0);
}

// ---- frames
// ---------------------------------------------------------------------------------------

TEST(StageFrames, HoldTimesWithTheirThresholds) {
  std::vector<Record> records = focus_of_two({0.5, 0.6, 0.875, 0.25});
  records[1].embedding_rank_one = 1.0;
  records[2].embedding_norm[1] = 0.25;
  const std::vector<Frame> frames = stage_frames(find_stages(records, exact_thresholds()));
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].name(), "stages");
  const std::vector<std::string> labels = {"condensation", "focus", "peak", "half-dilution",
                                           "new direction"};
  EXPECT_EQ(frames[0].dimension("stage").labels, labels);
  const double times[] = {10.0, 10.0, 20.0, 30.0}, thresholds[] = {0.9, 0.125, 0.25, 0.5, 0.9};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(frames[0].variable("time").cells[i].mean, times[i]);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(frames[0].variable("threshold").cells[i].mean, thresholds[i]);
  }
  EXPECT_EQ(frames[0].variable("time").cells[0].samples, 1U);
  EXPECT_EQ(frames[0].variable("time").cells[0].standard_error, 0.0);
  EXPECT_EQ(frames[0].variable("time").cells[4].samples, 0U);
  EXPECT_TRUE(std::isnan(frames[0].variable("time").cells[4].mean));
}

TEST(StageFrames, HoldCyclesWithTheRiseTheyWereCountedWith) {
  const auto stages = find_stages(focus_of_two({0.5, 0.6, 0.875, 0.25}), exact_thresholds());
  const Frame cycles = stage_frames(stages).at(1);
  EXPECT_EQ(cycles.name(), "cycles");
  EXPECT_EQ(cycles.variable("start").cells.at(0).mean, 10.0);
  EXPECT_EQ(cycles.variable("peak").cells[0].mean, 20.0);
  EXPECT_EQ(cycles.variable("half").cells[0].mean, 30.0);
  EXPECT_EQ(cycles.variable("peak_value").cells[0].mean, 0.875);
  EXPECT_EQ(cycles.variable("base").cells[0].mean, 0.5);
  EXPECT_EQ(cycles.variable("completed").cells.at(0).mean, 1.0);
  EXPECT_EQ(cycles.variable("rise").cells.at(0).mean, 0.25);
}

TEST(StageFrames, HoldTheDeepestRetractionOfEachToken) {
  const auto stages =
      find_stages(norms_of_first({4.0, 3.0, 4.0, 1.0, 2.0, 1.5}), exact_thresholds());
  const Frame frame = stage_frames(stages).at(2);
  EXPECT_EQ(frame.name(), "retraction");
  EXPECT_EQ(frame.variable("from").cells[0].mean, 20.0);
  EXPECT_EQ(frame.variable("until").cells[0].mean, 30.0);
  EXPECT_EQ(frame.variable("depth").cells[0].mean, 0.75);
  EXPECT_EQ(frame.variable("depth").cells[1].samples, 0U);
}

}  // namespace
}  // namespace dewpoint::training
