// The tokenizer file of llama2.c: pieces and scores, joined greedily.
//
//     int32 longest piece in bytes, then for every token: float32 score, int32 length, bytes
//
// all little-endian. The number of tokens is not in the file; it is read to its end. Ids 0, 1 and 2
// are the unknown token, the beginning and the end; 3 to 258 are the 256 bytes, "<0x00>" to
// "<0xFF>".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::text {

/// Throws Error{malformed_file} with the name and the byte or token that cannot be. A piece that
/// stands there twice is refused: llama2.c finds either.
///
///   Properties  of what is returned
///               (1) encode takes any bytes: a blank goes before the text, characters that are no
///                   piece fall apart into bytes, and the pair with the best score is joined first,
///                   the leftmost of equals.
///               (2) decode(encode(x)) = x for all bytes x, where a blank is a piece and no piece
///               of a
///                   byte can be put together from others.
///               (3) decode drops one leading blank at the beginning and after the token that
///                   begins a text.
[[nodiscard]] std::unique_ptr<Tokenizer> parse_llama2c_tokenizer(std::string_view bytes,
                                                                 std::string_view name);

}  // namespace dewpoint::text
