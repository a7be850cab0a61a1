// How far a uniform key lies from a fixed query on the sphere.
//
// Let q be fixed and k uniform on S^{d−1}. The gap T = 1 − ⟨q, k⟩ = |q − k|²/2 runs over [0, 2],
// and T/2 has the law Beta(a, a) with a = (d − 1)/2,
//
//     F(t) = P(T ≤ t) = I_{t/2}(a, a) ~ c_d t^a as t → 0.
//
// The nearest of n keys has F(T) of order 1/n, so probabilities are logarithms here, and so is the
// gap where it may be smaller than any double. With v = t(2 − t) and K = Γ(d/2)/(2√π Γ((d + 1)/2)),
//
//     F(t) = K v^a Σ_k (2a)_k/(a + 1)_k (t/2)^k,      f(t) = 2aK v^{a−1},
//
// a series of positive terms: nothing cancels, and no constant exceeds a double at any d.
//
// Shared by predictions and measurements on purpose, and tested against extended precision.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/core/distributions/depth_distribution.hpp"

namespace dewpoint {

class SphereGap final : public DepthDistribution {
 public:
  /// The largest dimension that is tested.
  static constexpr int kMostDimension = 512;

  /// What depends on the dimension alone is computed here once. 2 ≤ d ≤ kMostDimension.
  explicit SphereGap(int dimension);

  [[nodiscard]] int dimension() const { return dimension_; }

  [[nodiscard]] double lowest() const override { return 0.0; }
  [[nodiscard]] double highest() const override { return 2.0; }

  /// The local exponent a = (d − 1)/2.
  [[nodiscard]] double exponent() const { return exponent_; }

  /// The local constant c_d = 2^{a−1} Γ(d/2)/(√π Γ((d + 1)/2)), relative error kSphereGapError.
  ///
  ///   Properties  (1) c_2 = √2/π, c_3 = 1/2, c_5 = 3/4.
  [[nodiscard]] double local_constant() const;

  /// log F(t).
  ///
  ///   Domain      0 ≤ t ≤ 2.
  ///   Accuracy    kSphereGapError (1 + |log F|).
  ///   Properties  (1) F(t) + F(2 − t) = 1.
  ///               (2) d = 2: F = (2/π) arcsin √(t/2). d = 3: F = t/2.
  ///               (3) F(t)/(c_d t^a) = 1 − a(a − 1)/(2(a + 1)) t + O(t²).
  ///   Reference   [DLMF, 8.17.8].
  [[nodiscard]] double log_cdf(double gap) const override;
  [[nodiscard]] double cdf(double gap) const;

  /// log(1 − F(t)) = log F(2 − t); for small t its relative error is kSphereGapError (1 + |log F|).
  [[nodiscard]] double log_survival(double gap) const override;

  /// log f(t) and f(t).
  ///
  ///   Domain      0 ≤ t ≤ 2; at both ends f is +∞ for d = 2, 1/2 for d = 3 and 0 beyond.
  ///   Accuracy    kSphereGapError (1 + |log f|).
  ///   Properties  (1) the derivative of F.
  [[nodiscard]] double log_density(double gap) const override;
  [[nodiscard]] double density(double gap) const;

  /// The gap t with log F(t) = log_probability, and its logarithm, which exists where the gap
  /// itself is no longer a double: at d = 2 the nearest of 1e300 keys is 1e-599 away.
  ///
  ///   Domain      −1e8 ≤ log_probability ≤ 0.
  ///   Accuracy    log t to 4 kSphereGapError (1 + |log_probability|)/min(a, 1) while t ≤ 1, and
  ///               t to 4 kSphereGapError beyond.
  ///   Properties  (1) inverts log_cdf.
  ///   Reference   Newton's method on log F as a function of log t, which is concave.
  [[nodiscard]] double log_quantile(double log_probability) const;
  [[nodiscard]] double quantile(double log_probability) const override;

 private:
  struct Series {
    double log_cdf;  // log F
    double slope;    // d log F/d log t = t f/F
  };

  [[nodiscard]] Series nearer_half(double log_gap, double gap) const;
  [[nodiscard]] double log_nearer_quantile(double log_probability) const;

  int dimension_;
  double exponent_;    // a
  double log_factor_;  // log K
};

inline constexpr double kSphereGapError = 1e-14;

}  // namespace dewpoint
