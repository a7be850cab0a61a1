// What every kernel and runner is handed besides its problem: how many threads, whom to tell about
// progress, and whether to stop.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>

#include "dewpoint/core/error.hpp"

namespace dewpoint {

/// Called from any thread, never concurrently, with done out of total units of work.
using Progress = std::function<void(double done, double total)>;

/// Why a kernel ended that saw a request to stop.
inline constexpr const char* kStoppedOnRequest = "stopped on request";

struct RunContext {
  int threads = 0;       // 0: as many as the machine has. Never changes a result, only its time.
  std::stop_token stop;  // a kernel that sees a request throws Error{Code::stopped}
  Progress progress;     // empty: nobody listens

  void throw_if_stopped() const {
    if (stop.stop_requested()) throw Error(Code::stopped, kStoppedOnRequest);
  }
};

/// Counts finished units of work on any thread and passes the count on, one caller at a time.
class ProgressTally {
 public:
  ProgressTally(const Progress& progress, double total) : progress_(progress), total_(total) {}
  void finish(double units);

 private:
  const Progress& progress_;
  double total_;
  double done_ = 0.0;
  std::mutex mutex_;
};

/// Runs body(i) for every i in [0, count) on the context's threads and reports progress per item.
/// body must write only to what belongs to i; then results do not depend on the number of threads.
/// An exception of any body ends the run and is rethrown.
void parallel_for(std::size_t count, const RunContext& context,
                  const std::function<void(std::size_t)>& body);

}  // namespace dewpoint
