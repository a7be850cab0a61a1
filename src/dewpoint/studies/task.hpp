// The unit of work that a runner hands out: some replicas of a tile, or one part of one replica.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

struct Task {
  std::uint64_t id = 0;
  std::vector<Point> points;  // the tile; one point where there are parts
  std::uint64_t first_replica = 0;
  std::uint64_t replicas = 1;
  std::optional<std::size_t> part = {};  // of a single replica
  int threads = 1;                       // that the task may use
  bool predicts = true;                  // or nobody wants to know what theory says
};

struct TaskResult {
  std::uint64_t id = 0;
  /// Replica by replica, point by point, value by value; or what measure_part gave. After a failure
  /// or a stop those of the replicas that were whole by then.
  std::vector<double> values;
  /// What theory says, point by point; only with replica 0, and there only with the first part, of
  /// a task that predicts.
  std::vector<double> predictions = {};
  double seconds = 0.0;
  int rank = 0;
  std::string failure = {};  // empty: none; else the error with the point where it happened
  Code failure_code = Code::bad_value;
  bool stopped = false;
};

/// Does the work on this thread. Errors become `failure`, a stop `stopped`.
[[nodiscard]] TaskResult perform(const Task& task, const Experiment& experiment, std::uint64_t seed,
                                 std::stop_token stop);

/// "phase at {"gamma":2}: reason".
[[nodiscard]] std::string failure_text(const Experiment& experiment, const Point& point,
                                       const std::string& reason);

/// Whoever computes: the threads of this process, or those of all MPI ranks.
class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  virtual ~Workers() = default;

  [[nodiscard]] virtual int threads() const = 0;  // that compute, everywhere
  [[nodiscard]] virtual int ranks() const = 0;
  /// How many tasks may be out at once: enough to keep everybody busy between two calls.
  [[nodiscard]] virtual std::size_t capacity() const = 0;
  virtual void submit(Task task) = 0;
  /// Results that have come in; waits, without spinning, for the first one up to `patience`.
  [[nodiscard]] virtual std::vector<TaskResult> collect(std::chrono::milliseconds patience) = 0;
  /// Tasks in flight end as soon as they can, and later ones at once: all come back as stopped.
  virtual void stop() = 0;
};

}  // namespace dewpoint::studies
