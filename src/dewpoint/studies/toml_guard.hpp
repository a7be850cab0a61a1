// What a text must be before toml++ 3.3 may see it.
//
// Its trees are torn down by recursion: a key of a hundred thousand parts would overflow the stack.
// Control characters, and letters beyond ASCII outside quotes, are errors of TOML that it meets
// with undefined behaviour. So the first two are found beforehand, and it is given ASCII only: a
// byte beyond, and the tilde, become a tilde and two hexadecimal digits, and come back afterwards.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dewpoint::studies {

/// Where in a text something is wrong, and what.
struct TomlTrouble {
  std::uint32_t line;
  std::string message;
};

/// Dots of a line that are no decimal points. A key cannot run over lines, so that no branch of the
/// tree is longer than this many tables for each nested value.
inline constexpr std::size_t kMostDots = 64;

/// The text for toml++. Throws TomlTrouble.
[[nodiscard]] std::string to_ascii(std::string_view text);

/// A key, a value or a message of toml++ as it stood in the text.
///   Properties  (1) from_ascii(to_ascii(s)) = s for every s that may be a study file.
[[nodiscard]] std::string from_ascii(std::string_view text);

/// Control characters of ASCII, tabs and ends of lines among them.
[[nodiscard]] bool is_control(char c);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace dewpoint::studies
