// A study run into its file, which says afterwards who ran it, on what, and how it ended: what
// `dewpoint run` and the explorer do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/studies/runner.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "dewpoint/studies/task.hpp"

namespace dewpoint::studies {

/// run_study() into `study.study`, as a session of the file. A stop is no error: what is finished
/// is in the file, and the outcome says that it was stopped. Throws what run_study() throws, after
/// the file was told.
[[nodiscard]] RunOutcome run_recorded(const StudyText& study, Workers& workers,
                                      const std::string& command, const RunOptions& options);

}  // namespace dewpoint::studies
