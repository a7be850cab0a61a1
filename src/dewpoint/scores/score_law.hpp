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
// Three kinds of law, each with what the one before it knows:
//
//   ScoreLaw   draws all n scores of a query.
//   TopLaw     draws the k smallest depths alone, and has the moments of everything below them,
//              which is what top_scores.hpp builds on. n is given by its logarithm there and may
//              exceed any integer type.
//   TailLaw    independent scores with a continuous distribution that can be inverted.
//
// law_names.hpp makes laws from texts such as "sphere:d=5".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/core/distributions/depth_distribution.hpp"
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

class TopLaw;

class ScoreLaw {
 public:
  virtual ~ScoreLaw() = default;

  /// Name with parameters, in the syntax that score_law() reads: "gaussian:sigma=1".
  [[nodiscard]] virtual std::string name() const = 0;

  /// The supremum of the scores, if finite.
  [[nodiscard]] virtual std::optional<double> supremum() const = 0;

  /// Score of depth zero.
  [[nodiscard]] double origin() const { return supremum().value_or(0.0); }

  /// The depths of all n scores, in no particular order.
  [[nodiscard]] virtual std::vector<double> sample(std::size_t count,
                                                   const Stream& stream) const = 0;

  /// Where the query is random and makes the scores of a row dependent: a draw of the law given the
  /// query, under which they are independent. nullptr: every query has this law. Callers want
  /// law_of_row().
  [[nodiscard]] virtual std::shared_ptr<const TopLaw> of_query(const Stream& stream) const;
};

class TopLaw : public ScoreLaw {
 public:
  /// The k smallest depths of N scores in increasing order, exactly in law, at a cost that does not
  /// depend on N. Uses the stream at indices below k. A law whose rest would otherwise not be
  /// independent gives more than k; all of them are the top then.
  ///
  ///   Domain      1 ≤ k ≤ N, log N ≤ most_log_scores().
  [[nodiscard]] virtual std::vector<double> top_depths(double log_scores, std::size_t count,
                                                       const Stream& stream) const = 0;

  /// Moments of one of the scores that were not among the top, given that the cut is the largest
  /// depth among the top. Given the cut they are independent.
  [[nodiscard]] virtual TiltedDepth rest(double cut, double tilt) const = 0;
  /// rest().log_mass, to the last bit.
  [[nodiscard]] virtual double log_rest_mass(double cut, double tilt) const {
    return rest(cut, tilt).log_mass;
  }

  /// Largest log N at which differences of the smallest depths are still doubles.
  [[nodiscard]] virtual double most_log_scores() const {
    return std::numeric_limits<double>::infinity();
  }
};

/// The law of the scores of one row: that of its query if the query is random, and the law itself
/// if not; the law must then outlive the result. A random query uses the stream from index 2⁶³ on,
/// where nothing else of a row is drawn.
///
///     const auto row = law_of_row(law, stream);
///     const TopScores top = draw_top_scores(*row, log_n, k, stream);
[[nodiscard]] std::shared_ptr<const TopLaw> law_of_row(const TopLaw& law, const Stream& stream);

/// Throws bad_value unless 2 ≤ N and 1 ≤ k ≤ N.
void require_counts(double log_scores, std::size_t top);

/// A law of independent scores with a continuous tail that can be inverted.
class TailLaw : public TopLaw {
 public:
  /// The law of the depth of one score.
  [[nodiscard]] const std::shared_ptr<const DepthDistribution>& distribution() const {
    return distribution_;
  }

  /// log P(depth ≤ x).
  [[nodiscard]] double log_tail(double depth) const { return distribution_->log_cdf(depth); }

  /// Inverse of log_tail.
  [[nodiscard]] double depth_at(double log_tail) const { return distribution_->quantile(log_tail); }

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

 protected:
  explicit TailLaw(std::shared_ptr<const DepthDistribution> distribution);

 private:
  std::shared_ptr<const DepthDistribution> distribution_;
};

}  // namespace dewpoint::scores
