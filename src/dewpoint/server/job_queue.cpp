#include "dewpoint/server/job_queue.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <new>
#include <random>
#include <tuple>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

constexpr std::chrono::milliseconds kLook{100};
constexpr int kLooksToTrim = 20;  // of rest, after which memory is given back
// Jobs of a client that have begun: one, and one before it that has not yet seen its token.
constexpr std::size_t kMostBegun = 2;

std::vector<std::string> field_names(const Job& job) {
  std::vector<std::string> names;
  for (const auto& [name, value] : job.question().items()) names.push_back(name);
  return names;
}

}  // namespace

JobQueue::JobQueue(const QueueLimits& limits) : limits_(limits) {
  threads_.emplace_back([this](const std::stop_token& over) { look_after(over); });
}

JobQueue::~JobQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (std::jthread& thread : threads_) thread.request_stop();
    for (const Turn& turn : turns_) turn.job->cancel("the server ends");
  }
  changed_.notify_all();
  threads_.clear();
}

std::string JobQueue::next_id() {
  static thread_local std::random_device device;
  const std::lock_guard lock(mutex_);
  return fmt::format("{}-{:06x}", ++names_, device() & 0xffffffu);
}

// ---- asking -------------------------------------------------------------------------------------

void JobQueue::cancel_older(const Job& newer) {
  for (const Turn& turn : turns_) {
    if (turn.job->client() == newer.client()) turn.job->cancel("outdated by a new question");
  }
  forget_cancelled();
  bool last = true;  // the one just before stays, for whoever is still reading it
  for (auto place = jobs_.end(); place != jobs_.begin();) {
    --place;
    const Job& job = **place;
    if (job.client() != newer.client() || job.room() != newer.room()) continue;
    if (!std::exchange(last, false) && is_over(job.status().state)) {
      places_.erase(job.id());
      place = jobs_.erase(place);
    }
  }
}

// Those that never began: nobody else takes them away.
void JobQueue::forget_cancelled() {
  std::erase_if(turns_, [](const Turn& turn) {
    return !turn.has_begun && is_over(turn.job->status().state);
  });
}

std::size_t JobQueue::count_turns(const std::function<bool(const Turn&)>& which) const {
  return static_cast<std::size_t>(std::count_if(turns_.begin(), turns_.end(), which));
}

void JobQueue::submit(std::shared_ptr<Job> job, Work work) {
  const std::lock_guard lock(mutex_);
  const std::size_t others = count_turns(
      [&](const Turn& turn) { return turn.waits() && turn.job->client() != job->client(); });
  if (others >= limits_.waiting) {
    throw Refusal(503, fmt::format("{} questions wait already; try again", others));
  }
  cancel_older(*job);
  places_[job->id()] = jobs_.insert(jobs_.end(), job);
  const auto result = job->status().result;
  const std::size_t level = result ? std::max<std::size_t>(1, result->level) : 0;
  turns_.push_back({std::move(job), std::move(work), ++waits_, level});
  give_places();
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
  const std::size_t waiting = count_turns([](const Turn& turn) { return turn.waits(); });
  return {waiting, turns_.size() - waiting, jobs_.size()};
}

// ---- turns --------------------------------------------------------------------------------------

// Where the cores are busy one refinement goes on nevertheless: first results that never end would
// starve it.
bool JobQueue::may_compute(const Turn& turn) const {
  if (!turn.has_begun) {
    const std::size_t begun = count_turns([&](const Turn& other) {
      return other.has_begun && other.job->client() == turn.job->client();
    });
    if (begun >= kMostBegun) return false;
  }
  const auto at = [&](Place place, Clock::duration shorter_than) {
    return count_turns([&, now = Clock::now()](const Turn& other) {
      return other.place == place && now - other.placed < shorter_than;
    });
  };
  const std::size_t firsts = at(Place::first, Clock::duration::max());
  if (turn.level == 0) return firsts < limits_.at_once;
  if (at(Place::refinement, Clock::duration::max()) >= limits_.at_once) return false;
  const std::size_t fresh = at(Place::refinement, limits_.piece);
  return fresh == 0 || firsts + fresh < limits_.workers;
}

// A first result shares the cores with other first results only, a refinement with everybody.
int JobQueue::threads_of(const Turn& turn) const {
  const std::size_t rivals = count_turns([&](const Turn& other) {
    return !other.is_told_to_stop() &&
           (turn.place == Place::refinement || other.place == Place::first);
  });
  return static_cast<int>(
      std::max<std::size_t>(1, limits_.workers / std::max<std::size_t>(1, rivals)));
}

void JobQueue::give_places() {
  const auto rank = [](const Turn& turn) { return std::tuple(turn.level, turn.since); };
  for (;;) {
    auto next = turns_.end();
    for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
      if (!turn->waits() || !may_compute(*turn)) continue;
      if (next == turns_.end() || rank(*turn) < rank(*next)) next = turn;
    }
    if (next == turns_.end()) break;
    next->place = next->level == 0 ? Place::first : Place::refinement;
    next->placed = Clock::now();
  }
  // Every job that has begun has a thread until its end, also while it waits.
  const std::size_t needed =
      count_turns([](const Turn& turn) { return turn.has_begun || !turn.waits(); });
  while (!is_ending_ && threads_.size() < needed + 1) {
    threads_.emplace_back([this](const std::stop_token& over) { work(over); });
  }
  changed_.notify_all();
}

void JobQueue::wait_for_turn(Turn& turn, RunContext& context) {
  context.throw_if_stopped();
  turn.job->rest();
  {
    std::unique_lock lock(mutex_);
    const auto result = turn.job->status().result;
    turn.level = result ? std::max<std::size_t>(1, result->level) : 0;
    turn.since = ++waits_;
    turn.place = Place::none;
    give_places();
    changed_.wait(lock, context.stop, [&] { return !turn.waits(); });
    context.threads = threads_of(turn);
  }
  turn.job->go_on();
  context.throw_if_stopped();
}

// ---- computing ----------------------------------------------------------------------------------

JobQueue::Turns::iterator JobQueue::next_to_begin() {
  return std::find_if(turns_.begin(), turns_.end(),
                      [](const Turn& turn) { return !turn.waits() && !turn.has_begun; });
}

void JobQueue::work(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, over, [&] { return next_to_begin() != turns_.end(); });
    if (over.stop_requested()) return;
    const auto turn = next_to_begin();
    turn->has_begun = true;
    const int threads = threads_of(*turn);
    lock.unlock();
    compute(*turn, threads);
    lock.lock();
    turns_.erase(turn);
    give_places();
  }
}

void JobQueue::compute(Turn& turn, int threads) {
  Job& job = *turn.job;
  if (!job.begin()) return;
  RunContext context{threads, job.stop_token(), [&job](double done, double total) {
                       if (total > 0.0) job.set_progress(done / total);
                     }};
  try {
    turn.work(job, context, [&] { wait_for_turn(turn, context); });
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
  } else if (job.unwatched_for(now) > (job.was_left() ? limits_.left : limits_.grace)) {
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
    forget_cancelled();
    forget_old(now);
    if (count_turns([](const Turn& turn) { return turn.waits(); }) > 0) give_places();
    const bool resting = turns_.empty();
    rest = resting ? rest + 1 : 0;
    if (rest != kLooksToTrim) continue;
    lock.unlock();
    malloc_trim(0);
    lock.lock();
  }
}

}  // namespace dewpoint::server
