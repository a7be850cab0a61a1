#include "dewpoint/server/job_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "dewpoint/core/error.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

using namespace std::chrono_literals;

QueueLimits limits_of(std::size_t workers) {
  QueueLimits limits;
  limits.workers = workers;
  limits.grace = 1h;
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
void until_stopped(Job&, const RunContext& context) {
  for (;;) {
    context.throw_if_stopped();
    std::this_thread::yield();
  }
}

void wait_until_running(const Job& job) {
  JobStatus status = job.status();
  while (status.state == JobState::queued) status = job.wait(status.version, Clock::now() + 20s);
}

TEST(JobQueue, RunsAJobToItsEnd) {
  JobQueue queue(limits_of(2));
  const auto job = put(queue, "one", "phase", [](Job& self, const RunContext& context) {
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
  const auto next = put(queue, "one", "phase", [](Job&, const RunContext&) {});
  EXPECT_EQ(ended(*old).state, JobState::cancelled);
  EXPECT_EQ(ended(*next).state, JobState::done);
}

TEST(JobQueue, AQuestionInLineIsOutdatedAtOnce) {
  JobQueue queue(limits_of(1));
  const auto running = put(queue, "other", "phase", until_stopped);
  wait_until_running(*running);
  std::atomic<int> begun = 0;
  const auto count = [&](Job&, const RunContext&) { ++begun; };
  const auto old = put(queue, "one", "phase", count);
  const auto next = put(queue, "one", "phase", count);
  EXPECT_EQ(old->status().state, JobState::cancelled);
  running->cancel("test");
  EXPECT_EQ(ended(*next).state, JobState::done);
  EXPECT_EQ(begun, 1);
}

TEST(JobQueue, OneJobOfAClientComputesAtATime) {
  JobQueue queue(limits_of(2));
  const auto first = put(queue, "one", "phase", until_stopped);
  wait_until_running(*first);
  const auto second = put(queue, "one", "dew", [](Job&, const RunContext&) {});
  const auto other = put(queue, "two", "dew", [](Job&, const RunContext&) {});
  EXPECT_EQ(ended(*other).state, JobState::done);  // passes the one that must wait
  EXPECT_EQ(second->status().state, JobState::queued);
  first->cancel("test");
  EXPECT_EQ(ended(*second).state, JobState::done);
}

TEST(JobQueue, TheLineIsBounded) {
  QueueLimits limits = limits_of(1);
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
  queue.submit(job, [](Job&, const RunContext&) {
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
  const auto job = put(queue, "one", "phase", [](Job&, const RunContext&) {});
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
