// Histogram rows as vectors want them: grouped by last token, one lane per row.
//
// Rows are stored in blocks of kLanePadding rows of one group. A block is 2d lines of kLanePadding
// numbers, first the counts of token 0, 1, .. of its rows, then the weights of the rows (where one
// might expect label 0, which nobody needs) and their labels 1, 2, ..; so a vector of any
// instruction set is a piece of a line, and all rows of it share exp(Φ_l·). What a group leaves
// free in its last block holds rows of weight 0 with one token of each kind, which change nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/histograms.hpp"

namespace dewpoint::training {

template <class Real>
class PackedRows {
 public:
  struct Group {
    std::size_t first_block = 0;
    std::size_t size = 0;  // rows, those of weight 0 not counted
  };

  PackedRows() = default;
  /// Room for `most_rows` rows, whatever their last tokens.
  PackedRows(std::size_t vocabulary, std::size_t most_rows);
  explicit PackedRows(const HistogramRows& rows);

  /// Forgets all rows and makes room for sizes[l] rows of every last token l; together at most
  /// most_rows. No allocation.
  void arrange(std::span<const std::size_t> sizes);
  /// One more row; no more of each last token than arranged.
  void add(std::size_t last, std::span<const double> counts, std::span<const double> labels);

  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }
  [[nodiscard]] const Group& group(std::size_t last) const { return groups_[last]; }
  /// First line of a block.
  [[nodiscard]] const Real* block(std::size_t index) const {
    return lines_.data() + index * 2 * vocabulary_ * kLanePadding;
  }

 private:
  std::size_t vocabulary_ = 0;
  std::vector<Group> groups_;
  std::vector<std::size_t> filled_;  // rows of each group so far
  Matrix<Real> lines_;               // one line per row
};

extern template class PackedRows<float>;
extern template class PackedRows<double>;

}  // namespace dewpoint::training
