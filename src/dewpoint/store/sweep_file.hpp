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

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/output_file.hpp"

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

/// A variable of every cell: over the axes of the plan and, within a cell, over `inner`.
struct SweepVariable {
  std::string name;
  std::vector<Dimension> inner = {};
  [[nodiscard]] std::size_t positions() const;  // within a cell, the last of `inner` runs fastest
};

/// Where a cell lies, one index per axis.
struct SweepPlace {
  std::vector<std::size_t> index;
  std::string key;         // 32 hexadecimal digits
  std::string parameters;  // canonical, as a JSON object
  int level = 0;           // of refinement; 0: the grid as it was asked for
};

struct SweepPlan {
  std::vector<Dimension> axes;  // coordinates increasing, or labels
  std::vector<SweepVariable> measured;
  std::vector<SweepVariable> predicted;  // named as in the frames: "contraction_theory"
  std::vector<SweepPlace> places;        // each key once
};

/// What every cell of a file holds.
struct CellForm {
  std::vector<SweepVariable> measured;
  std::vector<SweepVariable> predicted;
};

/// What whoever opens a study means to put into it, and what may happen to what is there.
struct SweepOpening {
  std::optional<CellForm> form = {};  // none: whatever set_plan will say
  bool replace = false;               // finished cells of another form may be deleted
  bool repair = false;                // damaged cells may be dropped, to be computed again
};

/// What is known of one cell after `replicas` replicas.
struct SweepCell {
  std::uint64_t replicas = 0;
  std::vector<RunningMoments> moments;  // all positions of all measured variables, in their order
  std::vector<double> predictions;      // the same for the predicted ones; NaN is unknown
  bool exact = false;                   // the measured values have no error, however few replicas
};

/// One commit of one cell: which replicas were added, and what they cost.
struct SweepEffort {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  double seconds = 0.0;
  int rank = 0;
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

class SweepFile {
 public:
  /// Creates the file or opens it to go on, alone; every cell that is there is checked first.
  /// Throws, with the file as it was, Error{unwritable_file} where it may not be written or another
  /// process runs it (said, with what to do), Error{malformed_file} where it is no study, damaged,
  /// of a newer schema, or a study of another experiment, Error{bad_value} where its finished cells
  /// have another form. Forced, it takes the place of what is no study of this experiment.
  SweepFile(const OutputFile& file, const SweepHead& head, const SweepOpening& opening = {});
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;
  /// Commits what was put. Failures are lost here: call close() to hear of them.
  ~SweepFile();

  /// Everything known about every cell of the file, whatever plan wanted it.
  [[nodiscard]] std::map<std::string, SweepCell> cells() const;
  /// The same for whoever only adds what is missing: a cell that is exact or has `enough` replicas
  /// comes without its numbers, which makes opening a large study that is nearly finished cheap.
  /// Nothing: no cell has enough, nor is any exact.
  [[nodiscard]] std::unordered_map<std::string, SweepCell> cells_to_continue(
      std::optional<std::uint64_t> enough) const;

  void begin_session(const SweepSession& session);
  /// `outcome`: "finished", "stopped", "failed: ...".
  void end_session(const std::string& stopped, const std::string& outcome);

  /// Replaces the plan. Its variables must be those of the finished cells, else Error{bad_value};
  /// where the file was opened to replace them, these cells are deleted. On a request to stop
  /// Error{stopped}, and the old plan stays; a plan of a few thousand cells is kept all the same.
  void set_plan(const SweepPlan& plan, const std::stop_token& stop = {});
  /// Whether set_plan would change nothing; parameters of places are not looked at.
  [[nodiscard]] bool has_plan(const SweepPlan& plan) const;

  /// Replaces what is known of a cell of the plan; returns at once, committed within 50 ms. A
  /// failure of an earlier commit is thrown here: Error{unwritable_file}, with what to do. So is a
  /// file that was deleted or replaced since it was opened.
  void put(const std::string& key, SweepCell cell, const SweepEffort& effort);
  /// Returns when everything that was put is committed.
  void flush();
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
