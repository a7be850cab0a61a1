// Softmax over Gaussian scores condenses: figures of a study of the load t = β/β_c.
//
// Such a study holds
//
//     frame "condense"           over (n, t), measured: largest_weight, log_partition
//     frame "condense_theory"    over (n, t), exact at finite n: largest_weight, log_partition,
//                                log_mean_partition = log E Z, edge_load = β/b_N; laws:
//                                largest_weight_law below freezing, limit_largest_weight,
//                                series_largest_weight. NaN where a formula does not apply
//     frame "condense_law"       edge_load, largest_weight_law and log_mean_partition again, where
//                                it was measured: n and t are those of "condense"
//     frame "condense_limits"    over t, as n → ∞: decay_exponent = −lim log E w_max/log n,
//                                annealed_free_energy = lim log E Z/log n and
//                                quenched_free_energy = lim E log Z/log n
//     frame "freezing_window"    log_ratio over scaling_variable: lim E log Z − log E Z at
//                                (1 − t)√(2 log n)
//
// and a study of a planted key
//
//     frame "condense"           planted_weight over (n, t, signal)
//     frame "condense_theory"    retrieval_signal over (n, t)
//
// Otherwise the n and t of a frame are its own; all n are above 1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// E w_max against t: one curve per n, dark to light as n grows, measured points on it, the limit
/// n → ∞ dashed in black, the printed series that has no transition dotted. Beside it the
/// exponent −log E w_max/log n with its limit.
/// All figures of this file throw Error{bad_value} when the study holds no frames of their form.
[[nodiscard]] LineFigure figure_of_condensation(const store::StudyRecord& study);

/// The same weights where they collapse: above freezing against the load t_e = β/b_N of finite n,
/// below as the ratio to the law with its prefactor, where the study has one.
[[nodiscard]] LineFigure figure_of_weight_collapse(const store::StudyRecord& study);

/// E log Z and log E Z over log n, with their limits, and their difference against
/// (1 − t)√(2 log n), where all n fall onto one curve.
[[nodiscard]] LineFigure figure_of_free_energies(const store::StudyRecord& study);

/// E w_* of a planted key in colour over (t, s), one panel per n, the boundary s_c(t) on top.
[[nodiscard]] HeatmapFigure figure_of_retrieval(const store::StudyRecord& study);

}  // namespace dewpoint::report
