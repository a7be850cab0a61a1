// Replacing in a text what a tokenizer.json names, by text or by expression, within a bound: a
// hostile file must not turn a page into a terabyte.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/text/json_field.hpp"
#include "dewpoint/text/pattern.hpp"

namespace dewpoint::text {

/// How long a text may become on its way through a tokenizer. The blanks of sentencepiece triple
/// one; nothing real does more.
[[nodiscard]] constexpr std::size_t most_bytes(std::size_t text) { return 16 * text + 64; }

/// Throws Error{bad_value} where a text of `bytes` is longer than `most`.
void expect_bounded(std::size_t bytes, std::size_t most);

/// {"String": ".."} or {"Regex": ".."} as an expression. Throws Refusal.
[[nodiscard]] Pattern read_pattern(const JsonField& field);

/// `text` with every span replaced. Throws Error{bad_value} beyond `most` bytes.
[[nodiscard]] std::string replaced(std::string_view text, const std::vector<Span>& spans,
                                   std::string_view content, std::size_t most);

}  // namespace dewpoint::text
