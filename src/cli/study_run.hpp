// Running a study into its file, as `dewpoint run` and `dewpoint phase map` do: what is there
// already is not computed again, and the file says who ran it and how it ended. Or in memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/store/study.hpp"
#include "dewpoint/studies/runner.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "dewpoint/studies/task.hpp"

namespace dewpoint::cli {

/// studies::run_recorded() on the workers of somebody else, with a progress line, until Ctrl-C.
[[nodiscard]] studies::RunOutcome run_recorded(const studies::StudyText& study,
                                               studies::Workers& workers,
                                               const std::string& command,
                                               studies::RunOptions options = {});

/// On the threads of this process, 0 for all.
[[nodiscard]] studies::RunOutcome run_on_threads(const studies::StudyText& study, int threads,
                                                 const std::string& command,
                                                 const studies::RunOptions& options = {});

/// studies::run_in_memory() with a progress line of this label, until Ctrl-C: Error{stopped}.
[[nodiscard]] store::StudyRecord run_in_memory(const studies::StudyText& study, int threads,
                                               const std::string& command,
                                               const std::string& label);

/// Says on standard error what is kept and how to go on; returns the exit status.
[[nodiscard]] int say_interrupted(const studies::StudyText& study,
                                  const studies::RunOutcome& outcome, const std::string& command);
/// The same as Error{stopped}, for verbs that others may have asked.
[[noreturn]] void throw_interrupted(const studies::StudyText& study,
                                    const studies::RunOutcome& outcome, const std::string& command);

}  // namespace dewpoint::cli
