// Attention as the heat equation run backwards: a figure.
//
// The study holds
//
//     frame "heat_drift"           over beta, measured: across (the output towards the gradient)
//     frame "heat_drift_theory"    over beta: population (exact), first, second (orders of 1/β);
//                                  without dimensions: heat_beta
//     frame "heat_noise"           over (n, beta): noise_to_signal, measured, and relative_beta,
//                                  β/β_heat; frame "heat_noise_theory" over relative_beta: law
//     frame "harmonics"            over (d, degree, beta): growth, measured, and its coordinate
//                                  rate = ℓ(ℓ+d−2)/β
//     frame "harmonics_theory"     over rate: regularised, heat, deconvolution
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// Three panels: the drift of the output against β, where it drowns in noise, and the growth of
/// harmonics in one step. Throws Error{bad_value} when the study holds no frames of this form.
[[nodiscard]] LineFigure figure_of_backward_heat(const store::StudyRecord& study);

}  // namespace dewpoint::report
