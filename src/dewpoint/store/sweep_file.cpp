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
#include "dewpoint/store/access.hpp"
#include "dewpoint/store/cell_tables.hpp"
#include "dewpoint/store/database.hpp"
#include "dewpoint/store/head_tables.hpp"
#include "dewpoint/store/lock_file.hpp"
#include "dewpoint/store/plan_tables.hpp"
#include "dewpoint/store/schema.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

// Of the 50 ms between a put and its commit, these are for more cells to come in.
constexpr std::chrono::milliseconds kGathering{30};

// How often a reader that still looks at the file is waited for before it stays in WAL mode.
constexpr int kFoldAttempts = 10;
constexpr std::chrono::milliseconds kBetweenFolds{20};

// Numbers are given without gaps; cells of which nothing is known leave some.
StoredCell* find_cell(std::vector<StoredCell>& cells, std::int64_t number) {
  const auto gapless = static_cast<std::size_t>(number - 1);
  if (gapless < cells.size() && cells[gapless].number == number) return &cells[gapless];
  const auto found = std::lower_bound(
      cells.begin(), cells.end(), number,
      [](const StoredCell& cell, std::int64_t wanted) { return cell.number < wanted; });
  return found != cells.end() && found->number == number ? &*found : nullptr;
}

std::unordered_map<std::string, SweepCell> read_cells_to_continue(
    Database& database, std::optional<std::uint64_t> enough) {
  const SweepPlan plan = read_plan_head(database);
  auto stored = read_stored_cells(database, {plan.measured, plan.predicted}, enough);
  std::unordered_map<std::string, SweepCell> cells(stored.size());
  for (StoredCell& cell : stored) cells.emplace(std::move(cell.key), std::move(cell.content));
  return cells;
}

std::map<std::string, SweepCell> read_cells(Database& database) {
  const SweepPlan plan = read_plan_head(database);
  auto stored = read_stored_cells(database, {plan.measured, plan.predicted});
  std::map<std::string, SweepCell> cells;
  // The index on the keys has them in order, and a map that is filled in order is filled fast.
  auto query = database.prepare("SELECT id FROM cell ORDER BY key");
  while (query.step()) {
    StoredCell* cell = find_cell(stored, query.integer(0));
    if (cell == nullptr) continue;
    cells.emplace_hint(cells.end(), std::move(cell->key), std::move(cell->content));
  }
  return cells;
}

void expect_experiment(Database& database, const fs::path& file, const std::string& experiment) {
  expect_sweep(database, file);
  const std::string stored = read_meta(database, "experiment");
  if (stored == experiment) return;
  throw Error(
      Code::malformed_file,
      fmt::format("'{}' is a study of the experiment '{}', not of '{}': choose another file",
                  file.string(), stored, experiment));
}

void open_to_write(Database& database, const fs::path& file, const SweepHead& head) {
  expect_whole(database, file);
  const bool is_new = is_empty(database);
  if (!is_new) expect_experiment(database, file, head.experiment);
  database.execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000");
  in_transaction(database, [&] {
    if (is_new) create_tables(database, StudyKind::sweep);
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
  Writer(fs::path file, const SweepHead& head);
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
    try {
      return action(*database_);
    } catch (const DatabaseError& error) {
      throw_write_error(file_, error, kept_cells());
    }
  }
  void set_plan(Database& database, const SweepPlan& plan);
  std::optional<std::int64_t> session;  // under exclusively()

 private:
  struct Put {
    std::string key;
    SweepCell cell;
    SweepEffort effort;
  };

  void run();
  std::exception_ptr commit(const std::vector<Put>& batch) noexcept;
  std::exception_ptr explained(const DatabaseError& error) noexcept;
  std::optional<std::size_t> kept_cells() noexcept;
  void expect_no_failure() const;

  const fs::path file_;
  std::optional<LockFile> lock_;
  std::mutex connection_mutex_;
  std::optional<Database> database_;
  std::optional<CellWriter> cell_writer_;

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

SweepFile::Writer::Writer(fs::path file, const SweepHead& head) : file_(std::move(file)) {
  lock_.emplace(file_);
  try {
    database_.emplace(file_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    open_to_write(*database_, file_, head);
    const SweepPlan plan = read_plan_head(*database_);
    cell_writer_.emplace(*database_, CellForm{plan.measured, plan.predicted});
  } catch (const DatabaseError& error) {
    throw_write_error(file_, error);
  }
  thread_ = std::thread([this] { run(); });
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
    in_transaction(*database_, [&] {
      for (const Put& put : batch) {
        const std::int64_t number = cell_writer_->write(put.key, put.cell);
        cell_writer_->write_effort(session, number, put.effort);
      }
    });
  } catch (const DatabaseError& error) {
    return explained(error);
  } catch (...) {
    return std::current_exception();
  }
  return {};
}

std::exception_ptr SweepFile::Writer::explained(const DatabaseError& error) noexcept {
  try {
    throw_write_error(file_, error, kept_cells());
  } catch (...) {
    return std::current_exception();
  }
}

std::optional<std::size_t> SweepFile::Writer::kept_cells() noexcept {
  try {
    return count_from(single_number(*database_, "SELECT count(*) FROM cell WHERE replicas > 0"),
                      "number of cells");
  } catch (const DatabaseError&) {
    return {};
  }
}

void SweepFile::Writer::set_plan(Database& database, const SweepPlan& plan) {
  if (store::has_plan(database, plan)) return;
  const CellForm form{plan.measured, plan.predicted};
  in_transaction(database, [&] {
    const SweepPlan stored = read_plan_head(database);
    if (!same_form(form, {stored.measured, stored.predicted})) forget_cells(database);
    write_plan(database, plan);
  });
  cell_writer_.emplace(database, form);
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
      fold(*database_);
    } catch (const DatabaseError& error) {
      if (!failure_) failure_ = explained(error);
    }
    database_.reset();
    lock_.reset();
  }
  expect_no_failure();
}

SweepFile::SweepFile(const fs::path& file, const SweepHead& head)
    : writer_(std::make_unique<Writer>(file, head)) {}

SweepFile::~SweepFile() = default;

std::map<std::string, SweepCell> SweepFile::cells() const {
  return writer_->exclusively([](Database& database) { return read_cells(database); });
}

std::unordered_map<std::string, SweepCell> SweepFile::cells_to_continue(
    std::optional<std::uint64_t> enough) const {
  return writer_->exclusively(
      [&](Database& database) { return read_cells_to_continue(database, enough); });
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

void SweepFile::set_plan(const SweepPlan& plan) {
  writer_->exclusively([&](Database& database) { writer_->set_plan(database, plan); });
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
    expect_sweep(database, file);
    return read_cells(database);
  });
}

}  // namespace dewpoint::store
