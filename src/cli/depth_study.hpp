// Many layers, and the exact recursions beside them (studies/depth_theory.hpp), as a study.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/experiments/phase_depth.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

inline constexpr const char* kPhaseDepth = "phase depth";  // the experiment

/// Runs phase_depth with a progress line; frames "phase_depth" and, where there is one,
/// "depth_theory".
[[nodiscard]] store::StudyRecord depth_study(const experiments::PhaseDepth& parameters, int threads,
                                             const std::string& command);

}  // namespace dewpoint::cli
