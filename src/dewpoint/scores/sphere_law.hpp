// Scores ⟨q, k_j⟩ of a fixed query and independent keys, uniform on the sphere S^{d−1}.
//
// The supremum is 1 and the depth of a score is the gap 1 − ⟨q, k⟩ = |q − k|²/2. β is the product
// of the lengths of query and keys and of whatever the logits are multiplied by.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/scores/score_law.hpp"
#include "dewpoint/scores/sphere_rest.hpp"

namespace dewpoint::scores {

class SphereLaw final : public TailLaw {
 public:
  /// 2 ≤ d ≤ SphereGap::kMostDimension.
  explicit SphereLaw(int dimension);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::optional<double> supremum() const override { return 1.0; }

  /// One coordinate z against the sum R of the squares of the other d − 1, which is −2 log of a
  /// product of uniform numbers (times a square when d is even): the gap is 1 − z/√(z² + R),
  /// computed without cancellation. Costs d/2 random numbers per key.
  [[nodiscard]] std::vector<double> sample(std::size_t count, const Stream& stream) const override;

  /// Three of the moments of sphere_rest.hpp.
  ///
  ///   Domain      0 ≤ cut < 2, 0 ≤ λ ≤ 1e300.
  ///   Accuracy    log_mass to kSphereRestError (1 + |log mass|), the others relative.
  ///   Properties  (1) the derivative of log_mass in λ is −mean.
  ///               (2) λ = 0: mass 1.
  ///               (3) cut = 0: the Laplace transform of the gap, (1 − e^{−2λ})/(2λ) at d = 3.
  [[nodiscard]] TiltedDepth rest(double cut, double tilt) const override;

  /// The nearest key is at (N c_d)^{−1/a}, and once in e³⁷ draws nearer by e^{−37/a}, the smallest
  /// exponential number there is: log N ≤ 744a − 37 − log c_d. At d = 2 that is N = 1e145; from
  /// d = 3 on it is beyond 1e300.
  [[nodiscard]] double most_log_scores() const override;

 private:
  explicit SphereLaw(std::shared_ptr<const SphereGap> gap);

  std::shared_ptr<const SphereGap> gap_;
  SphereRest rest_;
};

}  // namespace dewpoint::scores
