// Bytes as text [RFC 4648, section 4]: six bits per character, padded with '=' to whole groups of
// four.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace dewpoint::report {

[[nodiscard]] std::string base64_of(std::span<const std::uint8_t> bytes);

/// The little-endian bytes of the numbers, on any machine. NaNs keep their bits.
[[nodiscard]] std::string base64_of(std::span<const double> numbers);

}  // namespace dewpoint::report
