// Lists of numbers on the command line: "8,64,512", or "first:last:count" for equal steps, and with
// ":log" behind it for equal ratios.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dewpoint {

/// Numbers of a list option, increasing. Throws Error{bad_value} naming the option `field`, the
/// text and what is allowed.
[[nodiscard]] std::vector<double> parse_grid(const std::string& field, const std::string& text);

/// The same for whole numbers.
[[nodiscard]] std::vector<std::size_t> parse_counts(const std::string& field,
                                                    const std::string& text);

}  // namespace dewpoint
