// Error bars of whatever is computed from many queries: draw the queries again.
//
// A replicate of the bootstrap draws as many rows as there are, with replacement; the spread of an
// estimate over replicates is its standard error [Efron 1979]. Here a replicate is a list of
// counts, how often each row was drawn, so that sums over rows are re-weighted and never
// recomputed. All estimators of one head use the same replicates: their errors, and the covariance
// between scales at different lengths, refer to the same redrawn heads.
//
// Neighbouring queries of a text are alike. Then contiguous blocks of rows are drawn instead of
// single ones, long enough that one block knows little of the next (row_blocks.hpp says how long).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::diagnosis {

struct Bootstrap {
  std::size_t replicates = 400;  // an error is itself uncertain by 1/sqrt(2 replicates): 4 %
  std::uint64_t seed = 1;
};

class RowBootstrap {
 public:
  /// Rows i with the same ⌊i · blocks/rows⌋ are drawn together; 0 blocks: every row for itself.
  ///
  ///   Domain      at least one row and two replicates, no more blocks than rows.
  RowBootstrap(std::size_t rows, const Bootstrap& options, std::size_t blocks = 0);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t blocks() const { return blocks_; }
  [[nodiscard]] std::size_t replicates() const { return replicates_; }

  /// How often each row was drawn; the counts add up to the number of rows, or nearly so where
  /// blocks differ in size by a row.
  [[nodiscard]] std::span<const std::uint32_t> counts(std::size_t replicate) const {
    return {counts_.data() + replicate * rows_, rows_};
  }

  /// The value with the standard deviation of its replicates, times √(R/(R−1)) for R rows (or
  /// blocks): so the error of a mean is the usual one. Unknown (NaN) for one row, and when a
  /// replicate is infinite.
  [[nodiscard]] Estimate estimate(double value, std::span<const double> replicate_values) const;

  /// Covariance of several values, one column of replicates each, with the same factor.
  [[nodiscard]] Matrix<double> covariance(MatrixView<const double> replicate_values) const;

 private:
  std::size_t rows_, blocks_, replicates_;
  std::vector<std::uint32_t> counts_;
};

/// Σ c_i x_i/Σ c_i.
[[nodiscard]] double weighted_mean(std::span<const double> values,
                                   std::span<const std::uint32_t> counts);

/// A value and the row it came from.
struct RowValue {
  double value;
  std::size_t row;
};

/// The q-quantile of values that are sorted, each counted as often as its row; in the middle
/// between two values when exactly the share q lies below.
///
///   Domain      0 < q < 1, a positive sum of counts.
[[nodiscard]] double weighted_quantile(std::span<const RowValue> sorted, double share,
                                       std::span<const std::uint32_t> counts);

}  // namespace dewpoint::diagnosis
