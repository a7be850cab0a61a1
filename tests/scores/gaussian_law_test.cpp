// Gaussian scores: their tail, their exact top, and the moments below a cut.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scores/gaussian_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "support/kolmogorov_smirnov.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::scores {
namespace {

using Wide = boost::multiprecision::cpp_bin_float_50;

Wide wide_cdf(const Wide& u) { return erfc(-u / sqrt(Wide(2))) / 2; }
Wide wide_density(const Wide& u) {
  return exp(-u * u / 2) / sqrt(2 * boost::math::constants::pi<Wide>());
}

// The moments of a truncated normal variable in fifty digits, where the subtractions are harmless.
TEST(GaussianRest, AgreesWithFiftyDigits) {
  for (double sigma : {1.0, 0.3})
    for (double cut : {-2.0, 0.5, 3.7, 11.5, 37.0})
      for (double tilt : {0.0, 0.1, 1.0, 2.6, 4.3, 12.0, 75.0, 150.0}) {
        const Wide c = cut, lambda = tilt, end = c - lambda;
        const Wide mass = exp(lambda * lambda / 2 - lambda * c) * wide_cdf(end) / wide_cdf(c);
        const Wide mean = end + wide_density(end) / wide_cdf(end), square = 1 + end * mean;
        const TiltedDepth rest = GaussianLaw(sigma).rest(-cut * sigma, tilt / sigma);
        EXPECT_NEAR(rest.log_mass, static_cast<double>(log(mass)),
                    kGaussianRestError * (1.0 + cut * cut + tilt * std::abs(cut)))
            << cut << " " << tilt;
        EXPECT_NEAR(rest.mean / sigma / static_cast<double>(mean), 1.0, 2.0 * kGaussianRestError)
            << cut << " " << tilt;
        EXPECT_NEAR(rest.root_mean_square / sigma / static_cast<double>(sqrt(square)), 1.0,
                    2.0 * kGaussianRestError)
            << cut << " " << tilt;
      }
}

// Properties (1) and (2) of rest; the central difference errs by step²/6 of the third cumulant,
// below mean³ · 2, and by rounding over the step.
TEST(GaussianRest, HasItsMeanAsDerivative) {
  const GaussianLaw law(1.0);
  constexpr double step = 1e-4;
  for (double cut : {-3.0, 0.0, 2.0})
    for (double tilt : {0.5, 2.0, 10.0}) {
      const double slope =
          (law.rest(cut, tilt - step).log_mass - law.rest(cut, tilt + step).log_mass) /
          (2.0 * step);
      const double mean = law.rest(cut, tilt).mean;
      EXPECT_NEAR(slope, mean,
                  step * step * (1.0 + mean * mean * mean) + kGaussianRestError * 40.0 / step);
    }
  EXPECT_EQ(law.rest(-3.0, 0.0).log_mass, 0.0);
}

// Property (1) of top_depths: exponential spacings, so the means have known errors.
TEST(GaussianTop, HasExponentialSpacingsInTheLogarithmOfTheTail) {
  const GaussianLaw law(2.0);
  constexpr int draws = 4000, count = 5;
  constexpr double n = 12.0;
  RunningMoments last, first;
  for (int draw = 0; draw < draws; ++draw) {
    const Stream stream(test::seed(), "GaussianTop/Spacings", draw);
    const std::vector<double> depths = law.top_depths(std::log(n), count, stream);
    first.add(-std::log1p(-std::exp(law.log_tail(depths.front()))));
    last.add(-std::log1p(-std::exp(law.log_tail(depths.back()))));
  }
  double mean = 0.0, variance = 0.0;
  for (int j = 0; j < count; ++j) {
    mean += 1.0 / (n - j);
    variance += 1.0 / ((n - j) * (n - j));
  }
  EXPECT_NEAR(first.mean() * n, 1.0, test::kSigmas / std::sqrt(draws));
  EXPECT_NEAR(last.mean(), mean, test::kSigmas * std::sqrt(variance / draws));
}

// Property (2) of top_depths: the largest, the second and the smallest of ten scores, against
// sorting.
TEST(GaussianTop, IsTheSortedSampleWhenNothingIsLeftOut) {
  const GaussianLaw law(0.5);
  constexpr int draws = 5000, n = 10;
  std::vector<std::vector<double>> direct(n), spaced(n);
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> sorted = law.sample(n, Stream(test::seed(), "GaussianTop/Direct", draw));
    std::sort(sorted.begin(), sorted.end());
    const std::vector<double> top =
        law.top_depths(std::log(n), n, Stream(test::seed(), "GaussianTop/Spaced", draw));
    for (int i = 0; i < n; ++i) {
      direct[i].push_back(sorted[i]);
      spaced[i].push_back(top[i]);
    }
  }
  std::vector<double> p_values;
  for (int i = 0; i < n; ++i) p_values.push_back(test::same_law_p(direct[i], spaced[i]));
  EXPECT_GT(test::smallest_holm_p(p_values), test::kFamilyLevel);
}

// The depth is minus the score; the tail is inverted.
TEST(GaussianLaw, InvertsItsTail) {
  const GaussianLaw law(3.0);
  EXPECT_EQ(law.name(), "gaussian:sigma=3");
  EXPECT_FALSE(law.supremum().has_value());
  EXPECT_EQ(law.origin(), 0.0);
  for (double log_tail : {-1e4, -690.0, -9.0, -0.3, -1e-6})
    EXPECT_NEAR(law.log_tail(law.depth_at(log_tail)) / log_tail, 1.0, 1e-13) << log_tail;
  EXPECT_THROW(GaussianLaw(0.0), Error);
  EXPECT_THROW(GaussianLaw(std::nan("")), Error);
}

}  // namespace
}  // namespace dewpoint::scores
