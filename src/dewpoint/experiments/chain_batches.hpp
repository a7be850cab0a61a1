// The sequences of a Markov chain as batches of a small transformer.
//
// A network without mask sees a context as its histogram, and equal histograms of a batch are one
// context, asked at several tokens for several labels: 256 sequences of the standard chain are some
// 130 contexts with 400 rows, and all 100,000 sequences 1,300 contexts. Batches are then drawn as
// training::BatchDraws does. Under a causal mask the order matters: sequence number ⌊u N⌋ of N is
// drawn, with the same u, and what is said about all sequences is said about kSample of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/layer_dynamics.hpp"
#include "dewpoint/training/histogram_groups.hpp"
#include "dewpoint/training/histograms.hpp"
#include "dewpoint/transformer/batch.hpp"
#include "dewpoint/transformer/network.hpp"

namespace dewpoint::experiments {

/// Rows of histograms, put together by histogram.
class HistogramContexts {
 public:
  /// Domain: at least one row.
  explicit HistogramContexts(training::HistogramRows rows);

  [[nodiscard]] const training::HistogramRows& rows() const { return rows_; }
  [[nodiscard]] std::size_t size() const { return histograms_.groups.size(); }

  /// The contexts first to end − 1 that have a label, each with a row per token that occurs, in
  /// order of token; the weight of a question is its share of the weight of these labels (rows x d,
  /// not negative), which is returned. Without weight the batch is empty.
  double fill(const Matrix<double>& labels, Range contexts, transformer::Batch& batch) const;

 private:
  void add_context(const Range& group, const Matrix<double>& labels,
                   transformer::Batch& batch) const;
  void ask(std::size_t row, const Matrix<double>& labels, std::uint32_t first,
           transformer::Batch& batch) const;

  training::HistogramRows rows_;
  training::HistogramGroups histograms_;
};

/// A batch that is part of a data set, with its share of the weight.
struct WeighedBatch {
  transformer::Batch batch;
  double share = 0.0;
};

class ChainBatches {
 public:
  ChainBatches() = default;
  ChainBatches(const ChainBatches&) = delete;
  ChainBatches& operator=(const ChainBatches&) = delete;
  virtual ~ChainBatches() = default;

  /// Large enough for every batch from here, and for one context with every token.
  [[nodiscard]] virtual transformer::Capacity capacity() const = 0;
  /// Valid until the next call. A function of the step alone.
  [[nodiscard]] virtual const transformer::Batch& of_step(std::uint64_t step) = 0;
  /// All sequences, or the sample of them: shares sum to 1.
  [[nodiscard]] virtual const std::vector<WeighedBatch>& all() const = 0;
};

/// Sequences drawn where a causal mask leaves nothing to collapse: the mean of so many losses of
/// order 1 is known to 0.02.
inline constexpr std::size_t kSample = 2048;

/// Of (question, replica): sequences from the stream "training/sequences", batches from
/// "training/batch".
[[nodiscard]] std::unique_ptr<ChainBatches> chain_batches(const LayerQuestion& question,
                                                          std::uint64_t replica,
                                                          const RunContext& context);

}  // namespace dewpoint::experiments
