// A study run into its file, which says afterwards who ran it, on what, and how it ended: what
// `dewpoint run` and the explorer do. Or without a file, for the same record.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/store/cell_memory.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/studies/runner.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "dewpoint/studies/task.hpp"

namespace dewpoint::studies {

/// run_study() into `study.study`, as a session of the file. A stop is no error: what is finished
/// is in the file, and the outcome says that it was stopped. Throws what run_study() throws, after
/// the file was told.
[[nodiscard]] RunOutcome run_recorded(const StudyText& study, Workers& workers,
                                      const std::string& command, const RunOptions& options);

/// run_study() into these cells, and what read_study() would give of the file, but for the time:
/// same frame, names, order and Estimates. What the cells had from an earlier plan is found. Throws
/// Error{stopped} on a request to stop; the cells keep what was finished.
[[nodiscard]] store::StudyRecord run_in_memory(const StudyText& study, Workers& workers,
                                               const std::string& command, store::CellMemory& cells,
                                               const RunOptions& options = {});

/// The same on the threads of this process, 0 for all.
[[nodiscard]] store::StudyRecord run_in_memory(const StudyText& study, int threads,
                                               const std::string& command,
                                               const RunOptions& options = {});

}  // namespace dewpoint::studies
