// Text of unknown origin as Unicode: what is not UTF-8 becomes U+FFFD, and nothing is refused.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dewpoint::checkpoint {

/// The code points of a text. Every byte that belongs to no well-formed sequence (a stray
/// continuation, a longer form than needed, a surrogate, a value above U+10FFFF, a cut end) is one
/// U+FFFD.
///
///   Properties  (1) well-formed UTF-8 comes back bit for bit from encode_utf8.
///               (2) encode_utf8(decode_utf8(any bytes)) is well-formed.
///   Reference   RFC 3629.
[[nodiscard]] std::u32string decode_utf8(std::string_view text);

/// UTF-8 of code points, each a Unicode scalar value.
[[nodiscard]] std::string encode_utf8(std::u32string_view code_points);

}  // namespace dewpoint::checkpoint
