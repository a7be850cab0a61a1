#include "dewpoint/server/event_feed.hpp"

#include <fmt/format.h>

#include <utility>

namespace dewpoint::server {
namespace {

std::string event(const char* name, const std::string& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

}  // namespace

FeedPiece Feed::next() {
  const auto begun = Clock::now();
  FeedPiece piece = news(begun + kFeedWait);
  if (piece.text.empty() && Clock::now() - spoken_ >= kHeartbeat) piece.text = ": still here\n\n";
  if (!piece.text.empty()) spoken_ = Clock::now();
  return piece;
}

JobFeed::JobFeed(std::shared_ptr<Job> job, std::uint64_t after)
    : job_(std::move(job)), sequence_(after) {
  job_->open_stream();
}

JobFeed::~JobFeed() { job_->close_stream(); }

FeedPiece JobFeed::news(Clock::time_point deadline) {
  const JobStatus status = job_->wait(version_, deadline);
  if (status.version == version_) return {};
  version_ = status.version;
  FeedPiece piece;
  if (status.sequence > sequence_) {
    sequence_ = status.sequence;
    piece.text = fmt::format("id: {}\n", sequence_) +
                 event("result", view_text(*job_, status, sequence_ - 1));
  } else if (!is_over(status.state)) {
    piece.text = event("progress", brief_text(*job_, status));
  }
  if (is_over(status.state)) {
    piece.text += event("end", brief_text(*job_, status));
    piece.last = true;
  }
  return piece;
}

FeedPiece RunFeed::news(Clock::time_point deadline) {
  const RunStatus status = run_->wait(version_, deadline);
  if (status.version == version_) return {};
  version_ = status.version;
  const std::string text = run_->to_json().dump();
  FeedPiece piece{event("run", text), is_over(status.state)};
  if (piece.last) piece.text += event("end", text);
  return piece;
}

}  // namespace dewpoint::server
