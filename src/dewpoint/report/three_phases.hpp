// Where attention goes among clusters: to all the rest, to the cluster, or to the token itself.
//
// A study of clustered tokens holds the frames
//
//   three_phases            variables "self_mass", "cluster_mass", "rest_mass" over n, gamma
//   three_phases_measured   the same, measured; optional, its n and gamma are its own
//   cluster_thresholds      variables "rest_to_cluster" and "cluster_to_self" over nothing: the γ
//                           at which one mass overtakes the other for n → ∞; optional
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// One panel per n of either frame, increasing, titled "n = 10⁶"; the three masses as curves, what
/// was measured as points with errors in the same colours, the thresholds as markers γ₁ and γ₂.
/// Throws Error{bad_value} when the study holds no frames of this form.
[[nodiscard]] LineFigure figure_of_three_phases(const store::StudyRecord& study);

}  // namespace dewpoint::report
