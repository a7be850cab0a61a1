#include "dewpoint/studies/local_workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "studies/test_experiment.hpp"

namespace dewpoint::studies {
namespace {

using namespace std::chrono_literals;
using test::TestExperiment;

Task task_of(const TestExperiment& experiment, std::uint64_t id, double milliseconds) {
  Task task;
  task.id = id;
  task.points = {experiment.resolved({{"x", static_cast<double>(id)}, {"cost", milliseconds}})};
  return task;
}

// Waits until `together` of its tasks run at the same time, and gives up after ten seconds.
class MeetingExperiment final : public TestExperiment {
 public:
  explicit MeetingExperiment(int together) : together_(together) {}

  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override {
    ++present_;
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (present_ < together_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
    }
    if (present_ < together_) throw Error(Code::bad_value, "nobody came");
    return TestExperiment::measure(tile, seed, replica, context);
  }

 private:
  int together_;
  mutable std::atomic<int> present_{0};
};

TEST(LocalWorkers, RunAsManyTasksAtOnceAsTheyHaveThreads) {
  for (const int threads : {1, 2, 5}) {
    const MeetingExperiment experiment(threads);
    const auto workers = local_workers(experiment, 1, threads);
    EXPECT_EQ(workers->threads(), threads);
    EXPECT_EQ(workers->ranks(), 1);
    for (int i = 0; i < threads; ++i) {
      workers->submit(task_of(experiment, static_cast<std::uint64_t>(i), 0.0));
    }
    for (int left = threads; left > 0;) {
      for (const TaskResult& result : workers->collect(100ms)) {
        EXPECT_EQ(result.failure, "") << threads;
        --left;
      }
    }
  }
}

TEST(LocalWorkers, ReturnEveryTaskOnceWithItsValues) {
  const TestExperiment experiment;
  const auto workers = local_workers(experiment, 1, 3);
  constexpr std::uint64_t kTasks = 500;
  for (std::uint64_t id = 0; id < kTasks; ++id) workers->submit(task_of(experiment, id, 0.0));
  std::set<std::uint64_t> seen;
  while (seen.size() < kTasks) {
    for (const TaskResult& result : workers->collect(100ms)) {
      EXPECT_TRUE(seen.insert(result.id).second);
      const Task task = task_of(experiment, result.id, 0.0);
      EXPECT_EQ(result.values, experiment.measure(task.points, 1, 0, {})[0]);
    }
  }
  EXPECT_TRUE(workers->collect(1ms).empty());
}

TEST(LocalWorkers, WaitNoLongerThanTheyAreAllowedTo) {
  const TestExperiment experiment;
  const auto workers = local_workers(experiment, 1, 1);
  workers->submit(task_of(experiment, 0, 1e6));
  EXPECT_TRUE(workers->collect(5ms).empty());
  workers->stop();
  std::vector<TaskResult> results;
  while (results.empty()) results = workers->collect(1s);
  EXPECT_TRUE(results[0].stopped);
}

TEST(LocalWorkers, ReturnLaterTasksUndoneAfterAStop) {
  const TestExperiment experiment;
  const auto workers = local_workers(experiment, 1, 2);
  workers->stop();
  workers->submit(task_of(experiment, 0, 1e6));
  std::vector<TaskResult> results;
  while (results.empty()) results = workers->collect(1s);
  EXPECT_TRUE(results[0].stopped);
  EXPECT_TRUE(results[0].values.empty());
}

TEST(LocalWorkers, CanBeDestroyedInTheMiddleOfEverything) {
  const TestExperiment experiment;
  for (int i = 0; i < 20; ++i) {
    const auto workers = local_workers(experiment, 1, 2);
    for (std::uint64_t id = 0; id < 10; ++id) workers->submit(task_of(experiment, id, 1e6));
    (void)workers->collect(std::chrono::milliseconds(i % 3));
  }
}

TEST(LocalWorkers, UseAllThreadsOfTheMachineWhereNothingIsSaid) {
  const TestExperiment experiment;
  EXPECT_GE(local_workers(experiment, 1, 0)->threads(), 1);
}

}  // namespace
}  // namespace dewpoint::studies
