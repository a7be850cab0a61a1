#include "dewpoint/core/run_context.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <map>
#include <memory>
#include <vector>

namespace dewpoint {
namespace {

/// Arenas by their number of threads, lent to one loop at a time. A destroyed arena stays in TBB's
/// list until one of its workers has left it, and every new one walks that list: with an arena of
/// its own per loop, thousands of short loops take ever longer and 7 KiB each. As many arenas are
/// made as there are loops at the same time, nested ones included.
class ArenaPool {
 public:
  using Arena = std::unique_ptr<tbb::task_arena>;

  Arena borrow(int threads) {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[threads];
    if (idle.empty()) return std::make_unique<tbb::task_arena>(threads);
    Arena arena = std::move(idle.back());
    idle.pop_back();
    return arena;
  }

  void give_back(int threads, Arena arena) {
    const std::lock_guard lock(mutex_);
    idle_[threads].push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<Arena>> idle_;
};

/// An arena for the time of a loop, given back however it ends.
class BorrowedArena {
 public:
  explicit BorrowedArena(int threads) : threads_(threads), arena_(pool().borrow(threads)) {}
  BorrowedArena(const BorrowedArena&) = delete;
  BorrowedArena& operator=(const BorrowedArena&) = delete;
  ~BorrowedArena() { pool().give_back(threads_, std::move(arena_)); }

  tbb::task_arena& operator*() const { return *arena_; }

 private:
  static ArenaPool& pool() {
    static ArenaPool all;
    return all;
  }

  int threads_;
  ArenaPool::Arena arena_;
};

}  // namespace

void ProgressTally::finish(double units) {
  if (!progress_) return;
  const std::lock_guard lock(mutex_);
  done_ += units;
  progress_(done_, total_);
}

void parallel_for(std::size_t count, const RunContext& context,
                  const std::function<void(std::size_t)>& body) {
  ProgressTally tally(context.progress, static_cast<double>(count));
  const auto step = [&](std::size_t i) {
    context.throw_if_stopped();
    body(i);
    tally.finish(1.0);
  };
  const int threads =
      context.threads > 0 ? context.threads : tbb::this_task_arena::max_concurrency();
  if (threads == 1 || count < 2) {
    for (std::size_t i = 0; i < count; ++i) step(i);
    return;
  }
  const BorrowedArena arena(threads);
  (*arena).execute(
      [&] { tbb::parallel_for(std::size_t{0}, count, step, tbb::simple_partitioner()); });
}

}  // namespace dewpoint
