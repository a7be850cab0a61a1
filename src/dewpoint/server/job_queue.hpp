// Who computes when: as many jobs at a time as there are workers, one per client, the others in
// line.
//
// A new job of a client in a room cancels the one before it. A job that nobody watches for a while
// is cancelled, one that takes too long fails, and one that is over is forgotten in the end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/server/job.hpp"

namespace dewpoint::server {

struct QueueLimits {
  std::size_t workers = 2;                    // jobs that compute at a time
  std::size_t waiting = 64;                   // jobs in line
  std::size_t kept = 512;                     // jobs that are over and can still be asked for
  std::size_t kept_bytes = 64u << 20;         // of their results
  std::chrono::milliseconds grace{5000};      // a job that nobody watches
  std::chrono::milliseconds longest{120000};  // a job that computes
  std::chrono::milliseconds keep{120000};     // a job that is over
};

class JobQueue {
 public:
  /// Computes and publishes; throws Error{stopped} when the context's token says so.
  using Work = std::function<void(Job& job, const RunContext& context)>;

  explicit JobQueue(const QueueLimits& limits);
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;
  /// Cancels everything and waits for the workers.
  ~JobQueue();

  /// A fresh name for a job.
  [[nodiscard]] std::string next_id();

  /// Puts a job in line and cancels its client's older one in the same room. Throws Refusal{503}
  /// when the line is full; then nothing was cancelled.
  void submit(std::shared_ptr<Job> job, Work work);
  /// A job that is over already: only kept, and older ones in the room cancelled.
  void keep(const std::shared_ptr<Job>& job);

  /// Nothing: never was, or forgotten.
  [[nodiscard]] std::shared_ptr<Job> find(const std::string& id) const;

  struct Counts {
    std::size_t waiting = 0, running = 0, kept = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Waiting {
    std::shared_ptr<Job> job;
    Work work;
  };

  void cancel_older(const Job& newer);
  void work(const std::stop_token& over);
  [[nodiscard]] std::deque<Waiting>::iterator next_waiting();
  void compute(Waiting& next, int threads);
  void look_after(const std::stop_token& over);
  void look_at(Job& job, Clock::time_point now) const;
  void forget_old(Clock::time_point now);

  const QueueLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Waiting> line_;
  std::multiset<std::string> busy_clients_;
  std::list<std::shared_ptr<Job>> jobs_;  // all that can be asked for, the oldest first
  std::map<std::string, std::list<std::shared_ptr<Job>>::iterator> places_;
  std::uint64_t count_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace dewpoint::server
