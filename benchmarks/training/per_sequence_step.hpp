// The gradient of the one-layer model the usual way: sequence by sequence at the full width m, in
// float32, with the matrix products of a chunk of sequences in OpenBLAS. The opponent of
// adam_step_bench.
//
// Only the last position asks, as the loss demands. Two ways to score its question:
//
//   every_key    K = Z WK for every token of every context, then q · K_t: how the model is written
//                down and how frameworks run it
//   reordered    (q WKᵀ) · Z_t: one product per sequence instead of one per token; the best we
//   found
//                without collapsing the data
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "dewpoint/training/parameters.hpp"
#include "dewpoint/training/sequences.hpp"

namespace dewpoint::training::bench {

enum class Keys { every_key, reordered };

class PerSequenceStep {
 public:
  PerSequenceStep(const Parameters<float>& weights, std::size_t context, std::size_t chunk,
                  Keys keys);

  /// Adds the gradient of the summed loss over sequences [first, first + chunk).
  void add_chunk(const SequenceSet& sequences, std::size_t first);

  [[nodiscard]] const Parameters<float>& gradient() const { return gradient_; }

 private:
  void embed(const SequenceSet& sequences, std::size_t first);
  void score();
  void attend();
  void output(const SequenceSet& sequences, std::size_t first);
  void backward_attention();
  void backward_scores();
  void scatter(const SequenceSet& sequences, std::size_t first);

  [[nodiscard]] float* token(Matrix<float>& of, std::size_t b, std::size_t t) const {
    return of.data() + (b * context_ + t) * of.cols();
  }

  const Parameters<float>& weights_;
  std::size_t context_, chunk_, width_;
  Keys keys_;
  Parameters<float> gradient_;
  Matrix<float> tokens_, tokens_slope_;  // Z: (chunk · context) x m
  Matrix<float> keys_all_, keys_slope_;  // Z WK, with every_key
  Matrix<float> last_, last_slope_;      // Z of the last position: chunk x m
  Matrix<float> query_, query_slope_;    // q
  Matrix<float> probe_, probe_slope_;    // q WKᵀ, when reordered
  Matrix<float> attention_;              // A: chunk x context, later ∂L/∂scores
  Matrix<float> mean_, mean_slope_;      // Σ A_t Z_t: chunk x m
  Matrix<float> logits_;                 // chunk x d, later ∂L/∂logits
  Matrix<float> square_, outer_;         // products before they are added
  Matrix<float> indicator_, embedding_;
};

}  // namespace dewpoint::training::bench
