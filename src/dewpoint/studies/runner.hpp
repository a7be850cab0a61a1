// Running a study: what is missing is computed, largest expected cost first, and kept as it comes.
//
// The runner knows cells, replicas and costs; who computes is a Workers (task.hpp): the threads of
// this process (local_workers.hpp) or the ranks of an MPI job (mpi_workers.hpp). Values of a cell
// are added in the order of its replicas whatever the order in which they come in, so a study is
// the same to the last bit on any number of threads and ranks, stopped and continued or not.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "dewpoint/store/cell_store.hpp"
#include "dewpoint/studies/plan.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "dewpoint/studies/task.hpp"

namespace dewpoint::studies {

struct RunProgress {
  std::size_t finished = 0;  // cells of the plan that have all their replicas
  std::size_t planned = 0;
  double work_done = 0.0;  // of this run, in the experiment's unit
  double work_left = 0.0;  // known so far
};

struct RunOptions {
  std::stop_token stop;
  std::function<void(const RunProgress&)> progress;  // called from the runner's thread
  bool predictions = true;  // in memory: else the cells have none, as first answers cannot wait
  bool replace = false;     // finished cells of other observables may be deleted
  bool repair = false;      // damaged cells are computed again
  bool force = false;       // the study's file may take the place of anything
};

struct RunOutcome {
  std::size_t planned = 0;
  std::size_t finished = 0;
  std::size_t computed = 0;    // cells that got replicas in this run
  std::size_t reused = 0;      // cells that needed nothing
  std::size_t outdated = 0;    // cells that an earlier version had, with other numbers
  std::uint64_t replicas = 0;  // computed in this run
  double seconds = 0.0;        // of work, all threads together
  bool stopped = false;
};

/// Brings what is kept to what the study asks for, beginning with the plan of its grid (a study
/// that cannot be planned keeps nothing); a study that is there already costs nothing. On a stop
/// what is finished is kept and the outcome says so. Throws what a cell threw, after keeping the
/// others.
///   Properties  (1) the numbers do not depend on the workers, nor on stops in between.
///               (2) a replica that was kept is never computed again.
[[nodiscard]] RunOutcome run_study(const StudyText& study, const Experiment& experiment, Plan plan,
                                   store::CellStore& store, Workers& workers,
                                   const RunOptions& options);

/// What a study would cost, from a few of its points measured now.
struct CostEstimate {
  std::size_t cells = 0;       // of the plan, refinement not counted
  std::size_t missing = 0;     // cells that lack replicas
  std::uint64_t replicas = 0;  // that are missing (with a target: the fewest)
  std::size_t measured = 0;    // points that were timed
  double seconds = 0.0;        // of work on one thread
  double low = 0.0;            // the same with the cheapest and the dearest rate that was seen
  double high = 0.0;
  bool at_least = false;  // a target or a refinement may ask for more
  store::CellForm form;   // what every cell would hold
};

/// `known`: cells that the file has already. Times points of small, typical and large work until
/// about `patience` seconds are spent (at least one).
[[nodiscard]] CostEstimate estimate_cost(const StudyText& study, const Experiment& experiment,
                                         const std::map<std::string, store::SweepCell>& known,
                                         double patience, std::stop_token stop);

}  // namespace dewpoint::studies
