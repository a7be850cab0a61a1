// The ranks of an MPI job as workers: rank 0 hands out the tasks, writes the study and computes
// too.
//
// Tasks and results are a few kilobytes; tokens are made anew from their streams wherever they are
// needed. Nobody spins: a rank without work sleeps between two looks at its messages.
//
//     MpiJob job;
//     const std::string text = job.share(job.rank() == 0 ? read() : "");
//     if (job.rank() != 0) { job.serve(experiment, seed, threads, stop); return; }
//     const auto workers = job.workers(experiment, seed, threads);
//
// However rank 0 leaves, by an exception too, the others are released: share() then throws
// Error{stopped}, serve() returns. An exception that leaves the life of the job on another rank
// ends the whole job (MPI_Abort): say what happened before.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "dewpoint/studies/task.hpp"

namespace dewpoint::studies {

class MpiPost;

/// Whether this build has MPI: "Open MPI 4.1.4", or empty.
[[nodiscard]] std::string mpi_version();

/// Whether this process was started by mpirun (or srun) with more than one rank.
[[nodiscard]] bool under_mpi();

/// MPI for as long as it lives; throws Error{missing_tool} in a build without MPI. Once per process
/// and used by one thread.
class MpiJob {
 public:
  MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;
  ~MpiJob();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// Rank 0's text on all ranks. All ranks call it. Throws Error{stopped} on the others when rank 0
  /// has ended instead.
  [[nodiscard]] std::string share(const std::string& text);

  /// On rank 0: workers that include its own threads. `threads` per rank; 0: one. They end what
  /// serve() does when they are destroyed, before the job is.
  [[nodiscard]] std::unique_ptr<Workers> workers(const Experiment& experiment, std::uint64_t seed,
                                                 int threads);
  /// On the other ranks: computes what rank 0 hands out until it says that it is over. After a
  /// `stop` the tasks here come back undone, which ends rank 0's run as well.
  void serve(const Experiment& experiment, std::uint64_t seed, int threads, std::stop_token stop);

 private:
  std::unique_ptr<MpiPost> post_;
  int rank_ = 0;
  int ranks_ = 1;
  int exceptions_ = 0;  // under way when the job began
  bool ended_ = false;  // rank 0 has said so
};

}  // namespace dewpoint::studies
