// Scores of a query near, but not on, a sphere of fewer dimensions.
//
// The keys are those of SubsphereKeys without noise: uniform on a great subsphere of intrinsic
// dimension d' in R^D whose nearest point q' is at the angle α from the query. Then
// ⟨q, k⟩ = cos α ⟨q', k⟩, so the scores are those of the sphere S^{d'} times cos α, whatever D.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/scores/keys.hpp"
#include "dewpoint/scores/sphere_law.hpp"

namespace dewpoint::scores {

class SubsphereLaw final : public TailLaw {
 public:
  /// The domain of SubsphereKeys, and noise 0: a thickened subsphere has no closed law. Throws
  /// bad_value outside.
  explicit SubsphereLaw(const SubsphereKeys::Shape& shape);

  [[nodiscard]] std::string name() const override { return keys_.name(); }
  [[nodiscard]] std::optional<double> supremum() const override { return factor_; }
  [[nodiscard]] std::vector<double> sample(std::size_t count, const Stream& stream) const override;

  /// SphereLaw::rest at cut/cos α and λ cos α, with its accuracy.
  [[nodiscard]] TiltedDepth rest(double cut, double tilt) const override;
  [[nodiscard]] double most_log_scores() const override;

 private:
  SubsphereLaw(const SubsphereKeys& keys, const SphereLaw& sphere);

  SubsphereKeys keys_;
  SphereLaw sphere_;
  double factor_;  // cos α
};

}  // namespace dewpoint::scores
