// Lower case beyond ASCII, through PCRE2's tables.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dewpoint::text {

/// Every upper-case letter (Unicode's Lu) replaced by its lower-case form, where that is one
/// letter.
///
///   Domain      text is UTF-8.
///   Properties  (1) lower_case(lower_case(x)) = lower_case(x).
///               (2) letters become letters, and nothing else changes, so words stay words.
///               (3) the result has at most 3/2 of the bytes.
[[nodiscard]] std::string lower_case(std::string_view text);

}  // namespace dewpoint::text
