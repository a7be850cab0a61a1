// Numbers as a reader writes them, in plain Unicode: 0.25, −3, 10⁶, 2.5·10⁻⁷.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dewpoint::report {

/// 10 to a whole power: "10⁻³", "10⁰", "10¹²".
[[nodiscard]] std::string power_of_ten_text(std::int64_t exponent);

/// At most twelve significant digits, without trailing zeros: plain from 10⁻⁴ up to 10⁵, otherwise
/// a mantissa and a power of ten, the mantissa left out where it is 1. "NaN" and "∞" where the
/// value is not finite.
[[nodiscard]] std::string number_text(double value);

/// A number of tokens: whole powers of ten from a thousand on as such ("10³"), other whole numbers
/// below 10⁹ plain ("1048576"), the rest as number_text() has it.
[[nodiscard]] std::string length_text(double n);

/// A quantity (core/quantity.hpp) with its value: "n = 10⁶", "ρ = 0.5".
[[nodiscard]] std::string value_label(std::string_view name, double value);

}  // namespace dewpoint::report
