// A job of several MPI ranks for ctest: the same studies on all ranks and on the threads of rank 0
// alone must leave the same bits; ways to fail must leave nobody waiting.
//
//     mpirun -n 3 mpi_study KIND
//
//     same, parts, refine   the study on the ranks against the study on threads
//     stop                  rank 0 is stopped in the middle, then goes on
//     served-stop           so is another rank
//     fail                  a cell throws on whichever rank has it
//     throw                 rank 0 leaves by an exception with tasks under way
//     early                 rank 0 leaves before it has shared anything
//
// Exit status 0: as expected on every rank.
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>

#include "dewpoint/studies/local_workers.hpp"
#include "dewpoint/studies/mpi_workers.hpp"
#include "store/scratch_folder.hpp"
#include "studies/test_study.hpp"

namespace dewpoint {
namespace {

using studies::MpiJob;
using studies::StudyText;

constexpr int kThreads = 2;

void expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error("expected: " + what);
}

StudyText study_for(const std::string& kind) {
  StudyText study = test::test_study(7);
  study.fixed["cost"] = 1.0;
  if (kind == "parts") study.fixed["pieces"] = 4.0;
  if (kind == "refine") study.refinement = studies::Refinement{"step", 2, {"x"}, 0.25};
  if (kind == "fail") study.fixed["fail"] = 3.0;
  if (kind == "stop" || kind == "served-stop") study.fixed["cost"] = 10.0;
  if (kind == "throw") study.fixed["cost"] = 1e6;
  return study;
}

std::set<int> ranks_in(const std::filesystem::path& path) {
  std::set<int> ranks;
  sqlite3* database = nullptr;
  const auto add = [](void* found, int, char** row, char**) {
    static_cast<std::set<int>*>(found)->insert(std::atoi(row[0]));
    return 0;
  };
  expect(sqlite3_open(path.c_str(), &database) == SQLITE_OK &&
             sqlite3_exec(database, "SELECT DISTINCT rank FROM effort", add, &ranks, nullptr) ==
                 SQLITE_OK,
         "a study to read");
  sqlite3_close(database);
  return ranks;
}

void compare(MpiJob& job, const StudyText& study) {
  const test::TestExperiment experiment;
  const test::ScratchFolder folder;
  {
    const auto workers = job.workers(experiment, study.seed, kThreads);
    expect(workers->threads() == kThreads * job.ranks(), "threads of all ranks");
    const auto outcome = test::run_in(folder / "ranks.study", study, *workers);
    expect(outcome.finished == outcome.planned, "a finished study");
  }
  const auto alone = studies::local_workers(experiment, study.seed, 2);
  (void)test::run_in(folder / "threads.study", study, *alone);
  expect(test::bits_of(test::cells_in(folder / "ranks.study", study)) ==
             test::bits_of(test::cells_in(folder / "threads.study", study)),
         "the same bits on ranks and on threads");
  expect(ranks_in(folder / "ranks.study").size() == static_cast<std::size_t>(job.ranks()),
         "work on every rank");
}

// The first run is stopped, by rank 0 itself or by what another rank reports.
void stop_and_go_on(MpiJob& job, const StudyText& study, bool by_rank_0) {
  const test::TestExperiment experiment;
  const test::ScratchFolder folder;
  std::stop_source stop;
  studies::RunOptions options{stop.get_token(), [&](const studies::RunProgress& progress) {
                                if (by_rank_0 && progress.work_done > 0) stop.request_stop();
                              }};
  const auto first = test::run_in(folder / "a.study", study,
                                  *job.workers(experiment, study.seed, kThreads), options);
  expect(first.stopped && first.finished < first.planned, "a stop midway");
  expect(!by_rank_0 || first.replicas > 0, "something kept");
  const auto second =
      test::run_in(folder / "a.study", study, *job.workers(experiment, study.seed, kThreads));
  expect(!second.stopped && second.finished == second.planned, "a finished study");
  const auto cells = test::cells_in(folder / "a.study", study);
  const auto alone = studies::local_workers(experiment, study.seed, 2);
  (void)test::run_in(folder / "threads.study", study, *alone);
  expect(test::bits_of(cells) == test::bits_of(test::cells_in(folder / "threads.study", study)),
         "the same bits stopped or not");
  for (const auto& [key, ranges] : test::efforts_in(folder / "a.study")) {
    std::uint64_t next = 0;
    for (const auto& [from, to] : ranges) expect(from == std::exchange(next, to), "nothing twice");
  }
}

void expect_failure(MpiJob& job, const StudyText& study) {
  const test::TestExperiment experiment;
  const test::ScratchFolder folder;
  const auto workers = job.workers(experiment, study.seed, kThreads);
  try {
    (void)test::run_in(folder / "a.study", study, *workers);
  } catch (const Error& error) {
    expect(std::string(error.what()).find("fail: as asked") != std::string::npos, error.what());
    return;
  }
  expect(false, "an error");
}

void leave_by_exception(MpiJob& job, const StudyText& study) {
  const test::TestExperiment experiment;
  const test::ScratchFolder folder;
  const auto workers = job.workers(experiment, study.seed, kThreads);
  studies::RunOptions options{{}, [](const studies::RunProgress&) { throw std::exception(); }};
  try {
    (void)test::run_in(folder / "a.study", study, *workers, options);
  } catch (const std::exception&) {
    return;
  }
  expect(false, "an exception");
}

void schedule(MpiJob& job, const std::string& kind) {
  if (kind == "early") throw Error(Code::bad_value, "rank 0 leaves early");
  (void)job.share(std::string(100'000, 'x') + kind);
  const StudyText study = study_for(kind);
  if (kind == "stop" || kind == "served-stop") return stop_and_go_on(job, study, kind == "stop");
  if (kind == "fail") return expect_failure(job, study);
  if (kind == "throw") return leave_by_exception(job, study);
  compare(job, study);
}

// Asks for a stop in the middle of its third replica.
class StoppingExperiment final : public test::TestExperiment {
 public:
  StoppingExperiment(std::stop_source& stop, bool stops) : stop_(stop), stops_(stops) {}

  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override {
    if (++calls_ == 3 && stops_) stop_.request_stop();
    return TestExperiment::measure(tile, seed, replica, context);
  }

 private:
  std::stop_source& stop_;
  bool stops_;
  mutable std::atomic<int> calls_{0};
};

void serve(MpiJob& job, const std::string& kind) {
  const test::TestExperiment experiment;
  if (kind == "early") {
    try {
      (void)job.share("");
    } catch (const Error& error) {
      expect(error.code() == Code::stopped, "rank 0 has ended");
      return;
    }
    expect(false, "an error");
  }
  expect(job.share("") == std::string(100'000, 'x') + kind, "the text of rank 0");
  std::stop_source stop;
  const StoppingExperiment stopping(stop, kind == "served-stop" && job.rank() == 1);
  const std::uint64_t seed = study_for(kind).seed;
  job.serve(stopping, seed, kThreads, stop.get_token());
  const bool again = kind == "stop" || kind == "served-stop";
  if (again) job.serve(experiment, seed, kThreads, {});
}

int run(const std::string& kind) {
  MpiJob job;
  try {
    expect(job.ranks() > 1 && studies::under_mpi() && !studies::mpi_version().empty(), "MPI");
    if (job.rank() == 0) {
      schedule(job, kind);
    } else {
      serve(job, kind);
    }
  } catch (const std::exception& error) {
    if (kind == "early" && job.rank() == 0) return EXIT_SUCCESS;
    fmt::print(stderr, "rank {}, {}: {}\n", job.rank(), kind, error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace dewpoint

int main(int count, char** arguments) { return dewpoint::run(count > 1 ? arguments[1] : "same"); }
