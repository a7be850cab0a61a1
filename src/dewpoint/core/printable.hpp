// Text of unknown origin for a terminal: what it could do there is shown, not done.
//
// Control characters (C0, DEL, C1), marks that turn the direction of a line, line separators, and
// bytes that are no UTF-8 are written as \x1b or \u202e.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dewpoint {

/// One line: newlines and tabs are shown too.
[[nodiscard]] std::string printable(std::string_view text);

/// A page: lines, tabs and colours (the sequences that end in m) stay as they are.
[[nodiscard]] std::string printable_page(std::string_view text);

}  // namespace dewpoint
