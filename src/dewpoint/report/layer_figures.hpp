// Training of models with several layers and heads in figures, [FD, Figures 4 and 5]: what becomes
// of norms and focus.
//
// All read the frame "layer runs" over model (labels), run, step, token and layer: "loss" (model,
// run, step), "norm" (model, run, step, token), "focus" (model, run, step, layer). There is a panel
// per model; a strong line is the mean over those runs that have a value, pale ones are the runs
// where there are several. Layers that a model does not have are left out. All throw
// Error{bad_value} when the study lacks what they show.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// Norms of the embeddings over steps, a colour per token.
[[nodiscard]] LineFigure figure_of_layer_norms(const store::StudyRecord& study);

/// Attention of the rarest query to token 0, mean over heads, dark to light from the first layer to
/// the last.
[[nodiscard]] LineFigure figure_of_layer_focus(const store::StudyRecord& study);

/// Losses over steps, a line per model in one panel.
[[nodiscard]] LineFigure figure_of_layer_losses(const store::StudyRecord& study);

}  // namespace dewpoint::report
