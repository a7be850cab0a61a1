// Independent Gaussian scores of deviation σ: the random energy model.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::scores {

class GaussianLaw final : public TailLaw {
 public:
  /// σ > 0.
  explicit GaussianLaw(double deviation = 1.0);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::optional<double> supremum() const override { return std::nullopt; }
  [[nodiscard]] std::vector<double> sample(std::size_t count, const Stream& stream) const override;

  /// With σ = 1, the cut at the score c and w = λ − c,
  ///
  ///     E e^{−λx} = φ(c)/(Φ(c) h(w)) = e^{λ²/2 − λc} Φ(c − λ)/Φ(c),
  ///
  /// and x under the tilted law is the excess of a normal variable above w.
  ///
  ///   Domain      λσ ≤ 1e7, |c| ≤ 1e7.
  ///   Accuracy    log_mass to kGaussianRestError (1 + c² + λ|c|), the others relative.
  ///   Properties  (1) the derivative of log_mass in λ is −mean.
  ///               (2) λ = 0: mass 1.
  [[nodiscard]] TiltedDepth rest(double cut, double tilt) const override;
  [[nodiscard]] double log_rest_mass(double cut, double tilt) const override;

 private:
  double deviation_;
};

inline constexpr double kGaussianRestError = 2e-14;

}  // namespace dewpoint::scores
