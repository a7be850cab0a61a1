#include "dewpoint/studies/recorded_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "dewpoint/studies/local_workers.hpp"
#include "store/scratch_folder.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::studies {
namespace {

using test::ScratchFolder;

StudyText small_phase() {
  StudyText study;
  study.experiment = "phase";
  study.seed = test::seed();
  study.precision.replicas = 3;
  study.fixed = {{"d", 8.0}, {"alpha", 0.25}};
  study.grid = {{"n", {24.0, 40.0}}, {"rho", {0.0, 0.5, 0.75}}, {"gamma", {0.5, 1.25, 3.0}}};
  return study;
}

std::string text_of(const store::StudyRecord& record) {
  EXPECT_EQ(record.frames.size(), 1U);
  return to_json(record.frames.at(0)).dump();
}

// Somebody else's, with a count of the replicas of cells that they were asked for.
class CountingWorkers final : public Workers {
 public:
  explicit CountingWorkers(const StudyText& study)
      : workers_(local_workers(experiment_named(study.experiment), study.seed, 2)) {}

  [[nodiscard]] int threads() const override { return workers_->threads(); }
  [[nodiscard]] int ranks() const override { return workers_->ranks(); }
  [[nodiscard]] std::size_t capacity() const override { return workers_->capacity(); }
  void submit(Task task) override {
    asked_ += task.points.size() * task.replicas;
    workers_->submit(std::move(task));
  }
  [[nodiscard]] std::vector<TaskResult> collect(std::chrono::milliseconds patience) override {
    return workers_->collect(patience);
  }
  void stop() override { workers_->stop(); }

  [[nodiscard]] std::size_t asked() const { return asked_; }

 private:
  std::unique_ptr<Workers> workers_;
  std::size_t asked_ = 0;
};

TEST(RunInMemory, GivesTheRecordOfTheFile) {
  const ScratchFolder folder;
  StudyText study = small_phase();
  study.study = (folder / "a.study").string();
  CountingWorkers workers(study);
  (void)run_recorded(study, workers, "dewpoint it", {});
  const store::StudyRecord kept = store::read_study(study.study);
  for (const int threads : {1, 2, 5}) {
    const store::StudyRecord record = run_in_memory(study, threads, "dewpoint it");
    EXPECT_EQ(record.experiment, kept.experiment);
    EXPECT_EQ(record.parameters, kept.parameters);
    EXPECT_EQ(record.seed, kept.seed);
    EXPECT_EQ(record.version, kept.version);
    EXPECT_EQ(record.command, kept.command);
    EXPECT_EQ(text_of(record), text_of(kept)) << threads;
  }
}

TEST(RunInMemory, FindsTheCellsOfACoarserPlan) {
  const StudyText fine = small_phase();
  StudyText coarse = fine;
  coarse.grid[1].values = {0.0, 0.75};
  coarse.grid[2].values = {1.25};
  CountingWorkers workers(fine);
  store::CellMemory cells;
  EXPECT_EQ(text_of(run_in_memory(coarse, workers, "", cells)),
            text_of(run_in_memory(coarse, 1, "")));
  EXPECT_EQ(workers.asked(), 3U * 4);
  EXPECT_EQ(text_of(run_in_memory(fine, workers, "", cells)), text_of(run_in_memory(fine, 1, "")));
  EXPECT_EQ(workers.asked(), 3U * 18);
}

TEST(RunInMemory, PredictsLaterWhereFirstAnswersCannotWait) {
  const StudyText study = small_phase();
  CountingWorkers workers(study);
  store::CellMemory cells;
  RunOptions options;
  options.predictions = false;
  const store::StudyRecord early = run_in_memory(study, workers, "", cells, options);
  EXPECT_EQ(early.frames.at(0).find_variable("critical_gamma"), nullptr);
  EXPECT_NE(early.frames.at(0).find_variable("contraction"), nullptr);
  const std::size_t asked = workers.asked();
  EXPECT_EQ(text_of(run_in_memory(study, workers, "", cells)),
            text_of(run_in_memory(study, 1, "")));
  EXPECT_EQ(workers.asked(), asked);
  EXPECT_EQ(text_of(run_in_memory(study, workers, "", cells, options)), text_of(early));
}

TEST(RunInMemory, StopsOnRequestAndReportsProgressThatNeverFallsBack) {
  std::stop_source source;
  double last = 0.0;
  RunOptions options;
  options.progress = [&](const RunProgress& now) {
    EXPECT_GE(now.work_done, last);
    last = now.work_done;
  };
  (void)run_in_memory(small_phase(), 2, "", options);
  EXPECT_GT(last, 0.0);
  options.stop = source.get_token();
  source.request_stop();
  try {
    (void)run_in_memory(small_phase(), 2, "", options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::stopped);
  }
}

// A file of a version that predicted other things: nothing is measured again.
TEST(RunRecorded, ComputesOnlyPredictionsWhereOnlyTheyDiffer) {
  const ScratchFolder folder;
  StudyText study = small_phase();
  study.study = (folder / "a.study").string();
  CountingWorkers workers(study);
  (void)run_recorded(study, workers, "", {});
  const std::string expected = text_of(store::read_study(study.study));
  const std::size_t asked = workers.asked();
  store::CellForm form =
      stored_form(grid_plan(study, experiment_named("phase")), experiment_named("phase"));
  form.predicted = {{"older_theory"}};
  store::SweepHead head;
  head.experiment = "phase";
  const auto older = [](const std::string&, const std::string&) { return std::vector{0.5}; };
  store::SweepFile({study.study}, head, {form, false, false, older}).close();
  EXPECT_EQ(store::read_study(study.study).frames[0].variable("older_theory").cells[0].mean, 0.5);

  const RunOutcome outcome = run_recorded(study, workers, "", {});
  EXPECT_EQ(outcome.reused, 18U);
  EXPECT_EQ(workers.asked(), asked);
  EXPECT_EQ(text_of(store::read_study(study.study)), expected);

  study.fixed["eta"] = std::string("exact");  // measures something more
  EXPECT_THROW((void)run_recorded(study, workers, "", {}), Error);
}

// Cells of an earlier version of the experiment have keys that no point gives any more.
TEST(PredictorOf, KnowsNothingOfPointsThatAreNone) {
  const Experiment& phase = experiment_named("phase");
  const Point point = phase.resolved({{"n", 24.0}, {"d", 8.0}, {"gamma", 1.5}});
  const auto predict = predictor_of(phase, 7, phase.predictions(point).size());
  const std::string text = canonical_text(point);
  EXPECT_EQ(predict(cell_key(phase, 7, point), text)[0], phase.predict(point)[0]);
  for (const std::string& known : {text, std::string(R"({"shape":3})")}) {
    const std::vector<double> unknown = predict(former_keys(phase, 7, point).front(), known);
    EXPECT_EQ(unknown.size(), phase.predictions(point).size());
    for (const double value : unknown) EXPECT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace dewpoint::studies
