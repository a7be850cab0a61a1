// Byte-pair encoding: a word's characters, joined by a ranked list of pairs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dewpoint/text/merging.hpp"
#include "dewpoint/text/vocabulary.hpp"

namespace dewpoint::text {

/// What becomes of a character that is no token, and of a word that is one.
struct BytePairOptions {
  std::string unknown;         // the token of unknown characters; empty: such a text is refused
  bool fuse_unknown = false;   // neighbours that are unknown become one token
  bool byte_fallback = false;  // first try the tokens <0x00> to <0xFF> of the character's bytes
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges give
};

class BytePairEncoding {
 public:
  using Pair = std::pair<std::string, std::string>;

  /// Pairs in the order of their rank; of a pair that stands there twice the later rank holds.
  /// Throws Refusal where a merge names a token that the vocabulary lacks, the unknown token is
  /// none, or only some of the 256 bytes have tokens.
  BytePairEncoding(Vocabulary vocabulary, const std::vector<Pair>& merges, BytePairOptions options);

  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

  /// Appends the tokens of a word.
  ///
  ///   Domain      word is UTF-8.
  ///   Properties  (1) a pair of lower rank is joined first, the leftmost of equals.
  ///
  /// Throws Error{bad_value} for a character without a token.
  void append_word(std::string_view word, std::vector<int>& ids) const;

 private:
  [[nodiscard]] int token(std::string_view text, std::size_t rank) const;
  void read_bytes();
  [[nodiscard]] std::vector<int> characters(std::string_view word) const;
  void append_unknown(std::string_view character, std::vector<int>& ids) const;
  [[nodiscard]] std::optional<Merge> merge_of(int left, int right) const;

  Vocabulary vocabulary_;
  BytePairOptions options_;
  std::optional<int> unknown_;
  std::vector<int> bytes_;  // the tokens of the bytes; empty where there are none
  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace dewpoint::text
