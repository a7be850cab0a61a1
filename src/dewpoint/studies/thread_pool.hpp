// The computing threads of one process: what local workers are, and what every rank of an MPI job
// has. Private to the runners.
//
// Tasks start in the order in which they were handed in. Exactly `threads` of them run at once,
// beside the thread that hands them in and waits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <stop_token>
#include <vector>

#include "dewpoint/studies/task.hpp"

namespace dewpoint::studies {

class ThreadPool final : public Workers {
 public:
  /// `rank` is written on the results.
  ThreadPool(const Experiment& experiment, std::uint64_t seed, int threads, int rank);
  /// Drops what has not begun and waits for what has.
  ~ThreadPool() override;

  [[nodiscard]] int threads() const override { return threads_; }
  [[nodiscard]] int ranks() const override { return 1; }
  [[nodiscard]] std::size_t capacity() const override;
  void submit(Task task) override;
  /// Returns before `patience` is over only when tasks are running out: results of short tasks are
  /// taken in handfuls, because waking up for each would cost more than some of them.
  [[nodiscard]] std::vector<TaskResult> collect(std::chrono::milliseconds patience) override;
  void stop() override;

  /// Results, waiting for the first one with a finer clock; for whoever has something else to look
  /// after. Waits also while nothing is under way.
  [[nodiscard]] std::vector<TaskResult> wait(std::chrono::microseconds patience);

 private:
  static constexpr std::size_t kTasksPerThread = 8;  // out at once

  void perform_next();
  [[nodiscard]] bool running_out() const;
  [[nodiscard]] std::vector<TaskResult> take_results();

  const Experiment& experiment_;
  std::uint64_t seed_;
  int threads_;
  int rank_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::vector<TaskResult> results_;
  bool impatient_ = false;   // who waits wants to know of every result
  std::size_t started_ = 0;  // calls of perform_next that have not ended
  std::size_t open_ = 0;     // tasks whose result nobody has collected
  tbb::global_control parallelism_;
  tbb::task_arena arena_;
};

}  // namespace dewpoint::studies
