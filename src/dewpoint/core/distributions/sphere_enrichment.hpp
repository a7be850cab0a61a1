// How much denser than uniform ones the keys are at an angle from the query.
//
// Keys k on S^{d−1} are drawn from von Mises-Fisher laws, one of several with given shares,
//
//     density Σ_i share_i e^{κ_i ⟨μ_i, k⟩}/M_d(κ_i)   with respect to the uniform law,
//
// where M_m(x) = E e^{x u} is the average of an exponential over one coordinate u of S^{m−1}, with
// M_1 = cosh. Let μ_i be at the angle α_i from the query q, and ϑ the angle between q and k. The
// mean of the density over the keys at angle ϑ is the enrichment
//
//     h(ϑ) = Σ_i share_i e^{κ_i cos α_i cos ϑ} M_{d−1}(κ_i sin α_i sin ϑ)/M_d(κ_i).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace dewpoint {

/// One von Mises-Fisher law of a mixture.
struct SphereComponent {
  double concentration = 0.0;  // κ ≥ 0; 0 is the uniform law
  double angle = 0.0;          // α in [0, π], of the mean direction from the query
  double share = 1.0;          // of the keys, in (0, 1]; the shares add to 1
};

/// log(e^{−x} M_m(x)), from Σ_k (x²/4)^k/(k! (m/2)_k), whose terms are positive, and for large x
/// from Hankel's expansion.
///
///   Domain      1 ≤ m ≤ SphereGap::kMostDimension, 0 ≤ x ≤ 1e12.
///   Accuracy    kScaledAverageError (1 + m).
///   Properties  (1) m = 1: log((1 + e^{−2x})/2). m = 3: log((1 − e^{−2x})/(2x)).
///   Reference   [DLMF, 10.25.2 and 10.40.1].
[[nodiscard]] double log_scaled_average(int dimension, double x);

inline constexpr double kScaledAverageError = 4e-15;

/// log h as a function of the angle.
///
///   Domain      2 ≤ d, 0 ≤ ϑ ≤ π, κ ≤ 1e12.
///   Accuracy    4 rounding() + 16 roundings of the value.
///   Properties  (1) h(0) = Σ share e^{κ cos α}/M_d(κ), the density of the keys at the query.
///               (2) κ = 0: h = 1.
class SphereEnrichment {
 public:
  SphereEnrichment(int dimension, const std::vector<SphereComponent>& components);

  [[nodiscard]] double log(double angle) const;

  /// Size of the roundings in log(): a sum of κ terms, and logarithms that cancel.
  [[nodiscard]] double rounding() const { return rounding_; }

 private:
  int dimension_;
  std::vector<SphereComponent> components_;
  std::vector<double> log_norms_;
  double rounding_ = 0.0;
};

}  // namespace dewpoint
