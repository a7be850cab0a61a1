// Medians, deviations and best arguments of samples whose law is known.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/sample_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

std::vector<double> normals(const char* name, std::size_t count) {
  std::vector<double> values(count);
  test::stream(name).normals(0, values);
  return values;
}

// Property (1) of the mean: 2⁻¹⁰⁰⁰ is exact.
TEST(MeanOf, ScalesWithTheValues) {
  std::vector<double> values = normals("mean-of", 1000);
  const Estimate large = mean_of(values);
  for (double& value : values) value = std::ldexp(value, -900);
  const Estimate small = mean_of(values);
  EXPECT_EQ(std::ldexp(small.mean, 900), large.mean);
  EXPECT_EQ(std::ldexp(small.standard_error, 900), large.standard_error);
  EXPECT_EQ(mean_of({0.0, 0.0}).mean, 0.0);
}

TEST(ColumnMeans, AreTheMeansOfTheColumns) {
  Matrix<double> rows(3, 2);
  const std::vector<double> first = {1.0, 2.0, 6.0}, second = {-1.0, 0.0, 4.0};
  for (std::size_t i = 0; i < 3; ++i) {
    rows(i, 0) = first[i];
    rows(i, 1) = second[i];
  }
  const std::vector<Estimate> means = column_means(rows);
  ASSERT_EQ(means.size(), 2u);
  EXPECT_EQ(means[0].mean, mean_of(first).mean);
  EXPECT_EQ(means[1].mean, mean_of(second).mean);
  EXPECT_EQ(means[1].standard_error, mean_of(second).standard_error);
}

TEST(MedianOf, IsTheMiddleValue) {
  EXPECT_EQ(median_of({3.0, 1.0, 2.0}).mean, 2.0);
  EXPECT_EQ(median_of({4.0, 1.0, 3.0, 2.0}).mean, 2.5);
  EXPECT_EQ(median_of({1.0, 5.0}).standard_error, 2.0);
}

// Property (1). The half-distance of two order statistics √n ranks apart has itself a relative
// error of n^{-1/4}, the spread of √n spacings.
TEST(MedianOf, HasTheErrorOfANormalMedian) {
  constexpr double samples = 40'000.0;
  const Estimate median = median_of(normals("median-of", 40'000));
  const double expected = std::sqrt(0.5 * std::numbers::pi / samples);
  EXPECT_NEAR(median.mean, 0.0, test::kSigmas * expected);
  EXPECT_NEAR(median.standard_error / expected, 1.0, test::kSigmas * std::pow(samples, -0.25));
}

// Property (1). Relative error of the estimated error: that of the fourth moment, √(96/n) to
// leading order, halved.
TEST(DeviationOf, HasTheErrorOfANormalDeviation) {
  constexpr double samples = 40'000.0;
  const Estimate deviation = deviation_of(normals("deviation-of", 40'000));
  const double expected = 1.0 / std::sqrt(2.0 * samples);
  EXPECT_NEAR(deviation.mean, 1.0, test::kSigmas * expected);
  EXPECT_NEAR(deviation.standard_error / expected, 1.0,
              test::kSigmas * 0.5 * std::sqrt(96.0 / samples));
  EXPECT_EQ(deviation_of({2.0, 2.0, 2.0}).standard_error, 0.0);
}

// Property (1), with one rounding of the shift: values of size 1e4.
TEST(LogMeanExp, ShiftsWithTheValues) {
  std::vector<double> values = normals("log-mean-exp", 500);
  const Estimate near = log_mean_exp(values);
  double sum = 0.0;
  for (double& value : values) {
    sum += std::exp(value);
    value += 1e4;
  }
  const Estimate far = log_mean_exp(values);
  EXPECT_NEAR(near.mean, std::log(sum / 500.0), 500.0 * kEpsilon);
  EXPECT_NEAR(far.mean - 1e4, near.mean, 4.0 * kEpsilon * 1e4);
  EXPECT_NEAR(far.standard_error, near.standard_error, 1e-8);
}

// Property (1): noise a hundred times the differences, common to all rows, changes nothing.
TEST(BestArgument, ComparesDrawByDraw) {
  const std::vector<double> arguments = {1.0, 2.0, 3.0, 4.0};
  std::vector<double> noise = normals("best-argument", 200);
  std::vector<std::vector<double>> rows(4, std::vector<double>(200));
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < 200; ++i)
      rows[k][i] = 100.0 * noise[i] - (arguments[k] - 3.0) * (arguments[k] - 3.0);
  EXPECT_EQ(best_argument(arguments, rows).mean, 3.0);
  EXPECT_EQ(best_argument(arguments, rows).standard_error, 0.0);
  rows[0] = rows[2];
  EXPECT_EQ(best_argument(arguments, rows).standard_error, 1.0);
}

// Properties (1) and (2) of variance_of, (1), (2) and (3) of skewness_of.
TEST(SampleStatistics, VarianceAndSkewnessAreThoseOfKnownLaws) {
  constexpr std::size_t count = 20'000;
  const Stream stream = test::stream("SampleStatistics/KnownLaws");
  std::vector<double> normal(count), exponential(count), scaled(count);
  stream.normals(0, normal);
  for (std::size_t i = 0; i < count; ++i) {
    exponential[i] = stream.exponential(count + i);
    scaled[i] = 4.0 * exponential[i];
  }
  const double root = std::sqrt(static_cast<double>(count));
  const Estimate variance = variance_of(normal), skewness = skewness_of(normal);
  EXPECT_NEAR(variance.mean, 1.0, test::kSigmas * variance.standard_error);
  EXPECT_NEAR(variance.standard_error * root / std::sqrt(2.0), 1.0, test::kSigmas * 2.0 / root);
  EXPECT_NEAR(skewness.mean, 0.0, test::kSigmas * skewness.standard_error);
  EXPECT_NEAR(skewness.standard_error * root / std::sqrt(6.0), 1.0, test::kSigmas * 4.0 / root);
  const Estimate tail = skewness_of(exponential);
  EXPECT_NEAR(tail.mean, 2.0, test::kSigmas * tail.standard_error);
  EXPECT_DOUBLE_EQ(variance_of(scaled).mean, 16.0 * variance_of(exponential).mean);
  EXPECT_DOUBLE_EQ(skewness_of(scaled).mean, tail.mean);
  EXPECT_TRUE(std::isnan(variance_of(std::vector<double>{1.0}).mean));
  EXPECT_TRUE(std::isnan(skewness_of(std::vector<double>{1.0, 1.0, 1.0}).mean));
}

}  // namespace
}  // namespace dewpoint::experiments
