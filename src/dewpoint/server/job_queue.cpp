#include "dewpoint/server/job_queue.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <new>
#include <random>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

constexpr std::chrono::milliseconds kLook{100};
constexpr int kLooksToTrim = 20;  // of rest, after which memory is given back

std::vector<std::string> field_names(const Job& job) {
  std::vector<std::string> names;
  for (const auto& [name, value] : job.question().items()) names.push_back(name);
  return names;
}

}  // namespace

JobQueue::JobQueue(const QueueLimits& limits) : limits_(limits) {
  for (std::size_t k = 0; k < limits_.workers; ++k) {
    threads_.emplace_back([this](const std::stop_token& over) { work(over); });
  }
  threads_.emplace_back([this](const std::stop_token& over) { look_after(over); });
}

JobQueue::~JobQueue() {
  for (std::jthread& thread : threads_) thread.request_stop();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& job : jobs_) job->cancel("the server ends");
  }
  changed_.notify_all();
}

std::string JobQueue::next_id() {
  static thread_local std::random_device device;
  const std::lock_guard lock(mutex_);
  return fmt::format("{}-{:06x}", ++count_, device() & 0xffffffu);
}

// ---- in line ------------------------------------------------------------------------------------

void JobQueue::cancel_older(const Job& newer) {
  bool last = true;  // the one just before stays, for whoever is still reading it
  for (auto place = jobs_.end(); place != jobs_.begin();) {
    --place;
    const Job& job = **place;
    if (job.client() != newer.client() || job.room() != newer.room()) continue;
    (*place)->cancel("outdated by a new question");
    if (!std::exchange(last, false) && is_over(job.status().state)) {
      places_.erase(job.id());
      place = jobs_.erase(place);
    }
  }
  std::erase_if(line_, [](const Waiting& one) { return is_over(one.job->status().state); });
}

void JobQueue::submit(std::shared_ptr<Job> job, Work work) {
  {
    const std::lock_guard lock(mutex_);
    const auto replaced = [&](const Waiting& one) {
      return one.job->client() == job->client() && one.job->room() == job->room();
    };
    const bool replaces = std::any_of(line_.begin(), line_.end(), replaced);
    if (line_.size() >= limits_.waiting && !replaces) {
      throw Refusal(503, fmt::format("{} questions wait already; try again", line_.size()));
    }
    cancel_older(*job);
    places_[job->id()] = jobs_.insert(jobs_.end(), job);
    line_.push_back({std::move(job), std::move(work)});
  }
  changed_.notify_all();
}

void JobQueue::keep(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  cancel_older(*job);
  places_[job->id()] = jobs_.insert(jobs_.end(), job);
}

std::shared_ptr<Job> JobQueue::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(id);
  return found == places_.end() ? nullptr : *found->second;
}

JobQueue::Counts JobQueue::counts() const {
  const std::lock_guard lock(mutex_);
  return {line_.size(), busy_clients_.size(), jobs_.size()};
}

// ---- computing ----------------------------------------------------------------------------------

// The first whose client is not being served.
std::deque<JobQueue::Waiting>::iterator JobQueue::next_waiting() {
  return std::find_if(line_.begin(), line_.end(), [&](const Waiting& one) {
    return !busy_clients_.contains(one.job->client());
  });
}

void JobQueue::work(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, over, [&] { return next_waiting() != line_.end(); });
    if (over.stop_requested()) return;
    const auto place = next_waiting();
    Waiting next = std::move(*place);
    line_.erase(place);
    const auto busy = busy_clients_.insert(next.job->client());
    // A job that is alone has all threads; results do not depend on it.
    const std::size_t rivals = busy_clients_.size() + line_.size();
    const int threads = static_cast<int>(std::max<std::size_t>(1, limits_.workers / rivals));
    lock.unlock();
    compute(next, threads);
    next = {};
    lock.lock();
    busy_clients_.erase(busy);
    changed_.notify_all();
  }
}

void JobQueue::compute(Waiting& next, int threads) {
  Job& job = *next.job;
  if (!job.begin()) return;
  const RunContext context{threads, job.stop_token(), [&job](double done, double total) {
                             if (total > 0.0) job.set_progress(done / total);
                           }};
  try {
    next.work(job, context);
    job.finish();
  } catch (const Error& error) {
    if (error.code() == Code::stopped) {
      job.stopped();
    } else {
      job.fail(error.what(), field_of(error.what(), field_names(job)));
    }
  } catch (const Refusal& refusal) {
    job.fail(refusal.what(), refusal.field());
  } catch (const std::bad_alloc&) {
    job.fail("out of memory; ask for less, or use the command line", {});
  } catch (const std::exception& error) {
    job.fail(error.what(), {});
  }
}

// ---- looking after ------------------------------------------------------------------------------

void JobQueue::look_at(Job& job, Clock::time_point now) const {
  if (job.running_for(now) > limits_.longest) {
    job.give_up(
        fmt::format("took more than {} s; use the command line", limits_.longest.count() / 1000));
  } else if (job.unwatched_for(now) > limits_.grace) {
    job.cancel("nobody watched");
  }
}

// The oldest first: those past their time, and those beyond what is kept.
void JobQueue::forget_old(Clock::time_point now) {
  std::size_t bytes = 0;
  for (const auto& job : jobs_) {
    if (const auto result = job->status().result) bytes += result->bytes();
  }
  for (auto place = jobs_.begin(); place != jobs_.end();) {
    const auto unwatched = (*place)->unwatched_for(now);
    const JobStatus status = (*place)->status();
    const bool crowded = jobs_.size() > limits_.kept || bytes > limits_.kept_bytes;
    const bool may_go =
        is_over(status.state) &&
        unwatched > (crowded ? Clock::duration::zero() : Clock::duration(limits_.keep));
    if (!may_go) {
      ++place;
      continue;
    }
    if (status.result) bytes -= std::min(bytes, status.result->bytes());
    places_.erase((*place)->id());
    place = jobs_.erase(place);
  }
}

void JobQueue::look_after(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  int rest = 0;
  while (!over.stop_requested()) {
    changed_.wait_for(lock, over, kLook, [] { return false; });
    const auto now = Clock::now();
    for (const auto& job : jobs_) look_at(*job, now);
    std::erase_if(line_, [](const Waiting& one) { return is_over(one.job->status().state); });
    forget_old(now);
    const bool resting = line_.empty() && busy_clients_.empty();
    rest = resting ? rest + 1 : 0;
    if (rest != kLooksToTrim) continue;
    lock.unlock();
    malloc_trim(0);
    lock.lock();
  }
}

}  // namespace dewpoint::server
