// Moments of one key on the sphere beyond a cut, under a softmax tilt.
//
// A key k uniform on S^{d−1} at the angle ϑ from the query has the gap T = 1 − cos ϑ and the
// squared sine v = T(2 − T) = sin²ϑ, the squared length of its part across the query. Given T >
// cut, and with x = T − cut, this file has the means
//
//     E[x^i v^j e^{−λx}],      i + j ≤ 2,
//
// from which the sums over all keys beyond the k nearest get their means and covariances
// (sphere_output.hpp). They are logarithms: a gap may be 1e-300, its square is then no double.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/core/distributions/sphere_gap.hpp"

namespace dewpoint::scores {

/// Logarithms of E e^{−λx} and of the means of x, x², v, xv, v² under the tilted law.
struct SphereTilt {
  double log_mass;
  double log_x, log_xx;
  double log_v, log_xv, log_vv;
};

class SphereRest {
 public:
  /// 2 ≤ d ≤ SphereGap::kMostDimension.
  explicit SphereRest(int dimension);

  /// In the angle ϑ = ϑ_c + y, counted from that of the cut,
  ///
  ///     E g e^{−λx} = ∫ g e^{−λx} sin^{d−2}ϑ dy / (B(a, 1/2) (1 − F(cut))),
  ///     x = 2 sin(y/2) sin(ϑ_c + y/2),
  ///
  /// by Gauss-Legendre panels over the stretch where the integrand for g = 1 is above
  /// e^{−kSphereRestDrop} of its maximum: its logarithm is concave in x, so there is one stretch.
  ///
  ///   Domain      0 ≤ cut < 2, 0 ≤ λ ≤ 1e300.
  ///   Accuracy    kSphereRestError (1 + |log mass|) of the first, kSphereRestError of the others.
  ///   Properties  (1) mass, x and x² are those of SphereLaw::rest.
  ///               (2) v = cut(2 − cut) + 2(1 − cut)x − x² in the mean.
  ///               (3) d = 3, cut = 0, λ → ∞: x is exponential, v = 2x, so that λx, (λx)², λ²xv and
  ///                   (λv)² have means 1, 2, 4 and 8.
  [[nodiscard]] SphereTilt moments(double cut, double tilt) const;

 private:
  SphereGap gap_;
};

inline constexpr double kSphereRestError = 1e-12;
inline constexpr double kSphereRestDrop = 42.0;

}  // namespace dewpoint::scores
