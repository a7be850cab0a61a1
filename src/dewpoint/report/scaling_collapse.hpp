// Finite-size scaling: against x = (c − 1) log n the curves of all n fall onto one.
//
// A study of the collapse holds
//
//     frame "scaling_collapse"           variables "contraction" and "jacobian_norm" over n,
//                                        scaling_variable: exact at finite n
//     frame "crossover"                  the same over scaling_variable: their limit for n → ∞
//     frame "scaling_collapse_measured"  as the first, measured; optional, its n and
//                                        scaling_variable are its own
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// Two panels, λ and η against x: one curve per n, dark to light as n grows, the limit dashed in
/// black, what was measured as points with errors in the colour of its n.
/// Throws Error{bad_value} when the study holds no frames of this form.
[[nodiscard]] LineFigure figure_of_scaling_collapse(const store::StudyRecord& study);

}  // namespace dewpoint::report
