// The text of a training experiment, as parameters of a study: corpus, tokenizer and vocabulary,
// and the steps at which one looks.
//
// A study names its text by a path, which is part of every point, and not by its content: whoever
// changes the file begins a new study. The text is read once per process, whatever the number of
// points and replicas, and kept as long as the process lives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/text/corpus.hpp"

namespace dewpoint::studies {

[[nodiscard]] std::vector<Field> corpus_parameters();

/// Throws Error{bad_value} naming the parameter, also where no text is named.
[[nodiscard]] text::CorpusQuestion corpus_at(const Point& point);

/// The text itself; each part has at least so many tokens. Throws as text::read_corpus().
[[nodiscard]] std::shared_ptr<const text::Corpus> shelved_corpus(
    const text::CorpusQuestion& question, std::size_t least_tokens);

/// "step" of the looks of a run: 0, multiples of record_every, and the last of `steps`.
[[nodiscard]] Dimension look_dimension(const Point& point);

}  // namespace dewpoint::studies
