#include "dewpoint/core/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

std::vector<double> numbers(std::size_t count) {
  const Stream stream = test::stream("Estimate");
  std::vector<double> values(count);
  stream.normals(0, values);
  for (double& v : values) v = 1e3 + v;  // a mean that plain sums of squares would drown in
  return values;
}

// Two-pass formulas in long double; rounding of n additions is n ε relative to the size of a term.
TEST(RunningMoments, GiveMeanAndVariance) {
  const auto values = numbers(1000);
  long double sum = 0;
  for (const double v : values) sum += v;
  const long double mean = sum / 1000;
  long double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  RunningMoments moments;
  for (const double v : values) moments.add(v);
  constexpr double eps = std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(moments.mean(), static_cast<double>(mean), 1000 * eps * 1e3);
  // Each deviation (size 1) carries an error of 1e3 ε, so the variance is off by about 2·1e3 ε·√n.
  EXPECT_NEAR(moments.variance(), static_cast<double>(squares / 999), 1e5 * eps);
}

// Property (1).
TEST(RunningMoments, MergeLikeOneLongSequence) {
  const auto values = numbers(777);
  RunningMoments whole, first, second, empty;
  for (std::size_t i = 0; i < values.size(); ++i) {
    whole.add(values[i]);
    (i < 300 ? first : second).add(values[i]);
  }
  first.merge(second);
  first.merge(empty);
  empty.merge(first);
  EXPECT_EQ(empty.samples(), whole.samples());
  constexpr double eps = std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(empty.mean(), whole.mean(), 777 * eps * 1e3);
  EXPECT_NEAR(empty.variance(), whole.variance(), 1e5 * eps);
}

TEST(Estimates, SayWhenThereIsNoMean) { EXPECT_EQ(to_string(Estimate{}), "undefined"); }

TEST(RunningMoments, DoNotInventAnErrorForOneValue) {
  RunningMoments one;
  one.add(2.0);
  EXPECT_EQ(one.estimate().mean, 2.0);
  EXPECT_TRUE(std::isnan(one.estimate().standard_error));
  EXPECT_EQ(RunningMoments{}.estimate().samples, 0U);
}

TEST(Estimate, PrintsAsManyDigitsAsItsErrorDeserves) {
  EXPECT_EQ(to_string({0.50123, 0.00456, 9}), "0.5012 ± 0.0046");
  EXPECT_EQ(to_string({123.456, 12.3, 9}), "123 ± 12");
  EXPECT_EQ(to_string({0.25, 0.0, 1}), "0.25 ± 0");
  EXPECT_EQ(to_string({0.25, std::nan(""), 1}), "0.25 ± ?");
}

}  // namespace
}  // namespace dewpoint
