// GPT-2's byte-level tokenizer from its two files.
//
//   vocab.json    {"token": id, ..}, tokens in letters for bytes (byte_alphabet.hpp)
//   merges.txt    a line "#version: ..", then "left right" in the order of rank
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::text {

/// A foreign text and the name of its file.
struct NamedText {
  std::string_view text;
  std::string_view name;
};

/// Throws Error{malformed_file} with the name of the file at fault. <|endoftext|> is one token
/// where it stands in a text, and begins and ends texts, if the vocabulary has it.
[[nodiscard]] std::unique_ptr<Tokenizer> parse_gpt2_tokenizer(const NamedText& vocabulary,
                                                              const NamedText& merges);

}  // namespace dewpoint::text
