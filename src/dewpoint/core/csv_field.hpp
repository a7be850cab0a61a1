// One field of a CSV file [RFC 4180].
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dewpoint {

/// The text as it is, or in quotes with its own quotes doubled where it holds a comma, a quote or
/// the end of a line.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace dewpoint
