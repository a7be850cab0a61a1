// Keys for the tests of attention outputs, drawn in the plainest way and without scores/.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "dewpoint/core/vectors.hpp"
#include "dewpoint/scores/keys.hpp"

namespace dewpoint::test {

/// Independent standard normal coordinates; with `unit`, scaled to length 1: uniform on the sphere.
class NormalKeys final : public scores::KeyLaw {
 public:
  NormalKeys(std::size_t dimension, bool unit) : dimension_(dimension), unit_(unit) {}

  [[nodiscard]] std::string name() const override { return unit_ ? "uniform" : "normal"; }
  [[nodiscard]] std::size_t dimension() const override { return dimension_; }

  void draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const override {
    for (std::size_t j = 0; j < keys.rows(); ++j) {
      const auto key = keys.row(j);
      stream.normals((first + j) * dimension_, key);
      const double length = unit_ ? std::sqrt(inner(key, key)) : 1.0;
      for (double& entry : key) entry /= length;
    }
  }

 private:
  std::size_t dimension_;
  bool unit_;
};

/// Density ∝ e^{κ⟨μ, k⟩} on the sphere of R⁵, μ = (cos α, sin α, 0, 0, 0). There U = ⟨μ, k⟩ has
/// density ∝ e^{κu}(1 − u²), with the primitive e^{κu}[(1 − u²)/κ + 2u/κ² − 2/κ³], inverted by
/// bisection.
class VonMisesFisherKeys final : public scores::KeyLaw {
 public:
  VonMisesFisherKeys(double kappa, double angle) : kappa_(kappa), angle_(angle) {}

  [[nodiscard]] std::string name() const override { return "von Mises-Fisher, d = 5"; }
  [[nodiscard]] std::size_t dimension() const override { return 5; }

  void draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const override {
    for (std::size_t j = 0; j < keys.rows(); ++j) {
      const auto key = keys.row(j);
      stream.normals((first + j) * 5, key);
      const double u = quantile(0.5 * std::erfc(-key[0] / std::numbers::sqrt2));
      const auto rest = key.subspan(1);
      const double factor = std::sqrt((1.0 - u * u) / inner(rest, rest));
      for (double& entry : rest) entry *= factor;
      const double across = key[1];
      key[0] = u * std::cos(angle_) - across * std::sin(angle_);
      key[1] = u * std::sin(angle_) + across * std::cos(angle_);
    }
  }

 private:
  [[nodiscard]] double primitive(double u) const {
    return std::exp(kappa_ * (u - 1.0)) *
           ((1.0 - u * u) / kappa_ + 2.0 * u / (kappa_ * kappa_) - 2.0 / std::pow(kappa_, 3.0));
  }

  [[nodiscard]] double quantile(double share) const {
    const double lowest = primitive(-1.0), target = share * (primitive(1.0) - lowest) + lowest;
    double below = -1.0, above = 1.0;
    for (int halving = 0; halving < 50; ++halving) {
      const double middle = 0.5 * (below + above);
      (primitive(middle) < target ? below : above) = middle;
    }
    return 0.5 * (below + above);
  }

  double kappa_;
  double angle_;
};

}  // namespace dewpoint::test
