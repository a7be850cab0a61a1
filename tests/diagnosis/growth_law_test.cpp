// Verdicts on curves that follow a known law.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/diagnosis/growth_law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "dewpoint/core/random.hpp"
#include "dewpoint/theory/random_energy.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::diagnosis {
namespace {

double log_shape(GrowthLaw law, double log_n, double offset, double exponent) {
  const double length = log_n + offset, x = length / exponent;
  if (law == GrowthLaw::logarithm) return std::log(length);
  if (law == GrowthLaw::root_logarithm) return 0.5 * std::log(length);
  return 0.5 * (x + std::log(std::expm1(x)));
}

/// A curve with independent errors plus one that all lengths share, as redrawn heads have.
GrowthData curve(GrowthLaw law, double first, double last, std::size_t points, double error,
                 double offset, double exponent, const Stream& stream) {
  GrowthData data;
  const double common = 3.0 * error * stream.normal(1000);
  data.covariance = Matrix<double>(points, points);
  for (std::size_t i = 0; i < points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(points - 1);
    const double log_n = std::log(first) + share * std::log(last / first);
    data.log_n.push_back(log_n);
    data.log_beta.push_back(1.0 + log_shape(law, log_n, offset, exponent) + common +
                            error * stream.normal(i));
    for (std::size_t j = 0; j < points; ++j)
      data.covariance(i, j) = 9.0 * error * error + (i == j ? error * error : 0.0);
  }
  return data;
}

// Property (1), and the parameters within their errors.
TEST(JudgeGrowth, RecognisesEachLawOverManyDecades) {
  const Stream stream = test::stream("JudgeGrowth/decades");
  for (GrowthLaw law : {GrowthLaw::logarithm, GrowthLaw::root_logarithm, GrowthLaw::power}) {
    const GrowthData data = curve(law, 1e2, 1e15, 14, 0.01, -1.5, 4.0, stream);
    const GrowthVerdict verdict = judge_growth(data);
    ASSERT_TRUE(verdict.law.has_value()) << verdict.reason;
    EXPECT_EQ(*verdict.law, law) << verdict.reason;
    const LawFit& fit = verdict.fits[static_cast<std::size_t>(law)];
    if (law == GrowthLaw::power) {
      EXPECT_NEAR(fit.exponent.mean, 4.0, test::kSigmas * fit.exponent.standard_error);
    } else {
      EXPECT_NEAR(fit.offset.mean, -1.5, test::kSigmas * fit.offset.standard_error);
    }
  }
}

// A bent √(log n) that is no power yet, and becomes one when the lengths reach further.
TEST(JudgeGrowth, CallsAHighDimensionalSphereAPowerOnlyWhereItIsOne) {
  const Stream stream = test::stream("JudgeGrowth/sphere");
  const auto at = [&](double last, std::size_t points) {
    return judge_growth(curve(GrowthLaw::power, 1e2, last, points, 0.002, -1.5, 31.5, stream));
  };
  EXPECT_FALSE(at(1e6, 5).law == GrowthLaw::power);
  EXPECT_FALSE(at(1e9, 8).law.has_value());
  EXPECT_TRUE(at(1e30, 29).law == GrowthLaw::power);
}

// Property (2): laws, parameters and lengths drawn from the priors, errors of 0.3 to 5 %. The
// number of wrong verdicts is binomial.
TEST(JudgeGrowth, IsRarelyWrongOverThePriors) {
  constexpr int heads = 250;
  int wrong = 0, answered = 0;
  for (int head = 0; head < heads; ++head) {
    const Stream stream(test::seed(), "JudgeGrowth/priors", static_cast<std::uint64_t>(head));
    const auto law = static_cast<GrowthLaw>(std::min(3.0, std::floor(4.0 * stream.uniform(2000))));
    const double last = std::pow(10.0, 3.0 + 4.0 * stream.uniform(2001)), first = last / 64.0;
    const double least = std::max(kLeastOffset, 0.3 - std::log(first));
    const double offset = least + (kMostOffset - least) * stream.uniform(2002);
    const double longest = std::log(last) + offset, wide = longest / kGaussianWindow;
    const bool between = law == GrowthLaw::crossover;
    const double lowest = between ? longest : kLeastGrowthExponent;
    const double exponent =
        lowest * std::pow((between ? wide : longest) / lowest, stream.uniform(2003));
    const double error = 0.003 * std::pow(16.0, stream.uniform(2004));
    const GrowthVerdict verdict =
        judge_growth(curve(law, first, last, 7, error, offset, exponent, stream));
    answered += verdict.law ? 1 : 0;
    wrong += verdict.law && *verdict.law != law ? 1 : 0;
  }
  RecordProperty("answered", answered);
  RecordProperty("wrong", wrong);
  const double allowed = (1.0 - kVerdictProbability) * answered;
  EXPECT_LE(wrong, allowed + 3.0 * std::sqrt(allowed)) << answered;
  EXPECT_GT(answered, heads / 4);
}

// Property (3): evidence up to the rounding of residuals.
TEST(JudgeGrowth, DoesNotDependOnTheUnitOfTheScores) {
  const Stream stream = test::stream("JudgeGrowth/unit");
  GrowthData data = curve(GrowthLaw::logarithm, 1e2, 1e6, 5, 0.01, 0.5, 1.0, stream);
  const GrowthVerdict before = judge_growth(data);
  for (double& log_beta : data.log_beta) log_beta += 7.0;
  const GrowthVerdict after = judge_growth(data);
  for (std::size_t k = 0; k < before.fits.size(); ++k)
    EXPECT_NEAR(before.fits[k].probability, after.fits[k].probability, 1e-6);
}

// Property (4).
TEST(JudgeGrowth, DeclinesWhatNoLawFits) {
  GrowthData data{{5.0, 7.0, 9.0, 11.0, 13.0}, {1.0, 1.5, 1.0, 1.5, 1.0}, Matrix<double>(5, 5), 0};
  for (std::size_t i = 0; i < 5; ++i) data.covariance(i, i) = 1e-4;
  const GrowthVerdict verdict = judge_growth(data);
  EXPECT_FALSE(verdict.law.has_value());
  EXPECT_NE(verdict.reason.find("none fits"), std::string::npos);
}

/// A curve without noise whose errors are those of random hands of 256 rows.
GrowthData exact_curve(const std::function<double(double)>& log_beta) {
  GrowthData data{{}, {}, Matrix<double>(7, 7), 0};
  for (std::size_t i = 0; i < 7; ++i) {
    const double n = 256.0 * std::exp2(static_cast<double>(i));
    data.log_n.push_back(std::log(n));
    data.log_beta.push_back(log_beta(n));
    data.covariance(i, i) = 0.36 / (256.0 * 16384.0 / n);
  }
  return data;
}

double gaussian_participation(double n) {
  double lower = 0.0, upper = 5.0;
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = 0.5 * (lower + upper);
    const double mean = theory::random_energy_means(std::log(n), std::exp(middle)).participation;
    (mean < 0.5 ? lower : upper) = middle;
  }
  return lower;
}

// Property (5).
TEST(JudgeGrowth, NeedsToKnowTheWinnerToTellAGaussianFromASimplex) {
  const GrowthData gaussian = exact_curve(gaussian_participation);
  const GrowthData simplex = exact_curve(
      [](double n) { return std::log(std::log(n - 1.0) + std::log(1.0 + std::sqrt(2.0))); });
  EXPECT_FALSE(judge_growth(gaussian).law.has_value());
  EXPECT_FALSE(judge_growth(simplex).law.has_value());
  EXPECT_EQ(judge_growth(gaussian, GrowthPrior::tail()).law, GrowthLaw::root_logarithm);
  EXPECT_EQ(judge_growth(simplex, GrowthPrior::fixed()).law, GrowthLaw::logarithm);
}

// A winner that is always there, but among competitors that catch up faster than log n.
TEST(JudgeGrowth, DeclinesAFixedWinnerWhoseLawIsAnother) {
  const GrowthData steep = exact_curve([](double n) { return 0.5 * std::log(n); });
  EXPECT_FALSE(judge_growth(steep, GrowthPrior::fixed()).law.has_value());
}

TEST(JudgeGrowth, SaysWhyItCannotTell) {
  const Stream stream = test::stream("JudgeGrowth/short");
  const GrowthVerdict brief =
      judge_growth(curve(GrowthLaw::root_logarithm, 1e4, 4e4, 3, 0.05, -1.8, 1.0, stream));
  EXPECT_FALSE(brief.law.has_value());
  EXPECT_NE(brief.reason.find("decades"), std::string::npos) << brief.reason;
  GrowthData data = curve(GrowthLaw::power, 1e2, 1e4, 4, 0.01, 0.0, 1.0, stream);
  data.log_beta[2] = std::numeric_limits<double>::infinity();
  EXPECT_NE(judge_growth(data).reason.find("infinite"), std::string::npos);
  data.log_n.resize(2);
  EXPECT_NE(judge_growth(data).reason.find("3 are needed"), std::string::npos);
}

}  // namespace
}  // namespace dewpoint::diagnosis
