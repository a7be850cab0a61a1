// A stream of tokens with the frequencies of words in a text, and random windows of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/random.hpp"
#include "dewpoint/transformer/batch.hpp"

namespace dewpoint::transformer::bench {

/// Independent tokens; the share of token k goes as 1/(k + 1).
[[nodiscard]] inline std::vector<std::int32_t> zipf_stream(std::size_t vocabulary,
                                                           std::size_t length) {
  std::vector<double> cumulative(vocabulary);
  double sum = 0.0;
  for (std::size_t k = 0; k < vocabulary; ++k) {
    cumulative[k] = sum += 1.0 / static_cast<double>(k + 1);
  }
  const Stream draws(1, "text_step_bench/stream");
  std::vector<std::int32_t> tokens(length);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto found =
        std::lower_bound(cumulative.begin(), cumulative.end(), sum * draws.uniform(i));
    tokens[i] =
        static_cast<std::int32_t>(std::min(found, cumulative.end() - 1) - cumulative.begin());
  }
  return tokens;
}

/// `count` windows of a step, at random places of the stream; windows.context says how long.
inline void draw_windows(const std::vector<std::int32_t>& stream, std::uint64_t step,
                         std::size_t count, Windows& windows) {
  const Stream draws(1, "text_step_bench/windows", step);
  const auto places = static_cast<double>(stream.size() - windows.context);
  windows.tokens.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = stream.begin() + static_cast<std::ptrdiff_t>(draws.uniform(i) * places);
    windows.tokens.insert(windows.tokens.end(), first,
                          first + static_cast<std::ptrdiff_t>(windows.context) + 1);
  }
}

}  // namespace dewpoint::transformer::bench
