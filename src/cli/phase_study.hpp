// A phase map as a finished study: the measured map, the theory's lines beside it, where it came
// from; and its figures.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

inline constexpr const char* kPhaseMap = "phase map";  // the experiment

/// Runs the map (showing progress) and gathers the record.
[[nodiscard]] store::StudyRecord phase_map_study(const experiments::PhaseMap& map, int threads,
                                                 const std::string& command);

/// The contraction as stem.svg and stem.png and, where it was measured, the Jacobian norm as
/// stem-eta.svg and stem-eta.png. Returns the files, in this order.
std::vector<std::string> draw_phase_map(const store::StudyRecord& study, const OutputFile& stem);
/// Asked before the map is measured: whether they may be written.
void require_phase_map_places(const experiments::PhaseMap& map, const OutputFile& stem);

}  // namespace dewpoint::cli
