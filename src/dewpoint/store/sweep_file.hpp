// A study that grows: cells are added as they are finished, and whoever opens the file sees them.
//
// Besides meta and parameter (study.hpp) the file holds, all STRICT,
//
//     session     when which version ran on which machine, and how it ended
//     sweep_*     the plan: axes with their coordinates, variables, and the place of every cell
//     cell        key, canonical parameters, replicas so far, whether its numbers are exact, hash
//     moment      cell, variable, position, samples, mean, standard_error, squared_deviations
//     prediction  cell, variable, position, value
//     effort      session, cell, from replica, to replica, seconds, rank
//
// and two views with names and coordinates joined in, `result` and, with the columns that finished
// results have, `point`. Try
//
//     sqlite3 map.study "SELECT place, variable, mean, standard_error FROM result LIMIT 10"
//
// A cell is addressed by what it is: its key is a hash of the experiment, the version of its
// results, the seed and the canonical parameters. A changed plan finds the cells it shares with the
// old one, and those it no longer wants stay.
//
// What is finished is committed: one thread writes, in transactions of at most 50 ms, in WAL mode,
// so that a killed process loses what was in flight and no more, and readers are never blocked. A
// lock beside the file (`<file>-lock`) keeps a second writer out and dies with its process. When
// the writer closes, the file is one file again, without -wal and -shm. integrity.hpp says how
// damage is found.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dewpoint/core/output_file.hpp"
#include "dewpoint/store/cell_store.hpp"

namespace dewpoint::store {

/// What a study says about itself.
struct SweepHead {
  std::string experiment;                                       // its name: "phase"
  std::vector<std::pair<std::string, std::string>> parameters;  // the fixed ones, as text
  std::uint64_t seed = 0;
  std::string version;  // of Dewpoint and its commit
  std::string command;
  std::string text;        // the study file as it was understood, with every default
  std::string title = {};  // one line; empty: none
};

/// What whoever opens a study means to put into it, and what may happen to what is there.
///
/// Predictions are functions of the point: where the file has others than `form`, those of all its
/// cells are computed anew by `predict` when it is opened, and no cell is lost. Without `predict`
/// they are unknown from then on.
struct SweepOpening {
  std::optional<CellForm> form = {};  // none: whatever set_plan will say
  bool replace = false;               // finished cells of other observables may be deleted
  bool repair = false;                // damaged cells may be dropped, to be computed again
  Predictor predict = {};
};

/// Who runs.
struct SweepSession {
  std::string started;  // ISO 8601, UTC
  std::string version;
  std::string processor;  // "AMD EPYC 7763"
  std::string simd;
  int ranks = 1;
  int threads = 1;
  std::string command;
};

class SweepFile final : public CellStore {
 public:
  /// Creates the file or opens it to go on, alone; every cell that is there is checked first.
  /// Throws, with the file as it was, Error{unwritable_file} where it may not be written or another
  /// process runs it (said, with what to do), Error{malformed_file} where it is no study, damaged,
  /// of a newer schema, or a study of another experiment, Error{bad_value} where its finished cells
  /// have other observables. Forced, it takes the place of what is no study of this experiment.
  SweepFile(const OutputFile& file, const SweepHead& head, const SweepOpening& opening = {});
  /// Commits what was put. Failures are lost here: call close() to hear of them.
  ~SweepFile() override;

  /// Everything known about every cell of the file, whatever plan wanted it.
  [[nodiscard]] std::map<std::string, SweepCell> cells() const;
  /// Cells with enough replicas come without their numbers, which makes opening a large study that
  /// is nearly finished cheap.
  [[nodiscard]] std::unordered_map<std::string, SweepCell> cells_to_continue(
      std::optional<std::uint64_t> enough) const override;

  void begin_session(const SweepSession& session);
  /// `outcome`: "finished", "stopped", "failed: ...".
  void end_session(const std::string& stopped, const std::string& outcome);

  /// Where the file was opened to replace cells of other observables, these are deleted; a plan of
  /// a few thousand cells is kept though a stop was requested.
  void set_plan(const SweepPlan& plan, const std::stop_token& stop = {}) override;
  [[nodiscard]] bool has_plan(const SweepPlan& plan) const override;

  /// Returns at once, committed within 50 ms. A failure of an earlier commit is thrown here:
  /// Error{unwritable_file}, with what to do. So is a file that was deleted or replaced since it
  /// was opened.
  void put(const std::string& key, SweepCell cell, const SweepEffort& effort) override;
  /// Returns when everything that was put is committed.
  void flush() override;
  /// Commits, ends the writer, folds the file into one and reads it again: Error{unwritable_file}
  /// where a cell that was committed is not there as it was put. Throws what put() would.
  void close();

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

/// What SweepFile::cells() would give, from a file that others may be writing; nothing where there
/// is no file yet. Throws as read_study, and Error{malformed_file} for a finished result.
[[nodiscard]] std::map<std::string, SweepCell> read_cells_if_present(
    const std::filesystem::path& file);

/// Throws the Error{bad_value} of whoever would open the file to put cells of this form into it.
void expect_form_if_present(const std::filesystem::path& file, const CellForm& form);

/// How far a study is, without reading its numbers: what a list of studies shows.
struct StudySummary {
  std::string experiment;
  std::string title;  // of the study file; empty: none
  std::uint64_t seed = 0;
  std::string version;
  std::string created;
  std::string command;
  bool sweep = false;                 // else a finished result: the numbers below are 0
  std::size_t planned = 0;            // cells of the plan
  std::size_t measured = 0;           // of these, with at least one replica
  std::size_t kept = 0;               // cells that an earlier plan left
  std::uint64_t fewest_replicas = 0;  // over the measured cells of the plan
  std::uint64_t most_replicas = 0;
  double seconds = 0.0;  // of work, all sessions
  bool running = false;  // somebody holds the lock
  struct Session {
    std::string started, stopped, outcome, version, processor;
    int ranks = 1;
    int threads = 1;
  };
  std::vector<Session> sessions;
  std::string text;  // the effective study file
};

/// Throws as read_study.
[[nodiscard]] StudySummary summarise(const std::filesystem::path& file);

/// "running", "finished", "stopped", "failed", "killed" (the process died) or "planned".
[[nodiscard]] std::string state_of(const StudySummary& summary);
/// When something last happened to it, as far as the file knows.
[[nodiscard]] std::string last_time(const StudySummary& summary);

/// Joins studies of one experiment into a new file: all cells of all, the plan over the union of
/// their axes (which must have the same names), for a cell that several have the one with most
/// replicas (the first of these). Text, command and version are the first file's; sessions and
/// efforts are those of all. Written whole or not at all, in the place of a study of the same
/// experiment if there is one. Throws Error{bad_value} where they do not fit together, naming both
/// files and what differs, and where another file is in the way.
void merge(const std::vector<std::filesystem::path>& files, const OutputFile& target);

}  // namespace dewpoint::store
