#include "dewpoint/core/run_context.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace dewpoint {

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
  tbb::task_arena arena(threads);
  arena.execute([&] { tbb::parallel_for(std::size_t{0}, count, step, tbb::simple_partitioner()); });
}

}  // namespace dewpoint
