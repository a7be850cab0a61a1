// The loss as a function of the only two things it depends on: Φ and M.
//
// The one-layer model of [FD, Definition 3.2] has weights W0 (d x m), W1 (m x d), WQ, WK (m x m);
// attention of token i on token j and the logits are
//
//     Φ = W0 WQ WKᵀ W0ᵀ      scores of query token i with key token j
//     M = W0 W1              logits that a context of token i alone would give
//
//     A_j ∝ n_j exp(Φ_lj),   z = A M  (with residual (A + e_l) M),   L = −Σ y_k log softmax(z)_k
//
// for a context with histogram n that ends in token l. Everything else of training (optimisers,
// gradient flow, recorder) sees the data through this interface only. Four data sets answer it:
// sampled sequences, all of them or a minibatch per step; the exact expectation at finite context;
// and the population limit of long contexts, [FD, Eq (5)], where n/s is π.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/chain.hpp"
#include "dewpoint/training/histograms.hpp"
#include "dewpoint/training/sequences.hpp"

namespace dewpoint::training {

/// Φ and M, or derivatives with respect to them; both d x d.
struct TokenMaps {
  Matrix<double> attention;  // Φ
  Matrix<double> value;      // M

  TokenMaps() = default;
  explicit TokenMaps(std::size_t vocabulary)
      : attention(vocabulary, vocabulary), value(vocabulary, vocabulary) {}
};

/// Evaluations share a workspace: one object is for one thread at a time.
class TokenLoss {
 public:
  TokenLoss() = default;
  TokenLoss(const TokenLoss&) = delete;
  TokenLoss& operator=(const TokenLoss&) = delete;
  virtual ~TokenLoss() = default;

  [[nodiscard]] virtual std::size_t vocabulary() const = 0;

  /// L at (Φ, M), and ∂L/∂Φ, ∂L/∂M into `slope`. `step` chooses the minibatch where there is one.
  /// NaN, all of them, where Φ or M is not finite. No allocation.
  virtual double slope(std::uint64_t step, const TokenMaps& at, TokenMaps& slope) const = 0;

  /// The derivative of the slope in the direction `along`: the Hessian over (Φ, M) times it.
  /// Of the whole data set, in double.
  virtual void slope_change(const TokenMaps& at, const TokenMaps& along,
                            TokenMaps& change) const = 0;

  /// Mean loss of the sequences whose last context token is k, for every k, over the whole data
  /// set; NaN where there is none. Their mean weighted with group_weights() is the loss.
  [[nodiscard]] virtual std::vector<double> group_losses(const TokenMaps& at) const = 0;
  /// Share of the sequences that end their context in token k.
  [[nodiscard]] virtual std::vector<double> group_weights() const = 0;
};

enum class Precision { single_, double_ };

struct LossOptions {
  bool residual = false;
  Precision precision = Precision::double_;  // of the pass over the data in slope()
};

/// Rows of histograms: a whole sampled data set, or the exact expectation.
[[nodiscard]] std::unique_ptr<TokenLoss> histogram_loss(const HistogramRows& rows,
                                                        const LossOptions& options);

/// At every step `batch` sequences of the set, drawn with replacement by (seed, replica, step);
/// group losses are those of the whole set.
[[nodiscard]] std::unique_ptr<TokenLoss> minibatch_loss(const SequenceSet& sequences,
                                                        std::size_t batch, std::uint64_t seed,
                                                        std::uint64_t replica,
                                                        const LossOptions& options);

/// Contexts so long that their histogram is π: one row per last token, [FD, Eq (5)].
[[nodiscard]] std::unique_ptr<TokenLoss> population_loss(const Chain& chain,
                                                         const LossOptions& options);

}  // namespace dewpoint::training
