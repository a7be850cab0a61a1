// Dew points of several laws of scores against the number of keys: one figure.
//
// The study holds two frames per law of scores, named "dew NAME" and "growth NAME", both over n:
//
//     dew       beta_dew_median with its error over queries, and slope_dew, d log β_dew/d log n
//               from one neighbour of n to the other; one-sided at the ends, which are not drawn
//     growth    beta and slope of the growth that theory predicts, joined to the last point
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// β_dew against n, doubly logarithmic, and beside it its local slope, which tells the laws apart:
/// points measured, curves predicted, a colour per law in the order of the frames.
/// Throws Error{bad_value} when the study holds no frames of this form.
[[nodiscard]] LineFigure figure_of_dew_points(const store::StudyRecord& study);

}  // namespace dewpoint::report
