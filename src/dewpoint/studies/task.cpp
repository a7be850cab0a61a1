#include "dewpoint/studies/task.hpp"

#include <fmt/format.h>

#include <new>
#include <span>
#include <utility>

#include "dewpoint/core/run_context.hpp"

namespace dewpoint::studies {
namespace {

struct Failure {
  Code code;
  std::string reason;
};

// Runs `work`; what it throws, unless that is a stop.
template <class Work>
std::optional<Failure> failure_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return Failure{error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return Failure{Code::bad_value, "needs more memory than there is"};
  } catch (const std::exception& error) {
    return Failure{Code::bad_value, error.what()};
  }
  return std::nullopt;
}

void append(std::vector<double>& target, const std::vector<double>& values) {
  target.insert(target.end(), values.begin(), values.end());
}

class Performance {
 public:
  Performance(const Task& task, const Experiment& experiment, std::uint64_t seed,
              std::stop_token stop)
      : task_(task),
        experiment_(experiment),
        seed_(seed),
        context_{task.threads, std::move(stop), {}} {
    result_.id = task.id;
  }

  TaskResult run() {
    const auto start = std::chrono::steady_clock::now();
    if (const auto failure = failure_of([&] { measure(); })) take(*failure);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    result_.seconds = elapsed.count();
    return std::move(result_);
  }

 private:
  void measure() {
    context_.throw_if_stopped();
    if (task_.predicts && task_.first_replica == 0 && task_.part.value_or(0) == 0) {
      for (const Point& point : task_.points) {
        context_.throw_if_stopped();
        append(result_.predictions, experiment_.predict(point));
      }
    }
    for (std::uint64_t r = 0; r < task_.replicas; ++r) measure_replica(task_.first_replica + r);
  }

  void measure_replica(std::uint64_t replica) {
    replica_ = replica;
    context_.throw_if_stopped();
    if (task_.part) {
      append(result_.values,
             experiment_.measure_part(task_.points.front(), seed_, replica, *task_.part, context_));
      return;
    }
    const auto measured = experiment_.measure(task_.points, seed_, replica, context_);
    DEWPOINT_EXPECTS(measured.size() == task_.points.size());
    for (const std::vector<double>& values : measured) append(result_.values, values);
  }

  void take(const Failure& failure) {
    if (failure.code == Code::stopped) {
      result_.stopped = true;
      return;
    }
    result_.failure_code = failure.code;
    result_.failure = failure_text(experiment_, guilty(), failure.reason);
  }

  // The first point that fails alone as well; where none does, the first one.
  const Point& guilty() {
    for (const Point& point : task_.points) {
      if (task_.points.size() == 1) break;
      const auto failure = failure_of([&] {
        (void)experiment_.predict(point);
        (void)experiment_.measure(std::span(&point, 1), seed_, replica_, context_);
      });
      if (failure && failure->code != Code::stopped) return point;
    }
    return task_.points.front();
  }

  const Task& task_;
  const Experiment& experiment_;
  std::uint64_t seed_;
  RunContext context_;
  std::uint64_t replica_ = 0;
  TaskResult result_;
};

}  // namespace

std::string failure_text(const Experiment& experiment, const Point& point,
                         const std::string& reason) {
  return fmt::format("{} at {}: {}", experiment.name(), canonical_text(point), reason);
}

TaskResult perform(const Task& task, const Experiment& experiment, std::uint64_t seed,
                   std::stop_token stop) {
  DEWPOINT_EXPECTS(!task.points.empty());
  DEWPOINT_EXPECTS(!task.part || (task.points.size() == 1 && task.replicas == 1));
  return Performance(task, experiment, seed, std::move(stop)).run();
}

}  // namespace dewpoint::studies
