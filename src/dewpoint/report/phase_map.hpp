// The phase diagram of a study: contraction λ or Jacobian norm η over the correlation ρ and scaling
// γ.
//
// A study of `phase map` holds
//
//     frame "phase_map"       variables "contraction" and, where it was asked for, "jacobian_norm"
//                             over n, d, rho, gamma (in this order)
//     frame "critical_lines"  variables "simplex_gamma", where γ (1 − ρ) = 1, and
//                             "finite_dimension_gamma", over n, d, rho (in this order)
//
// Theory comes from the study, not from here: report reads records and never runs physics.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

enum class PhaseQuantity { contraction, jacobian_norm };

/// One panel per (n, d), titled "n = 512, d = 64", n slowest; the simplex line dashed, the line at
/// finite dimension solid where it exists (NaN where it does not). Critical lines are matched by
/// the values of n and d; a pair without lines, or a study without the frame, has no curves.
/// Throws Error{bad_value} when the study does not hold a map of this form.
[[nodiscard]] HeatmapFigure heatmap_of_phase_map(
    const store::StudyRecord& study, PhaseQuantity quantity = PhaseQuantity::contraction);

}  // namespace dewpoint::report
