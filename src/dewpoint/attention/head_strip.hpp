// A strip: some queries of a head and their products with all keys that any of them sees, one block
// of keys after the other.
//
// Queries are in increasing order, so under every mask the rows that see something of a block
// follow each other, and only these are multiplied. A block of products stays in the second-level
// cache until it has been used. Keys are packed once for all strips (core/packed_keys.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/core/packed_keys.hpp"

namespace dewpoint::attention {

/// Queries in a strip: enough to make much of every key that is loaded, few enough that their
/// scores over 131072 keys are 50 MB.
inline constexpr std::size_t kStripQueries = 96;
/// Keys in a block: 384 KiB of products.
inline constexpr std::size_t kBlockKeys = 1024;

struct StripRow {
  std::size_t query;     // row of head.queries
  std::size_t position;  // among the keys
  Range visible;         // keys
};

/// The products of some rows of a strip with some keys.
struct ProductBlock {
  Range rows;  // of the strip: those that see any of these keys
  Range keys;
  MatrixView<float> products;  // rows x keys

  [[nodiscard]] Range seen_by(const StripRow& row) const;
  /// Those of row `row` of the strip with `wanted` keys of this block.
  [[nodiscard]] std::span<float> of(std::size_t row, Range wanted) const;
};

class HeadStrip {
 public:
  /// `keys` are those of the head, and outlive the strip. `queries` increase, and there are 1 to
  /// kStripQueries of them.
  HeadStrip(const Head& head, const PackedKeys& keys, std::span<const std::size_t> queries);

  [[nodiscard]] std::span<const StripRow> rows() const { return rows_; }
  /// From the first key that some row sees, or a few before it, to the last.
  [[nodiscard]] Range keys() const;

  /// Calls use(block) for every block in turn. With `keep`, products(i, j − keys().begin) is the
  /// product of row i and key j afterwards, wherever row i sees it; else all blocks lie in the same
  /// first columns of `products`.
  void for_each_block(MatrixView<float> products, bool keep,
                      const std::function<void(const ProductBlock&)>& use) const;

 private:
  [[nodiscard]] Range rows_seeing(Range keys) const;

  const PackedKeys& keys_;
  std::vector<StripRow> rows_;
  Matrix<float> queries_;
};

/// The queries of strip s when all are dealt out in order.
[[nodiscard]] inline std::span<const std::size_t> strip_queries(
    std::span<const std::size_t> queries, std::size_t s) {
  const std::size_t begin = s * kStripQueries;
  return queries.subspan(begin, std::min(kStripQueries, queries.size() - begin));
}
[[nodiscard]] inline std::size_t strip_count(std::size_t queries) {
  return (queries + kStripQueries - 1) / kStripQueries;
}

/// Rooms for the products of strips: as many as are in use at once, each made once.
class StripRooms {
 public:
  /// Each holds kStripQueries rows and at least `columns`.
  explicit StripRooms(std::size_t columns);

  /// Calls body(room) with a room that nobody else has.
  void with_room(const std::function<void(MatrixView<float>)>& body);

 private:
  std::unique_ptr<Matrix<float>> take();

  std::size_t columns_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Matrix<float>>> idle_;
};

/// The shapes and numbers of a head, as the functions of head.hpp need them. Throws
/// Error{bad_value} for a scale or a cap that no model can mean.
void check_head(const Head& head);

/// m of a row with so many keys; 1 without a multiplier. Throws Error{bad_value} unless 0 ≤ m < ∞.
[[nodiscard]] double checked_multiplier(const LogitMultiplier& multiplier, std::size_t keys);

}  // namespace dewpoint::attention
