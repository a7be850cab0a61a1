// Training on real text in figures: the panels of [FD, Figure 3] and a page that shows the run at a
// glance.
//
// All read the frame "text run" over step, layer, head, query and key (labels: the tokens of the
// probe), token (labels: those whose embeddings are followed) and position (labels: the tokens of a
// test sentence):
//
//     "loss", "validation_loss", "focus", "self_share", "rank_one", "embedding_size",
//     "unembedding_size" (step)
//     "query_size", "key_size"   (step, layer)
//     "attention"        (step, layer, head, query, key)    shown as its mean over layers and heads
//     "norms"            (step, token)
//     "self_attention"   (step, position)
//
// A probe names frequent tokens first; its second half are those of medium frequency, whose queries
// are shown. The axis of steps is logarithmic, so that step 0 has no place on it. A token has one
// colour in all figures. Values that were not measured at a step are passed over. All throw
// Error{bad_value} when the study lacks what they show.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dewpoint/report/training_figures.hpp"

namespace dewpoint::report {

/// One page: both losses, with the entropy of the tokens' law where the study has a frame
/// "vocabulary" with "unigram_entropy"; attention of the medium tokens on the probe; focus on its
/// first token and on themselves; norms; the rank-one share of W0; sizes of the weights.
[[nodiscard]] LineFigure figure_of_text_run(const store::StudyRecord& study);

/// (A1) Attention of each medium token, a panel per query and a line per key.
[[nodiscard]] LineFigure figure_of_text_attention(const store::StudyRecord& study);

/// (A2) Norms of the embeddings that are followed.
[[nodiscard]] LineFigure figure_of_text_norms(const store::StudyRecord& study);

/// (C) How much each position of the test sentence looks at its own token, from top to bottom, at
/// up to kMostSentenceSteps steps, evenly over their logarithms. Cells from kStrongSelfAttention on
/// are framed.
[[nodiscard]] HeatmapFigure figure_of_text_sentence(const store::StudyRecord& study);
inline constexpr std::size_t kMostSentenceSteps = 10;
inline constexpr double kStrongSelfAttention = 0.75;

/// All that a study has, the page at a glance first: without a test sentence, one less.
[[nodiscard]] std::vector<TrainingFigure> text_training_figures(const store::StudyRecord& study);

}  // namespace dewpoint::report
