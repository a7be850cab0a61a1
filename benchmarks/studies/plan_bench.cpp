// What it costs to plan a study of a million cells, and to have it ready for its first cell.
//
//     plan_bench
//
// A plan of a million cells should take at most 2 s and 500 MB.
//
// First the plan must be right: as many cells as asked for, no key twice, and the cells of a sample
// equal to those that the experiment resolves one by one.
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stop_token>

#include "dewpoint/store/sweep_file.hpp"
#include "dewpoint/studies/plan.hpp"
#include "dewpoint/studies/runner.hpp"
#include "support/timing.hpp"

namespace dewpoint::studies {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSampled = 1000;
constexpr int kRounds = 3;

struct Case {
  std::string name;
  StudyText study;
};

GridAxis axis(const std::string& name, double from, double to, std::size_t count,
              bool logarithmic = false) {
  GridAxis axis{name, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 1);
    axis.values.push_back(logarithmic ? from * std::pow(to / from, share)
                                      : from + share * (to - from));
  }
  return axis;
}

StudyText study_of(const std::string& experiment, std::vector<GridAxis> grid) {
  StudyText study;
  study.experiment = experiment;
  study.grid = std::move(grid);
  return study;
}

std::vector<Case> cases() {
  StudyText phase = study_of("phase", {axis("rho", 0.0, 0.99, 1000), axis("gamma", 0.1, 9, 1000)});
  phase.fixed = {{"tokens", std::string("simplex")}, {"n", 64.0}};
  return {{"condense over t and signal",
           study_of("condense", {axis("t", 0.1, 3, 1000), axis("signal", 0.1, 2, 1000)})},
          {"condense over signal and t",
           study_of("condense", {axis("signal", 0.1, 2, 1000), axis("t", 0.1, 3, 1000)})},
          {"phase over rho and gamma", phase},
          {"condense over n and t",
           study_of("condense", {axis("n", 1e3, 1e12, 1000, true), axis("t", 0.1, 3, 1000)})}};
}

std::size_t cells_of(const StudyText& study) {
  std::size_t cells = 1;
  for (const GridAxis& axis : study.grid) cells *= axis.size();
  return cells;
}

// Peak memory of this process so far.
double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024e-6 * static_cast<double>(usage.ru_maxrss);
}

// Of all threads, so that work beside it counts for little.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

bool is_right(const StudyText& study, const Experiment& experiment, const Plan& plan) {
  bool right = plan.cells.size() == cells_of(study);
  std::set<std::string_view> keys;
  for (const PlannedCell& cell : plan.cells) right = right && keys.insert(cell.key).second;
  for (std::size_t i = 0; right && i < plan.cells.size(); i += plan.cells.size() / kSampled) {
    Point given = study.fixed;
    for (std::size_t k = 0; k < study.grid.size(); ++k) {
      given[study.grid[k].name] = study.grid[k].values[plan.cells[i].place[k]];
    }
    const Point alone = experiment.resolved(given);
    right = plan.cells[i].point() == alone &&
            plan.cells[i].key == cell_key(experiment, study.seed, alone);
  }
  if (!right) fmt::print("{}: the plan is not that of its cells: not timed\n", study.experiment);
  return right;
}

// Ends the run at its first task.
class NoWorkers final : public Workers {
 public:
  explicit NoWorkers(std::stop_source& stop) : stop_(stop) {}
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] int ranks() const override { return 1; }
  [[nodiscard]] std::size_t capacity() const override { return 1; }
  void submit(Task task) override {
    out_ = task.id;
    stop_.request_stop();
  }
  [[nodiscard]] std::vector<TaskResult> collect(std::chrono::milliseconds) override {
    TaskResult result;
    result.id = out_;
    result.stopped = true;
    return {result};
  }
  void stop() override {}

 private:
  std::stop_source& stop_;
  std::uint64_t out_ = 0;
};

// From the plan to the first task: matched with what the file has, cut into tiles, stored.
void measure_storing(const StudyText& study, const Experiment& experiment) {
  const fs::path file = fs::temp_directory_path() / fmt::format("plan-bench-{}.study", ::getpid());
  store::SweepHead head;
  head.experiment = study.experiment;
  for (const char* state : {"a new file", "the same again"}) {
    Plan plan = grid_plan(study, experiment);
    std::stop_source stop;
    NoWorkers workers(stop);
    const double before = processor_seconds();
    const double seconds = bench::seconds_of([&] {
      store::SweepFile store(file, head);
      (void)run_study(study, experiment, std::move(plan), store, workers, {stop.get_token(), {}});
      store.close();
    });
    const double processor = processor_seconds() - before;
    fmt::print("  {:<44} {:>10.3f} ms   processor time {:.3f} s\n",
               fmt::format("  until its first cell, {}", state), 1e3 * seconds, processor);
  }
  fs::remove(file);
}

int measure() {
  for (const Case& one : cases()) {
    const Experiment& experiment = experiment_named(one.study.experiment);
    std::vector<bench::Contestant> race = {
        {one.name, [&] { (void)grid_plan(one.study, experiment); }}};
    const double before = processor_seconds();
    bench::race(race, kRounds);
    const double processor = (processor_seconds() - before) / (kRounds + 1);  // one to warm up
    const double peak = peak_megabytes();  // the check takes memory as well, of the next case
    if (!is_right(one.study, experiment, grid_plan(one.study, experiment))) return EXIT_FAILURE;
    bench::print(race[0]);
    fmt::print("  {:<44} {:>10.3f} s\n", "  processor time of all threads", processor);
    fmt::print("  {:<44} {:>10.3f} MB\n", "  peak memory of the process so far", peak);
    bench::claim("  2 s / planning", 2.0 / race[0].best(), 1.0);
    bench::claim("  500 MB / peak", 500.0 / peak, 1.0);
  }
  const Case first = cases().front();
  measure_storing(first.study, experiment_named(first.study.experiment));
  fmt::print("  {:<44} {:>10.3f} MB\n", "peak memory of all", peak_megabytes());
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace dewpoint::studies

int main() { return dewpoint::studies::measure(); }
