#include "dewpoint/server/study_runs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/study_views.hpp"

namespace dewpoint::server {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kSmall = R"(
experiment = "phase"
replicas = 2
[parameters]
d = 8
eta = "none"
[grid]
n = [16, 32]
rho = [0.25, 0.5]
gamma = [0.5, 1.5]
)";

class StudyRunsTest : public testing::Test {
 protected:
  void SetUp() override {
    top_ = fs::temp_directory_path() / ("dewpoint-runs-" + std::to_string(getpid()));
    fs::create_directories(top_);
  }
  void TearDown() override { fs::remove_all(top_); }

  static Json body(const std::string& text) { return {{"client", "test"}, {"text", text}}; }

  static RunState ended(const StudyRun& run) {
    RunStatus status = run.status();
    while (!is_over(status.state)) status = run.wait(status.version, Clock::now() + 20s);
    return status.state;
  }

  fs::path top_;
};

int status_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
  return 200;
}

TEST_F(StudyRunsTest, RunsListsAndResumes) {
  const StudyFolder folder(top_);
  StudyRuns runs(folder, 1);
  const auto run = runs.start(body(kSmall));
  EXPECT_EQ(run->file(), "phase.study");
  ASSERT_EQ(ended(*run), RunState::finished) << run->status().error;
  EXPECT_EQ(run->to_json()["finished"], 8);
  const Json list = studies_json(folder, [](const std::string&) { return std::string(); });
  ASSERT_EQ(list["studies"].size(), 1u);
  EXPECT_EQ(list["studies"][0]["state"], "finished");
  EXPECT_EQ(list["studies"][0]["measured"], 8);
  const Json frame = frame_json(folder, "phase.study", "phase");
  EXPECT_EQ(frame["dimensions"]["rho"], Json({0.25, 0.5}));
  EXPECT_FALSE(figures_json(folder, "phase.study")["figures"].empty());
  const auto again = runs.resume({{"client", "test"}, {"file", "phase.study"}});
  ASSERT_EQ(ended(*again), RunState::finished);
  EXPECT_EQ(again->to_json()["finished"], 8);
}

TEST_F(StudyRunsTest, ARunOfOtherObservablesFailsAndDeletesNothing) {
  const StudyFolder folder(top_);
  StudyRuns runs(folder, 1);
  ASSERT_EQ(ended(*runs.start(body(kSmall))), RunState::finished);
  const Json before = frame_json(folder, "phase.study", "phase");
  std::string other = kSmall;
  other.replace(other.find("eta = \"none\""), 12, "eta = \"exact\"");
  const auto run = runs.start(body(other));
  EXPECT_EQ(ended(*run), RunState::failed);
  EXPECT_NE(run->status().error.find("8 finished cell(s) with other observables"),
            std::string::npos)
      << run->status().error;
  EXPECT_EQ(frame_json(folder, "phase.study", "phase"), before);
}

TEST_F(StudyRunsTest, ACancelledRunKeepsWhatIsFinished) {
  const StudyFolder folder(top_);
  StudyRuns runs(folder, 1);
  std::string large = kSmall;
  large.replace(large.find("replicas = 2"), 12, "replicas = 100000");
  const auto run = runs.start(body(large));
  RunStatus status = run->status();
  while (status.progress.work_done == 0.0 && !is_over(status.state)) {
    status = run->wait(status.version, Clock::now() + 20s);
  }
  EXPECT_EQ(status_of([&] { (void)runs.start(body(large)); }), 409);
  (void)runs.cancel({{"client", "test"}, {"file", "phase.study"}});
  EXPECT_EQ(ended(*run), RunState::stopped);
  EXPECT_EQ(status_of([&] {
              (void)runs.cancel({{"client", "test"}, {"file", "phase.study"}});
            }),
            409);
  EXPECT_EQ(summary_json(folder, "phase.study",
                         [](const std::string&) { return std::string(); })["state"],
            "stopped");
}

TEST_F(StudyRunsTest, PlanningIsAPartOfTheRun) {
  const StudyFolder folder(top_);
  StudyRuns runs(folder, 1);
  std::string wrong = kSmall;
  wrong.replace(wrong.find("d = 8"), 5, "d = 1");  // a number of its field, and no cloud
  const auto run = runs.start(body(wrong));
  ASSERT_EQ(ended(*run), RunState::failed);
  EXPECT_NE(run->status().error.find("d: 1"), std::string::npos) << run->status().error;
  EXPECT_FALSE(fs::exists(top_ / "phase.study"));
}

TEST_F(StudyRunsTest, AFailureIsOneLineWithNamesOfTheFolder) {
  const StudyFolder folder(top_);
  StudyRuns runs(folder, 1);
  std::ofstream(top_ / "phase.study") << "this is no study";
  const auto run = runs.start(body(kSmall));
  ASSERT_EQ(ended(*run), RunState::failed);
  const std::string error = run->status().error;
  EXPECT_NE(error.find("phase.study"), std::string::npos) << error;
  EXPECT_EQ(error.find(folder.root().string()), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST_F(StudyRunsTest, ReadsAndWritesNothingElse) {
  const StudyFolder folder(top_);
  StudyRuns runs(folder, 1);
  const std::string outputs = std::string(kSmall) + "[outputs]\nexports = [\"/tmp/x.csv\"]\n";
  EXPECT_EQ(status_of([&] { (void)runs.start(body(outputs)); }), 400);
  std::string tokens = kSmall;
  tokens.replace(tokens.find("d = 8"), 5, "tokens = \"/etc/hostname.npy\"");
  EXPECT_EQ(status_of([&] { (void)runs.start(body(tokens)); }), 400);
  Json elsewhere = body(kSmall);
  for (const char* file : {"../x.study", "/tmp/x.study", "x.toml", ".x.study"}) {
    elsewhere["file"] = file;
    EXPECT_EQ(status_of([&] { (void)runs.start(elsewhere); }), 400) << file;
  }
  const std::string own_name = std::string(kSmall) + "[outputs]\nstudy = \"../x.study\"\n";
  EXPECT_EQ(status_of([&] { (void)runs.start(body(own_name)); }), 400);
  EXPECT_EQ(status_of([&] { (void)runs.start(body("experiment = \"pase\"")); }), 400);
  EXPECT_EQ(status_of([&] {
              (void)runs.start({{"client", "test"}, {"source", "../x.toml"}});
            }),
            404);
}

}  // namespace
}  // namespace dewpoint::server
