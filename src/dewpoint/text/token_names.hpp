// Tokens as they are shown to people: on an axis, in a table, on the command line.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::text {

/// Any bytes on one line: a blank as U+2581, as sentencepiece writes it; a control character, or a
/// byte of no character, as \x0a.
///
///   Properties  (1) the result is UTF-8 without blanks and control characters.
///               (2) visible(visible(x)) = visible(x).
[[nodiscard]] std::string visible(std::string_view bytes);

/// Visible names of tokens, none empty and no two equal. Of tokens that look alike the most
/// frequent one, by `counts`, has the name; to the others, and to an empty name, the id is added
/// behind '#'.
[[nodiscard]] std::vector<std::string> token_names(const std::vector<std::string>& tokens,
                                                   const std::vector<std::uint64_t>& counts);

/// The bytes of every token of a tokenizer, empty where an id has none.
[[nodiscard]] std::vector<std::string> token_bytes(const Tokenizer& tokenizer);

}  // namespace dewpoint::text
