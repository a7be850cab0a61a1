// Quadrature over one depth against its distribution function and against closed transforms.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/depth_panels.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/bessel.hpp>
#include <cmath>

#include "dewpoint/core/distributions/sphere_gap.hpp"

namespace dewpoint::theory {
namespace {

/// ∫ f e^{−β(x − origin)} dx from a depth on.
double transform(const DepthPanels& panels, double beta, double origin, double from) {
  double sum = 0.0;
  for (const DepthNode& node : panels.nodes({beta, origin, from})) {
    sum += node.weight * std::exp(node.log_density - beta * (node.depth - origin));
  }
  return sum;
}

// Property (1). At d = 2 nodes near the far end, 2 − x ~ 1e-5, know f to ε/1e-5 on 1e-2 of the
// mass.
TEST(DepthPanels, AddUpToTheSurvival) {
  for (int dimension : {2, 3, 10, 512}) {
    const SphereGap gap(dimension);
    const DepthPanels panels(gap, -60.0);
    for (double from : {0.0, 0.3, 1.0, 1.5}) {
      EXPECT_NEAR(transform(panels, 1e-15, from, from), 1.0 - panels.cdf(from), kDepthPanelsError)
          << dimension << ' ' << from;
    }
  }
}

// Property (2): E e^{−βT} = e^{−β} Γ(d/2) (2/β)^{d/2−1} I_{d/2−1}(β).
TEST(DepthPanels, ReproduceTheTransformOfASphere) {
  for (int dimension : {2, 3, 6, 41}) {
    const SphereGap gap(dimension);
    const DepthPanels panels(gap, -400.0);
    const double order = 0.5 * dimension - 1.0;
    for (double beta : {0.01, 1.0, 20.0, 500.0}) {
      const double exact =
          std::exp(-beta + std::lgamma(order + 1.0) + order * std::log(2.0 / beta)) *
          boost::math::cyl_bessel_i(order, beta);
      EXPECT_NEAR(transform(panels, beta, 0.0, 0.0) / exact, 1.0, 10.0 * kDepthPanelsError)
          << dimension << ' ' << beta;
    }
  }
}

// Property (2): E e^{−βx} = e^{β²/2}, whose mass lies at x = −β, a probability of e^{−450}.
TEST(DepthPanels, ReproduceTheTransformOfANormalLaw) {
  const NormalDepth depth;
  const DepthPanels panels(depth, -1000.0);
  for (double beta : {0.1, 3.0, 30.0}) {
    const double origin = -0.5 * beta, first = panels.cuts().front();
    double sum = 0.0;
    for (const DepthNode& node : panels.nodes({beta, first, first})) {
      sum += node.weight * std::exp(node.log_density - beta * (node.depth - origin));
    }
    EXPECT_NEAR(sum, 1.0, 10.0 * kDepthPanelsError) << beta;
  }
}

/// Uniform gaps on [0, 2], and one key in a thousand exponential within 1e-4 of the query.
class SpikedGap final : public DepthDistribution {
 public:
  [[nodiscard]] double lowest() const override { return 0.0; }
  [[nodiscard]] double highest() const override { return 2.0; }
  [[nodiscard]] double log_cdf(double x) const override {
    return std::log(0.999 * 0.5 * x - 0.001 * std::expm1(-kRate * x));
  }
  [[nodiscard]] double log_survival(double x) const override {
    return std::log1p(-std::exp(log_cdf(x)));
  }
  [[nodiscard]] double log_density(double x) const override {
    return std::log(0.999 * 0.5 + 0.001 * kRate * std::exp(-kRate * x));
  }
  [[nodiscard]] double quantile(double log_probability) const override {
    double low = 0.0, high = 2.0;
    for (int i = 0; i < 200; ++i) {
      const double middle = 0.5 * (low + high);
      (log_cdf(middle) < log_probability ? low : high) = middle;
    }
    return high;
  }

 private:
  static constexpr double kRate = 1e4;  // e^{−2 rate} is no double
};

// A spike in the density needs, and gets, more panels than a uniform law.
TEST(DepthPanels, AreHalvedUntilTheyReproduceTheLaw) {
  const SpikedGap spiked;
  const SphereGap uniform(3);
  const DepthPanels panels(spiked, -60.0), fewer(uniform, -60.0);
  EXPECT_GT(panels.cuts().size(), fewer.cuts().size());
  EXPECT_NEAR(transform(panels, 1e-15, 0.0, 0.0), 1.0, 10.0 * kDepthPanelsError);
}

}  // namespace
}  // namespace dewpoint::theory
