// Is a text in Unicode's composed form (NFC) beyond doubt?
//
// Composing needs Unicode's tables of decompositions, which are not here. But most text is composed
// already, and that can be seen: a text is its own composed form if none of its characters
// decomposes otherwise, joins with one before it, or may change places with a neighbour.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace dewpoint::text {

/// The byte of the first character that leaves it open; text.size() where none does.
///
///   Domain      text is UTF-8.
///   Properties  (1) where it is text.size(), the text is its own NFC (Unicode 14).
///               (2) ASCII and Latin-1, emoji, composed Hangul and unified CJK leave nothing open.
///   Reference   Unicode Standard Annex 15: characters with NFC_Quick_Check other than yes, or with
///               a combining class other than 0.
[[nodiscard]] std::size_t first_unsettled(std::string_view text);

}  // namespace dewpoint::text
