// A question that is being answered: its newest result, how far it is, and who watches.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "dewpoint/server/answer_cache.hpp"

namespace dewpoint::server {

using Clock = std::chrono::steady_clock;

enum class JobState { queued, running, done, failed, cancelled };
[[nodiscard]] const char* name_of(JobState state);
[[nodiscard]] bool is_over(JobState state);

/// What a job is at one moment.
struct JobStatus {
  JobState state = JobState::queued;
  std::uint64_t version = 0;   // grows with every change
  std::uint64_t sequence = 0;  // of the newest result; 0: none yet
  double progress = 0.0;
  std::string error;  // of failed and cancelled
  std::string field;
  std::shared_ptr<const SentResult> result;
};

/// Any thread may call anything.
class Job {
 public:
  Job(std::string id, std::string client, std::string room, Json question, std::string command);
  /// One that is over before it began: from the cache.
  Job(std::string id, std::string client, std::string room, Json question, std::string command,
      std::shared_ptr<const SentResult> answer);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& client() const { return client_; }
  [[nodiscard]] const std::string& room() const { return room_; }
  [[nodiscard]] const Json& question() const { return question_; }
  [[nodiscard]] const std::string& command() const { return command_; }
  [[nodiscard]] bool cached() const { return cached_; }

  [[nodiscard]] JobStatus status() const;
  /// Returns when the version differs from `version`, or at the deadline.
  JobStatus wait(std::uint64_t version, Clock::time_point deadline) const;

  // ---- who computes ---------------------------------------------------------------------------

  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  /// False: it was cancelled meanwhile.
  bool begin();
  /// Also of a job that waits: what is known of its answer already.
  void publish(std::shared_ptr<const SentResult> result);
  /// It waits for its turn between two levels, and goes on; the wait is no time of computing.
  void rest();
  void go_on();
  /// From 0 to 1.
  void set_progress(double progress);
  void finish();
  void fail(const std::string& error, const std::string& field);
  /// The computation stopped.
  void stopped();

  // ---- who asked ------------------------------------------------------------------------------

  /// It is over at once; its kernel stops when it looks. `why`: one line; of
  /// several reasons the first stays.
  void cancel(const std::string& why);
  /// The same, but a failure.
  void give_up(const std::string& why);

  /// Asked for or looked at just now.
  void touch();
  void open_stream();
  void close_stream();
  /// How long nobody has cared; 0 while a stream is open.
  [[nodiscard]] Clock::duration unwatched_for(Clock::time_point now) const;
  /// The last who cared was a stream, and it ended.
  [[nodiscard]] bool was_left() const;
  /// How long it has been computing, without its rests; 0 once it is over.
  [[nodiscard]] Clock::duration running_for(Clock::time_point now) const;

 private:
  void end(JobState state, const std::string& error, const std::string& field);
  void request_stop(JobState becomes, const std::string& why);

  const std::string id_, client_, room_, command_;
  const Json question_;
  const bool cached_ = false;

  std::stop_source stop_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  JobStatus status_;
  std::size_t streams_ = 0;
  bool was_left_ = false;
  Clock::time_point touched_ = Clock::now();
  bool is_resting_ = false;
  Clock::time_point begun_;     // or went on
  Clock::duration computed_{};  // before that
  Clock::time_point progress_told_;
};

/// The view of a job (design/0012-explorer.md). `after`: a result up to this sequence is left out.
[[nodiscard]] std::string view_text(const Job& job, const JobStatus& status, std::uint64_t after);
/// Without question, arrays and result, for events about progress and the end.
[[nodiscard]] std::string brief_text(const Job& job, const JobStatus& status);

}  // namespace dewpoint::server
