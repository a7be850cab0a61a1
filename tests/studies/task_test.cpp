#include "dewpoint/studies/task.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "dewpoint/studies/task_bytes.hpp"
#include "studies/test_experiment.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::studies {
namespace {

using test::TestExperiment;

constexpr std::uint64_t kSeed = 7;

Point point_at(double x, double fail = -1.0) {
  return TestExperiment().resolved({{"x", x}, {"fail", fail}});
}

Task two_points() {
  Task task;
  task.id = 3;
  task.points = {point_at(0.5), point_at(1.5)};
  task.first_replica = 4;
  task.replicas = 3;
  return task;
}

TEST(Perform, GivesReplicaByReplicaAndPointByPointWhatTheExperimentMeasures) {
  const TestExperiment experiment;
  const Task task = two_points();
  const TaskResult result = perform(task, experiment, kSeed, {});
  EXPECT_EQ(result.id, 3U);
  EXPECT_EQ(result.failure, "");
  EXPECT_FALSE(result.stopped);
  EXPECT_GT(result.seconds, 0.0);
  std::vector<double> expected;
  for (const std::uint64_t replica : {4, 5, 6}) {
    for (const auto& values : experiment.measure(task.points, kSeed, replica, {})) {
      expected.insert(expected.end(), values.begin(), values.end());
    }
  }
  EXPECT_EQ(result.values, expected);
}

TEST(Perform, GivesPredictionsWithTheFirstReplicaOnly) {
  const TestExperiment experiment;
  Task task = two_points();
  EXPECT_TRUE(perform(task, experiment, kSeed, {}).predictions.empty());
  task.first_replica = 0;
  std::vector<double> expected = experiment.predict(task.points[0]);
  for (const double value : experiment.predict(task.points[1])) expected.push_back(value);
  EXPECT_EQ(perform(task, experiment, kSeed, {}).predictions, expected);
}

TEST(Perform, GivesOnePartAndThePredictionsWithTheFirst) {
  const TestExperiment experiment;
  Task task;
  task.points = {experiment.resolved({{"x", 0.5}, {"pieces", 3.0}})};
  for (const std::size_t part : {0, 1, 2}) {
    task.part = part;
    const TaskResult result = perform(task, experiment, kSeed, {});
    EXPECT_EQ(result.values, experiment.measure_part(task.points[0], kSeed, 0, part, {}));
    EXPECT_EQ(result.predictions.empty(), part != 0);
  }
}

TEST(Perform, NamesThePointOfATileThatFailsAndKeepsTheReplicasBefore) {
  const TestExperiment experiment;
  Task task = two_points();
  task.points[1] = point_at(1.5, 6.0);
  const TaskResult result = perform(task, experiment, kSeed, {});
  EXPECT_EQ(result.failure, "test at " + canonical_text(task.points[1]) + ": fail: as asked");
  EXPECT_EQ(result.failure_code, Code::bad_value);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.values.size(), 2 * 2 * TestExperiment::kValues);  // replicas 4 and 5
}

TEST(Perform, SaysThatItWasStopped) {
  std::stop_source stop;
  stop.request_stop();
  const TaskResult result = perform(two_points(), TestExperiment(), kSeed, stop.get_token());
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.values.empty());
}

Task every_kind_of_value() {
  Task task = two_points();
  task.part = 5;
  task.threads = 4;
  task.points[0] = {{"a", -0.0}, {"b", std::string("ω\0z", 4)}, {"c", true}, {"", 1e-308}};
  return task;
}

void expect_same(const Task& a, const Task& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.first_replica, b.first_replica);
  EXPECT_EQ(a.replicas, b.replicas);
  EXPECT_EQ(a.part, b.part);
  EXPECT_EQ(a.threads, b.threads);
}

TEST(TaskBytes, GiveTheTaskBack) {
  for (const Task& task : {every_kind_of_value(), two_points(), Task{}}) {
    const Task again = task_from_bytes(to_bytes(task));
    expect_same(task, again);
    EXPECT_EQ(to_bytes(again), to_bytes(task));  // −0 too
  }
}

TEST(TaskBytes, GiveTheResultBackBitForBit) {
  TaskResult result = perform(two_points(), TestExperiment(), kSeed, {});
  result.values.push_back(std::numeric_limits<double>::quiet_NaN());
  result.predictions = {-0.0, std::numeric_limits<double>::infinity()};
  result.rank = 2;
  result.failure = "why";
  result.failure_code = Code::unreadable_file;
  result.stopped = true;
  const std::string bytes = to_bytes(result);
  const TaskResult again = result_from_bytes(bytes);
  EXPECT_EQ(again.failure, "why");
  EXPECT_EQ(again.failure_code, Code::unreadable_file);
  EXPECT_EQ(again.rank, 2);
  EXPECT_TRUE(again.stopped);
  EXPECT_EQ(to_bytes(again), bytes);
}

TEST(TaskBytes, RefuseEveryTruncation) {
  const std::string task = to_bytes(every_kind_of_value());
  for (std::size_t size = 0; size < task.size(); ++size) {
    EXPECT_THROW((void)task_from_bytes(task.substr(0, size)), Error) << size;
  }
  const std::string result = to_bytes(perform(two_points(), TestExperiment(), kSeed, {}));
  for (std::size_t size = 0; size < result.size(); ++size) {
    EXPECT_THROW((void)result_from_bytes(result.substr(0, size)), Error) << size;
  }
  EXPECT_THROW((void)task_from_bytes(task + "x"), Error);
  EXPECT_THROW((void)result_from_bytes(result + "x"), Error);
}

// A count that was damaged must not ask for memory that the bytes cannot fill.
TEST(TaskBytes, SurviveDamage) {
  const Stream stream = test::stream("TaskBytes/SurviveDamage");
  const std::string task = to_bytes(every_kind_of_value());
  const std::string result = to_bytes(perform(two_points(), TestExperiment(), kSeed, {}));
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto bits = stream.bits(i);
    std::string bytes = i % 2 == 0 ? task : result;
    bytes[bits[0] % bytes.size()] = static_cast<char>(bits[1]);
    try {
      if (i % 2 == 0) {
        (void)task_from_bytes(bytes);
      } else {
        (void)result_from_bytes(bytes);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::malformed_file);
    }
  }
}

}  // namespace
}  // namespace dewpoint::studies
