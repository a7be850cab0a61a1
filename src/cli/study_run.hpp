// Running a study of a study file into its file, as `dewpoint run` and `dewpoint reproduce --long`
// do: what is there already is not computed again, and the file says who ran it and how it ended.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

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

/// Says on standard error what is kept and how to go on; returns the exit status.
[[nodiscard]] int say_interrupted(const studies::StudyText& study,
                                  const studies::RunOutcome& outcome, const std::string& command);

}  // namespace dewpoint::cli
