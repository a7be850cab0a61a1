// Ordered attention weights at criticality against their limit law: a figure.
//
// The study holds, for each d and n,
//
//     frame "critical_weights"   largest_weight over (d, n, probability): quantiles of w_1
//                                weight over (d, n, rank): mean ordered weights
//     frame "limit_weights"      largest_weight over (d, probability) and weight over (d, rank), of
//                                the limit law, at the same coordinates
//
// and for the approach to it
//
//     frame "convergence"        distance over (d, n): |E w_1 − limit|/limit, exact at finite n;
//                                NaN where it is too small to be known
//                                law over (d, n): the power of n through the last distance that is
//                                known; NaN as the distance
//                                power over d: that power, −min(1, 2/(d−1))
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// A column of two panels per d: quantiles of w_1 at finite n against those of the limit law, on
/// the diagonal when the laws agree; below, the mean weight of every rank.
/// Both figures throw Error{bad_value} when the study holds no frames of their form.
[[nodiscard]] LineFigure figure_of_critical_weights(const store::StudyRecord& study);

/// |E w_1 − limit|/limit against n, doubly logarithmic, one colour per d, with its law dashed;
/// beside it, the local power of n with the power of the law.
[[nodiscard]] LineFigure figure_of_convergence(const store::StudyRecord& study);

}  // namespace dewpoint::report
