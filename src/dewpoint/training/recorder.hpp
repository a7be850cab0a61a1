// What is written down while a model trains, and what is made of it at the end.
//
// At every recorded time (record.hpp): the loss and that of each group S_k (sequences whose context
// ends in token k); attention between token types, once with equal counts, softmax(Φ), and once as
// the context shows them, ∝ π exp Φ; their entropies; norms of the embeddings, their components
// along token 0 and across it; singular values of W0 and W1, with the share of the first in all
// (the rank-one fraction); norms of the four matrices. At chosen times (condensation.hpp): the
// cosines between the units of each matrix, ordered so that blocks show. At the end
// (embedding_paths.hpp): the embeddings in the plane in which they vary most. Here they become
// frames, the form in which a study keeps them. Errors are 0: it is one run. Numbers that do not
// exist (the loss of a group without sequences, the drift of a run that is no flow) are cells
// without samples.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/training/condensation.hpp"
#include "dewpoint/training/embedding_paths.hpp"
#include "dewpoint/training/record.hpp"
#include "dewpoint/training/record_bytes.hpp"

namespace dewpoint::training {

/// Frame "trajectory" over time, token, query, key, rank, component, cycle: every field of Record
/// but the weights under its own name (group_loss over (time, token), attention over (time, query,
/// key), ...), "path" over (time, token, component) with "path_explained" over component, and
/// "focus" over (time, cycle): s_k(t) of stages.hpp with its usual least mass. At least one record.
[[nodiscard]] Frame trajectory_frame(std::span<const Record> records);

/// Frame "condensation" over moment (coordinates: times), matrix (labels), row, column: "cosine";
/// over (moment, matrix): "mean_cosine" and "rank_one". All moments of one run, at least one.
[[nodiscard]] Frame condensation_frame(std::span<const Condensation> moments);

}  // namespace dewpoint::training
