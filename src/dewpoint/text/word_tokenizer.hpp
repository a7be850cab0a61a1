// One token per word: {"token2id": {"word": id, ..}, "style": ..}.
//
//   no "style"         words apart by white space
//   "style": "plain"   words as a corpus has them (word_cutting.hpp): lower case, punctuation apart
//   "style": "spaced"  words apart by white space, with <eos> for the end of a line
//
// A token may hold blanks itself ("Sand Casting"): of the words ahead, the most that are one token
// are taken.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::text {

/// Throws Refusal.
///
///   Properties  of what is returned
///               (1) encode takes any bytes (UTF-8 for the plain style); a word that is no token
///                   becomes <unk>, <UNK> or [UNK], or is refused with its place where there is no
///                   such token.
///               (2) decode puts one blank between tokens, so decode(encode(x)) = x for words apart
///                   by one blank.
[[nodiscard]] std::unique_ptr<Tokenizer> read_word_tokenizer(
    const nlohmann::ordered_json& document);

}  // namespace dewpoint::text
