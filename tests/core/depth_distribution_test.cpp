#include "dewpoint/core/distributions/depth_distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "dewpoint/core/distributions/normal.hpp"
#include "dewpoint/core/distributions/sphere_gap.hpp"

namespace dewpoint {
namespace {

constexpr double kDepths[] = {-30.0, -3.0, -0.5, 0.0, 0.7, 2.0, 5.0};

// Numerator and denominator of the quotients below are exact to a few roundings of the arguments,
// which normal.hpp turns into kTailError (1 + u²).
double tolerance(double u) { return 8.0 * normal::kTailError * (1.0 + u * u); }

TEST(NormalDepth, SmallDepthsAreLargeScores) {
  const NormalDepth depth(2.0);
  for (const double x : kDepths) {
    EXPECT_NEAR(depth.log_cdf(x), normal::log_upper_tail(-x / 2.0), tolerance(x));
    EXPECT_NEAR(depth.log_survival(x), normal::log_upper_tail(x / 2.0), tolerance(x));
  }
  EXPECT_EQ(depth.lowest(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(depth.highest(), std::numeric_limits<double>::infinity());
}

TEST(NormalDepth, TheQuantileInvertsTheDistribution) {
  const NormalDepth depth(0.3);
  for (const double log_probability : {-1e4, -700.0, -20.0, -1.0, -0.1}) {
    EXPECT_NEAR(depth.log_cdf(depth.quantile(log_probability)) / log_probability, 1.0,
                // u is right to 4 kTailError |u|, and d log Φ/d log u is at most u²+1 ≈ 2|log Φ|
                16.0 * normal::kTailError * (1.0 + 1.0 / -log_probability));
  }
}

// Central difference with step h: error h² |F‴|/6 and rounding of F over h, both relative to a
// density that is at least e^{-12.5}/√(2π)/σ for the depths taken.
template <class Law>
void expect_density_is_slope(const Law& law, double depth, double step, double bound) {
  const double slope =
      (std::exp(law.log_cdf(depth + step)) - std::exp(law.log_cdf(depth - step))) / (2.0 * step);
  EXPECT_NEAR(slope / std::exp(law.log_density(depth)), 1.0, bound) << depth;
}

TEST(NormalDepth, TheDensityIsTheSlopeOfTheDistribution) {
  const NormalDepth depth(1.5);
  // |φ''/φ| ≤ |u² − 1|/σ² ≤ 3.1 for |x| ≤ 4: 1e-8·3.1/6; rounding 1e-16/1e-4/0.007.
  for (const double x : {-4.0, -1.0, 0.0, 2.0, 4.0}) expect_density_is_slope(depth, x, 1e-4, 1e-8);
}

TEST(ScaledDepth, IsTheLawOfScoresTimesTheFactor) {
  const auto sphere = std::make_shared<SphereGap>(5);
  const ScaledDepth scaled(sphere, 0.25);
  EXPECT_EQ(scaled.lowest(), 0.0);
  EXPECT_EQ(scaled.highest(), 0.5);
  // A factor that is a power of two costs no rounding but that of log(factor).
  for (const double gap : {1e-8, 0.01, 0.4, 1.9}) {
    EXPECT_EQ(scaled.log_cdf(0.25 * gap), sphere->log_cdf(gap));
    EXPECT_EQ(scaled.log_survival(0.25 * gap), sphere->log_survival(gap));
    EXPECT_NEAR(scaled.log_density(0.25 * gap), sphere->log_density(gap) + std::log(4.0),
                4e-15 * (4.0 + std::abs(sphere->log_density(gap))));
    EXPECT_EQ(scaled.quantile(sphere->log_cdf(gap)), 0.25 * sphere->quantile(sphere->log_cdf(gap)));
  }
  // f'' of the gap at d = 5 is −3/2 everywhere, f = (3/4) 2t(1 − t/2) ≥ 0.06: h²/6·1.5·16/0.06.
  expect_density_is_slope(scaled, 0.1, 1e-5, 1e-8);
}

}  // namespace
}  // namespace dewpoint
