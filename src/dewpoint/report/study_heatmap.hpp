// A heat map of any study: an observable over two of its axes, one panel per value of the others.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/figure_request.hpp"
#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// x and y are those of the request; otherwise the last axes of numbers, of those with at least
/// five values if there are two, y being the last. Where the frame holds "critical_<y>" it is a
/// dashed curve over x, and each "critical_<y>_<which>" a solid one; else those of x over y.
/// Colours of fractions run from 0 to 1, all others from the smallest value to the largest,
/// diverging ones equally far to both sides of the centre. Cells that a refinement left out take
/// part as borrowed_cells.hpp says, unless the study is unfinished; what was not measured yet is
/// grey. Throws Error{bad_value} where the request does not fit the study, and where there would be
/// more than kMostPanels panels.
[[nodiscard]] HeatmapFigure heatmap_of_study(const store::StudyRecord& study,
                                             const FigureRequest& request);

}  // namespace dewpoint::report
