#include "dewpoint/training/histogram_groups.hpp"

#include <algorithm>
#include <numeric>

namespace dewpoint::training {

// Rows come sorted by (last token, histogram): a stable sort by histogram leaves each group in
// order of last token.
HistogramGroups groups_of(const HistogramRows& rows) {
  HistogramGroups by;
  by.order.resize(rows.size());
  std::iota(by.order.begin(), by.order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(rows.counts.row(a), rows.counts.row(b));
  };
  std::stable_sort(by.order.begin(), by.order.end(), before);
  for (std::size_t i = 0; i < by.order.size(); ++i) {
    if (i == 0 || before(by.order[i - 1], by.order[i])) by.groups.push_back({i, i});
    by.groups.back().end = i + 1;
  }
  return by;
}

}  // namespace dewpoint::training
