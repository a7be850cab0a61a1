// Attention weights of a cloud of tokens, block by block, never n x n.
//
// One pass computes every weight w_ij = exp(−β Δ_ij) once and gives
//
//   - the moments of every row (Z, ΣΔw, ΣΔ²w, Σw²), from which entropy, participation and masses
//     follow;
//   - to a visitor, each block of weights while it is in cache: whoever needs more than row moments
//     (products with values, sums over clusters) is a visitor.
//
// Weights are symmetric, so a block off the diagonal stands for its transpose too. Two details keep
// float32 sums of many equal terms from drifting (docs/design/0002-float32-without-drift.md): a
// token's weight on itself, exactly 1, is left out of the blocks and added in double; and the
// blocks hold w_ij − shift, where shift is a typical weight.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "dewpoint/core/centred_cloud.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint {

/// Side of the square blocks: large enough for BLAS to reach its speed, small enough for the
/// last-level cache.
inline constexpr std::size_t kStreamBlock = 512;

struct WeightBlock {
  Range rows;                       // queries
  Range cols;                       // keys
  MatrixView<const float> weights;  // w_ij − shift; −shift where a token meets itself
  bool mirrored = false;            // the block stands for its transpose too
};

using BlockVisitor = std::function<void(const WeightBlock&)>;

class WeightStream {
 public:
  /// `cloud` must outlive the stream.
  WeightStream(const CentredCloud& cloud, double inverse_temperature);

  [[nodiscard]] float shift() const { return weighing_.shift; }

  /// How many visitors all_pairs takes: a function of the problem only, never of the threads, so
  /// that the order of every sum is fixed. One per 8 block rows, at most 16, and at most as many as
  /// keep n x d doubles for each of them below 256 MiB.
  [[nodiscard]] std::size_t stripes() const;

  /// Every pair of tokens once. Visitor s sees the blocks of stripe s in a fixed order, one at a
  /// time; different visitors are called from different threads. Returns the moments of all rows.
  [[nodiscard]] std::vector<RowMoments> all_pairs(std::span<const BlockVisitor> visitors,
                                                  const RunContext& context) const;

  /// Some tokens as queries against all keys. The rows of a block are positions in `queries`; the
  /// visitor is called from several threads, for the same rows one block after the other.
  [[nodiscard]] std::vector<RowMoments> some_rows(std::span<const std::size_t> queries,
                                                  const BlockVisitor& visitor,
                                                  const RunContext& context) const;

 private:
  const CentredCloud& cloud_;
  kernels::Weighing weighing_;
};

}  // namespace dewpoint
