// Adam on the model with several layers: minibatches, in single or double precision.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/random.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/training/layered_model.hpp"
#include "dewpoint/training/trainer.hpp"

namespace dewpoint::training {

/// `batch` sequences of a data set, drawn with replacement: draw b of step t is number
/// t · batch + b of the stream, and chooses a row and a label with their share of the weight. An
/// exact expectation (histograms.hpp) has such shares as well as a sampled set does; drawn from it,
/// every sequence is a fresh one.
class BatchDraws {
 public:
  BatchDraws(const HistogramRows& rows, std::size_t batch, const Stream& stream);

  /// How often each label was drawn with each row: rows x d, valid until the next call.
  [[nodiscard]] const Matrix<double>& draw(std::uint64_t step);

 private:
  std::size_t batch_;
  Stream stream_;
  std::vector<double> cumulative_;  // Σ y up to and with each (row, label)
  Matrix<double> labels_;
  std::vector<std::size_t> drawn_;  // entries of labels_ that are not 0
};

struct LayeredRun {
  bool residual = true;
  std::size_t batch = 256;  // 0: all of the data set at every step
  std::uint64_t seed = 1;   // of the batches: stream (seed, "training/batch", replica)
  std::uint64_t replica = 0;
  AdamOptions adam{};
};

/// A state of weights and moments that moves forward in steps. Only its start allocates.
template <class Real>
class LayeredAdam {
 public:
  LayeredAdam(const HistogramRows& rows, const LayeredParameters<Real>& start,
              const LayeredRun& run);

  /// Takes steps until `steps` of them are done in all, or until a batch has a loss that is not
  /// finite: then it returns false, and the weights are those before that step. A stop on request
  /// throws Error{stopped} between two steps.
  [[nodiscard]] bool advance(std::uint64_t steps, const RunContext& context);

  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] const LayeredParameters<Real>& parameters() const { return weights_; }
  /// Mean loss over the whole data set at the present weights.
  [[nodiscard]] double loss() { return model_.loss(weights_); }

 private:
  struct Scalars {
    Real decay, fresh, decay2, fresh2;  // β₁, 1 − β₁, β₂, 1 − β₂
    Real rate, root, epsilon;           // rate/(1 − β₁ᵗ), 1/√(1 − β₂ᵗ), ε
  };
  [[nodiscard]] Scalars scalars() const;
  void descend();

  LayeredRun run_;
  LayeredModel<Real> model_;
  BatchDraws draws_;
  LayeredParameters<Real> weights_, gradient_, first_, second_;
  std::uint64_t done_ = 0;
};

}  // namespace dewpoint::training
