// Long runs of studies, started from the page: one at a time, in the order of their asking, by the
// runner of `dewpoint run`. They go on whether somebody watches or not, and survive in their files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "dewpoint/server/job.hpp"
#include "dewpoint/server/json_body.hpp"
#include "dewpoint/server/study_folder.hpp"
#include "dewpoint/studies/runner.hpp"
#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::server {

enum class RunState { waiting, running, finished, stopped, failed };

struct RunStatus {
  RunState state = RunState::waiting;
  std::uint64_t version = 0;
  studies::RunProgress progress;
  double work_seconds = 0.0;  // when it is over
  std::string error;
};

/// Any thread may call anything.
class StudyRun {
 public:
  StudyRun(std::string id, std::string file, studies::StudyText study, std::string command)
      : id_(std::move(id)),
        file_(std::move(file)),
        study_(std::move(study)),
        command_(std::move(command)) {}

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const studies::StudyText& study() const { return study_; }
  [[nodiscard]] const std::string& command() const { return command_; }

  [[nodiscard]] RunStatus status() const;
  RunStatus wait(std::uint64_t version, Clock::time_point deadline) const;
  /// Returns when it is planned and at work, when it is over, or at the deadline.
  [[nodiscard]] RunStatus wait_for_work(Clock::time_point deadline) const;
  [[nodiscard]] Json to_json() const;

  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  /// A run that waits ends at once.
  void cancel();
  /// False: it was cancelled before it began.
  bool begin();
  void set_progress(const studies::RunProgress& progress);
  void end(const studies::RunOutcome& outcome);
  void fail(const std::string& error);

 private:
  const std::string id_, file_;
  const studies::StudyText study_;
  const std::string command_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  RunStatus status_;
  Clock::time_point told_;
};

[[nodiscard]] bool is_over(RunState state);

class StudyRuns {
 public:
  static constexpr std::size_t kMostWaiting = 16;
  static constexpr std::size_t kMostKept = 100;

  /// `threads`: of a run.
  StudyRuns(const StudyFolder& folder, int threads);
  StudyRuns(const StudyRuns&) = delete;
  StudyRuns& operator=(const StudyRuns&) = delete;
  /// Stops what runs, after its last finished work is in the file.
  ~StudyRuns();

  /// Body of POST /api/studies/run. Throws Refusal: 400 for a text that is refused, 409 where the
  /// file runs already, 503 where too many wait. Planning is a part of the run, and may fail it.
  std::shared_ptr<StudyRun> start(const Json& body);
  /// Bodies of POST /api/studies/resume and /cancel.
  std::shared_ptr<StudyRun> resume(const Json& body);
  std::shared_ptr<StudyRun> cancel(const Json& body);

  [[nodiscard]] std::shared_ptr<StudyRun> find(const std::string& id) const;
  /// The run of a file that is not over; nothing: none.
  [[nodiscard]] std::shared_ptr<StudyRun> active(const std::string& file) const;
  /// {"runs": [..]}, the newest first.
  [[nodiscard]] Json to_json() const;

 private:
  std::shared_ptr<StudyRun> put(studies::StudyText study, const std::string& file,
                                const std::string& command);
  void work(const std::stop_token& over);
  void run(StudyRun& run) const;

  const StudyFolder& folder_;
  const int threads_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<StudyRun>> runs_;  // the oldest first
  std::uint64_t count_ = 0;
  std::jthread worker_;
};

/// Throws Refusal{400} for a study that would write or read other files than its own: exports,
/// figures, parameters that name a file.
void require_contained(const studies::StudyText& study);

}  // namespace dewpoint::server
