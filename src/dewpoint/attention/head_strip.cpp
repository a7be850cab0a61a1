#include "dewpoint/attention/head_strip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/kernels.hpp"

namespace dewpoint::attention {

Range ProductBlock::seen_by(const StripRow& row) const {
  return {std::max(keys.begin, row.visible.begin), std::min(keys.end, row.visible.end)};
}

std::span<float> ProductBlock::of(std::size_t row, Range wanted) const {
  return products.row(row - rows.begin).subspan(wanted.begin - keys.begin, wanted.size());
}

HeadStrip::HeadStrip(const Head& head, const PackedKeys& keys, std::span<const std::size_t> queries)
    : keys_(keys), queries_(queries.size(), head.queries.cols()) {
  DEWPOINT_EXPECTS(!queries.empty() && queries.size() <= kStripQueries);
  for (const std::size_t query : queries) {
    DEWPOINT_EXPECTS(rows_.empty() || rows_.back().query < query);
    const std::size_t position = head.first_position + query;
    std::ranges::copy(head.queries.row(query), queries_.row(rows_.size()).begin());
    rows_.push_back({query, position, head.mask.visible(position, head.keys.rows())});
  }
}

// Packed keys begin at multiples of kLanePadding.
Range HeadStrip::keys() const {
  return {rows_.front().visible.begin / kLanePadding * kLanePadding, rows_.back().visible.end};
}

// Both ends of what a row sees never move back from one row to the next.
Range HeadStrip::rows_seeing(Range keys) const {
  const auto reaching = std::ranges::find_if(
      rows_, [&](const StripRow& row) { return row.visible.end > keys.begin; });
  const auto past = std::ranges::find_if(
      rows_, [&](const StripRow& row) { return row.visible.begin >= keys.end; });
  const auto begin = static_cast<std::size_t>(reaching - rows_.begin());
  return {begin, std::max(begin, static_cast<std::size_t>(past - rows_.begin()))};
}

void HeadStrip::for_each_block(MatrixView<float> products, bool keep,
                               const std::function<void(const ProductBlock&)>& use) const {
  const Range all = keys();
  for (std::size_t begin = all.begin; begin < all.end; begin += kBlockKeys) {
    const Range block{begin, std::min(all.end, begin + kBlockKeys)};
    const Range seeing = rows_seeing(block);
    if (seeing.size() == 0) continue;
    const std::size_t column = keep ? begin - all.begin : 0;
    const MatrixView<float> out = products.block(seeing, {column, column + block.size()});
    keys_.multiply(queries_.view().row_range(seeing), block, out);
    use({seeing, block, out});
  }
}

// Rows a whole number of cache lines apart, but not a power of two of them: those would share a few
// sets of the cache.
StripRooms::StripRooms(std::size_t columns) : columns_(padded(columns) + kLanePadding) {}

std::unique_ptr<Matrix<float>> StripRooms::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Matrix<float>> room = std::move(idle_.back());
      idle_.pop_back();
      return room;
    }
  }
  return std::make_unique<Matrix<float>>(kStripQueries, columns_);
}

void StripRooms::with_room(const std::function<void(MatrixView<float>)>& body) {
  std::unique_ptr<Matrix<float>> room = take();
  body(*room);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(room));
}

void check_head(const Head& head) {
  DEWPOINT_EXPECTS(head.queries.cols() == head.keys.cols());
  DEWPOINT_EXPECTS(head.first_position + head.queries.rows() <= head.keys.rows());
  if (!(head.scale > 0.0 && std::isfinite(head.scale))) {
    throw Error(Code::bad_value,
                fmt::format("head: a scale of {} is not a finite number above 0", head.scale));
  }
  if (!(head.softcap >= 0.0 && std::isfinite(head.softcap))) {
    throw Error(Code::bad_value,
                fmt::format("head: a softcap of {} is not a finite number, 0 (none) or above",
                            head.softcap));
  }
}

double checked_multiplier(const LogitMultiplier& multiplier, std::size_t keys) {
  const double m = multiplier ? multiplier(keys) : 1.0;
  if (m >= 0.0 && std::isfinite(m)) return m;
  throw Error(Code::bad_value,
              fmt::format("multiplier: {} at {} keys is not a finite number, 0 or above", m, keys));
}

}  // namespace dewpoint::attention
