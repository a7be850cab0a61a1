#include "dewpoint/training/packed_rows.hpp"

#include <algorithm>
#include <numeric>

#include "dewpoint/core/error.hpp"

namespace dewpoint::training {

template <class Real>
PackedRows<Real>::PackedRows(std::size_t vocabulary, std::size_t most_rows)
    : vocabulary_(vocabulary),
      groups_(vocabulary),
      filled_(vocabulary),
      lines_((most_rows / kLanePadding + vocabulary) * 2 * vocabulary, kLanePadding) {}

template <class Real>
PackedRows<Real>::PackedRows(const HistogramRows& rows) : PackedRows(rows.vocabulary, rows.size()) {
  std::vector<std::size_t> sizes(vocabulary_);
  for (const std::size_t last : rows.last) ++sizes[last];
  arrange(sizes);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    add(rows.last[i], rows.counts.row(i), rows.labels.row(i));
  }
}

template <class Real>
void PackedRows<Real>::arrange(std::span<const std::size_t> sizes) {
  const std::size_t half_block = vocabulary_ * kLanePadding;
  std::size_t block = 0;
  for (std::size_t last = 0; last < vocabulary_; ++last) {
    groups_[last] = {block, sizes[last]};
    filled_[last] = 0;
    block += padded(sizes[last]) / kLanePadding;
    if (sizes[last] % kLanePadding == 0) continue;
    DEWPOINT_EXPECTS(block * 2 * vocabulary_ <= lines_.rows());
    Real* end = lines_.data() + 2 * block * half_block;
    std::fill_n(end - 2 * half_block, half_block, Real{1});
    std::fill_n(end - half_block, half_block, Real{0});
  }
}

template <class Real>
void PackedRows<Real>::add(std::size_t last, std::span<const double> counts,
                           std::span<const double> labels) {
  DEWPOINT_EXPECTS(filled_[last] < groups_[last].size);
  const std::size_t place = filled_[last]++;
  const std::size_t index = groups_[last].first_block + place / kLanePadding;
  Real* at = lines_.data() + index * 2 * vocabulary_ * kLanePadding + place % kLanePadding;
  Real* label_at = at + vocabulary_ * kLanePadding;
  for (std::size_t j = 0; j < vocabulary_; ++j) {
    at[j * kLanePadding] = static_cast<Real>(counts[j]);
    label_at[j * kLanePadding] = static_cast<Real>(labels[j]);
  }
  *label_at = static_cast<Real>(std::accumulate(labels.begin(), labels.end(), 0.0));
}

template class PackedRows<float>;
template class PackedRows<double>;

}  // namespace dewpoint::training
