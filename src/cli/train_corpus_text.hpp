// A training run on text for people and for programs: what was asked, how the losses ended, what
// became of focus and of the embeddings.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/answer.hpp"
#include "dewpoint/experiments/train_text_question.hpp"

namespace dewpoint::cli {

/// Of a run that was looked at. How fast it was is in the text alone: the object is the same for
/// every machine and number of threads.
[[nodiscard]] Answer text_run_answer(const experiments::TrainTextQuestion& asked,
                                     const experiments::TextRun& run);

}  // namespace dewpoint::cli
