// What experiments on a text share: the text itself, and the steps at which one looks.
//
// A study names its text by a path, which is part of every point, and not by its content: whoever
// changes the file begins a new study. The text is read once per process, whatever the number of
// points and replicas, and kept as long as the process lives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/experiments/training_parts.hpp"
#include "dewpoint/text/corpus.hpp"

namespace dewpoint::studies {

/// Each part has at least so many tokens. Throws as text::read_corpus().
[[nodiscard]] std::shared_ptr<const text::Corpus> shelved_corpus(
    const text::CorpusQuestion& question, std::size_t least_tokens);

/// "step" of the looks of a run: 0, multiples of record-every, and the last.
[[nodiscard]] Dimension look_dimension(const experiments::LearningQuestion& learning);

}  // namespace dewpoint::studies
