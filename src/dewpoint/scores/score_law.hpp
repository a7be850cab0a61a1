// Laws of the scores of one query, and what a sampler needs to know of each.
//
// A softmax sees only differences of scores, and the differences that matter may be far smaller
// than the scores: on the sphere the best of 1e9 keys scores 1 − 1e-9. A score is therefore handled
// as its depth,
//
//     depth = origin − score,
//
// where the origin is the supremum of the law if it is finite and 0 if not. Small depth means large
// score; weights are e^{−β depth} up to a common factor.
//
// A law draws all n scores directly, or the k smallest depths alone together with the moments of
// everything below them, which is what top_scores.hpp builds on. n is given by its logarithm there
// and may exceed any integer type.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/core/random.hpp"

namespace dewpoint::scores {

/// One score below a cut, seen from the cut: with x = depth − cut > 0 and a tilt λ ≥ 0,
///
///     log E e^{−λx},      E[x e^{−λx}]/E e^{−λx},      (E[x² e^{−λx}]/E e^{−λx})^{1/2}.
///
/// The second moment is a root so that it is a double wherever x is.
struct TiltedDepth {
  double log_mass;
  double mean;
  double root_mean_square;
};

class ScoreLaw {
 public:
  virtual ~ScoreLaw() = default;

  /// Name with parameters, as "gaussian(sigma=1)".
  [[nodiscard]] virtual std::string name() const = 0;

  /// The supremum of the scores, if finite.
  [[nodiscard]] virtual std::optional<double> supremum() const = 0;

  /// Score of depth zero.
  [[nodiscard]] double origin() const { return supremum().value_or(0.0); }

  /// The depths of all n scores, in no particular order.
  [[nodiscard]] virtual std::vector<double> sample(std::size_t count,
                                                   const Stream& stream) const = 0;

  /// The k smallest depths of N scores in increasing order, exactly in law, at a cost that does not
  /// depend on N. Uses the stream at indices below k.
  ///
  ///   Domain      1 ≤ k ≤ N, log N ≤ most_log_scores().
  [[nodiscard]] virtual std::vector<double> top_depths(double log_scores, std::size_t count,
                                                       const Stream& stream) const = 0;

  /// Moments of one of the scores that were not among the top, given that the cut is the largest
  /// depth among the top. Given the cut they are independent.
  [[nodiscard]] virtual TiltedDepth rest(double cut, double tilt) const = 0;

  /// Largest log N at which differences of the smallest depths are still doubles.
  [[nodiscard]] virtual double most_log_scores() const {
    return std::numeric_limits<double>::infinity();
  }
};

/// A law of independent scores with a continuous tail that can be inverted.
class TailLaw : public ScoreLaw {
 public:
  /// log P(depth ≤ x).
  [[nodiscard]] virtual double log_tail(double depth) const = 0;

  /// Inverse of log_tail.
  [[nodiscard]] virtual double depth_at(double log_tail) const = 0;

  /// By exponential spacings: with independent standard exponential E_j,
  ///
  ///     P(depth ≤ depth_(i)) = 1 − e^{−x_i},      x_i = Σ_{j≤i} E_j/(N − j + 1).
  ///
  ///   Accuracy    exact in law but for the rounding of depth_at.
  ///   Properties  (1) −log(1 − P(depth ≤ depth_(i))) has mean Σ_{j≤i} 1/(N − j + 1) and variance
  ///                   Σ_{j≤i} 1/(N − j + 1)².
  ///               (2) for k = N the law of the sorted direct sample.
  ///   Reference   [Rényi 1953].
  [[nodiscard]] std::vector<double> top_depths(double log_scores, std::size_t count,
                                               const Stream& stream) const final;
};

}  // namespace dewpoint::scores
