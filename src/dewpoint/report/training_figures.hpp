// A training run in figures: the panels of [FD, Figure 2] and a page that shows the run at a
// glance.
//
// All read the frames of training_run.hpp; tokens keep their colours from figure to figure, dashed
// vertical lines part the stages, and the caption gives their times. Attention between token types
// is softmax(Φ), as if the context held each type once, unless a figure says otherwise. All throw
// Error{bad_value} when the study lacks what they show.
//
// The frame "condensation" has, over (moment, matrix, row, column), "cosine": between the units of
// W0, W1, WQ and WK, in an order that shows blocks; over (moment, matrix) "mean_cosine", the mean
// of |cos| over pairs of different units.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// One page: losses, attention to token 0, focus shares (where the run has them), entropies, norms,
/// components across and along token 0.
[[nodiscard]] LineFigure figure_of_training(const store::StudyRecord& study);

/// (A) The loss, and that of the sequences that end in each token.
[[nodiscard]] LineFigure figure_of_training_losses(const store::StudyRecord& study);

/// (A, beside the losses) Cosines between units, a row of panels per matrix, a column per moment;
/// kMostMoments of them, evenly chosen, when there are more.
[[nodiscard]] HeatmapFigure figure_of_weight_cosines(const store::StudyRecord& study);
inline constexpr std::size_t kMostMoments = 8;

/// (B) Embeddings in the plane in which they vary most: the whole run, and, as far as they were
/// seen, stages I and II, III, and IV in close-up with what was before in grey. Both axes have one
/// scale.
[[nodiscard]] LineFigure figure_of_embedding_paths(const store::StudyRecord& study);

/// (C) Attention of all queries over time, a panel per key; to token 0 also as a context shows it,
/// which weighs each type with its frequency.
[[nodiscard]] LineFigure figure_of_attention(const store::StudyRecord& study);

/// (C) Attention maps at the recorded times nearest to the moments of the cosines.
[[nodiscard]] HeatmapFigure figure_of_attention_maps(const store::StudyRecord& study);

/// (D1 to D3) Entropies, norms and components of the embeddings; rank-one shares, sizes and
/// singular values of the weights.
[[nodiscard]] LineFigure figure_of_embeddings(const store::StudyRecord& study);

/// A figure by name, for `dewpoint train` and `dewpoint reproduce`.
struct TrainingFigure {
  std::string name;   // of its files: name.svg and name.png
  std::string title;  // one line
  std::function<Figure(const store::StudyRecord& study)> figure_of;
};

/// All of them, the page at a glance first.
[[nodiscard]] const std::vector<TrainingFigure>& training_figures();

}  // namespace dewpoint::report
