// The Laplace transform of one coordinate of a uniform point on the sphere, in logarithms.
//
// Let G = ⟨u, y⟩ for a fixed unit u and y uniform on the sphere S^{D−1} of R^D. The average over
// the keys of an attention row, E e^{kG}, is with ν = D/2 − 1
//
//     Λ_D(k) = Γ(ν + 1) (2/k)^ν I_ν(k),        Λ_1 = cosh,  Λ_2 = I_0,  Λ_3(k) = sinh(k)/k.
//
// I_ν overflows and underflows long before the regimes of interest end, so what is computed is
// log E e^{k(G−1)} = log Λ_D(k) − k, never through Λ_D itself: by the uniform (Debye) expansion
// where ν ≥ 20; below that order by Hankel's expansion for k ≥ max(50, 5ν²), and otherwise by
// stepping down from the first order above 20 with the recurrence
//
//     Λ_{ν−1} = Λ_ν + k²/(4ν(ν + 1)) Λ_{ν+1},
//
// whose terms are all positive. critical_line.hpp uses it twice: for tokens uniform on a sphere,
// and for tokens around a common direction.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <limits>

namespace dewpoint::theory {

class SphereAverage {
 public:
  /// What depends on the dimension alone is computed here once.
  explicit SphereAverage(int dimension);

  /// log E e^{k(G−1)}.
  ///
  ///   Domain      D ≥ 1, 0 ≤ k ≤ 1e150.
  ///   Accuracy    absolute error at most kSphereAverageError + kSphereAverageRounding · |value|.
  ///   Properties  (1) 0 at k = 0, strictly decreasing in k.
  ///               (2) D = 1: log((1 + e^{−2k})/2). D = 3: log((1 − e^{−2k})/(2k)).
  ///               (3) at least −k (Jensen), at most −k + k²/(2D) (strictly sub-Gaussian).
  ///               (4) → log[Γ(D/2) 2^{(D−3)/2}/√π] − (D − 1)/2 · log k as k → ∞.
  ///   Reference   [DLMF, 10.41.3 and 10.41.9] (uniform), [DLMF, 10.40.1] (Hankel).
  [[nodiscard]] double log(double concentration) const;

 private:
  static constexpr int kTerms = 10;
  static constexpr int kDegree = 3 * kTerms;
  static constexpr int kHankelTerms = 14;

  /// Λ at one order by the uniform expansion, its polynomial in 1/√(1 + (k/ν)²) summed over terms.
  struct UniformExpansion {
    explicit UniformExpansion(double order);
    [[nodiscard]] double log(double concentration) const;

    double order;
    std::array<double, kDegree + 1> polynomial{};
  };

  [[nodiscard]] double log_by_recurrence(double concentration) const;
  [[nodiscard]] double log_by_hankel(double concentration) const;

  double order_;
  int steps_;  // from order_ up to the first order of at least 20
  UniformExpansion upper_;
  UniformExpansion above_;
  double smallest_hankel_argument_;
  double log_hankel_scale_;                        // log[Γ(ν + 1) 2^ν/√(2π)]
  std::array<double, kHankelTerms + 1> hankel_{};  // Π_{j≤m} ((2j − 1)² − 4ν²)/(8j)
};

/// Truncation of the uniform expansion at ν = 20 (1e-14, against 40 digits), and the rounding of
/// two logarithms of size 70 that nearly cancel in the recurrence (1.6e-14 each).
inline constexpr double kSphereAverageError = 4e-14;
inline constexpr double kSphereAverageRounding = 8.0 * std::numeric_limits<double>::epsilon();

}  // namespace dewpoint::theory
