// Byte-pair encoding learned from a text: the most frequent pair of neighbours is joined, again and
// again [Sennrich, Haddow and Birch 2016; on bytes, as GPT-2 does it].
//
// Different words are counted first, and pairs in them. A join then looks only at the words that
// hold its pair, and changes only the counts of the pairs beside it. It walks over whole words, so
// a text that is one long word costs its length per join.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dewpoint::text {

/// The bytes, which are the first tokens of every vocabulary.
inline constexpr std::size_t kByteTokens = 256;

struct BytePairVocabulary {
  std::vector<std::string> tokens;                          // in GPT-2's byte alphabet; id = place
  std::vector<std::pair<std::string, std::string>> merges;  // in the order in which they are made
};

/// GPT-2's byte-level BPE of `size` tokens: the 256 bytes, then one per merge; "<|endoftext|>" last
/// where the text holds it. Words are those of GPT-2's pattern. Of pairs that are equally frequent
/// the one that is smaller as text is joined: the left halves are compared, in the byte alphabet
/// and by code point, then the right ones. Every two neighbours count as a pair, so "aaa" holds
/// two; joins go from left to right.
///
///   Domain      text is UTF-8, size ≥ 257.
///   Properties  (1) the same text gives the same vocabulary.
///               (2) text_files() opened as a GPT-2 tokenizer encodes and decodes any UTF-8 text.
///               (3) merges and tokens are those of counting all pairs anew before every join.
///               (4) the vocabulary of a smaller size is the beginning of that of a larger one, but
///                   for "<|endoftext|>".
///               (5) no two tokens are equal. (Where no join crosses the ends of a piece of text,
///                   it is joined inside as it would be alone. So it can become one token by one
///                   merge only.)
///
/// Throws Error{bad_value} where the text is no UTF-8, and with the number of tokens that can be
/// had where it has no pair left to join before `size` is reached.
[[nodiscard]] BytePairVocabulary train_byte_pairs(std::string_view text, std::size_t size);

/// The contents of vocab.json and merges.txt.
struct BytePairFiles {
  std::string vocabulary;
  std::string merges;
};
[[nodiscard]] BytePairFiles text_files(const BytePairVocabulary& vocabulary);

enum class Separators { words, plain_text };

/// The words in which pairs are looked for, views of `text` that tile it: "<|endoftext|>", and
/// between two of them the matches of GPT-2's pattern; or matches alone.
///
///   Domain      text is UTF-8.
///   Properties  (6) a GPT-2 tokenizer encodes a text as its words, each encoded alone: with
///                   separators as words where "<|endoftext|>" is a token of its own, as plain text
///                   where it is not.
[[nodiscard]] std::vector<std::string_view> byte_pair_words(
    std::string_view text, Separators separators = Separators::words);

}  // namespace dewpoint::text
