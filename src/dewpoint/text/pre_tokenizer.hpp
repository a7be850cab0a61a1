// How a tokenizer.json cuts a text into words: its "pre_tokenizer".
//
//   null                                          one word
//   Sequence {pretokenizers}                      one after the other, each on the words so far
//   ByteLevel {add_prefix_space, use_regex}       GPT-2's expression, then letters for bytes
//   Split {pattern, behavior}                     behavior Isolated: a match is a word, and what is
//                                                 between matches is one
//   Digits {individual_digits}                    runs of digits, or each digit
//   Metaspace {replacement, prepend_scheme, split}  sentencepiece's blanks
//
// Every other type or behavior is refused by its name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "dewpoint/text/json_field.hpp"
#include "dewpoint/text/pattern.hpp"

namespace dewpoint::text {

struct Word {
  std::string text;
  bool begins_text;  // nothing was before it, not even a special token
};

/// Cuts words into words, which together may not grow beyond `most` bytes. Throws Error{bad_value}.
using PreTokenizer = std::function<std::vector<Word>(std::vector<Word> words, std::size_t most)>;

/// Throws Refusal.
[[nodiscard]] PreTokenizer read_pre_tokenizer(const JsonField& field);

/// GPT-2's: its expression, then letters for bytes, no blank in front.
[[nodiscard]] PreTokenizer gpt2_pre_tokenizer();

/// GPT-2's expression: its matches are the words, and they tile a text.
[[nodiscard]] const Pattern& gpt2_pattern();

}  // namespace dewpoint::text
