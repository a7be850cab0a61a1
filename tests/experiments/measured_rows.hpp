// How measured heads are compared in tests: every number, to the last bit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/head_row.hpp"
#include "dewpoint/experiments/heads.hpp"

namespace dewpoint::test {

/// All numbers of a measured head as bits, so that equal means equal, NaN included.
inline std::vector<std::uint64_t> bits_of(const experiments::MeasuredHead& head) {
  std::vector<std::uint64_t> bits;
  const auto add = [&bits](double value) { bits.push_back(std::bit_cast<std::uint64_t>(value)); };
  for (const HeadRow& row : head.rows) {
    bits.insert(bits.end(), {row.position, row.keys});
    add(row.dew_point);
    add(row.dew_point_without_first);
    for (const SoftmaxRow& softmax : row.softmax) {
      for (const double value :
           {softmax.largest, softmax.first, softmax.sink, softmax.rest.partition, softmax.rest.gap,
            softmax.rest.squared_gap, softmax.rest.weight_squared, softmax.plain_gap,
            softmax.plain_squared_gap}) {
        add(value);
      }
    }
  }
  for (const ScoreRow& row : head.scores) {
    bits.insert(bits.end(), {row.position, row.first_key, row.scores.size()});
    for (const double score : row.scores) add(score);
  }
  return bits;
}

}  // namespace dewpoint::test
