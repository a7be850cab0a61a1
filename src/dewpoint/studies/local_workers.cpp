#include "dewpoint/studies/local_workers.hpp"

#include <tbb/info.h>

#include <algorithm>
#include <utility>

#include "dewpoint/studies/thread_pool.hpp"

namespace dewpoint::studies {
namespace {

int threads_or_all(int threads) { return threads > 0 ? threads : tbb::info::default_concurrency(); }

// How many pools may be there at once, each with workers of its own: those of the explorer's jobs.
constexpr int kPoolsAtOnce = 16;

}  // namespace

// Of several limits that are set at the same time the smallest holds for all, and oneTBB hands its
// workers to one arena until that has no task left. So the limit is enough for all pools, or the
// last one would wait for the first; how many compute in each, its arena says. One thread more: the
// one that waits counts too.
ThreadPool::ThreadPool(const Experiment& experiment, std::uint64_t seed, int threads, int rank)
    : experiment_(experiment),
      seed_(seed),
      threads_(threads),
      rank_(rank),
      parallelism_(
          tbb::global_control::max_allowed_parallelism,
          static_cast<std::size_t>(kPoolsAtOnce * std::max(threads, threads_or_all(0))) + 1),
      arena_(threads, 0) {}

ThreadPool::~ThreadPool() {
  stop();
  std::unique_lock lock(mutex_);
  waiting_.clear();
  impatient_ = true;
  changed_.wait(lock, [&] { return started_ == 0; });
}

std::size_t ThreadPool::capacity() const {
  return kTasksPerThread * static_cast<std::size_t>(threads_);
}

void ThreadPool::submit(Task task) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
    ++started_;
    ++open_;
  }
  arena_.enqueue([this] { perform_next(); });
}

void ThreadPool::perform_next() {
  std::unique_lock lock(mutex_);
  if (!waiting_.empty()) {
    const Task task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    TaskResult result = perform(task, experiment_, seed_, stop_.get_token());
    result.rank = rank_;
    lock.lock();
    results_.push_back(std::move(result));
  }
  --started_;
  // Under the lock: the destructor may be who waits.
  if (impatient_ || running_out()) changed_.notify_one();
}

// Fewer tasks wait than may begin before somebody who is woken now has brought new ones.
bool ThreadPool::running_out() const {
  return waiting_.size() <= static_cast<std::size_t>(threads_);
}

std::vector<TaskResult> ThreadPool::collect(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (open_ == 0) return {};
  impatient_ = false;
  changed_.wait_for(lock, patience, [&] { return !results_.empty() && running_out(); });
  return take_results();
}

std::vector<TaskResult> ThreadPool::wait(std::chrono::microseconds patience) {
  std::unique_lock lock(mutex_);
  impatient_ = true;
  changed_.wait_for(lock, patience, [&] { return !results_.empty(); });
  return take_results();
}

std::vector<TaskResult> ThreadPool::take_results() {
  open_ -= results_.size();
  return std::exchange(results_, {});
}

void ThreadPool::stop() { stop_.request_stop(); }

std::unique_ptr<Workers> local_workers(const Experiment& experiment, std::uint64_t seed,
                                       int threads) {
  return std::make_unique<ThreadPool>(experiment, seed, threads_or_all(threads), 0);
}

}  // namespace dewpoint::studies
