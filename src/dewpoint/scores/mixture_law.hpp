// Scores of a fixed query and keys from a mixture of von Mises-Fisher laws on the sphere.
//
// The supremum is 1 and the depth of a score is the gap 1 − ⟨q, k⟩. The keys are those of
// VonMisesFisherKeys, the law of one gap is SphereMixtureGap.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "dewpoint/core/distributions/sphere_mixture_gap.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::scores {

class MixtureLaw final : public TailLaw {
 public:
  /// The domain of VonMisesFisherKeys; throws bad_value outside.
  MixtureLaw(int dimension, const std::vector<SphereComponent>& components);

  [[nodiscard]] std::string name() const override { return keys_.name(); }
  [[nodiscard]] std::optional<double> supremum() const override { return 1.0; }

  /// From the key vectors, as |q − k|²/2 without cancellation: nothing of the distribution enters.
  [[nodiscard]] std::vector<double> sample(std::size_t count, const Stream& stream) const override;

  /// In the angle ϑ = ϑ_c + y between query and key, counted from that of the cut,
  ///
  ///     E e^{−λx} = ∫ e^{−λx} h(ϑ) sin^{d−2}ϑ dy / (B(a, 1/2) (1 − F(cut))),
  ///     x = 2 sin(y/2) sin(ϑ_c + y/2),
  ///
  /// by Gauss-Legendre panels. They are halved until the logarithm of the integrand varies by less
  /// than kMixtureRestRange on each (twice that where it is monotone, and without sin^{d−2} where
  /// d ≤ 10), and left out where it is kMixtureRestDrop below its maximum.
  ///
  ///   Domain      0 ≤ cut ≤ 1.9, 0 ≤ λ ≤ 1e300.
  ///   Accuracy    log_mass to kMixtureRestError (1 + |log mass| + |log(1 − F(cut))|), the others
  ///               relative.
  ///   Properties  (1) the derivative of log_mass in λ is −mean.
  ///               (2) λ = 0: mass 1.
  ///               (3) κ = 0: that of SphereLaw.
  [[nodiscard]] TiltedDepth rest(double cut, double tilt) const override;

  /// As for SphereLaw, with h(0) c_d in place of c_d.
  [[nodiscard]] double most_log_scores() const override;

 private:
  explicit MixtureLaw(const VonMisesFisherKeys& keys);
  MixtureLaw(const VonMisesFisherKeys& keys, std::shared_ptr<const SphereMixtureGap> gap);

  VonMisesFisherKeys keys_;
  std::shared_ptr<const SphereMixtureGap> gap_;
};

inline constexpr double kMixtureRestError = 2e-11;
inline constexpr double kMixtureRestDrop = 45.0;
inline constexpr double kMixtureRestRange = 6.0;

}  // namespace dewpoint::scores
