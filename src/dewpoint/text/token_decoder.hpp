// How a tokenizer.json makes a text of tokens: its "decoder".
//
//   null                              tokens with blanks between them
//   Sequence {decoders}               one after the other
//   ByteLevel                         letters back to bytes
//   ByteFallback                      <0xE2> to the byte; bytes that form no character stay bytes
//   Fuse                              all tokens to one
//   Strip {content, start, stop}      up to so many of a character off the ends of every token
//   Replace {pattern, content}        in every token
//   Metaspace {replacement, ..}       sentencepiece's blanks to blanks, none in the first token
//
// Every other type is refused by its name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "dewpoint/text/json_field.hpp"

namespace dewpoint::text {

/// Changes the tokens; their bytes, one after the other, are the text, of at most `most` bytes.
/// Throws Error{bad_value}.
using TokenDecoder = std::function<void(std::vector<std::string>& tokens, std::size_t most)>;

/// Throws Refusal.
[[nodiscard]] TokenDecoder read_token_decoder(const JsonField& field);

void decode_byte_level(std::vector<std::string>& tokens, std::size_t most);

}  // namespace dewpoint::text
