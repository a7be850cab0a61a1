// Growth of the dew point over random hands of keys.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/diagnosis/growth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/diagnosis/growth_law.hpp"
#include "dewpoint/diagnosis/participation_table.hpp"
#include "dewpoint/observables/dew_point.hpp"
#include "dewpoint/scores/sphere_law.hpp"
#include "dewpoint/theory/random_energy.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::diagnosis {
namespace {

Matrix<double> gaussian_head(std::size_t rows, std::size_t columns, std::uint64_t head) {
  Matrix<double> scores(rows, columns);
  Stream(test::seed(), "growth/gaussian", head).normals(0, {scores.data(), scores.size()});
  return scores;
}

Matrix<double> sphere_head(int dimension, std::size_t rows, std::size_t columns,
                           std::uint64_t head) {
  const scores::SphereLaw law(dimension);
  Matrix<double> scores(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::vector<double> depths =
        law.sample(columns, Stream(test::seed(), "growth/sphere", head * rows + i));
    for (std::size_t j = 0; j < columns; ++j) scores(i, j) = 1.0 - depths[j];
  }
  return scores;
}

/// Self score 1 on the diagonal, ρ elsewhere.
Matrix<double> simplex_head(std::size_t rows, std::size_t columns, double correlation) {
  Matrix<double> scores(rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) scores(i, j) = i == j ? 1.0 : correlation;
  return scores;
}

std::vector<std::size_t> own_columns(std::size_t rows) {
  std::vector<std::size_t> columns(rows);
  for (std::size_t i = 0; i < rows; ++i) columns[i] = i;
  return columns;
}

/// β_PR of n Gaussian scores, from the exact mean of Σw².
double log_gaussian_participation(double n) {
  double lower = 0.0, upper = 5.0;
  for (int halving = 0; halving < 50; ++halving) {
    const double middle = 0.5 * (lower + upper);
    const double mean = theory::random_energy_means(std::log(n), std::exp(middle)).participation;
    (mean < 0.5 ? lower : upper) = middle;
  }
  return lower;
}

GrowthData data_of(const Growth& growth, const RowBootstrap& bootstrap) {
  GrowthData data;
  for (const GrowthPoint& point : growth.points) {
    data.log_n.push_back(std::log(static_cast<double>(point.keys)));
    data.log_beta.push_back(point.log_participation.mean);
  }
  data.covariance = bootstrap.covariance(growth.participation_replicates);
  data.replicates = bootstrap.replicates();
  return data;
}

// ---- exact heads ----------------------------------------------------------------------------

// Property (1): the same numbers, summed in another order.
TEST(MeasureGrowth, AtTheWholeLengthIsThatOfAllKeys) {
  const auto scores = gaussian_head(15, 300, 0);
  const RowBootstrap bootstrap(15, {20, 1});
  const Growth growth = measure_growth(scores, {}, bootstrap);
  std::vector<double> dew = observables::dew_points(scores);
  std::nth_element(dew.begin(), dew.begin() + 7, dew.end());
  EXPECT_EQ(growth.points.back().keys, 300U);
  EXPECT_NEAR(growth.points.back().log_dew_median.mean, std::log(dew[7]), 1e-12);
  EXPECT_NEAR(growth.points.back().log_participation.mean,
              std::log(observables::participation_point(scores)), 1e-12);
  EXPECT_NEAR(std::exp(growth.points.back().log_accumulation.mean),
              observables::median_accumulation_scale(scores), 1e-12);
}

// Property (2): scales to the accuracy of their equations, and nothing random in them.
TEST(MeasureGrowth, OfASimplexIsExactAtEveryLength) {
  constexpr std::size_t rows = 8;
  const auto scores = simplex_head(rows, 801, 0.3);
  const RowBootstrap bootstrap(rows, {20, 1});
  GrowthOptions options;
  options.kept = own_columns(rows);
  options.least_keys = 50;
  const Growth growth = measure_growth(scores, options, bootstrap);
  ASSERT_EQ(growth.points.size(), 5U);
  for (const GrowthPoint& point : growth.points) {
    const double others = static_cast<double>(point.keys) - 1.0;
    const double pooled = std::log(others) + std::log1p(std::sqrt(2.0 - 2.0 / others));
    EXPECT_NEAR(std::exp(point.log_dew_median.mean) * 0.7, std::log(others), 1e-12);
    EXPECT_NEAR(std::exp(point.log_participation.mean) * 0.7, pooled, 1e-11);
    EXPECT_NEAR(std::exp(point.log_accumulation.mean) * 0.7, std::log(others + 1.0), 1e-12);
    EXPECT_LT(point.log_dew_median.standard_error, 1e-14);
    EXPECT_LT(point.log_participation.standard_error, 1e-12);
  }
  const Estimate slope = growth_slope(growth, Scale::dew_median, 1, 4, bootstrap);
  const double expected = std::log(std::log(800.0) / std::log(100.0)) / std::log(801.0 / 101.0);
  EXPECT_NEAR(slope.mean, expected, 1e-12);
  EXPECT_GT(judge_growth(data_of(growth, bootstrap)).fits[0].fit_probability, 0.9);
}

TEST(MeasureGrowth, ReportsTiedMaximaAsInfinite) {
  Matrix<double> scores(4, 200);  // all equal
  const RowBootstrap bootstrap(4, {20, 1});
  const Growth growth = measure_growth(scores, {}, bootstrap);
  for (const GrowthPoint& point : growth.points) {
    EXPECT_EQ(point.tied_share, 1.0);
    EXPECT_TRUE(std::isinf(point.log_dew_median.mean) &&
                std::isnan(point.log_dew_median.standard_error));
    EXPECT_TRUE(std::isinf(point.log_participation.mean));
  }
  const GrowthVerdict verdict = judge_growth(data_of(growth, bootstrap));
  EXPECT_FALSE(verdict.law.has_value());
  EXPECT_FALSE(verdict.reason.empty());
}

// ---- random heads ---------------------------------------------------------------------------

// Property (3), against the exact mean of Σw² at each length.
TEST(MeasureGrowth, AtShorterLengthsIsThatOfFreshGaussianHeads) {
  const auto scores = gaussian_head(200, 2000, 1);
  const RowBootstrap bootstrap(200, {200, 1});
  const Growth growth = measure_growth(scores, {}, bootstrap);
  ASSERT_EQ(growth.points.size(), 5U);
  for (const GrowthPoint& point : growth.points) {
    EXPECT_NEAR(point.log_participation.mean,
                log_gaussian_participation(static_cast<double>(point.keys)),
                test::kSigmas * point.log_participation.standard_error)
        << point.keys;
  }
  const Estimate slope = growth_slope(growth, Scale::participation, 1, 4, bootstrap);
  const double truth =
      (log_gaussian_participation(2000.0) - log_gaussian_participation(250.0)) / std::log(8.0);
  EXPECT_NEAR(slope.mean, truth, test::kSigmas * slope.standard_error);
  EXPECT_LT(slope.standard_error, growth.points.back().log_participation.standard_error);
}

// Property (4): z² has mean 1 and variance 2 over heads; the error of 40 rows is itself uncertain
// by √(1/80), which raises the mean by a twentieth.
TEST(MeasureGrowth, ErrorsAreThoseOfIndependentHeads) {
  constexpr std::size_t heads = 100, rows = 40;
  const double truth = log_gaussian_participation(128.0);
  const double slope_truth = (truth - log_gaussian_participation(64.0)) / std::log(2.0);
  double scale_square = 0.0, slope_square = 0.0;
  for (std::size_t head = 0; head < heads; ++head) {
    const RowBootstrap bootstrap(rows, {200, head});
    const Growth growth =
        measure_growth(gaussian_head(rows, 128, 100 + head), {1, 60, {}, head}, bootstrap);
    const Estimate& scale = growth.points.back().log_participation;
    const Estimate slope = growth_slope(growth, Scale::participation, 0, 1, bootstrap);
    scale_square += std::pow((scale.mean - truth) / scale.standard_error, 2) / heads;
    slope_square += std::pow((slope.mean - slope_truth) / slope.standard_error, 2) / heads;
  }
  const double tolerance = test::kSigmas * std::sqrt(2.0 / heads) + 0.1;
  EXPECT_NEAR(scale_square, 1.0, tolerance);
  EXPECT_NEAR(slope_square, 1.0, tolerance);
}

// Property (5).
TEST(MeasureGrowth, IsTheSameForAnyNumberOfThreads) {
  const auto scores = gaussian_head(20, 400, 2);
  const RowBootstrap bootstrap(20, {20, 1});
  const Growth one = measure_growth(scores, {}, bootstrap, {1, {}, {}});
  const Growth three = measure_growth(scores, {}, bootstrap, {3, {}, {}});
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    EXPECT_EQ(one.points[i].log_participation.mean, three.points[i].log_participation.mean);
    EXPECT_EQ(one.points[i].log_participation.standard_error,
              three.points[i].log_participation.standard_error);
    EXPECT_EQ(one.points[i].log_dew_median.mean, three.points[i].log_dew_median.mean);
  }
}

// A redrawn head: rows counted as often as they were drawn, against a matrix with these rows.
TEST(ParticipationTable, SolvesRedrawnHeads) {
  const auto scores = gaussian_head(12, 200, 3);
  const double origin = std::log(observables::participation_point(scores));
  ParticipationTable table(scores, 1, origin, {});
  const RowBootstrap bootstrap(12, {20, 5});
  for (std::size_t b = 0; b < 20; ++b) {
    Matrix<double> redrawn(12, 200);
    std::size_t to = 0;
    for (std::size_t i = 0; i < 12; ++i)
      for (std::uint32_t copy = 0; copy < bootstrap.counts(b)[i]; ++copy)
        std::copy(scores.row(i).begin(), scores.row(i).end(), redrawn.row(to++).begin());
    EXPECT_NEAR(table.log_root(bootstrap.counts(b)),
                std::log(observables::participation_point(redrawn)), 1e-4);
  }
}

TEST(MeasureGrowth, RefusesWhatItCannotMeasure) {
  Matrix<double> scores(2, 3);
  const RowBootstrap bootstrap(2, {20, 1});
  GrowthOptions options;
  options.kept = {0, 0};
  EXPECT_THROW((void)measure_growth(scores, options, bootstrap), Error);
  scores(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)measure_growth(scores, {}, bootstrap), Error);
}

// ---- verdicts on heads ----------------------------------------------------------------------

// 128 queries over 1024 keys: a wrong law is never the answer. At this size d = 3 and 5 are always
// recognised; Gaussian heads are too noisy for an answer (none of 12 in a trial with other seeds),
// so for them this only guards against a wrong one.
TEST(GrowthVerdict, OnSyntheticHeadsIsRightOrCannotTell) {
  std::size_t powers = 0;
  for (std::uint64_t head = 0; head < 5; ++head) {
    const RowBootstrap bootstrap(128, {100, head});
    const auto judge = [&](const Matrix<double>& scores) {
      return judge_growth(data_of(measure_growth(scores, {4, 60, {}, head}, bootstrap), bootstrap));
    };
    for (int dimension : {3, 5}) {
      const GrowthVerdict verdict = judge(sphere_head(dimension, 128, 1024, head));
      EXPECT_TRUE(!verdict.law || *verdict.law == GrowthLaw::power) << verdict.reason;
      powers += verdict.law ? 1 : 0;
    }
    const GrowthVerdict verdict = judge(gaussian_head(128, 1024, 50 + head));
    EXPECT_TRUE(!verdict.law || *verdict.law == GrowthLaw::root_logarithm) << verdict.reason;
  }
  EXPECT_EQ(powers, 10U);
}

}  // namespace
}  // namespace dewpoint::diagnosis
