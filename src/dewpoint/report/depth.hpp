// What many layers do to a cloud of tokens: quantities against depth, one curve per γ = β / log n.
//
// A study of depth holds
//
//     frame "phase_depth"   any of the variables below over gamma, layer
//
//         log10_gap        log₁₀ of the mean of 1 − cos over pairs of tokens
//         contraction      λ of the layer
//         effective_rank   directions that the tokens still span
//         jacobian_norm    η of the layer
//         end_to_end_norm  squared Frobenius norm of the product of all Jacobians, scaled as η
//         singular_value   of that product; over gamma, layer, rank: the first rank is drawn
//
//     frame "depth_theory"  any of the same variables, with gammas and layers of its own; optional
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// One panel per variable, in the order above; one colour per γ, named "γ = 1.6". Where theory
/// has the variable it is dashed and the measurement is points; elsewhere points joined by lines.
/// The gap, the end-to-end norm and the singular value are on logarithmic axes. Theory is matched
/// by the value of γ. Throws Error{bad_value} when the study holds no frame of this form.
[[nodiscard]] LineFigure figure_of_depth(const store::StudyRecord& study);

}  // namespace dewpoint::report
