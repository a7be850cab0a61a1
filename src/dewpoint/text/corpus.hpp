// A text file as one long row of tokens, with the vocabulary that was made for it.
//
//   words      white space parts words, and a punctuation mark is a word of its own; of WikiText,
//              whose files are already cut into words ("@-@", "<unk>"), the words between blanks
//              (word_cutting.hpp)
//   bpe        byte pairs joined by how often they occur in this text (byte_pair_trainer.hpp)
//   a file     any tokenizer that tokenizer.hpp opens; "<|endoftext|>" parts the texts that it sees
//              and becomes the token that ends one, where the tokenizer has none of this name
//
// The end of the text is kept for validation; vocabulary and counts come from what is before it.
// A vocabulary of words is cut to its most frequent ones; the others become <unk>. Ids of words
// and of bpe are ranks: token 0 is the most frequent one, and of equally frequent ones the smaller
// as text comes first. <unk> has its rank among the others, with all the words that it stands for:
// it may be token 0. A tokenizer from a file keeps its ids.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dewpoint/text/tokenizer.hpp"
#include "dewpoint/text/word_cutting.hpp"

namespace dewpoint::text {

/// The bytes of a file that must be UTF-8 and not empty, without the byte order mark that some
/// programs put in front. Throws Error{unreadable_file}, or Error{bad_value} with the byte (counted
/// from 0), the line and the column (from 1, in characters) of the first mistake.
[[nodiscard]] std::string read_text(const std::filesystem::path& file);

struct CorpusQuestion {
  std::filesystem::path file;
  std::string tokenizer = "words";  // "words", "bpe", or the path of a tokenizer
  WordStyle style = WordStyle::automatic;
  std::size_t vocabulary = 2000;  // V, with <unk>; 0 with a tokenizer's path: what it has
  double validation = 0.1;        // share at the end of the text that is kept for validation
};

struct Corpus {
  std::vector<std::int32_t> training, validation;  // ids below vocabulary
  std::size_t vocabulary = 0;
  std::vector<std::string> names;     // of every id, as shown to people (token_names.hpp)
  std::vector<std::uint64_t> counts;  // of every id, in the training part
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string style;  // "plain", "spaced", "bpe", or the tokenizer's kind
  /// The vocabulary as files of a model folder, name and content: token_mappings.json for words,
  /// vocab.json and merges.txt for bpe, those of tokenizer_files() for a tokenizer from a file.
  /// open_tokenizer() reads them and encodes raw text as this corpus was encoded.
  TokenizerFiles files;
};

/// Reads, cuts, counts and encodes.
///
/// The text is parted at end_of_word() of the byte (1 - validation) of the whole.
///
///   Domain      0 < validation ≤ 0.5; words: 2 ≤ vocabulary ≤ the different words of the training
///               part, and <unk>; bpe: 257 ≤ vocabulary.
///   Properties  (1) the same question gives the same corpus.
///               (2) of words and bpe: counts decrease with the id.
///               (3) of words and bpe, where the parts are apart by a blank: the tokenizer that
///                   is opened from the files encodes the text as training, then validation.
///               (4) names are UTF-8 on one line, and no two are equal.
///
/// Throws Error{bad_value} where the corpus is empty or not UTF-8, where a number is outside its
/// domain (both numbers named), or where a part is too short for `least_tokens` tokens; and what
/// read_text() and open_tokenizer() throw.
[[nodiscard]] Corpus read_corpus(const CorpusQuestion& question, std::size_t least_tokens);

/// The corpus of a text that is at hand; question.file only names it.
[[nodiscard]] Corpus corpus_of(std::string_view text, const CorpusQuestion& question,
                               std::size_t least_tokens);

/// Entropy H of the unigram law of the training part, in nats.
///
///   Accuracy    absolute (1 + (V + 4) H) 2⁻⁵³: a rounded share shifts its logarithm by 2⁻⁵³, and
///               V terms are summed.
///   Properties  (5) 0 where there is one token only, ln V where all are equally frequent.
[[nodiscard]] double unigram_entropy(const Corpus& corpus);

/// Id of a token by its name, in which blanks may be written as blanks. Throws Error{bad_value}
/// with the nearest name.
[[nodiscard]] std::int32_t token_named(const Corpus& corpus, const std::string& name);

}  // namespace dewpoint::text
