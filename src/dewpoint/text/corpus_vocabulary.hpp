// The three ways to a vocabulary and to ids; corpus.hpp is their face.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "dewpoint/text/corpus.hpp"

namespace dewpoint::text {

struct CorpusParts {
  std::string_view training;
  std::string_view validation;
};

/// Throw Refusal, or Error{bad_value} for a text that has too few
/// pairs or that a tokenizer cannot encode.
[[nodiscard]] Corpus corpus_of_words(const CorpusParts& parts, WordStyle style,
                                     std::size_t vocabulary);
[[nodiscard]] Corpus corpus_of_byte_pairs(const CorpusParts& parts, std::size_t vocabulary);
[[nodiscard]] Corpus corpus_of_tokenizer(const CorpusParts& parts,
                                         std::shared_ptr<const Tokenizer> tokenizer,
                                         std::size_t vocabulary);

}  // namespace dewpoint::text
