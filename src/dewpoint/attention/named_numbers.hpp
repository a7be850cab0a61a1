// Names with numbers behind them, as masks and kinds of attention have: window:12, dilated:4:2,
// sink:-1.5.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace dewpoint::attention {

/// The `count` numbers of "word:first:second.."; nothing for another word, another count, or
/// anything that is not a number of this type to its last letter.
template <class Number>
[[nodiscard]] std::optional<std::vector<Number>> numbers_behind(std::string_view word,
                                                                std::string_view text,
                                                                std::size_t count) {
  if (!text.starts_with(word)) return std::nullopt;
  const char* at = text.data() + word.size();
  const char* const end = text.data() + text.size();
  std::vector<Number> numbers(count);
  for (Number& number : numbers) {
    if (at == end || *at != ':') return std::nullopt;
    const auto [stop, failure] = std::from_chars(at + 1, end, number);
    if (failure != std::errc{}) return std::nullopt;
    at = stop;
  }
  if (at != end) return std::nullopt;
  return numbers;
}

}  // namespace dewpoint::attention
