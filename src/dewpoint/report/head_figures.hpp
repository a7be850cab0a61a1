// Real heads in figures: which head is in which phase, and how that moves with the context.
//
// The study holds a frame "heads" over (layer, head, n, multiplier), as diagnosis keeps it; n is
// the upper end of a bin of context lengths, multipliers have names. The frame of a sweep is "loss"
// over (length, rope, multiplier), with "iso_phase" over (length, rope) and "schedules" over
// (length, schedule) beside it. All figures throw Error{bad_value} when the study lacks what they
// show.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// One observable of all heads as a map of layer against head: a panel per multiplier at the
/// longest context, or, where there is only one, a panel for up to four contexts. The phase parts
/// blue (diffuse) from red (condensed) at 1.
[[nodiscard]] HeatmapFigure figure_of_head_map(const store::StudyRecord& study,
                                               const std::string& observable);

/// Dew points, phases, shares of the context that are read, and largest weights against n: a dot
/// per head, a line per layer through the medians of its heads. Beside the dew points the ones that
/// Gaussian scores of the same variance would have.
[[nodiscard]] LineFigure figure_of_head_curves(const store::StudyRecord& study);

/// What was found about every head and multiplier, a sentence each: its phase, the reason, and in
/// percent how probable that is. Empty where the study keeps none.
[[nodiscard]] std::vector<std::string> verdicts_on_heads(const store::StudyRecord& study);

/// How the loss changes with a multiplier of the logits, a panel per length, a line per rotation;
/// the multipliers that keep the phase of training are dotted lines in the same colours, those of
/// YaRN and of log n are marked above the panels.
[[nodiscard]] LineFigure figure_of_loss_sweep(const store::StudyRecord& study);

}  // namespace dewpoint::report
