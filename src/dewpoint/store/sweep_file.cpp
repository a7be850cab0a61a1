#include "dewpoint/store/sweep_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/store/access.hpp"
#include "dewpoint/store/cell_tables.hpp"
#include "dewpoint/store/database.hpp"
#include "dewpoint/store/head_tables.hpp"
#include "dewpoint/store/integrity.hpp"
#include "dewpoint/store/lock_file.hpp"
#include "dewpoint/store/new_study.hpp"
#include "dewpoint/store/plan_tables.hpp"
#include "dewpoint/store/salvage.hpp"
#include "dewpoint/store/schema.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

// Of the 50 ms between a put and its commit, these are for more cells to come in.
constexpr std::chrono::milliseconds kGathering{30};

// How often a reader that still looks at the file is waited for before it stays in WAL mode.
constexpr int kFoldAttempts = 10;
constexpr std::chrono::milliseconds kBetweenFolds{20};

CellForm stored_form(Database& database) {
  SweepPlan plan = read_plan_head(database);
  return {std::move(plan.measured), std::move(plan.predicted)};
}

std::unordered_map<std::string, SweepCell> read_cells_to_continue(
    Database& database, std::optional<std::uint64_t> enough) {
  auto stored = read_stored_cells(database, stored_form(database), enough);
  std::unordered_map<std::string, SweepCell> cells(stored.size());
  for (StoredCell& cell : stored) cells.emplace(std::move(cell.key), std::move(cell.content));
  return cells;
}

std::map<std::string, SweepCell> read_cells(Database& database) {
  std::map<std::string, SweepCell> cells;
  for (StoredCell& cell : read_stored_cells(database, stored_form(database))) {
    cells.emplace(std::move(cell.key), std::move(cell.content));
  }
  return cells;
}

// What a sweep can go on with.
void expect_experiment(Database& database, const fs::path& file, const std::string& experiment) {
  const bool sweep = expect_study(database, file).kind == StudyKind::sweep;
  const std::string stored = read_meta(database, "experiment");
  if (sweep && stored == experiment) return;
  throw Error(
      Code::malformed_file,
      fmt::format("'{}' is a {} of the experiment '{}', not {}of '{}': choose another file, "
                  "or --force replaces it",
                  file.string(), sweep ? "study" : "finished result", stored,
                  sweep ? "" : "a study with cells ", experiment));
}

// Takes away what cannot be gone on with.
void make_room(const fs::path& file, const std::string& experiment) {
  if (!fs::exists(file)) return;
  try {
    return reading(file, [&](Database& database) {
      if (!is_empty(database)) expect_experiment(database, file, experiment);
    });
  } catch (const Error&) {
    fs::remove(file);
    for (const char* suffix : {"-wal", "-shm", "-journal"}) fs::remove(beside(file, suffix));
  }
}

std::size_t finished_cells(Database& database) {
  return count_from(single_number(database, "SELECT count(*) FROM cell WHERE replicas > 0"),
                    "number of cells");
}

// Nothing is deleted that somebody waited for. Predictions cost nothing.
void expect_replaceable(Database& database, const fs::path& file, const CellForm& wanted,
                        bool replace) {
  const CellForm stored = stored_form(database);
  const std::size_t finished = finished_cells(database);
  if (replace || finished == 0 || same_variables(stored.measured, wanted.measured)) return;
  throw Error(
      Code::bad_value,
      fmt::format("'{}' has {} finished cell(s) with other observables ({}): -o OTHER.study "
                  "keeps them, --replace deletes them",
                  file.string(), finished, different_names(stored.measured, wanted.measured)));
}

// Whoever writes needs sound pages as well: SQLite would put new ones among the broken.
void expect_sound_sweep(Database& database, const StudyForm& form) {
  read_soundly(database, form, [&] { expect_sound_cells(database, stored_form(database)); });
  expect_sound_pages(database);
}

// Predictions of a version that knew others, or fewer.
void ensure_predictions(Database& database, const CellForm& wanted, const Predictor& predict) {
  const CellForm stored = stored_form(database);
  if (!same_variables(stored.measured, wanted.measured)) return;
  if (!same_variables(stored.predicted, wanted.predicted)) {
    renew_predictions(database, wanted.predicted, predict);
  }
}

// Changes nothing yet; none: the file is new.
std::optional<StudyForm> expect_continuable(Database& database, const fs::path& file,
                                            const SweepHead& head, const SweepOpening& opening) {
  expect_whole(database, file);
  if (is_empty(database)) return {};
  const StudyForm form = expect_study(database, file);
  if (form.kind == StudyKind::sweep) expect_sound_sweep(database, form);
  expect_experiment(database, file, head.experiment);
  if (opening.form) expect_replaceable(database, file, *opening.form, opening.replace);
  return form;
}

void open_to_write(Database& database, const fs::path& file, const SweepHead& head,
                   const SweepOpening& opening) {
  const std::optional<StudyForm> form = expect_continuable(database, file, head, opening);
  database.execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000");
  in_transaction(database, [&] {
    if (!form) create_tables(database, StudyKind::sweep);
    if (form && form->schema < kFirstHashedSchema) upgrade_sweep(database);
    if (!form || form->schema < kFirstHashedSchema) seal(database, StudyKind::sweep, Sealed::plan);
    if (opening.form) ensure_predictions(database, *opening.form, opening.predict);
    write_head(database, head);
  });
}

// One file again; a reader can prevent it, and then the next writer will do it.
void fold(Database& database) {
  for (int attempt = 0; attempt < kFoldAttempts; ++attempt) {
    try {
      return database.execute("PRAGMA journal_mode = DELETE");
    } catch (const DatabaseError& error) {
      if (error.code() != SQLITE_BUSY && error.code() != SQLITE_LOCKED) throw;
    }
    std::this_thread::sleep_for(kBetweenFolds);
  }
}

}  // namespace

// Whoever uses the connection holds connection_mutex_: the thread while it commits, callers of
// exclusively() after everything that was put is committed. mutex_ guards the queue.
class SweepFile::Writer {
 public:
  Writer(const OutputFile& file, const SweepHead& head, const SweepOpening& opening);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  void put(const std::string& key, SweepCell cell, const SweepEffort& effort);
  void flush();
  void close();

  /// The action on the connection, when everything put before is committed.
  template <class Action>
  auto exclusively(Action&& action) {
    flush();
    const std::lock_guard guard(connection_mutex_);
    expect_in_place();
    try {
      return action(*database_);
    } catch (const DatabaseError& error) {
      std::rethrow_exception(explained(error));
    }
  }
  void set_plan(Database& database, const SweepPlan& plan, const std::stop_token& stop);
  /// False: the cells that are there will be replaced.
  [[nodiscard]] bool continues(Database& database) const {
    return !form_ || same_variables(form_->measured, stored_form(database).measured);
  }
  std::optional<std::int64_t> session;  // under exclusively()

 private:
  struct Put {
    std::string key;
    SweepCell cell;
    SweepEffort effort;
  };

  void open(const SweepHead& head, const SweepOpening& opening);
  void run();
  void expect_in_place() const;
  void expect_kept() const;
  void say_failed(const std::exception_ptr& failure) noexcept;
  std::exception_ptr commit(const std::vector<Put>& batch) noexcept;
  std::exception_ptr explained(const DatabaseError& error) noexcept;
  std::optional<std::size_t> kept_cells() noexcept;
  void expect_no_failure() const;

  const fs::path file_;
  const std::optional<CellForm> form_;  // that was asked for when it was opened
  const bool replace_;
  const Predictor predict_;
  std::optional<LockFile> lock_;
  std::mutex connection_mutex_;
  std::optional<Database> database_;
  std::optional<CellWriter> cell_writer_;
  std::unordered_map<std::int64_t, std::int64_t> committed_;  // hashes of cells by their numbers

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable settled_;
  std::vector<Put> pending_;
  std::uint64_t puts_ = 0;
  std::uint64_t settled_puts_ = 0;  // committed, or failed
  int hurrying_ = 0;                // callers that wait
  bool closing_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

SweepFile::Writer::Writer(const OutputFile& file, const SweepHead& head,
                          const SweepOpening& opening)
    : file_(file.path), form_(opening.form), replace_(opening.replace), predict_(opening.predict) {
  lock_.emplace(file_);
  if (file.force) make_room(file_, head.experiment);
  try {
    open(head, opening);
  } catch (const DatabaseError& error) {
    if (opening.repair && error.code() == SQLITE_NOTADB) throw_beyond_repair(file_);
    if (!opening.repair || !is_damage(error)) throw_write_error(file_, error);
    database_.reset();
    keep_sound_cells(file_, head, opening.form);
    open(head, opening);
  }
  thread_ = std::thread([this] { run(); });
}

void SweepFile::Writer::open(const SweepHead& head, const SweepOpening& opening) {
  database_.emplace(file_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  open_to_write(*database_, file_, head, opening);
  cell_writer_.emplace(*database_, stored_form(*database_));
}

// What is written to a file without a name is lost when it is closed.
void SweepFile::Writer::expect_in_place() const {
  if (!database_->has_moved()) return;
  throw_unwritable(file_,
                   "it was deleted or replaced while the study ran: put it back, or run the "
                   "same command again");
}

SweepFile::Writer::~Writer() {
  try {
    close();
  } catch (const std::exception&) {
    // Documented: whoever wants to hear of it calls close().
  }
}

void SweepFile::Writer::expect_no_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

void SweepFile::Writer::put(const std::string& key, SweepCell cell, const SweepEffort& effort) {
  const std::lock_guard guard(mutex_);
  expect_no_failure();
  DEWPOINT_EXPECTS(!closing_);
  pending_.push_back({key, std::move(cell), effort});
  ++puts_;
  if (pending_.size() == 1) wake_.notify_one();
}

void SweepFile::Writer::flush() {
  std::unique_lock guard(mutex_);
  const std::uint64_t target = puts_;
  ++hurrying_;
  wake_.notify_one();
  settled_.wait(guard, [&] { return settled_puts_ >= target; });
  --hurrying_;
  expect_no_failure();
  DEWPOINT_EXPECTS(!closing_);
}

void SweepFile::Writer::run() {
  std::unique_lock guard(mutex_);
  while (true) {
    wake_.wait(guard, [&] { return !pending_.empty() || closing_; });
    if (pending_.empty()) return;
    wake_.wait_for(guard, kGathering, [&] { return hurrying_ > 0 || closing_; });
    const std::vector<Put> batch = std::exchange(pending_, {});
    if (!failure_) {
      guard.unlock();
      const std::exception_ptr failure = commit(batch);
      guard.lock();
      failure_ = failure;
    }
    settled_puts_ += batch.size();
    settled_.notify_all();
  }
}

std::exception_ptr SweepFile::Writer::commit(const std::vector<Put>& batch) noexcept {
  const std::lock_guard guard(connection_mutex_);
  try {
    expect_in_place();
    std::vector<CellMark> marks;
    in_transaction(*database_, [&] {
      for (const Put& put : batch) {
        marks.push_back(cell_writer_->write(put.key, put.cell));
        cell_writer_->write_effort(session, marks.back().number, put.effort);
      }
    });
    for (const CellMark& mark : marks) committed_[mark.number] = mark.hash;
  } catch (const DatabaseError& error) {
    return explained(error);
  } catch (...) {
    return std::current_exception();
  }
  return {};
}

// The file was sound when it was opened.
std::exception_ptr SweepFile::Writer::explained(const DatabaseError& error) noexcept {
  try {
    if (error.code() == SQLITE_CORRUPT || error.code() == SQLITE_NOTADB) {
      throw_unwritable(file_,
                       "it was damaged while the study ran: check the disk and run it with "
                       "--repair");
    }
    throw_write_error(file_, error, kept_cells());
  } catch (...) {
    return std::current_exception();
  }
}

std::optional<std::size_t> SweepFile::Writer::kept_cells() noexcept {
  try {
    return finished_cells(*database_);
  } catch (const DatabaseError&) {
    return {};
  }
}

void SweepFile::Writer::set_plan(Database& database, const SweepPlan& plan,
                                 const std::stop_token& stop) {
  if (store::has_plan(database, plan)) return;
  const CellForm form{plan.measured, plan.predicted};
  expect_replaceable(database, file_, form, replace_);
  in_transaction(database, [&] {
    if (!same_variables(form.measured, stored_form(database).measured)) forget_cells(database);
    ensure_predictions(database, form, predict_);
    write_plan(database, plan, stop);
  });
  cell_writer_.emplace(database, form);
}

void SweepFile::Writer::expect_kept() const {
  if (committed_.empty()) return;
  std::size_t lost = 0;
  try {
    reading(file_, [&](Database& database) {
      expect_sound_sweep(database, expect_sweep(database, file_));
      const auto hashes = read_hashes(database);
      for (const auto& [number, hash] : committed_) {
        const auto found = hashes.find(number);
        lost += found == hashes.end() || found->second != hash ? 1 : 0;
      }
    });
  } catch (const Error&) {
    lost = committed_.size();
  }
  if (lost == 0) return;
  throw_unwritable(file_, fmt::format("of the cells of this run {} are not there as they were "
                                      "committed: check the disk and run it with --repair",
                                      lost));
}

void SweepFile::Writer::say_failed(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    try {
      if (session) {
        store::end_session(*database_, *session, utc_now(),
                           fmt::format("failed: {}", error.what()));
      }
    } catch (const std::exception&) {
      // Then the file says nothing, and whoever runs hears of it.
    }
  }
}

void SweepFile::Writer::close() {
  if (thread_.joinable()) {
    {
      const std::lock_guard guard(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
    cell_writer_.reset();
    try {
      expect_in_place();
      fold(*database_);
      expect_kept();
    } catch (const DatabaseError& error) {
      if (!failure_) failure_ = explained(error);
    } catch (const Error&) {
      if (!failure_) say_failed(failure_ = std::current_exception());
    }
    database_.reset();
    lock_.reset();
  }
  expect_no_failure();
}

SweepFile::SweepFile(const OutputFile& file, const SweepHead& head, const SweepOpening& opening)
    : writer_(std::make_unique<Writer>(file, head, opening)) {}

SweepFile::~SweepFile() = default;

std::map<std::string, SweepCell> SweepFile::cells() const {
  return writer_->exclusively([](Database& database) { return read_cells(database); });
}

std::unordered_map<std::string, SweepCell> SweepFile::cells_to_continue(
    std::optional<std::uint64_t> enough) const {
  return writer_->exclusively([&](Database& database) {
    return writer_->continues(database) ? read_cells_to_continue(database, enough)
                                        : std::unordered_map<std::string, SweepCell>();
  });
}

bool SweepFile::has_plan(const SweepPlan& plan) const {
  return writer_->exclusively([&](Database& database) { return store::has_plan(database, plan); });
}

void SweepFile::begin_session(const SweepSession& session) {
  writer_->exclusively([&](Database& database) {
    in_transaction(database, [&] { writer_->session = write_session(database, session); });
  });
}

void SweepFile::end_session(const std::string& stopped, const std::string& outcome) {
  writer_->exclusively([&](Database& database) {
    DEWPOINT_EXPECTS(writer_->session);
    in_transaction(database, [&] {
      store::end_session(database, writer_->session.value(), stopped, outcome);
    });
  });
}

void SweepFile::set_plan(const SweepPlan& plan, const std::stop_token& stop) {
  writer_->exclusively([&](Database& database) { writer_->set_plan(database, plan, stop); });
}

void SweepFile::put(const std::string& key, SweepCell cell, const SweepEffort& effort) {
  writer_->put(key, std::move(cell), effort);
}

void SweepFile::flush() { writer_->flush(); }

void SweepFile::close() { writer_->close(); }

std::map<std::string, SweepCell> read_cells_if_present(const fs::path& file) {
  std::error_code unknown;
  if (!fs::exists(file, unknown)) return {};
  return reading(file, [&](Database& database) {
    if (is_empty(database)) return std::map<std::string, SweepCell>();
    const StudyForm form = expect_sweep(database, file);
    return read_soundly(database, form, [&] { return read_cells(database); });
  });
}

void expect_form_if_present(const fs::path& file, const CellForm& form) {
  std::error_code unknown;
  if (!fs::exists(file, unknown)) return;
  reading(file, [&](Database& database) {
    if (!is_empty(database)) expect_replaceable(database, file, form, false);
  });
}

}  // namespace dewpoint::store
