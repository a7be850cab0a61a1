// A study of unknown origin, for a terminal: its names, titles, parameters and labels as
// core/printable.hpp shows them. What is exported or printed as JSON is the study as it is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/store/study.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::cli {

[[nodiscard]] store::StudyRecord printable_study(store::StudyRecord study);
[[nodiscard]] store::StudySummary printable_summary(store::StudySummary summary);

}  // namespace dewpoint::cli
