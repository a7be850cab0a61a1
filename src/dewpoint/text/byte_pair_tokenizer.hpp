// The way of a text through a byte-pair tokenizer: special tokens out, normalise, cut into words,
// encode each; and back. GPT-2's files and tokenizer.json fill in the parts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dewpoint/text/added_tokens.hpp"
#include "dewpoint/text/byte_pair_encoding.hpp"
#include "dewpoint/text/normalizer.hpp"
#include "dewpoint/text/pre_tokenizer.hpp"
#include "dewpoint/text/token_decoder.hpp"
#include "dewpoint/text/tokenizer.hpp"
#include "dewpoint/text/vocabulary.hpp"

namespace dewpoint::text {

struct BytePairParts {
  std::string kind;
  BytePairEncoding model;
  std::vector<AddedToken> added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  TokenDecoder decoder;
  std::optional<int> beginning;
  std::optional<int> end;
};

class BytePairTokenizer : public Tokenizer {
 public:
  /// Throws Refusal where an added token and the vocabulary disagree about an id.
  explicit BytePairTokenizer(BytePairParts parts);

  std::string kind() const override { return parts_.kind; }
  std::size_t size() const override;
  std::optional<int> beginning() const override { return parts_.beginning; }
  std::optional<int> end() const override { return parts_.end; }
  std::vector<int> encode(std::string_view text) const override;
  std::string decode(std::span<const int> ids) const override;

 private:
  void normalize(AddedToken& token) const;
  void append_plain(std::string_view text, bool begins_text, std::vector<int>& ids) const;

  BytePairParts parts_;
  Vocabulary added_;        // added tokens that the model's vocabulary lacks
  AddedTokens in_text_;     // looked for in the text as it is
  AddedTokens normalized_;  // looked for in the normalised text
};

}  // namespace dewpoint::text
