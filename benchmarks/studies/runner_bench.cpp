// What running a study costs beside the cells themselves.
//
//     runner_bench                  threads: overhead of runner and writer per cell
//     mpirun -n 2 runner_bench      ranks: one rank against two, one computing thread each
//
// On threads: a study of 1 ms cells should take at most 5 % more processor time, of all threads
// together, than the same calls in a plain loop; empty cells show what one costs. Processor time
// counts the runner and the writer wherever they run, and other programs not at all.
//
// On ranks: a study of 200 equal cells of 20 ms should keep two ranks busy to 90 % although one of
// them also schedules and writes. That takes the clock on the wall, so it is judged only while a
// plain loop gets a whole processor: on a busy machine the ratio means nothing.
//
// And a finished study of 100,000 cells should be found finished within a second.
//
// First the studies must have every value of the plain loop, to the last bit.
#include <time.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <thread>

#include "dewpoint/store/sweep_file.hpp"
#include "dewpoint/studies/local_workers.hpp"
#include "dewpoint/studies/mpi_workers.hpp"
#include "dewpoint/studies/runner.hpp"
#include "support/timing.hpp"

namespace dewpoint::studies {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 1;

// `steps` steps of a logistic map with an exponential in each: nothing to vectorise away.
class ArithmeticExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "arithmetic"; }
  [[nodiscard]] std::string summary() const override { return "arithmetic of a given length"; }
  [[nodiscard]] int schema() const override { return 1; }
  [[nodiscard]] std::string order_parameter() const override { return "value"; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> all = {
        {"cell", ParameterKind::whole, {}, "which"},
        {"steps", ParameterKind::whole, Value{1.0}, "how long"},
    };
    return all;
  }
  [[nodiscard]] Point resolved(const Point& given) const override {
    return with_defaults(given, parameters());
  }
  [[nodiscard]] std::vector<Observable> observables(const Point&) const override {
    return {{"value"}, {"square"}};
  }
  [[nodiscard]] double work(const Point& point) const override { return number_of(point, "steps"); }
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile, std::uint64_t,
                                                         std::uint64_t replica,
                                                         const RunContext&) const override {
    std::vector<std::vector<double>> values;
    for (const Point& point : tile) {
      double x = 0.3 + 1e-6 * number_of(point, "cell") + 1e-9 * static_cast<double>(replica);
      const std::size_t steps = count_of(point, "steps");
      for (std::size_t i = 0; i < steps; ++i) x = 3.9 * x * (1.0 - x) * std::exp(1e-9 * x);
      values.push_back({x, x * x});
    }
    return values;
  }
};

StudyText study_of(std::size_t cells, std::size_t steps) {
  StudyText study;
  study.experiment = "arithmetic";
  study.seed = kSeed;
  study.fixed["steps"] = static_cast<double>(steps);
  study.grid = {{"cell", {}}};
  for (std::size_t i = 0; i < cells; ++i) study.grid[0].values.push_back(static_cast<double>(i));
  return study;
}

// Every cell in a plain loop.
std::vector<double> compute_plainly(const StudyText& study) {
  const ArithmeticExperiment experiment;
  std::vector<double> values;
  for (const double cell : study.grid[0].values) {
    const Point point = experiment.resolved({{"cell", cell}, {"steps", study.fixed.at("steps")}});
    values.push_back(experiment.measure({&point, 1}, kSeed, 0, {})[0][0]);
  }
  return values;
}

// Of all threads of this process.
double processor_seconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

// So many steps that a cell takes so long, corrected by cells of about that length: a long loop
// runs at another speed than short ones.
std::size_t steps_for(double seconds) {
  constexpr std::size_t kCells = 20;
  double steps = 10'000.0;
  for (int round = 0; round < 3; ++round) {
    const StudyText trial = study_of(kCells, static_cast<std::size_t>(steps));
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 5; ++i) {
      least = std::min(least, processor_seconds([&] { (void)compute_plainly(trial); }));
    }
    steps *= seconds * kCells / least;
  }
  return static_cast<std::size_t>(steps);
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("runner-bench-{}", ::getpid())) {
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] fs::path fresh() { return path_ / fmt::format("{}.study", made_++); }

 private:
  fs::path path_;
  int made_ = 0;
};

store::SweepHead head() {
  store::SweepHead head;
  head.experiment = "arithmetic";
  head.seed = kSeed;
  return head;
}

// What the command does: open, plan, compute, write, close.
void run(const StudyText& study, const fs::path& path, Workers& workers) {
  const ArithmeticExperiment experiment;
  store::SweepFile file(path, head());
  (void)run_study(study, experiment, grid_plan(study, experiment), file, workers, {});
  file.close();
}

// Workers of their own each time: of two pools alive at once oneTBB gives both the smaller number
// of threads.
void run_on_threads(const StudyText& study, const fs::path& path, int threads) {
  const ArithmeticExperiment experiment;
  const auto workers = local_workers(experiment, kSeed, threads);
  run(study, path, *workers);
}

bool has_values(const fs::path& path, const StudyText& study, const std::vector<double>& plain) {
  const auto cells = store::SweepFile(path, head()).cells();
  const Plan plan = grid_plan(study, ArithmeticExperiment());
  bool same = cells.size() == plain.size();
  for (std::size_t i = 0; same && i < plain.size(); ++i) {
    const auto found = cells.find(plan.cells[i].key);
    same = found != cells.end() && found->second.replicas == 1 &&
           std::bit_cast<std::uint64_t>(found->second.moments[0].mean()) ==
               std::bit_cast<std::uint64_t>(plain[i]);
  }
  if (!same) fmt::print("a study differs from the plain loop: not timed\n");
  return same;
}

// bench::race on processor time.
void race_on_processor_time(std::vector<bench::Contestant>& race, int rounds) {
  for (bench::Contestant& c : race) c.work();
  for (int r = 0; r < rounds; ++r) {
    for (bench::Contestant& c : race) c.seconds.push_back(processor_seconds(c.work));
  }
}

// A finished study of 100,000 cells of a real experiment: planned, opened, found finished, closed.
void measure_resuming(Folder& folder) {
  StudyText study;
  study.experiment = "phase";
  study.seed = kSeed;
  study.fixed = {{"tokens", std::string("simplex")}, {"n", 8.0}};
  study.grid = {{"rho", {}}, {"gamma", {}}};
  for (int i = 0; i < 100; ++i) study.grid[0].values.push_back(i / 100.0);
  for (int i = 1; i <= 1000; ++i) study.grid[1].values.push_back(i / 100.0);
  const Experiment& phase = experiment_named("phase");
  const fs::path path = folder.fresh();
  store::SweepHead phase_head = head();
  phase_head.experiment = "phase";
  const auto resume = [&] {
    const auto workers = local_workers(phase, kSeed, 0);
    Plan plan = grid_plan(study, phase);
    store::SweepFile file(path, phase_head);
    const RunOutcome outcome = run_study(study, phase, std::move(plan), file, *workers, {});
    file.close();
    return outcome;
  };
  if (resume().finished != 100'000 || resume().replicas != 0) {
    fmt::print("a finished study was computed again: not timed\n");
    return;
  }
  std::vector<bench::Contestant> race = {
      {"100,000 finished cells, resumed", [&] { (void)resume(); }}};
  bench::race(race, 5);
  bench::print(race[0]);
  bench::claim("a second / resuming", 1.0 / race[0].best(), 1.0);
}

int measure_threads() {
  constexpr std::size_t kCells = 1000, kEmptyCells = 20'000;
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  const StudyText study = study_of(kCells, steps_for(0.001)), empty = study_of(kEmptyCells, 1);
  const std::vector<double> plain = compute_plainly(study);
  Folder folder;
  for (const int threads : {1, all}) {
    const fs::path path = folder.fresh();
    run_on_threads(study, path, threads);
    if (!has_values(path, study, plain)) return EXIT_FAILURE;
  }
  std::vector<bench::Contestant> race = {
      {"1000 cells of 1 ms, plain loop", [&] { (void)compute_plainly(study); }},
      {"the study, 1 thread", [&] { run_on_threads(study, folder.fresh(), 1); }},
      {fmt::format("the study, {} threads", all),
       [&] { run_on_threads(study, folder.fresh(), all); }},
      {"20000 empty cells, 1 thread", [&] { run_on_threads(empty, folder.fresh(), 1); }},
  };
  race_on_processor_time(race, 5);
  fmt::print("runner and writer on threads, processor time\n");
  for (const auto& contestant : race) bench::print(contestant);
  bench::claim("plain/study, 1 thread", race[0].best() / race[1].best(), 1.0 / 1.05);
  bench::claim(fmt::format("plain/study, {} threads", all), race[0].best() / race[2].best(),
               1.0 / 1.05);
  fmt::print("  an empty cell: {:.1f} us\n", 1e6 * race[3].best() / kEmptyCells);
  measure_resuming(folder);
  return EXIT_SUCCESS;
}

// Before each study on the ranks rank 0 says so, and at the end that it was the last.
void run_on_ranks(MpiJob& job, const StudyText& study, const fs::path& path) {
  const ArithmeticExperiment experiment;
  (void)job.share("one more");
  const auto workers = job.workers(experiment, kSeed, 1);
  run(study, path, *workers);
}

struct Plain {
  std::vector<double> values;
  double busyness = 1.0;  // wall over processor time: 1 on a quiet machine
};

Plain timed_plainly(const StudyText& study) {
  Plain plain;
  double processor = 0.0;
  const double wall = bench::seconds_of(
      [&] { processor = processor_seconds([&] { plain.values = compute_plainly(study); }); });
  plain.busyness = wall / processor;
  return plain;
}

int measure_ranks(MpiJob& job) {
  constexpr std::size_t kCells = 200;
  constexpr double kQuiet = 1.05;
  const StudyText study = study_of(kCells, steps_for(0.020));
  Folder folder;
  const fs::path first = folder.fresh(), second = folder.fresh();
  run_on_threads(study, first, 1);
  run_on_ranks(job, study, second);
  const Plain before = timed_plainly(study);
  for (const fs::path& path : {first, second}) {
    if (!has_values(path, study, before.values)) return EXIT_FAILURE;
  }
  std::vector<bench::Contestant> race = {
      {"200 cells of 20 ms, one rank", [&] { run_on_threads(study, folder.fresh(), 1); }},
      {fmt::format("the same, {} ranks", job.ranks()),
       [&] { run_on_ranks(job, study, folder.fresh()); }},
  };
  bench::race(race, 3);
  const double busy = std::max(before.busyness, timed_plainly(study).busyness);
  fmt::print("{}, one computing thread per rank\n", mpi_version());
  for (const auto& contestant : race) bench::print(contestant);
  const double efficiency = race[0].best() / (job.ranks() * race[1].best());
  if (busy > kQuiet) {
    fmt::print(
        "  efficiency {:.2f}, NOT JUDGED: a plain loop takes {:.2f} times its processor time\n",
        efficiency, busy);
  } else {
    bench::claim(fmt::format("efficiency on {} ranks", job.ranks()), efficiency, 0.9);
  }
  return EXIT_SUCCESS;
}

int serve_ranks(MpiJob& job) {
  const ArithmeticExperiment experiment;
  while (job.share("") == "one more") job.serve(experiment, kSeed, 1, {});
  return EXIT_SUCCESS;
}

int on_ranks() {
  MpiJob job;
  if (job.rank() != 0) return serve_ranks(job);
  const int status = measure_ranks(job);
  (void)job.share("that was the last");
  return status;
}

}  // namespace
}  // namespace dewpoint::studies

int main() {
  using namespace dewpoint::studies;
  return under_mpi() ? on_ranks() : measure_threads();
}
