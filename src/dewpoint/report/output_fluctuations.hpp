// What attention over keys on a sphere returns from draw to draw, against its Gaussian law: two
// figures.
//
// A study of uniform keys below criticality holds
//
//     frame "output_cloud"     along and across over (theta, draw): √n (⟨q, ATT⟩ − A_d) and
//                              √n times one coordinate across the query
//     frame "output_ellipse"   the same over (theta, angle): two standard deviations of the
//                              Gaussian law around its biased centre
//     frame "output_ratio"     over (d, theta): effective_keys, and measured over predicted
//                              radial_variance, across_variance and bias
//
// and one of a value matrix V
//
//     frame "value_cloud"      first and second over (beta, draw): √n times two coordinates of
//                              V ATT less the limit of their means
//     frame "value_ellipse"    the same over (beta, angle)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// One cloud with its ellipse per θ, and the ratios of all d against n_eff, where the Gaussian law
/// ends.
/// Both figures throw Error{bad_value} when the study holds no frames of their form.
[[nodiscard]] LineFigure figure_of_output_fluctuations(const store::StudyRecord& study);

/// One cloud with its ellipse per β.
[[nodiscard]] LineFigure figure_of_value_fluctuations(const store::StudyRecord& study);

}  // namespace dewpoint::report
