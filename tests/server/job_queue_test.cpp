#include "dewpoint/server/job_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "dewpoint/core/error.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

using namespace std::chrono_literals;
using Yield = JobQueue::Yield;

QueueLimits limits_of(std::size_t workers) {
  QueueLimits limits;
  limits.workers = workers;
  limits.grace = limits.left = limits.piece = 1h;
  return limits;
}

std::shared_ptr<Job> put(JobQueue& queue, const std::string& client, const std::string& room,
                         JobQueue::Work work) {
  auto job = std::make_shared<Job>(queue.next_id(), client, room, Json::object(), "dewpoint");
  queue.submit(job, std::move(work));
  return job;
}

JobStatus ended(const Job& job) {
  JobStatus status = job.status();
  while (!is_over(status.state)) status = job.wait(status.version, Clock::now() + 20s);
  return status;
}

/// Work that goes on until it is stopped, as kernels do.
void until_stopped(Job&, const RunContext& context, const Yield&) {
  for (;;) {
    context.throw_if_stopped();
    std::this_thread::yield();
  }
}

void nothing(Job&, const RunContext&, const Yield&) {}

std::shared_ptr<const SentResult> level(std::size_t k, std::size_t levels) {
  auto result = std::make_shared<SentResult>();
  result->level = k;
  result->levels = levels;
  return result;
}

JobStatus with_result(const Job& job, std::uint64_t sequence) {
  JobStatus status = job.status();
  while (status.sequence < sequence) status = job.wait(status.version, Clock::now() + 20s);
  return status;
}

/// What happened, in order.
class Diary {
 public:
  void note(const std::string& what) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(what);
  }
  [[nodiscard]] std::vector<std::string> notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> notes_;
};

void wait_for(const Diary& diary, const std::string& what) {
  for (;;) {
    for (const std::string& note : diary.notes()) {
      if (note == what) return;
    }
    std::this_thread::yield();
  }
}

/// Work of three levels: the second and third are noted where they begin, and the second ends when
/// its gate opens.
JobQueue::Work three_levels(const std::string& name, Diary& diary, std::latch* gate = nullptr) {
  return [name, &diary, gate](Job& self, const RunContext&, const Yield& yield) {
    for (std::size_t k = 1; k <= 3; ++k) {
      if (k > 1) diary.note(name + std::to_string(k));
      if (k == 2 && gate != nullptr) gate->wait();
      self.publish(level(k, 3));
      if (k < 3) yield();
    }
  };
}

void wait_until_running(const Job& job) {
  JobStatus status = job.status();
  while (status.state == JobState::queued) status = job.wait(status.version, Clock::now() + 20s);
}

TEST(JobQueue, RunsAJobToItsEnd) {
  JobQueue queue(limits_of(2));
  const auto job =
      put(queue, "one", "phase", [](Job& self, const RunContext& context, const Yield&) {
        context.progress(1.0, 2.0);
        self.publish(std::make_shared<SentResult>());
      });
  const JobStatus status = ended(*job);
  EXPECT_EQ(status.state, JobState::done);
  EXPECT_EQ(status.sequence, 1u);
  EXPECT_EQ(queue.find(job->id()), job);
}

TEST(JobQueue, ANewQuestionCancelsTheOldOneOfItsRoom) {
  JobQueue queue(limits_of(2));
  const auto old = put(queue, "one", "phase", until_stopped);
  wait_until_running(*old);
  const auto next = put(queue, "one", "phase", nothing);
  EXPECT_EQ(ended(*old).state, JobState::cancelled);
  EXPECT_EQ(ended(*next).state, JobState::done);
}

TEST(JobQueue, AQuestionInLineIsOutdatedAtOnce) {
  QueueLimits limits = limits_of(1);
  limits.at_once = 1;
  JobQueue queue(limits);
  const auto running = put(queue, "other", "phase", until_stopped);
  wait_until_running(*running);
  std::atomic<int> begun = 0;
  const auto count = [&](Job&, const RunContext&, const Yield&) { ++begun; };
  const auto old = put(queue, "one", "phase", count);
  const auto next = put(queue, "one", "phase", count);
  EXPECT_EQ(old->status().state, JobState::cancelled);
  running->cancel("test");
  EXPECT_EQ(ended(*next).state, JobState::done);
  EXPECT_EQ(begun, 1);
}

TEST(JobQueue, AQuestionInAnotherRoomCancelsTheOneThatIsLeft) {
  JobQueue queue(limits_of(2));
  const auto left = put(queue, "one", "phase", until_stopped);
  const auto other = put(queue, "two", "phase", until_stopped);
  wait_until_running(*left);
  const auto next = put(queue, "one", "dew", nothing);
  EXPECT_EQ(ended(*left).error, "outdated by a new question");
  EXPECT_EQ(ended(*next).state, JobState::done);
  EXPECT_FALSE(is_over(other->status().state));
}

TEST(JobQueue, ANewQuestionDoesNotWaitUntilTheOldOneHasSeenItsToken) {
  std::latch gate(1);
  JobQueue queue(limits_of(1));
  const auto blind = [&](Job&, const RunContext& context, const Yield&) {
    gate.wait();
    context.throw_if_stopped();
  };
  const auto old = put(queue, "one", "phase", blind);
  wait_until_running(*old);
  const auto next = put(queue, "one", "dew", blind);
  wait_until_running(*next);  // beside it
  const auto third = put(queue, "one", "query", nothing);
  // But not a third one: a slider that moves on would fill the machine with what is outdated.
  EXPECT_EQ(third->status().state, JobState::queued);
  EXPECT_EQ(queue.counts().waiting, 1u);
  gate.count_down();
  EXPECT_EQ(ended(*third).state, JobState::done);
  EXPECT_EQ(ended(*old).state, JobState::cancelled);
  EXPECT_EQ(ended(*next).state, JobState::cancelled);
}

TEST(JobQueue, AFirstResultWaitsForNoRefinement) {
  std::latch gate(1);
  Diary diary;
  JobQueue queue(limits_of(1));
  const auto heavy = put(queue, "one", "phase", three_levels("a", diary, &gate));
  wait_for(diary, "a2");
  const auto other = put(queue, "two", "phase", three_levels("b", diary));
  (void)with_result(*other, 1);  // while the second level of the first computes
  EXPECT_EQ(heavy->status().sequence, 1u);
  gate.count_down();
  EXPECT_EQ(ended(*heavy).state, JobState::done);
  EXPECT_EQ(ended(*other).state, JobState::done);
}

TEST(JobQueue, RefinementsTakeTurnsTheCoarserFirst) {
  std::latch gate(1);
  Diary diary;
  JobQueue queue(limits_of(1));
  std::vector<std::shared_ptr<Job>> jobs;
  for (const std::string name : {"a", "b", "c"}) {
    jobs.push_back(put(queue, name + "-client", "phase", three_levels(name, diary, &gate)));
    if (jobs.size() == 1) wait_for(diary, "a2");
    // All others have given their place back.
    while (queue.counts().waiting + 1 < jobs.size()) std::this_thread::yield();
  }
  gate.count_down();
  for (const auto& job : jobs) EXPECT_EQ(ended(*job).state, JobState::done);
  EXPECT_EQ(diary.notes(), (std::vector<std::string>{"a2", "b2", "c2", "a3", "b3", "c3"}));
}

TEST(JobQueue, ALongRefinementKeepsNobodyWaiting) {
  std::latch gate(1);
  Diary diary;
  QueueLimits limits = limits_of(1);
  limits.piece = 0ms;
  JobQueue queue(limits);
  const auto heavy = put(queue, "one", "phase", three_levels("a", diary, &gate));
  wait_for(diary, "a2");
  const auto other = put(queue, "two", "phase", three_levels("b", diary));
  EXPECT_EQ(ended(*other).state, JobState::done);
  EXPECT_EQ(heavy->status().sequence, 1u);
  gate.count_down();
  EXPECT_EQ(ended(*heavy).state, JobState::done);
}

TEST(JobQueue, FirstResultsAreBounded) {
  std::latch gate(1);
  QueueLimits limits = limits_of(1);
  limits.at_once = 2;
  JobQueue queue(limits);
  const auto wait = [&](Job&, const RunContext&, const Yield&) { gate.wait(); };
  const auto first = put(queue, "one", "phase", wait);
  const auto second = put(queue, "two", "phase", wait);
  const auto third = put(queue, "three", "phase", wait);
  wait_until_running(*first);
  wait_until_running(*second);
  EXPECT_EQ(third->status().state, JobState::queued);
  gate.count_down();
  EXPECT_EQ(ended(*third).state, JobState::done);
}

TEST(JobQueue, WhatHasAResultAlreadyIsARefinement) {
  std::latch gate(1);
  Diary diary;
  JobQueue queue(limits_of(1));
  const auto heavy = put(queue, "one", "phase", three_levels("a", diary, &gate));
  wait_for(diary, "a2");
  auto known = std::make_shared<Job>(queue.next_id(), "two", "phase", Json::object(), "dewpoint");
  known->publish(level(1, 3));
  queue.submit(known, nothing);
  const auto fresh = put(queue, "three", "phase", nothing);
  EXPECT_EQ(ended(*fresh).state, JobState::done);
  const JobStatus status = known->status();
  EXPECT_EQ(status.state, JobState::queued);
  EXPECT_EQ(status.sequence, 1u);
  gate.count_down();
  EXPECT_EQ(ended(*known).state, JobState::done);
}

TEST(JobQueue, AJobThatWaitsBetweenItsLevelsIsCancelledAtOnce) {
  std::latch gate(1);
  Diary diary;
  JobQueue queue(limits_of(1));
  const auto heavy = put(queue, "one", "phase", three_levels("a", diary, &gate));
  wait_for(diary, "a2");
  const auto parked = put(queue, "two", "phase", three_levels("b", diary));
  (void)with_result(*parked, 1);
  parked->cancel("test");
  while (queue.counts().waiting > 0) std::this_thread::yield();  // the gate is closed
  EXPECT_EQ(parked->status().state, JobState::cancelled);
  gate.count_down();
  EXPECT_EQ(ended(*heavy).state, JobState::done);
  EXPECT_EQ(diary.notes(), (std::vector<std::string>{"a2", "a3"}));
}

TEST(JobQueue, ThreadsAreSharedFromTheNextLevelOn) {
  std::latch asked(1), over(1);
  int alone = 0, shared = 0, of_other = 0;
  JobQueue queue(limits_of(4));
  const auto job =
      put(queue, "one", "phase", [&](Job& self, const RunContext& c, const Yield& yield) {
        alone = c.threads;
        asked.wait();
        self.publish(level(1, 2));
        yield();
        shared = c.threads;
      });
  wait_until_running(*job);
  const auto other =
      put(queue, "two", "phase", [&](Job& self, const RunContext& c, const Yield& yield) {
        self.publish(level(1, 2));
        yield();
        over.wait();
        of_other = c.threads;
      });
  (void)with_result(*other, 1);
  asked.count_down();
  (void)ended(*job);
  over.count_down();
  (void)ended(*other);
  EXPECT_EQ(alone, 4);
  EXPECT_EQ(shared, 2);
  EXPECT_EQ(of_other, 2);
}

TEST(JobQueue, TheLineIsBounded) {
  QueueLimits limits = limits_of(1);
  limits.at_once = 1;
  limits.waiting = 2;
  JobQueue queue(limits);
  const auto running = put(queue, "c0", "phase", until_stopped);
  wait_until_running(*running);
  (void)put(queue, "c1", "phase", until_stopped);
  const auto last = put(queue, "c2", "phase", until_stopped);
  try {
    (void)put(queue, "c3", "phase", until_stopped);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 503);
  }
  (void)put(queue, "c2", "phase", until_stopped);  // takes the place of its own
  EXPECT_EQ(last->status().state, JobState::cancelled);
}

TEST(JobQueue, AJobThatNobodyWatchesIsCancelled) {
  QueueLimits limits = limits_of(1);
  limits.grace = 150ms;
  JobQueue queue(limits);
  const auto job = put(queue, "one", "phase", until_stopped);
  job->open_stream();
  const auto watched = job->wait(job->status().version, Clock::now() + 600ms);
  EXPECT_FALSE(is_over(watched.state));
  job->close_stream();
  job->touch();
  const JobStatus status = ended(*job);
  EXPECT_EQ(status.state, JobState::cancelled);
  EXPECT_EQ(status.error, "nobody watched");
}

// Its kernel may look for a stop long after it was asked for, when nobody watches any more.
TEST(Job, TheFirstReasonOfAnEndStays) {
  Job job("1", "one", "phase", Json::object(), "dewpoint");
  ASSERT_TRUE(job.begin());
  job.cancel("outdated");
  job.cancel("nobody watched");
  job.give_up("took too long");
  job.stopped();
  EXPECT_EQ(job.status().state, JobState::cancelled);
  EXPECT_EQ(job.status().error, "outdated");
}

TEST(JobQueue, AJobWhoseStreamEndedIsCancelledSoonerThanOneThatIsAskedFor) {
  QueueLimits limits = limits_of(1);
  limits.left = 0ms;
  JobQueue queue(limits);
  const auto left = put(queue, "one", "phase", until_stopped);
  // Whose stream broke, and who asks from then on.
  auto polled = std::make_shared<Job>(queue.next_id(), "two", "phase", Json::object(), "dewpoint");
  polled->open_stream();
  polled->close_stream();
  polled->touch();
  queue.submit(polled, until_stopped);
  left->open_stream();
  left->close_stream();
  EXPECT_EQ(ended(*left).error, "nobody watched");
  EXPECT_FALSE(is_over(polled->status().state));
}

TEST(Job, WaitingForItsTurnIsNoTimeOfComputing) {
  Job job("1-a", "tab-1", "phase", Json::object(), "dewpoint phase map");
  ASSERT_TRUE(job.begin());
  EXPECT_GT(job.running_for(Clock::now() + 1h), 59min);
  job.rest();
  EXPECT_LT(job.running_for(Clock::now() + 1h), 1min);
  job.go_on();
  EXPECT_GT(job.running_for(Clock::now() + 1h), 59min);
}

TEST(JobQueue, AJobThatTakesTooLongFails) {
  QueueLimits limits = limits_of(1);
  limits.longest = 150ms;
  JobQueue queue(limits);
  const auto job = put(queue, "one", "phase", until_stopped);
  const JobStatus status = ended(*job);
  EXPECT_EQ(status.state, JobState::failed);
  EXPECT_NE(status.error.find("use the command line"), std::string::npos);
}

TEST(JobQueue, AnErrorNamesItsField) {
  JobQueue queue(limits_of(1));
  auto job =
      std::make_shared<Job>(queue.next_id(), "one", "phase", Json{{"rate", 1.0}}, "dewpoint");
  queue.submit(job, [](Job&, const RunContext&, const Yield&) {
    throw Error(Code::bad_value, "rate: 1 makes the loss diverge");
  });
  const JobStatus status = ended(*job);
  EXPECT_EQ(status.state, JobState::failed);
  EXPECT_EQ(status.error, "rate: 1 makes the loss diverge");
  EXPECT_EQ(status.field, "rate");
}

TEST(JobQueue, OldJobsAreForgotten) {
  QueueLimits limits = limits_of(1);
  limits.keep = 100ms;
  JobQueue queue(limits);
  const auto job = put(queue, "one", "phase", nothing);
  (void)ended(*job);
  const auto deadline = Clock::now() + 20s;
  while (queue.find(job->id()) != nullptr && Clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(queue.find(job->id()), nullptr);
}

TEST(JobQueue, EndsWithWorkInHand) {
  std::shared_ptr<Job> running, waiting;
  {
    JobQueue queue(limits_of(1));
    running = put(queue, "one", "phase", until_stopped);
    wait_until_running(*running);
    waiting = put(queue, "two", "phase", until_stopped);
  }
  EXPECT_EQ(running->status().state, JobState::cancelled);
  EXPECT_EQ(waiting->status().state, JobState::cancelled);
}

}  // namespace
}  // namespace dewpoint::server
