// Where Oniguruma (Ruby's syntax) and PCRE2 read one expression in two ways.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace dewpoint::text {

/// The first construct whose meaning differs, as a message may name it; none where there is none.
///
///   \h \H             a hexadecimal digit there, a blank here
///   [a&&b] [a[b]]     sets inside sets there, letters here
///   {1,3}+            a repetition of the repetition there, one that gives nothing back here
///   (?m) (?s) (?x)    other options under the same letters; only i is the same
[[nodiscard]] std::optional<std::string_view> foreign_construct(std::string_view expression);

}  // namespace dewpoint::text
