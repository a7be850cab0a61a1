// GPT-2's letters for bytes: every byte is one visible character, so that a vocabulary of bytes can
// be written as text.
//
// Printable bytes of Latin-1 stand for themselves; the other 68 are U+0100, U+0101, .. in order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dewpoint::text {

/// Every byte as its letter.
[[nodiscard]] std::string letters_of_bytes(std::string_view bytes);

/// The inverse. A text with any character that is no letter stands for itself: it is the text of a
/// token that was added to the vocabulary.
///
///   Properties  (1) bytes_of_letters(letters_of_bytes(x)) = x for all bytes x.
[[nodiscard]] std::string bytes_of_letters(std::string_view letters);

}  // namespace dewpoint::text
