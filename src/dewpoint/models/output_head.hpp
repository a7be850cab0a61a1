// From hidden states to logits and losses.
//
// The matrix of the output head is converted in blocks of the vocabulary. Losses keep a running
// maximum and sum per token, so no matrix of tokens times vocabulary exists.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/models/weights.hpp"

namespace dewpoint::models {

/// log Σ exp of numbers that arrive one by one; nothing overflows.
///
///   Accuracy    relative error at most 2 (count + 1) ε of the sum, ε = 2⁻⁵².
class RunningLogSum {
 public:
  void add(double value);
  /// −∞ before the first.
  [[nodiscard]] double value() const;

 private:
  double largest_ = 0.0;
  double sum_ = 0.0;  // of exp(value − largest); 0: nothing has been added
};

/// One row of `vocabulary` logits per row of hidden states.
[[nodiscard]] Matrix<float> output_logits(const Weights& weights, std::size_t vocabulary,
                                          MatrixView<const float> hidden,
                                          const RunContext& context = {});

/// −log softmax(logits of row i)[targets[i]], in nats.
///
///   Domain      as many rows as targets; targets within the vocabulary.
///   Properties  (1) equal bytes for any number of threads.
[[nodiscard]] std::vector<double> output_losses(const Weights& weights, std::size_t vocabulary,
                                                MatrixView<const float> hidden,
                                                std::span<const int> targets,
                                                const RunContext& context = {});

}  // namespace dewpoint::models
