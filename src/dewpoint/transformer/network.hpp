// The loss of a small transformer on a batch, and its gradient, by matrix products.
//
// What need not be computed is not. Before the first layer there is one state per distinct token of
// the batch, and what depends on it alone is made once per token and not per row. With one head two
// matrices of a layer become one, WQ WKᵀ, where that is cheaper (full_layer.hpp). Where no more
// rows are asked for than there are contexts, the last layer has queries and outputs for these rows
// only, and neither keys nor values (asked_layer.hpp). Logits exist for a block of rows at a time
// (output_loss.hpp). Attention weights of a context are kept for the way back where contexts are
// short (kKeptContext) and made again, a strip of queries at a time, where they are long: nothing
// grows with the square of the context.
//
// All memory is planned when the network is made, for the largest batch it will see; a step
// allocates nothing (a parallel loop of oneTBB does, inside). The work is cut into blocks that do
// not depend on the number of threads, and sums have a fixed order: equal bytes for any number of
// threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/transformer/batch.hpp"
#include "dewpoint/transformer/shape.hpp"
#include "dewpoint/transformer/weights.hpp"

namespace dewpoint::transformer {

/// The largest batch that a network is made for. Where `asked` is at most `contexts`, the last
/// layer is computed for asked rows only.
struct Capacity {
  std::size_t rows = 0;
  std::size_t contexts = 0;
  std::size_t asked = 0;  // rows
  std::size_t questions = 0;
  std::size_t context = 0;  // rows of the longest
};
/// Of `contexts` windows of s tokens; enough for both ways of making a batch of them.
[[nodiscard]] Capacity capacity_of(std::size_t contexts, std::size_t s, Targets targets);

/// Contexts of up to so many rows keep their attention weights between the way forth and back.
inline constexpr std::size_t kKeptContext = 128;

template <class Real>
class Network {
 public:
  Network(const Shape& shape, const Capacity& capacity);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] const Shape& shape() const;

  /// Σ weight · (−log softmax(logits)[label]) over the questions, and its derivatives, all of which
  /// are written. A weight on the way that is NaN makes a loss that is.
  ///
  ///   Domain      a batch within the capacity with at least one question, tokens and labels below
  ///               V; counts only where the shape is permutation-equivariant; a gradient of this
  ///               shape. One call at a time.
  ///   Accuracy    products in Real; sums of exponentials, and the loss, in double.
  ///   Properties  (1) the gradient is that of reference_loss() (reference.hpp).
  ///               (2) equal bytes for any number of threads.
  double gradient(const Weights<Real>& at, const Batch& batch, Weights<Real>& gradient,
                  const RunContext& context = {});

  /// The loss alone.
  [[nodiscard]] double loss(const Weights<Real>& at, const Batch& batch,
                            const RunContext& context = {});

  /// Attention in every layer and head of the context number `context_number`, rows x rows each,
  /// [layer][head]; weight on a row that stands for n positions is that of all of them together.
  /// For looking, not for training: runs a pass of its own and allocates.
  [[nodiscard]] std::vector<std::vector<Matrix<double>>> attention(const Weights<Real>& at,
                                                                   const Batch& batch,
                                                                   std::size_t context_number,
                                                                   const RunContext& context = {});

  /// What the softmax sees, multiplier and counts included, in the same order: −∞ behind a mask.
  ///
  ///   Properties  (1) attention() is their softmax, but for roundings.
  [[nodiscard]] std::vector<std::vector<Matrix<double>>> scores(const Weights<Real>& at,
                                                                const Batch& batch,
                                                                std::size_t context_number,
                                                                const RunContext& context = {});

  /// Floating-point operations of the matrix products of one gradient() of this batch. Weights
  /// behind a mask are counted; what long contexts compute twice is not.
  [[nodiscard]] double product_operations(const Batch& batch) const;

 private:
  template <class Read>
  [[nodiscard]] std::vector<std::vector<Matrix<double>>> of_heads(const Weights<Real>& at,
                                                                  const Batch& alone,
                                                                  const RunContext& context,
                                                                  const Read& read) const;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace dewpoint::transformer
