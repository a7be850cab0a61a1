// Moments of the gap between a fixed query and a uniform key under softmax weights.
//
// With q fixed, k uniform on S^{d−1}, T = 1 − ⟨q, k⟩ and a = (d − 1)/2, everything attention does
// while many keys share the weight is made of
//
//     μ_p(β) = E[T^p e^{−βT}] = 2^p (a)_p/(2a)_p · e^{−z} M(a, 2a + p, z),        z = 2β,
//
// with Kummer's function M. The mean output of a query is A_d(β) q with the mean resultant
//
//     A_d(β) = I_{d/2}(β)/I_{d/2−1}(β) = 1 − μ_1/μ_0.
//
// μ_0 is SphereAverage. The others hang on it by ratios of neighbouring M (kummer_ratio.hpp), where
// nothing cancels: at β = 1e12 the mean gap 1 − A_d is as exact as A_d itself.
//
// The von Mises-Fisher law, with density proportional to e^{κ⟨μ, k⟩}, is the same tilt seen from
// the keys' side; its densities here are with respect to the uniform law.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/theory/kummer_ratio.hpp"
#include "dewpoint/theory/sphere_average.hpp"

namespace dewpoint::theory {

/// The largest dimension that is tested.
inline constexpr int kMostSphereDimension = 512;

/// The largest power p of a moment and the largest degree ℓ of a harmonic.
inline constexpr int kMostMomentPower = 4;
inline constexpr int kMostHarmonicDegree = 64;

/// μ_p/μ_{p−1}, a mean of T in [0, 2] under the weights T^{p−1} e^{−βT}.
///
///   Domain      2 ≤ d ≤ kMostSphereDimension, 1 ≤ p ≤ kMostMomentPower, 0 ≤ β ≤ 1e12.
///   Accuracy    relative error kMomentRatioError.
///   Properties  (1) β = 0: 2(a + p − 1)/(2a + p − 1).
///               (2) (a + p − 1)/β as β → ∞, with a correction of relative size O(1/β).
///               (3) increases with p, decreases with β.
///   Reference   kummer_ratio.hpp.
[[nodiscard]] double moment_ratio(int dimension, int power, double inverse_temperature);

/// A_d(β), the length of the mean output; 1 − A_d(β), the mean gap; and A_d(β)/β.
///
///   Domain      2 ≤ d ≤ kMostSphereDimension + 2 kMostHarmonicDegree, 0 ≤ β ≤ 1e12.
///   Accuracy    relative error kMomentRatioError of each.
///   Properties  (1) d = 3: coth β − 1/β.
///               (2) A' = 1 − A² − (d − 1)A/β.
///               (3) A_d(β) = 1/(d/β + 1/((d + 2)/β + 1/...)).
///               (4) A_d(β)/β → 1/d as β → 0.
///               (5) 24 printed values of 1 − A_d between d = 2 and 64, β = 1 and 1e4.
///   Reference   [DLMF, 10.29 and 10.33].
[[nodiscard]] double mean_resultant(int dimension, double inverse_temperature);
[[nodiscard]] double mean_gap(int dimension, double inverse_temperature);
[[nodiscard]] double mean_resultant_over_beta(int dimension, double inverse_temperature);

inline constexpr double kMomentRatioError = kKummerRatioError + 0x1p-51;  // and two roundings

/// 1 − (d−1)/(2β) + (d−1)(d−3)/(8β²) + (d−1)(d−3)/(8β³), cut after β^{−order}.
///
///   Domain      d ≥ 2, β > 0, 0 ≤ order ≤ 3.
///   Accuracy    a law with an error of O(β^{−order−1}).
///   Properties  (1) the error times β^{order+1} tends to the next coefficient; after the third,
///                   v(3 − v)/2 with v = (d−1)(d−3)/8.
///               (2) d = 3: exact up to e^{−2β} from order 1 on.
///   Reference   [DLMF, 10.40.1].
[[nodiscard]] double mean_resultant_expansion(int dimension, double inverse_temperature, int order);

/// r_ℓ(β) = I_{d/2−1+ℓ}(β)/I_{d/2−1}(β), the factor by which averaging with the weights e^{β⟨q,k⟩}
/// shrinks a spherical harmonic of degree ℓ (Funk and Hecke): the product of A_d, A_{d+2}, ...,
/// A_{d+2ℓ−2}.
///
///   Domain      2 ≤ d ≤ kMostSphereDimension, 0 ≤ ℓ ≤ kMostHarmonicDegree, 0 ≤ β ≤ 1e12. Zero
///               where it is below the smallest double.
///   Accuracy    relative error (ℓ + 1) kMomentRatioError.
///   Properties  (1) r_0 = 1, r_1 = A_d; decreases with ℓ.
///               (2) r_{ℓ−1} − r_{ℓ+1} = (d − 2 + 2ℓ)/β r_ℓ.
///               (3) log r_ℓ = −ℓ(ℓ + d − 2)/(2β) + O(β^{−2}): heat flow for a time 1/(2β).
///   Reference   [DLMF, 10.29.1].
[[nodiscard]] double harmonic_multiplier(int dimension, int degree, double inverse_temperature);

/// log μ_p(β) for one dimension and any p and β.
class SphereMoments {
 public:
  /// What depends on the dimension alone is computed here once. 2 ≤ d ≤ kMostSphereDimension.
  explicit SphereMoments(int dimension);

  [[nodiscard]] int dimension() const { return dimension_; }

  /// log μ_p(β).
  ///
  ///   Domain      0 ≤ p ≤ kMostMomentPower, 0 ≤ β ≤ 1e12.
  ///   Accuracy    absolute error kSphereAverageError + kSphereAverageRounding |log μ_0| +
  ///               p kMomentRatioError (1 + |log μ_p|).
  ///   Properties  (1) the series 2^p (a)_p/(2a)_p e^{−z} Σ_k (a)_k/(2a+p)_k z^k/k!.
  ///               (2) the series c_d a Γ(a+p) β^{−a−p} Σ_s (a+p)_s (1−a)_s/(s! z^s), asymptotic
  ///                   in general and finite for odd d.
  ///               (3) the integral of t^p e^{−βt} over the law of the gap.
  ///               (4) d = 3, p = 0: (1 − e^{−2β})/(2β).
  ///   Reference   [DLMF, 13.4.1 and 13.7.2].
  [[nodiscard]] double log_moment(int power, double inverse_temperature) const;

 private:
  int dimension_;
  SphereAverage average_;
};

/// log M_d(κ) = log E e^{κ⟨μ, k⟩} over uniform k: what normalises the von Mises-Fisher law.
///
///   Domain      2 ≤ d ≤ kMostSphereDimension, 0 ≤ κ ≤ 1e12.
///   Accuracy    absolute error kSphereAverageError + 2 kSphereAverageRounding κ.
///   Properties  (1) its derivative is A_d(κ).
///               (2) d = 3: log(sinh κ/κ).
///   Reference   [Mardia and Jupp 2000, section 9.3].
[[nodiscard]] double log_von_mises_fisher_normaliser(int dimension, double concentration);

/// log f at the angle φ from the centre of the law, f = e^{κ cos φ}/M_d(κ) being the density with
/// respect to the uniform law: −2κ sin²(φ/2) − log μ_0(κ), where κ itself has cancelled.
///
///   Domain      as above, 0 ≤ φ ≤ π.
///   Accuracy    absolute error kSphereAverageError + kSphereAverageRounding (|log μ_0| + κφ²).
///   Properties  (1) its exponential has the mean 1 over uniform keys.
///               (2) 0 at κ = 0.
///               (3) f = 4.572 for d = 5, κ = 5, φ = 0.8, and 0.7 + 0.3 f = 2.503 for d = 3,
///                   κ = 8, φ = 0.5.
///   Reference   as above.
[[nodiscard]] double log_von_mises_fisher_density(int dimension, double concentration,
                                                  double angle);

}  // namespace dewpoint::theory
