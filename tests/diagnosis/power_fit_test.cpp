// Lines with known slopes.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/diagnosis/power_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::diagnosis {
namespace {

const std::vector<double> kPlaces = {64, 128, 256, 512, 1024, 2048};

/// y = 3 x^(−1/2) with noise, the share of y given for each point, stated as its error or not.
std::vector<Estimate> power(const Stream& stream, const std::vector<double>& shares, bool stated) {
  std::vector<Estimate> y;
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    const double value = 3.0 / std::sqrt(kPlaces[i]) * std::exp(shares[i] * stream.normal(i));
    y.push_back({value, stated ? shares[i] * value : 0.0, 10});
  }
  return y;
}

/// In how many of `tries` the interval misses the truth.
int misses(const char* name, int tries, const std::vector<double>& shares, bool stated) {
  int count = 0;
  for (int i = 0; i < tries; ++i) {
    const Stream stream(test::seed(), name, static_cast<std::uint64_t>(i));
    const PowerFit fit = fit_power(kPlaces, power(stream, shares, stated));
    count += fit.slope_low <= -0.5 && -0.5 <= fit.slope_high ? 0 : 1;
  }
  return count;
}

const std::vector<double> kUnequal = {0.01, 0.03, 0.02, 0.04, 0.05, 0.02};
const std::vector<double> kEqual(6, 0.02);

// Property (1): each of the six logarithms is known to a rounding of its size, at most 8, and the
// line divides by distances of order one.
TEST(FitPower, FindsAnExactPower) {
  std::vector<Estimate> y;
  for (const double x : kPlaces) y.push_back({3.0 / std::sqrt(x), 0.0, 1});
  const PowerFit fit = fit_power(kPlaces, y);
  const double rounding = 8.0 * 6.0 * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(fit.slope.mean, -0.5, rounding);
  EXPECT_NEAR(fit.intercept.mean, std::log(3.0), 8.0 * rounding);
  EXPECT_NEAR(fit.chi_square_per_degree, 0.0, rounding * rounding);
  EXPECT_FALSE(fit.weighted);
  EXPECT_EQ(fit.degrees, 4u);
}

// Every axis, by the line it makes straight.
TEST(FitPower, TakesEachAxisAsAsked) {
  const std::vector<double> x = {1, 2, 3, 5, 8};
  const auto slope = [&](const FitAxes& axes, double (*law)(double)) {
    std::vector<Estimate> y;
    for (const double place : x) y.push_back({law(place), 0.01, 10});
    const PowerFit fit = fit_power(x, y, axes);
    EXPECT_NEAR(fit.at(4.0).mean, law(4.0), 1e-12 * law(4.0));
    return fit.slope.mean;
  };
  const double rounding = 1e-13;  // a few hundred roundings of numbers of order one to ten
  EXPECT_NEAR(slope({false, false}, [](double u) { return 1 + 2 * u; }), 2.0, rounding);
  EXPECT_NEAR(slope({true, false}, [](double u) { return 5 + 2 * std::log(u); }), 2.0, rounding);
  EXPECT_NEAR(slope({false, true}, [](double u) { return std::exp(0.3 * u); }), 0.3, rounding);
}

// Property (2): the number of misses is binomial with probability 5 % at most.
TEST(FitPower, CoversTheTruthWithStatedErrors) {
  constexpr int tries = 4000;
  const int missed = misses("FitPower/stated", tries, kUnequal, true);
  EXPECT_LE(missed, 0.05 * tries + test::kSigmas * std::sqrt(0.05 * 0.95 * tries));
}

// Property (3): and 5 % exactly where errors come from the scatter.
TEST(FitPower, CoversTheTruthWithUnknownErrors) {
  constexpr int tries = 4000;
  const int missed = misses("FitPower/unknown", tries, kEqual, false);
  EXPECT_NEAR(missed, 0.05 * tries, test::kSigmas * std::sqrt(0.05 * 0.95 * tries));
}

// Property (4), and the errors: once χ²/ν exceeds 1, its root takes the factor back.
TEST(FitPower, EnlargesErrorsThatAreTooSmall) {
  std::vector<Estimate> y = power(test::stream("FitPower/small"), kUnequal, true);
  for (Estimate& value : y) value.standard_error /= 64.0;
  const PowerFit small = fit_power(kPlaces, y);
  for (Estimate& value : y) value.standard_error /= 64.0;
  const PowerFit smaller = fit_power(kPlaces, y);
  EXPECT_GT(small.chi_square_per_degree, 1.0);
  EXPECT_DOUBLE_EQ(small.slope.mean, smaller.slope.mean);
  EXPECT_DOUBLE_EQ(small.slope.standard_error, smaller.slope.standard_error);
  // Student's 95 % for ν = 4 are 2.7764 standard errors.
  EXPECT_NEAR(small.slope_high - small.slope.mean, 2.7764 * small.slope.standard_error,
              1e-4 * small.slope.standard_error);
}

TEST(FitPower, RefusesWhatHasNoLine) {
  const std::vector<Estimate> two = {{1, 0.1, 2}, {2, 0.1, 2}};
  EXPECT_THROW((void)fit_power(std::vector<double>{1, 2}, two), Error);
  const std::vector<Estimate> three = {{1, 0.1, 2}, {2, 0.1, 2}, {-1, 0.1, 2}};
  EXPECT_THROW((void)fit_power(std::vector<double>{1, 2, 3}, three), Error);
  EXPECT_THROW((void)fit_power(std::vector<double>{2, 2, 2}, three, {false, false}), Error);
  EXPECT_NO_THROW((void)fit_power(std::vector<double>{1, 2, 3}, three, {true, false}));
}

}  // namespace
}  // namespace dewpoint::diagnosis
