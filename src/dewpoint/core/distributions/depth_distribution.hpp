// The law of the depth of one score: its distance below an origin, continuous.
//
// Scores are seen from above: depth = origin − score, where the origin is the supremum of the
// scores if that is finite and 0 if not, so that the best keys have the smallest depths and
// the probability of a depth below x is the upper tail of the scores. Everything about the best of
// n keys happens at probabilities of order 1/n, hence the logarithms.
//
// Shared by predictions and measurements on purpose; samplers, limits and estimators are not.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace dewpoint {

class DepthDistribution {
 public:
  virtual ~DepthDistribution() = default;

  /// Infimum and supremum of the depth; infinite where the scores are unbounded.
  [[nodiscard]] virtual double lowest() const = 0;
  [[nodiscard]] virtual double highest() const = 0;

  /// log P(depth ≤ x) and log P(depth > x), neither by subtraction where it is small.
  [[nodiscard]] virtual double log_cdf(double depth) const = 0;
  [[nodiscard]] virtual double log_survival(double depth) const = 0;

  /// log of the density, the derivative of the cdf.
  [[nodiscard]] virtual double log_density(double depth) const = 0;

  /// The depth x with log P(depth ≤ x) = log_probability < 0.
  [[nodiscard]] virtual double quantile(double log_probability) const = 0;
};

/// Scores N(0, σ²), origin 0: the depth is again N(0, σ²).
///
///   Domain      σ > 0.
///   Accuracy    that of normal.hpp at depth/σ.
class NormalDepth final : public DepthDistribution {
 public:
  explicit NormalDepth(double deviation = 1.0);

  [[nodiscard]] double lowest() const override;
  [[nodiscard]] double highest() const override;
  [[nodiscard]] double log_cdf(double depth) const override;
  [[nodiscard]] double log_survival(double depth) const override;
  [[nodiscard]] double log_density(double depth) const override;
  [[nodiscard]] double quantile(double log_probability) const override;

 private:
  double deviation_;
};

/// A depth times a positive factor: all scores multiplied by it.
class ScaledDepth final : public DepthDistribution {
 public:
  ScaledDepth(std::shared_ptr<const DepthDistribution> depth, double factor);

  [[nodiscard]] double lowest() const override;
  [[nodiscard]] double highest() const override;
  [[nodiscard]] double log_cdf(double depth) const override;
  [[nodiscard]] double log_survival(double depth) const override;
  [[nodiscard]] double log_density(double depth) const override;
  [[nodiscard]] double quantile(double log_probability) const override;

 private:
  std::shared_ptr<const DepthDistribution> depth_;
  double factor_;
};

}  // namespace dewpoint
