#include "dewpoint/server/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{250};

Json known_text(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json arrays_json(const Job& job, const SentResult& result) {
  Json list = Json::array();
  for (const Array& array : result.arrays) {
    list.push_back({{"name", array.name},
                    {"type", "float64"},
                    {"shape", array.shape},
                    {"url", fmt::format("/api/jobs/{}/arrays/{}", job.id(), array.name)}});
  }
  return list;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

const char* name_of(JobState state) {
  switch (state) {
    case JobState::queued:
      return "queued";
    case JobState::running:
      return "running";
    case JobState::done:
      return "done";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
  }
  return "";
}

bool is_over(JobState state) { return state != JobState::queued && state != JobState::running; }

Job::Job(std::string id, std::string client, std::string room, Json question, std::string command)
    : id_(std::move(id)),
      client_(std::move(client)),
      room_(std::move(room)),
      command_(std::move(command)),
      question_(std::move(question)) {}

Job::Job(std::string id, std::string client, std::string room, Json question, std::string command,
         std::shared_ptr<const SentResult> answer)
    : id_(std::move(id)),
      client_(std::move(client)),
      room_(std::move(room)),
      command_(std::move(command)),
      question_(std::move(question)),
      cached_(true) {
  status_.result = std::move(answer);
  status_.sequence = 1;
  end(JobState::done, {}, {});
}

JobStatus Job::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

JobStatus Job::wait(std::uint64_t version, Clock::time_point deadline) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return status_.version != version; });
  return status_;
}

bool Job::begin() {
  const std::lock_guard lock(mutex_);
  if (status_.state != JobState::queued) return false;
  status_.state = JobState::running;
  ++status_.version;
  begun_ = progress_told_ = Clock::now();
  changed_.notify_all();
  return true;
}

void Job::rest() {
  const std::lock_guard lock(mutex_);
  computed_ += Clock::now() - begun_;
  is_resting_ = true;
}

void Job::go_on() {
  const std::lock_guard lock(mutex_);
  begun_ = Clock::now();
  is_resting_ = false;
}

void Job::publish(std::shared_ptr<const SentResult> result) {
  const std::lock_guard lock(mutex_);
  if (is_over(status_.state)) return;
  status_.result = std::move(result);
  ++status_.sequence;
  ++status_.version;
  changed_.notify_all();
}

void Job::set_progress(double progress) {
  const std::lock_guard lock(mutex_);
  if (is_over(status_.state)) return;
  status_.progress = std::clamp(progress, status_.progress, 1.0);
  const auto now = Clock::now();
  if (now - progress_told_ < kProgressInterval) return;
  progress_told_ = now;
  ++status_.version;
  changed_.notify_all();
}

void Job::end(JobState state, const std::string& error, const std::string& field) {
  if (is_over(status_.state)) return;
  status_.state = state;
  status_.error = one_line(error);
  status_.field = field;
  if (state == JobState::done) status_.progress = 1.0;
  touched_ = Clock::now();
  ++status_.version;
  changed_.notify_all();
}

void Job::finish() {
  const std::lock_guard lock(mutex_);
  end(JobState::done, {}, {});
}

void Job::fail(const std::string& error, const std::string& field) {
  const std::lock_guard lock(mutex_);
  end(JobState::failed, error, field);
}

void Job::stopped() {
  const std::lock_guard lock(mutex_);
  end(JobState::cancelled, "stopped", {});
}

void Job::request_stop(JobState becomes, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (is_over(status_.state)) return;
    end(becomes, why, {});
  }
  stop_.request_stop();
}

void Job::cancel(const std::string& why) { request_stop(JobState::cancelled, why); }

void Job::give_up(const std::string& why) { request_stop(JobState::failed, why); }

void Job::touch() {
  const std::lock_guard lock(mutex_);
  touched_ = Clock::now();
  was_left_ = false;
}

void Job::open_stream() {
  const std::lock_guard lock(mutex_);
  ++streams_;
}

void Job::close_stream() {
  const std::lock_guard lock(mutex_);
  --streams_;
  touched_ = Clock::now();
  was_left_ = true;
}

Clock::duration Job::unwatched_for(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return streams_ > 0 ? Clock::duration::zero() : now - touched_;
}

bool Job::was_left() const {
  const std::lock_guard lock(mutex_);
  return streams_ == 0 && was_left_;
}

Clock::duration Job::running_for(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  if (status_.state != JobState::running) return Clock::duration::zero();
  return is_resting_ ? computed_ : computed_ + (now - begun_);
}

std::string view_text(const Job& job, const JobStatus& status, std::uint64_t after) {
  const SentResult* result = status.result.get();
  const Json head = {{"job", job.id()},
                     {"room", job.room()},
                     {"state", name_of(status.state)},
                     {"cached", job.cached()},
                     {"question", job.question()},
                     {"command", job.command()},
                     {"sequence", status.sequence},
                     {"level", result != nullptr ? result->level : 0},
                     {"levels", result != nullptr ? result->levels : 0},
                     {"progress", status.progress},
                     {"error", known_text(status.error)},
                     {"field", known_text(status.field)},
                     {"arrays", result != nullptr ? arrays_json(job, *result) : Json::array()}};
  std::string text = text_of(head);
  text.pop_back();  // the brace; the result is text already
  const bool wanted = result != nullptr && status.sequence > after;
  text += ",\"result\":";
  text += wanted ? std::string_view(result->text) : std::string_view("null");
  return text + "}";
}

std::string brief_text(const Job& job, const JobStatus& status) {
  return text_of({{"job", job.id()},
                  {"state", name_of(status.state)},
                  {"sequence", status.sequence},
                  {"progress", status.progress},
                  {"error", known_text(status.error)},
                  {"field", known_text(status.field)}});
}

}  // namespace dewpoint::server
