// Who computes when. A job without a result goes first: it begins beside whatever computes. Between
// two levels a job gives its place back and waits for its turn, behind those with fewer levels and
// those that have waited longer. Refinements begin as many at a time as there are cores; one that
// takes long keeps nobody waiting, from then on the machine shares itself among all.
//
// A client has one question at a time: a new one cancels the one before, in whichever room. A job
// that nobody watches for a while is cancelled, one that takes too long fails, and one that is over
// is forgotten in the end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/server/job.hpp"

namespace dewpoint::server {

struct QueueLimits {
  std::size_t workers = 2;                    // threads, and refinements that begin together
  std::size_t at_once = 8;                    // jobs without a result at a time, and others
  std::size_t waiting = 64;                   // jobs that wait for their turn
  std::size_t kept = 512;                     // jobs that are over and can still be asked for
  std::size_t kept_bytes = 64u << 20;         // of their results
  std::chrono::milliseconds piece{500};       // a refinement, before others begin beside it
  std::chrono::milliseconds grace{5000};      // a job that nobody watches
  std::chrono::milliseconds left{1000};       // a job whose last stream ended
  std::chrono::milliseconds longest{120000};  // a job that computes
  std::chrono::milliseconds keep{120000};     // a job that is over
};

class JobQueue {
 public:
  /// Called between two levels, returns when it is the job's turn again; then the context's threads
  /// may be others. Throws Error{stopped} when the job was cancelled meanwhile.
  using Yield = std::function<void()>;
  /// Computes and publishes; throws Error{stopped} when the context's token says so.
  using Work = std::function<void(Job& job, const RunContext& context, const Yield& yield)>;

  explicit JobQueue(const QueueLimits& limits);
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;
  /// Cancels everything and waits for what computes.
  ~JobQueue();

  /// A fresh name for a job.
  [[nodiscard]] std::string next_id();

  /// Lets a job compute when its turn comes and cancels its client's older one; of a job with a
  /// result already, the rest is a refinement. Throws Refusal{503} when too many wait; then nothing
  /// was cancelled.
  void submit(std::shared_ptr<Job> job, Work work);
  /// A job that is over already: only kept, and its client's older one
  /// cancelled.
  void keep(const std::shared_ptr<Job>& job);

  /// Nothing: never was, or forgotten.
  [[nodiscard]] std::shared_ptr<Job> find(const std::string& id) const;

  struct Counts {
    std::size_t waiting = 0, running = 0, kept = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  enum class Place { none, first, refinement };

  /// A job from its asking until its work has returned.
  struct Turn {
    std::shared_ptr<Job> job;
    Work work;
    std::uint64_t since = 0;  // it waits: grows with every wait
    std::size_t level = 0;    // of its newest result
    Place place = Place::none;
    Clock::time_point placed = {};
    bool has_begun = false;

    [[nodiscard]] bool waits() const { return place == Place::none; }
    [[nodiscard]] bool is_told_to_stop() const { return job->stop_token().stop_requested(); }
  };
  using Turns = std::list<Turn>;

  void cancel_older(const Job& newer);
  void forget_cancelled();
  [[nodiscard]] std::size_t count_turns(const std::function<bool(const Turn&)>& which) const;

  [[nodiscard]] bool may_compute(const Turn& turn) const;
  [[nodiscard]] int threads_of(const Turn& turn) const;
  void give_places();
  void wait_for_turn(Turn& turn, RunContext& context);

  void work(const std::stop_token& over);
  [[nodiscard]] Turns::iterator next_to_begin();
  void compute(Turn& turn, int threads);

  void look_after(const std::stop_token& over);
  void look_at(Job& job, Clock::time_point now) const;
  void forget_old(Clock::time_point now);

  const QueueLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Turns turns_;
  std::list<std::shared_ptr<Job>> jobs_;  // all that can be asked for, the oldest first
  std::map<std::string, std::list<std::shared_ptr<Job>>::iterator> places_;
  std::uint64_t names_ = 0;
  std::uint64_t waits_ = 0;
  bool is_ending_ = false;
  std::vector<std::jthread> threads_;  // as many as were needed at a time, and one that looks after
};

}  // namespace dewpoint::server
