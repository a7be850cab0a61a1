// What happens to a sweep when a process, a disk or a person does not behave.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "store/scratch_folder.hpp"
#include "store/sweep_support.hpp"

namespace dewpoint::store {
namespace {

using test::Cells;
using test::error_of;
using test::expect_same;
using test::key_of;
using test::read_bytes;
using test::read_error;
using test::says;
using test::ScratchFolder;
using test::sweep_cell;
using test::sweep_head;
using test::sweep_plan;
using test::with_full_disk;
using test::write_bytes;
using test::write_sweep;
using Names = std::vector<std::string>;

std::vector<double> many(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
  return values;
}

// ----------------------------------------------------------------------------------------- kill

/// A child that puts cells rho = 0, 1, 2, ... and tells through a pipe how many are flushed.
class KilledWriter {
 public:
  KilledWriter(const std::filesystem::path& path, const SweepPlan& plan) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) write_for_ever(path, plan, ends[1]);
    ::close(ends[1]);
    reports_ = ends[0];
  }
  KilledWriter(const KilledWriter&) = delete;
  KilledWriter& operator=(const KilledWriter&) = delete;
  ~KilledWriter() { ::close(reports_); }

  /// Waits for so many reports; the number of cells in the last one.
  int wait_for(int reports) const {
    int flushed = 0;
    for (int i = 0; i < reports; ++i) {
      if (::read(reports_, &flushed, sizeof flushed) != sizeof flushed) return -1;
    }
    return flushed;
  }
  /// Kills it; the number of cells in the last report that it sent.
  int kill(int flushed) const {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    while (::read(reports_, &flushed, sizeof flushed) == sizeof flushed) {
    }
    return flushed;
  }
  [[nodiscard]] pid_t number() const { return child_; }

 private:
  [[noreturn]] static void write_for_ever(const std::filesystem::path& path, const SweepPlan& plan,
                                          int reports) {
    SweepFile file(path, sweep_head());
    file.set_plan(plan);
    for (int i = 0; i < static_cast<int>(plan.places.size()); ++i) {
      file.put(plan.places[static_cast<std::size_t>(i)].key, sweep_cell(i), {0, 4, 1e-3, 0});
      if (i % 10 != 9) continue;
      file.flush();
      const int flushed = i + 1;
      if (::write(reports, &flushed, sizeof flushed) != sizeof flushed) ::_exit(1);
    }
    ::pause();
    ::_exit(0);
  }

  pid_t child_ = 0;
  int reports_ = -1;
};

TEST(SweepFailure, AKilledWriterLosesNothingThatWasFlushed) {
  const SweepPlan plan = sweep_plan(many(3000), {"cube"});
  for (const int reports : {1, 2, 7, 40}) {
    const ScratchFolder folder;
    const KilledWriter writer(folder / "a.study", plan);
    const int flushed = writer.kill(writer.wait_for(reports));
    ASSERT_GE(flushed, 10 * reports);

    const auto seen = read_cells_if_present(folder / "a.study");
    EXPECT_GE(seen.size(), static_cast<std::size_t>(flushed));
    EXPECT_FALSE(summarise(folder / "a.study").running);
    SweepFile again(folder / "a.study", sweep_head());
    const Cells cells = again.cells();
    expect_same(cells, seen);
    for (int i = 0; i < flushed; ++i) {
      const auto found = cells.find(key_of(i, "cube"));
      ASSERT_NE(found, cells.end()) << i;
      expect_same(found->second, sweep_cell(i));
    }
    again.put(key_of(2999, "cube"), sweep_cell(2999), {});
    again.close();
    EXPECT_EQ(folder.names(), Names{"a.study"});
    static_cast<void>(read_study(folder / "a.study"));  // with SQLite's check of its structure
    EXPECT_GE(summarise(folder / "a.study").measured, cells.size());
  }
}

TEST(SweepFailure, AResultWrittenOverAKilledSweepIsNotMixedWithItsLog) {
  const ScratchFolder folder;
  const KilledWriter writer(folder / "a.study", sweep_plan(many(100), {"cube"}));
  writer.kill(writer.wait_for(3));
  EXPECT_GT(folder.names().size(), 2U);  // the log is there
  StudyRecord record;
  record.experiment = "another";
  write_study({folder / "a.study", true}, record);
  expect_same(read_study(folder / "a.study"), record);
  EXPECT_EQ(folder.names(), Names{"a.study"});
}

// ------------------------------------------------------------------------------------ two of us

TEST(SweepFailure, ASecondWriterIsRefusedAndToldWhoRuns) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a.study";
  const KilledWriter writer(path, sweep_plan(many(100), {"cube"}));
  const int flushed = writer.wait_for(1);
  const Error error = error_of([&] { SweepFile(path, sweep_head()); });
  EXPECT_EQ(error.code(), Code::unwritable_file);
  EXPECT_EQ(error.what(),
            fmt::format("'{}' is being run by another process (pid {}); wait for it or stop it",
                        path.string(), writer.number()));
  EXPECT_EQ(error_of([&] { write_study(path, {}); }).code(), Code::unwritable_file);
  EXPECT_TRUE(summarise(path).running);
  std::filesystem::create_symlink(path, folder / "link.study");
  EXPECT_TRUE(says(error_of([&] { SweepFile(folder / "link.study", sweep_head()); }), "pid"));
  writer.kill(flushed);
  SweepFile(path, sweep_head()).close();
}

// Asking whether a study runs takes its lock for an instant, which must not refuse a writer.
TEST(SweepFailure, AskingDoesNotKeepAWriterOut) {
  const ScratchFolder folder;
  write_sweep(folder / "a.study", sweep_plan(), {});
  std::atomic<bool> done = false;
  std::thread asking([&] {
    while (!done) static_cast<void>(summarise(folder / "a.study"));
  });
  for (int i = 0; i < 20; ++i) EXPECT_NO_THROW(SweepFile(folder / "a.study", sweep_head()).close());
  done = true;
  asking.join();
}

TEST(SweepFailure, AReaderSeesWhatIsCommittedWhileOthersWrite) {
  const ScratchFolder folder;
  const SweepPlan plan = sweep_plan(many(200), {"cube"});
  SweepFile file(folder / "a.study", sweep_head());
  file.set_plan(plan);
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    file.put(plan.places[i].key, sweep_cell(static_cast<double>(i)), {});
    if (i % 20 != 19) continue;
    file.flush();
    const StudySummary summary = summarise(folder / "a.study");
    EXPECT_EQ(summary.measured, i + 1);
    EXPECT_TRUE(summary.running);
    const Frame frame = read_study(folder / "a.study").frames[0];
    EXPECT_EQ(frame.variable("contraction").cells[i].mean, static_cast<double>(i));
  }
}

TEST(SweepFailure, AFileThatAnotherProgramLocksSaysWhatToDo) {
  const ScratchFolder folder;
  SweepFile file(folder / "a.study", sweep_head());
  file.set_plan(sweep_plan());
  file.put(key_of(0.0, "cube"), sweep_cell(1), {});
  file.flush();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "a.study").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  file.put(key_of(0.5, "cube"), sweep_cell(2), {});
  const Error error = error_of([&] { file.flush(); });
  EXPECT_EQ(error.code(), Code::unwritable_file);
  EXPECT_TRUE(says(error, "close that program and run the same command again; 1 finished cells"))
      << error.what();
  sqlite3_close(other);
  EXPECT_THROW(file.put(key_of(0.5, "cube"), sweep_cell(2), {}), Error);
  EXPECT_THROW(file.close(), Error);
  expect_same(read_cells_if_present(folder / "a.study"),
              Cells{{key_of(0.0, "cube"), sweep_cell(1)}});
}

// ----------------------------------------------------------------------------------------- disk

/// What a writer says whose files may not grow beyond `room`; "" when nothing stopped it.
std::string message_on_full_disk(rlim_t room, const std::filesystem::path& path,
                                 const SweepPlan& plan) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const auto fill = [&] {
    try {
      SweepFile file(path, sweep_head());
      file.set_plan(plan);
      for (std::size_t i = 0; i < plan.places.size(); ++i) {
        file.put(plan.places[i].key, sweep_cell(static_cast<double>(i)), {});
        if (i % 10 == 9) file.flush();
      }
      file.close();
    } catch (const Error& error) {
      const std::string text = error.what();
      const bool told = ::write(ends[1], text.data(), text.size()) > 0;
      return error.code() == Code::unwritable_file && told ? 0 : 1;
    }
    return 2;
  };
  EXPECT_EQ(with_full_disk(room, fill), 0) << room;
  ::close(ends[1]);
  char text[1000];
  const ssize_t size = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

constexpr const char* kNoSpace = "no space left: free some and run the same command again";

TEST(SweepFailure, AFullDiskKeepsEveryCellThatWasCommitted) {
  const SweepPlan plan = sweep_plan(many(3000), {"cube"});
  for (const rlim_t room : {0, 4096, 100'000, 700'000, 1'000'000}) {
    const ScratchFolder folder;
    const std::filesystem::path path = folder / "a.study";
    write_sweep(path, plan, {{key_of(2999, "cube"), sweep_cell(9)}});
    const std::string message = message_on_full_disk(room, path, plan);
    const Cells cells = read_cells_if_present(path);
    const std::string kept = fmt::format("; {} finished cells are kept", cells.size());
    EXPECT_EQ(message, fmt::format("cannot write '{}': {}{}", path.string(), kNoSpace,
                                   room < 100'000 ? "" : kept));  // below, it did not even open
    EXPECT_TRUE(cells.contains(key_of(2999, "cube"))) << room;
    SweepFile again(path, sweep_head());
    expect_same(again.cells(), cells);
    for (const auto& place : plan.places) again.put(place.key, sweep_cell(3), {});
    again.close();
    EXPECT_EQ(read_cells_if_present(path).size(), plan.places.size());
    EXPECT_EQ(folder.names(), Names{"a.study"});
  }
}

TEST(SweepFailure, AFullDiskFromTheStartIsSaid) {
  const ScratchFolder folder;
  for (const rlim_t room : {0, 512, 5000}) {
    const std::string message = message_on_full_disk(room, folder / "a.study", sweep_plan());
    EXPECT_NE(message.find(kNoSpace), std::string::npos) << room << message;
  }
}

TEST(SweepFailure, WhereNothingCanBeWrittenItSaysWhatToDo) {
  const ScratchFolder folder;
  write_bytes(folder / "file", "");
  for (const auto& path : {folder / "file" / "a.study", folder / "absent" / "a.study"}) {
    const Error error = error_of([&] { SweepFile(path, sweep_head()); });
    EXPECT_EQ(error.code(), Code::unwritable_file);
    EXPECT_TRUE(says(error, "choose a folder that exists and may be written")) << error.what();
  }
  EXPECT_EQ(error_of([&] { SweepFile(folder / "", sweep_head()); }).code(), Code::unwritable_file);
}

/// Runs the action in a child that is nobody, because root may write everywhere; what it returned,
/// 77 where one cannot become nobody.
int as_nobody(const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_root = ::geteuid() == 0;
    if (is_root && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(77);
    ::_exit(action());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

TEST(SweepFailure, AReadOnlyFolderIsReadAndNotWritten) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a.study";
  const Cells cells = {{key_of(0.0, "cube"), sweep_cell(1)}};
  write_sweep(path, sweep_plan(), cells);
  test::run_sql(path, "PRAGMA journal_mode = WAL");  // as where a reader kept it from folding
  ::chmod((folder / "").c_str(), 0555);
  const auto look = [&] {
    if (read_cells_if_present(path).size() != 1 || summarise(path).measured != 1) return 1;
    if (read_study(path).frames.size() != 1) return 2;
    try {
      SweepFile(path, sweep_head()).close();
    } catch (const Error& error) {
      return error.code() == Code::unwritable_file && says(error, "Permission denied") ? 0 : 3;
    }
    return 4;
  };
  const int outcome = as_nobody(look);
  ::chmod((folder / "").c_str(), 0755);
  if (outcome == 77) GTEST_SKIP() << "root that cannot become another user may write everywhere";
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(folder.names(), Names{"a.study"});
}

// --------------------------------------------------------------------------------------- damage

TEST(SweepFailure, ADamagedFileIsRefusedAndLeftAsItIs) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a.study";
  const SweepPlan plan = sweep_plan(many(300), {"cube"});
  Cells cells;
  for (const auto& place : plan.places) cells[place.key] = sweep_cell(1);
  write_sweep(path, plan, cells);
  const std::string whole = read_bytes(path);
  for (std::size_t size = 1; size < whole.size(); size += whole.size() / 17) {
    write_bytes(path, whole.substr(0, size));
    const Error error = error_of([&] { SweepFile(path, sweep_head()).close(); });
    EXPECT_EQ(error.code(), Code::malformed_file) << size << error.what();
    EXPECT_EQ(read_error(path).code(), Code::malformed_file) << size;
    EXPECT_TRUE(read_bytes(path) == whole.substr(0, size)) << size;
  }
}

TEST(SweepFailure, TablesThatContradictEachOtherAreRefused) {
  const ScratchFolder folder;
  for (const char* damage : {
           "DELETE FROM moment WHERE variable = 1 AND position = 2",
           "DELETE FROM moment",
           "DELETE FROM prediction",
           "DELETE FROM cell",
           "UPDATE moment SET variable = 7 WHERE variable = 1 AND position = 2",
           "DELETE FROM sweep_coordinate WHERE position = 1",
           "UPDATE sweep_dimension SET extent = -1",
           "UPDATE sweep_dimension SET inner = 1 WHERE id = 0",
           "UPDATE sweep_variable SET positions = 5 WHERE id = 1",
           "UPDATE sweep_axis SET dimension = 9 WHERE variable = 1 AND position = 2",
           "DELETE FROM sweep_axis",
           "UPDATE sweep_place SET place = 1000",
           "UPDATE meta SET value = 'else' WHERE key = 'kind'",
           "DELETE FROM meta WHERE key = 'kind'",
           "DROP TABLE prediction",
       }) {
    write_sweep(folder / "a.study", sweep_plan(), {{key_of(0.5, "cube"), sweep_cell(1)}});
    test::run_sql(folder / "a.study", damage);
    const Error error = read_error(folder / "a.study");
    EXPECT_EQ(error.code(), Code::malformed_file) << damage;
    EXPECT_TRUE(says(error, "is damaged: ")) << damage << ": " << error.what();
    std::filesystem::remove(folder / "a.study");
  }
}

}  // namespace
}  // namespace dewpoint::store
