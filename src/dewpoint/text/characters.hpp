// Text as UTF-8 characters, where a byte that belongs to none must be named and not replaced.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace dewpoint::text {

/// One character: its bytes and its value.
struct Character {
  std::size_t length;
  char32_t value;
};

/// The character at byte `position`; length 0 where no well-formed one begins there.
///
///   Domain     position < text.size().
///   Reference  RFC 3629: no longer form than needed, no surrogates, at most U+10FFFF.
[[nodiscard]] Character character_at(std::string_view text, std::size_t position);

/// The first byte that is not part of a well-formed character; text.size() where all are.
[[nodiscard]] std::size_t first_malformed(std::string_view text);

/// Throws Error{bad_value} with the place of the first byte that is no UTF-8.
void expect_utf8(std::string_view text);

/// White space as Unicode defines it (property White_Space).
[[nodiscard]] bool is_white_space(char32_t value);

}  // namespace dewpoint::text
