// Rows of histograms, put together by histogram.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/histograms.hpp"

namespace dewpoint::training {

struct HistogramGroups {
  std::vector<std::size_t> order;  // rows of equal histogram stand together, by last token
  std::vector<Range> groups;       // in order
};
[[nodiscard]] HistogramGroups groups_of(const HistogramRows& rows);

}  // namespace dewpoint::training
