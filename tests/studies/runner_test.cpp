#include "dewpoint/studies/runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>

#include "dewpoint/store/study.hpp"
#include "dewpoint/studies/local_workers.hpp"
#include "store/scratch_folder.hpp"
#include "studies/test_study.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::studies {
namespace {

using test::bits_of;
using test::Cells;
using test::cells_in;
using test::efforts_in;
using test::run_in;
using test::ScratchFolder;
using test::test_study;
using test::TestExperiment;

// Workers on the calling thread that return tasks in a random order and lie about the time they
// took, so that the runner cuts its pieces at random.
class CapriciousWorkers final : public Workers {
 public:
  explicit CapriciousWorkers(std::uint64_t caprice) : stream_(test::seed(), "caprice", caprice) {}

  [[nodiscard]] int threads() const override { return 3; }
  [[nodiscard]] int ranks() const override { return 1; }
  [[nodiscard]] std::size_t capacity() const override { return 7; }
  void submit(Task task) override { waiting_.push_back(std::move(task)); }
  void stop() override { stop_.request_stop(); }

  [[nodiscard]] std::vector<TaskResult> collect(std::chrono::milliseconds) override {
    const auto bits = stream_.bits(performed_++);
    if (performed_ == interruption_) interrupt_();
    std::swap(waiting_[bits[0] % waiting_.size()], waiting_.back());
    TaskResult result = perform(waiting_.back(), experiment_, 11, stop_.get_token());
    result.seconds = std::pow(10.0, -6.0 * static_cast<double>(bits[1]) * 0x1p-32);
    waiting_.pop_back();
    return {result};
  }

  /// Calls `interrupt` before task number `number`, counted from 1.
  void interrupt_before(std::uint64_t number, std::function<void()> interrupt) {
    interruption_ = number;
    interrupt_ = std::move(interrupt);
  }
  [[nodiscard]] std::uint64_t performed() const { return performed_; }

 private:
  Stream stream_;
  TestExperiment experiment_;
  std::vector<Task> waiting_;
  std::stop_source stop_;
  std::uint64_t performed_ = 0;
  std::uint64_t interruption_ = 0;
  std::function<void()> interrupt_;
};

// The definition: replica after replica on one thread.
Cells expected_cells(const StudyText& study) {
  const TestExperiment experiment;
  Cells cells;
  for (const PlannedCell& planned : grid_plan(study, experiment).cells) {
    store::SweepCell& cell = cells[planned.key];
    const Point point = planned.point();
    cell.exact = experiment.deterministic(point);
    cell.replicas = cell.exact ? 1 : study.precision.replicas;
    cell.predictions = experiment.predict(point);
    cell.moments.resize(TestExperiment::kValues);
    for (std::uint64_t r = 0; r < cell.replicas; ++r) {
      const auto values = experiment.measure({&point, 1}, study.seed, r, {})[0];
      for (std::size_t p = 0; p < values.size(); ++p) cell.moments[p].add(values[p]);
    }
  }
  return cells;
}

// Every replica of every cell once: the commits of a cell follow each other without overlap.
void expect_nothing_twice(const std::filesystem::path& path, const Cells& cells) {
  const auto efforts = efforts_in(path);
  EXPECT_EQ(efforts.size(), cells.size());
  for (const auto& [key, ranges] : efforts) {
    std::uint64_t next = 0;
    for (const auto& [from, to] : ranges) {
      EXPECT_EQ(from, next) << key;
      EXPECT_GT(to, from) << key;
      next = to;
    }
    EXPECT_EQ(next, cells.at(key).replicas) << key;
  }
}

StudyText divided(StudyText study) {
  study.fixed["pieces"] = 3.0;
  return study;
}

StudyText with_target(StudyText study) {
  study.precision = {8, 0.0135, "profile", 128};
  return study;
}

StudyText with_refinement(StudyText study) {
  study.refinement = Refinement{"step", 2, {"x"}, 0.25};
  return study;
}

Cells cells_of(const StudyText& study, Workers& workers) {
  const ScratchFolder folder;
  (void)run_in(folder / "a.study", study, workers);
  return cells_in(folder / "a.study", study);
}

TEST(RunStudy, GivesWhatOneThreadGivesReplicaAfterReplica) {
  const TestExperiment experiment;
  for (const StudyText& study : {test_study(9), divided(test_study(9))}) {
    const auto expected = bits_of(expected_cells(study));
    for (const int threads : {1, 2, 5}) {
      const auto workers = local_workers(experiment, study.seed, threads);
      EXPECT_EQ(bits_of(cells_of(study, *workers)), expected) << threads;
    }
    for (std::uint64_t caprice = 0; caprice < 5; ++caprice) {
      CapriciousWorkers workers(caprice);
      EXPECT_EQ(bits_of(cells_of(study, workers)), expected) << caprice;
    }
  }
}

// One replica has no step.
class BlindExperiment final : public TestExperiment {
 public:
  explicit BlindExperiment(std::uint64_t replica) : blind_(replica) {}
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override {
    auto values = TestExperiment::measure(tile, seed, replica, context);
    for (auto& cell : values) {
      if (replica == blind_) cell[0] = std::nan("");
    }
    return values;
  }

 private:
  std::uint64_t blind_;
};

TEST(RunStudy, AveragesOnlyReplicasThatHaveANumber) {
  const StudyText study = test_study(5);
  const BlindExperiment experiment(1);
  const auto workers = local_workers(experiment, study.seed, 2);
  for (const auto& [key, cell] : cells_of(study, *workers)) {
    EXPECT_EQ(cell.replicas, 5u);
    EXPECT_EQ(cell.moments[0].samples(), 4u);
    EXPECT_EQ(cell.moments[1].samples(), 5u);
    EXPECT_TRUE(std::isfinite(cell.moments[0].mean()));
  }
}

TEST(RunStudy, KnowsThatNoReplicaHadANumberAndGoesOnFromThere) {
  StudyText study = test_study(1);
  const BlindExperiment experiment(0);
  const auto workers = local_workers(experiment, study.seed, 1);
  const ScratchFolder folder;
  (void)run_in(folder / "a.study", study, *workers);
  const Frame frame = store::read_study(folder / "a.study").frame("test");
  EXPECT_EQ(frame.variable("step").cells[0].samples, 0u);
  EXPECT_TRUE(std::isnan(frame.variable("step").cells[0].mean));
  study.precision.replicas = 3;
  (void)run_in(folder / "a.study", study, *workers);
  for (const auto& [key, cell] : cells_in(folder / "a.study", study)) {
    EXPECT_EQ(cell.moments[0].samples(), 2u);
    EXPECT_TRUE(std::isfinite(cell.moments[0].mean()));
  }
}

TEST(RunStudy, SaysWhatItDidAndCostsNothingTheSecondTime) {
  const ScratchFolder folder;
  const StudyText study = test_study(5);
  CapriciousWorkers first(0), second(1);
  const RunOutcome outcome = run_in(folder / "a.study", study, first);
  EXPECT_EQ(outcome.planned, 24U);
  EXPECT_EQ(outcome.finished, 24U);
  EXPECT_EQ(outcome.computed, 24U);
  EXPECT_EQ(outcome.reused, 0U);
  EXPECT_EQ(outcome.replicas, 24U * 5U);
  EXPECT_GT(outcome.seconds, 0.0);
  EXPECT_FALSE(outcome.stopped);
  const RunOutcome again = run_in(folder / "a.study", study, second);
  EXPECT_EQ(again.finished, 24U);
  EXPECT_EQ(again.reused, 24U);
  EXPECT_EQ(again.computed, 0U);
  EXPECT_EQ(again.replicas, 0U);
  EXPECT_EQ(second.performed(), 0U);
}

TEST(RunStudy, CountsWhatAnEarlierVersionHadComputed) {
  const ScratchFolder folder;
  CapriciousWorkers first(0), second(1);
  EXPECT_EQ(run_in(folder / "a.study", test_study(5), first).outdated, 0U);
  const RunOutcome newer = run_in(folder / "a.study", test_study(5), second, {}, 3);
  EXPECT_EQ(newer.computed, 24U);
  EXPECT_EQ(newer.outdated, 24U);
  const RunOutcome again = run_in(folder / "a.study", test_study(5), second, {}, 3);
  EXPECT_EQ(again.outdated, 0U);
  EXPECT_EQ(again.reused, 24U);
}

// Stopped before a random task, later each time, until it comes to an end; how often it was.
std::uint64_t run_with_stops(const std::filesystem::path& path, const StudyText& study,
                             std::uint64_t first_caprice) {
  const Stream stream = test::stream("RunStudy/Stops");
  for (std::uint64_t stops = 0; stops < 1000; ++stops) {
    CapriciousWorkers workers(first_caprice + stops);
    std::stop_source stop;
    const std::uint64_t latest = std::uint64_t{4} << std::min<std::uint64_t>(stops, 20);
    workers.interrupt_before(2 + stream.bits(first_caprice + stops)[0] % latest,
                             [&] { stop.request_stop(); });
    if (!run_in(path, study, workers, {stop.get_token(), {}}).stopped) return stops;
  }
  throw std::runtime_error("it never ends");
}

TEST(RunStudy, StoppedAndContinuedIsTheSameAndRepeatsNothing) {
  const std::vector<StudyText> studies = {test_study(9), divided(test_study(2)),
                                          with_target(test_study(8)),
                                          with_refinement(test_study(3))};
  std::uint64_t stops = 0;
  for (std::size_t s = 0; s < studies.size(); ++s) {
    CapriciousWorkers undisturbed(s);
    const auto expected = bits_of(cells_of(studies[s], undisturbed));
    const ScratchFolder folder;
    stops += run_with_stops(folder / "a.study", studies[s], 1000 * (s + 1));
    const Cells cells = cells_in(folder / "a.study", studies[s]);
    EXPECT_EQ(bits_of(cells), expected) << s;
    expect_nothing_twice(folder / "a.study", cells);
  }
  EXPECT_GE(stops, studies.size());
}

TEST(RunStudy, StopsThreadsInTheMiddleOfLongCells) {
  const TestExperiment experiment;
  const ScratchFolder folder;
  StudyText study = test_study(1);
  study.fixed["cost"] = 1e6;  // a quarter of an hour
  const auto workers = local_workers(experiment, study.seed, 2);
  std::stop_source stop;
  RunOptions options{stop.get_token(), [&](const RunProgress&) { stop.request_stop(); }};
  const RunOutcome outcome = run_in(folder / "a.study", study, *workers, options);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(outcome.finished, 0U);
  EXPECT_TRUE(cells_in(folder / "a.study", study).empty());
}

// Between planning and the first cell, a large study is not stored to the end first.
TEST(RunStudy, StopsBeforeALargePlanIsStored) {
  const TestExperiment experiment;
  const ScratchFolder folder;
  StudyText study = test_study(1);
  study.grid = {{"x", std::vector<double>(10'000)}};
  std::iota(study.grid[0].values.begin(), study.grid[0].values.end(), 0.0);
  study.refinement.reset();
  const auto workers = local_workers(experiment, study.seed, 2);
  std::stop_source stop;
  stop.request_stop();
  const RunOutcome outcome = run_in(folder / "a.study", study, *workers, {stop.get_token(), {}});
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(outcome.planned, 10'000U);
  EXPECT_EQ(outcome.computed, 0U);
  EXPECT_EQ(store::summarise(folder / "a.study").planned, 0U);
}

TEST(RunStudy, AddsReplicasLaterAsIfAskedForAtOnce) {
  for (const bool parts : {false, true}) {
    const ScratchFolder folder;
    for (const std::uint64_t replicas : {1, 3, 4, 11}) {
      const StudyText study = parts ? divided(test_study(replicas)) : test_study(replicas);
      CapriciousWorkers workers(replicas);
      (void)run_in(folder / "a.study", study, workers);
      const Cells cells = cells_in(folder / "a.study", study);
      EXPECT_EQ(bits_of(cells), bits_of(expected_cells(study))) << replicas;
      expect_nothing_twice(folder / "a.study", cells);
    }
  }
}

TEST(RunStudy, SharesCellsWithAChangedPlan) {
  const ScratchFolder folder;
  StudyText study = test_study(3);
  CapriciousWorkers first(0), second(1);
  (void)run_in(folder / "a.study", study, first);
  study.grid[1].values.erase(study.grid[1].values.begin(), study.grid[1].values.begin() + 4);
  study.grid[1].values.push_back(7.0);
  const RunOutcome outcome = run_in(folder / "a.study", study, second);
  EXPECT_EQ(outcome.planned, 18U);
  EXPECT_EQ(outcome.reused, 16U);
  EXPECT_EQ(outcome.computed, 2U);
  EXPECT_EQ(cells_in(folder / "a.study", study).size(), 26U);
}

// With 64 replicas the error is kNoise/8 = 0.0125, uncertain by a part in √128: the worst of three
// is below the target for some cells and above for others, which then take 128.
TEST(RunStudy, BringsEveryCellToItsTarget) {
  const StudyText study = with_target(test_study(8));
  CapriciousWorkers workers(0);
  std::set<std::uint64_t> replicas;
  for (const auto& [key, cell] : cells_of(study, workers)) {
    replicas.insert(cell.replicas);
    const auto worst = [](const store::SweepCell& of) {
      double error = 0.0;
      for (std::size_t p = 1; p < of.moments.size(); ++p) {
        error = std::max(error, of.moments[p].estimate().standard_error);
      }
      return error;
    };
    if (cell.replicas < study.precision.most) {
      EXPECT_LE(worst(cell), study.precision.target_error);
    }
    StudyText half = study;
    half.precision = {cell.replicas / 2, 0.0, "", 4096};
    EXPECT_GT(worst(expected_cells(half).at(key)), study.precision.target_error);
  }
  EXPECT_GE(replicas.size(), 2U);  // cells decide for themselves
  EXPECT_LE(*replicas.rbegin(), 128U);
}

TEST(RunStudy, TakesOneReplicaWhereNothingIsRandom) {
  StudyText study = test_study(16);
  study.fixed["quiet"] = true;
  CapriciousWorkers workers(0);
  const Cells cells = cells_of(study, workers);
  EXPECT_EQ(bits_of(cells), bits_of(expected_cells(study)));
  for (const auto& [key, cell] : cells) {
    EXPECT_EQ(cell.replicas, 1U);
    EXPECT_TRUE(cell.exact);
  }
}

TEST(RunStudy, PutsCellsWhereTheStepIs) {
  const TestExperiment experiment;
  const StudyText study = with_refinement(test_study(2));
  const ScratchFolder folder;
  const auto workers = local_workers(experiment, study.seed, 2);
  const RunOutcome outcome = run_in(folder / "a.study", study, *workers);
  EXPECT_GT(outcome.planned, 24U + 5U);
  EXPECT_EQ(outcome.finished, outcome.planned);
  const Cells cells = cells_in(folder / "a.study", study);
  EXPECT_EQ(cells.size(), outcome.planned);
  EXPECT_EQ(store::summarise(folder / "a.study").planned, outcome.planned);
  for (std::uint64_t caprice = 0; caprice < 3; ++caprice) {
    CapriciousWorkers others(caprice);
    EXPECT_EQ(bits_of(cells_of(study, others)), bits_of(cells));
  }
}

TEST(RunStudy, KeepsTheOtherCellsWhenOneFails) {
  StudyText study = test_study(4);
  study.grid[1] = {"fail", {-1.0, 2.0, 5.0}};
  study.fixed["x"] = 0.5;
  for (std::uint64_t caprice = 0; caprice < 3; ++caprice) {
    const ScratchFolder folder;
    CapriciousWorkers workers(caprice);
    try {
      (void)run_in(folder / "a.study", study, workers);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_value);
      const std::string message = error.what();
      EXPECT_NE(message.find("\"fail\":2"), std::string::npos) << message;
      EXPECT_NE(message.find("fail: as asked"), std::string::npos) << message;
    }
    // What was finished when the error came is there, and right as far as it goes.
    const Cells cells = cells_in(folder / "a.study", study);
    const TestExperiment experiment;
    for (const PlannedCell& planned : grid_plan(study, experiment).cells) {
      const auto found = cells.find(planned.key);
      if (found == cells.end()) continue;
      const double fail = number_of(planned.point(), "fail");
      EXPECT_LE(found->second.replicas, fail == 2.0 ? 2U : 4U);
    }
    // Without the point that fails it goes on from there.
    StudyText mended = study;
    mended.grid[1].values = {-1.0, 5.0};
    CapriciousWorkers others(caprice + 100);
    (void)run_in(folder / "a.study", mended, others);
    const Cells again = cells_in(folder / "a.study", mended);
    for (const auto& [key, cell] : expected_cells(mended)) {
      EXPECT_EQ(bits_of({{key, again.at(key)}}), bits_of({{key, cell}}));
    }
    expect_nothing_twice(folder / "a.study", again);
  }
}

TEST(RunStudy, FinishesWhatIsUnderWayWhenACellFails) {
  const TestExperiment experiment;
  const ScratchFolder folder;
  StudyText study = test_study(1);
  study.grid = {{"cost", {1.0, 200.0}}, {"fail", {-1.0, 0.0}}};
  study.fixed["x"] = 0.5;
  const auto workers = local_workers(experiment, study.seed, 4);  // all four at once
  EXPECT_THROW((void)run_in(folder / "a.study", study, *workers), Error);
  EXPECT_EQ(cells_in(folder / "a.study", study).size(), 2U);
}

// Workers that bring back everything at once, and the second time after a commit has failed.
class TogetherWorkers final : public Workers {
 public:
  explicit TogetherWorkers(std::function<void()> fail) : fail_(std::move(fail)) {}

  [[nodiscard]] int threads() const override { return 4; }
  [[nodiscard]] int ranks() const override { return 1; }
  [[nodiscard]] std::size_t capacity() const override { return 4; }
  void submit(Task task) override { waiting_.push_back(std::move(task)); }
  void stop() override {}

  [[nodiscard]] std::vector<TaskResult> collect(std::chrono::milliseconds) override {
    if (waiting_.empty()) throw std::logic_error("asked for results that were handed over");
    if (++rounds_ == 2) fail_();
    std::vector<TaskResult> results;
    for (const Task& task : waiting_) results.push_back(perform(task, experiment_, 11, {}));
    waiting_.clear();
    return results;
  }

 private:
  TestExperiment experiment_;
  std::function<void()> fail_;
  std::vector<Task> waiting_;
  int rounds_ = 0;
};

// The first of several results meets the failure: nobody waits for the others, which are here.
TEST(RunStudy, EndsWhenACommitFailsWhileSeveralResultsComeIn) {
  const TestExperiment experiment;
  const ScratchFolder folder;
  const StudyText study = test_study(50);
  store::SweepFile file(folder / "a.study", test::test_head(study));
  TogetherWorkers workers([&] {
    file.put("no cell of the plan", expected_cells(test_study(1)).begin()->second, {});
    EXPECT_THROW(file.flush(), Error);
  });
  EXPECT_THROW((void)run_study(study, experiment, grid_plan(study, experiment), file, workers, {}),
               Error);
}

TEST(RunStudy, NamesTheObservableThatIsNotMeasured) {
  const ScratchFolder folder;
  StudyText study = test_study(1);
  study.precision = {8, 0.1, "stap", 64};
  CapriciousWorkers workers(0);
  EXPECT_THROW((void)run_in(folder / "a.study", study, workers), Error);
}

TEST(RunStudy, ReportsProgressThatGrowsToTheEnd) {
  const TestExperiment experiment;
  const ScratchFolder folder;
  StudyText study = test_study(2);
  study.fixed["cost"] = 10.0;
  std::vector<RunProgress> reports;
  const auto workers = local_workers(experiment, study.seed, 2);
  const RunOutcome outcome =
      run_in(folder / "a.study", study, *workers,
             {{}, [&](const RunProgress& progress) { reports.push_back(progress); }});
  ASSERT_GE(reports.size(), 2U);
  for (std::size_t i = 1; i < reports.size(); ++i) {
    EXPECT_GE(reports[i].finished, reports[i - 1].finished);
    EXPECT_GE(reports[i].work_done, reports[i - 1].work_done);
    EXPECT_EQ(reports[i].planned, 24U);
  }
  EXPECT_EQ(reports.back().finished, 24U);
  EXPECT_EQ(reports.back().work_left, 0.0);
  // At most ten per second, the first and the last.
  EXPECT_LE(static_cast<double>(reports.size()), 10.0 * outcome.seconds + 2.0);
}

TEST(EstimateCost, CountsWhatIsMissingAndTimesSomeOfIt) {
  const TestExperiment experiment;
  const ScratchFolder folder;
  StudyText study = test_study(5);
  study.grid[0] = {"cost", {1.0, 4.0}};
  const CostEstimate all = estimate_cost(study, experiment, {}, 0.5, {});
  EXPECT_EQ(all.cells, 24U);
  EXPECT_EQ(all.missing, 24U);
  EXPECT_EQ(all.replicas, 120U);
  EXPECT_GE(all.measured, 1U);
  EXPECT_FALSE(all.at_least);
  // A replica keeps its thread busy for its cost at least: 12 cells × 5 replicas × (1 + 4) ms.
  EXPECT_GE(all.seconds, 0.3);
  EXPECT_LE(all.low, all.seconds);
  EXPECT_GE(all.high, all.seconds);

  const auto workers = local_workers(experiment, study.seed, 2);
  StudyText some = study;
  some.grid[0].values = {1.0};
  some.precision.replicas = 3;
  (void)run_in(folder / "a.study", some, *workers);
  const CostEstimate rest =
      estimate_cost(study, experiment, cells_in(folder / "a.study", study), 0.1, {});
  EXPECT_EQ(rest.missing, 24U);
  EXPECT_EQ(rest.replicas, 12U * 2U + 12U * 5U);
}

TEST(EstimateCost, KnowsThatNothingIsMissingAndThatMoreMayBe) {
  const TestExperiment experiment;
  StudyText study = test_study(1);
  const CostEstimate none = estimate_cost(study, experiment, expected_cells(study), 0.1, {});
  EXPECT_EQ(none.missing, 0U);
  EXPECT_EQ(none.seconds, 0.0);
  const CostEstimate fewest = estimate_cost(with_target(study), experiment, {}, 0.01, {});
  EXPECT_TRUE(fewest.at_least);
  EXPECT_EQ(fewest.replicas, 24U * 8U);
}

TEST(EstimateCost, CanBeStopped) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((void)estimate_cost(test_study(1), TestExperiment(), {}, 1.0, stop.get_token()),
               Error);
}

}  // namespace
}  // namespace dewpoint::studies
