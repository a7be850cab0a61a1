// Server-sent events: what happened since the last look, as text for EventSource.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "dewpoint/server/job.hpp"
#include "dewpoint/server/study_runs.hpp"

namespace dewpoint::server {

/// One piece of a stream; empty text: nothing new. `last`: the stream ends behind it.
struct FeedPiece {
  std::string text;
  bool last = false;
};

inline constexpr std::chrono::seconds kHeartbeat{10};
/// A call waits at most so long: the stream then looks whether its client is still there.
inline constexpr std::chrono::milliseconds kFeedWait{250};

class Feed {
 public:
  virtual ~Feed() = default;
  /// Waits for something new, up to kFeedWait, and says it; a comment every kHeartbeat.
  [[nodiscard]] FeedPiece next();

 protected:
  [[nodiscard]] virtual FeedPiece news(Clock::time_point deadline) = 0;

 private:
  Clock::time_point spoken_ = Clock::now();
};

/// Keeps its job watched as long as it lives.
class JobFeed final : public Feed {
 public:
  /// `after`: the last result that the client has.
  JobFeed(std::shared_ptr<Job> job, std::uint64_t after);
  JobFeed(const JobFeed&) = delete;
  JobFeed& operator=(const JobFeed&) = delete;
  ~JobFeed() override;

 protected:
  [[nodiscard]] FeedPiece news(Clock::time_point deadline) override;

 private:
  std::shared_ptr<Job> job_;
  std::uint64_t sequence_;
  std::uint64_t version_ = ~std::uint64_t{0};
};

class RunFeed final : public Feed {
 public:
  explicit RunFeed(std::shared_ptr<StudyRun> run) : run_(std::move(run)) {}

 protected:
  [[nodiscard]] FeedPiece news(Clock::time_point deadline) override;

 private:
  std::shared_ptr<StudyRun> run_;
  std::uint64_t version_ = ~std::uint64_t{0};
};

}  // namespace dewpoint::server
