// The sampler of top scores against what is known exactly.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scores/top_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string_view>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/scores/gaussian_law.hpp"
#include "dewpoint/scores/simplex_law.hpp"
#include "dewpoint/scores/sphere_law.hpp"
#include "dewpoint/theory/gaussian_extremes.hpp"
#include "scores/softmax_draws.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::scores {
namespace {

using dewpoint::test::kSigmas;
using dewpoint::test::seed;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- exact cases ----------------------------------------------------------------------------

// Property (1) of weigh_top_scores: sixty roundings of sums of twenty terms.
TEST(WeighTopScores, IsTheSoftmaxWhenNothingIsLeftOut) {
  const GaussianLaw law(1.5);
  const Stream stream(seed(), "WeighTopScores/All");
  const TopScores top = draw_top_scores(law, std::log(20.0), 20, stream);
  double sum = 0.0, squares = 0.0, gaps = 0.0;
  for (double depth : top.depths) {
    const double weight = std::exp(-2.0 * (depth - top.depths[0]));
    sum += weight;
    squares += weight * weight;
    gaps += weight * (depth - top.depths[0]);
  }
  const TopSample sample = weigh_top_scores(law, top, 2.0, stream);
  EXPECT_NEAR(sample.largest_weight * sum, 1.0, 60.0 * kEpsilon);
  EXPECT_NEAR(sample.participation * sum * sum / squares, 1.0, 60.0 * kEpsilon);
  EXPECT_NEAR(sample.mean_gap * sum / gaps, 1.0, 60.0 * kEpsilon);
  EXPECT_NEAR(sample.log_partition, std::log(sum) - 2.0 * top.depths[0], 60.0 * kEpsilon);
  EXPECT_EQ(sample.rest_weight, 0.0);
  EXPECT_EQ(sample.log_partition_bound, 0.0);
  EXPECT_EQ(sample.largest_weight_bound, 0.0);
}

// Property (4), at every k and N. Exponents of size β(1 − ρ) and log N are rounded.
TEST(WeighTopScores, IsExactOnTheSimplex) {
  const SimplexLaw law(0.3);
  const Stream stream(seed(), "unused");
  for (double n : {2.0, 50.0, 1e9, 1e300})
    for (std::size_t k : {1, 2})
      for (double gamma : {0.0, 0.5, 1.0, 1.4, 3.0}) {
        const double beta = gamma * std::log(n), others = (n - 1.0) * std::exp(-0.7 * beta);
        const TopScores top = draw_top_scores(law, std::log(n), k, stream);
        const TopSample sample = weigh_top_scores(law, top, beta, stream);
        const double rounding = 8.0 * kEpsilon * (1.0 + beta + std::log(n));
        EXPECT_NEAR(sample.largest_weight * (1.0 + others), 1.0, rounding) << n << " " << beta;
        EXPECT_NEAR(sample.mean_gap, 0.7 * others / (1.0 + others), rounding);
        const double squares = 1.0 + others * std::exp(-0.7 * beta);
        EXPECT_NEAR(sample.log_participation, std::log(squares) - 2.0 * std::log1p(others),
                    2.0 * rounding);
        EXPECT_LE(sample.log_partition_bound, rounding);
      }
  EXPECT_THROW(SimplexLaw(1.0), Error);
  EXPECT_EQ(law.sample(3, stream), (std::vector<double>{0.0, 0.7, 0.7}));
}

// Property (5). On the sphere the mass without tilt is a quadrature.
TEST(WeighTopScores, IsUniformAtInfiniteTemperature) {
  const GaussianLaw gaussian;
  const SphereLaw sphere(6);
  for (const TopLaw* law :
       {static_cast<const TopLaw*>(&gaussian), static_cast<const TopLaw*>(&sphere)})
    for (double log_n : {std::log(100.0), std::log(1e15), std::log(1e300)}) {
      const Stream stream(seed(), "WeighTopScores/Infinite");
      const TopSample sample =
          weigh_top_scores(*law, draw_top_scores(*law, log_n, 10, stream), 0.0, stream);
      EXPECT_NEAR(sample.log_relative_partition, log_n, kSphereRestError) << law->name();
      EXPECT_NEAR(sample.log_participation, -log_n, 3.0 * kSphereRestError) << law->name();
    }
}

// N = e^{10000} is as good as any: nothing overflows, weights are weights.
TEST(WeighTopScores, StaysFiniteWhereNIsNoDouble) {
  const GaussianLaw law;
  for (double load : {0.0, 0.3, 1.0, 2.0, 30.0}) {
    const Stream stream(seed(), "WeighTopScores/Huge");
    const double log_n = 1e4, beta = load * std::sqrt(2.0 * log_n);
    const TopSample sample =
        weigh_top_scores(law, draw_top_scores(law, log_n, 64, stream), beta, stream);
    EXPECT_TRUE(std::isfinite(sample.log_partition)) << load;
    EXPECT_TRUE(std::isfinite(sample.log_participation)) << load;
    EXPECT_GE(sample.log_relative_partition, 0.0);
    EXPECT_LE(sample.log_relative_partition, log_n * (1.0 + 1e-12));
    // Σw² lies between w_max² and w_max.
    EXPECT_LE(sample.log_participation, -sample.log_relative_partition + 1e-9);
    EXPECT_GE(sample.log_participation, -2.0 * sample.log_relative_partition);
    EXPECT_TRUE(std::isfinite(sample.log_partition_bound)) << load;
  }
}

TEST(DrawTopScores, RefusesGapsThatVanish) {
  const SphereLaw circle(2);
  const Stream stream(seed(), "unused");
  EXPECT_THROW((void)draw_top_scores(circle, std::log(1e200), 4, stream), Error);
  EXPECT_GT(draw_top_scores(circle, std::log(1e140), 4, stream).depths[0], 0.0);
}

// ---- the rest -------------------------------------------------------------------------------

/// The sums over a rest drawn score by score below a cut, in units of the weight at the cut.
struct RestDraws {
  std::vector<double> first, second, third;
};

RestDraws draw_rest(const TailLaw& law, const TopScores& top, double beta, int draws) {
  const double tail = std::exp(law.log_tail(top.depths.back()));
  const int left =
      static_cast<int>(std::lround(std::exp(top.log_scores))) - static_cast<int>(top.depths.size());
  RestDraws rest;
  for (int draw = 0; draw < draws; ++draw) {
    const Stream stream(seed(), "RestMoments/" + law.name(), static_cast<std::uint64_t>(draw));
    double first = 0.0, second = 0.0, third = 0.0;
    for (int j = 0; j < left; ++j) {
      const double deeper = tail + (1.0 - tail) * stream.uniform(static_cast<std::uint64_t>(j));
      const double x = law.depth_at(std::log(deeper)) - top.depths.back();
      const double weight = std::exp(-beta * x);
      first += weight;
      second += weight * weight;
      third += weight * x;
    }
    rest.first.push_back(first);
    rest.second.push_back(second);
    rest.third.push_back(third);
  }
  return rest;
}

/// Mean of a product of relative deviations, with its own standard error from the draws.
Estimate relative_covariance(const std::vector<double>& a, double mean_a,
                             const std::vector<double>& b, double mean_b) {
  RunningMoments moments;
  for (std::size_t i = 0; i < a.size(); ++i)
    moments.add((a[i] / mean_a - 1.0) * (b[i] / mean_b - 1.0));
  return moments.estimate();
}

/// W between the law of the draws and a Gaussian: mean distance between their quantiles.
double distance_to_gaussian(std::vector<double> draws, double mean, double deviation) {
  std::sort(draws.begin(), draws.end());
  const boost::math::normal_distribution<double> gaussian(mean, deviation);
  const double count = static_cast<double>(draws.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < draws.size(); ++i)
    sum += std::abs(draws[i] - quantile(gaussian, (static_cast<double>(i) + 0.5) / count));
  return sum / count;
}

// Property (1) of rest_moments: nine covariances within kSigmas of their own standard errors, and
// property (2): W of n draws from a law to that law is at most deviation/√n times a number near 1
// on average, five are allowed. The distance found is well above that, so the bound is put to work.
TEST(RestMoments, AreThoseOfTheRestAndItsDistanceIsBounded) {
  const GaussianLaw gaussian;
  const SphereLaw sphere(5);
  struct Case {
    const TailLaw* law;
    double beta;
  };
  for (const auto& [law, beta] : {Case{&gaussian, 3.5}, Case{&sphere, 17.0}}) {
    constexpr int draws = 6000;
    const Stream stream(seed(), "RestMoments/Top");
    const TopScores top = draw_top_scores(*law, std::log(200.0), 3, stream);
    const RestMoments moments = rest_moments(*law, top, beta);
    const RestDraws rest = draw_rest(*law, top, beta, draws);
    const double count = std::exp(moments.log_count);
    const double means[3] = {count * std::exp(moments.log_mass),
                             count * std::exp(moments.log_square),
                             count * std::exp(moments.log_mass) * moments.mean_depth};
    const std::vector<double>* sums[3] = {&rest.first, &rest.second, &rest.third};
    for (int a = 0; a < 3; ++a)
      for (int b = a; b < 3; ++b) {
        const Estimate found = relative_covariance(*sums[a], means[a], *sums[b], means[b]);
        EXPECT_NEAR(found.mean, moments.covariance[a][b], kSigmas * found.standard_error)
            << law->name() << " " << a << b;
        EXPECT_EQ(moments.covariance[a][b], moments.covariance[b][a]);
      }
    const double deviation = means[0] * std::sqrt(moments.covariance[0][0]);
    const double found = distance_to_gaussian(rest.first, means[0], deviation);
    const double noise = 5.0 * deviation / std::sqrt(draws);
    EXPECT_LT(found, moments.distance + noise) << law->name();
    EXPECT_GT(found, 0.2 * noise) << law->name();
  }
}

// The bound on log Z to first order, D/Z, as printed: one digit, and two means over draws. Making
// it hold without the first order costs less than a factor of two.
TEST(WeighTopScores, HasTheExpectedBoundOnThePartitionFunction) {
  struct Row {
    double log10_n, load;
    std::size_t count;
    double printed;
  };
  constexpr Row rows[] = {{4, 0.6, 16, 4e-3},  {4, 0.6, 256, 4e-4}, {4, 1.0, 16, 4e-3},
                          {4, 1.0, 256, 7e-5}, {6, 1.0, 64, 7e-4},  {6, 2.0, 64, 3e-5},
                          {30, 1.0, 64, 5e-4}, {30, 2.0, 64, 8e-5}};
  const GaussianLaw law;
  for (const Row& row : rows) {
    const double log_n = row.log10_n * std::numbers::ln10;
    const double beta = row.load * std::sqrt(2.0 * log_n);
    RunningMoments first_order, full;
    for (std::uint64_t draw = 0; draw < 500; ++draw) {
      const Stream stream(seed(), "WeighTopScores/Bound", draw);
      const TopScores top = draw_top_scores(law, log_n, row.count, stream);
      const TopSample sample = weigh_top_scores(law, top, beta, stream);
      const double cut_weight = std::exp(-beta * (top.depths.back() - top.depths.front()) -
                                         sample.log_relative_partition);
      first_order.add(rest_moments(law, top, beta).distance * cut_weight);
      full.add(sample.log_partition_bound);
    }
    const double half_digit = 0.5 * std::pow(10.0, std::floor(std::log10(row.printed)));
    const Estimate found = first_order.estimate();
    EXPECT_NEAR(found.mean, row.printed,
                half_digit + kSigmas * std::numbers::sqrt2 * found.standard_error)
        << row.log10_n << " " << row.load;
    EXPECT_GT(full.mean(), 0.99 * first_order.mean());
    EXPECT_LT(full.mean(), 2.0 * first_order.mean());
  }
}

// The k that is chosen meets the bound over other draws too: their mean is within kSigmas of the
// standard error of the two means of what was asked; half of it misses.
TEST(ChooseTopCount, MeetsTheBoundItWasAskedFor) {
  const GaussianLaw law;
  const double log_n = std::log(1e9), beta = 1.2 * std::sqrt(2.0 * log_n);
  const auto count = choose_top_count(law, log_n, beta, {.bound = 1e-3}, seed());
  ASSERT_TRUE(count.has_value());
  const auto mean_bound = [&](std::size_t k, std::string_view name) {
    RunningMoments moments;
    for (std::uint64_t draw = 0; draw < 400; ++draw) {
      const Stream stream(seed(), name, draw);
      const TopScores top = draw_top_scores(law, log_n, k, stream);
      moments.add(weigh_top_scores(law, top, beta, stream).log_partition_bound);
    }
    return moments;
  };
  const RunningMoments met = mean_bound(*count, "ChooseTopCount/Met");
  const double error = std::sqrt(met.variance() * (1.0 / 32.0 + 1.0 / 400.0));
  EXPECT_LT(met.mean(), 1e-3 + kSigmas * error);
  const RunningMoments half = mean_bound(*count / 2, "ChooseTopCount/Half");
  const double half_error = std::sqrt(half.variance() * (1.0 / 32.0 + 1.0 / 400.0));
  EXPECT_GT(half.mean(), 1e-3 - kSigmas * half_error);
  EXPECT_FALSE(choose_top_count(law, log_n, beta, {.bound = 1e-9, .most = 64}, seed()));
  EXPECT_EQ(choose_top_count(law, std::log(5.0), 0.5, {.bound = 1e-9}, seed()), 5);
}

// Property (1) of TopCountChoice, over loads in an order of no meaning: what was asked before does
// not matter. At n = 5 there are fewer scores than powers of two; 1e-9 is never met within 64.
TEST(TopCountChoice, IsTheChoiceOfEachInverseTemperatureAlone) {
  for (const double n : {5.0, 1100.0, 1e6, 1e300}) {
    for (const TopCountSearch& search :
         {TopCountSearch{.bound = 1e-3}, TopCountSearch{.bound = 1e-9, .most = 64}}) {
      const auto law = std::make_shared<GaussianLaw>(2.0);
      const double log_n = std::log(n);
      TopCountChoice choice(law, log_n, search, seed());
      for (const double load : {1.0, 0.05, 3.0, 0.15, 0.6, 1.0, 900.0}) {
        const double beta = load * std::sqrt(2.0 * log_n) / 2.0;
        EXPECT_EQ(choice.of(beta), choose_top_count(*law, log_n, beta, search, seed()))
            << n << ' ' << load;
      }
    }
  }
}

// ---- exact means at huge N ------------------------------------------------------------------

// Property (3): the difference of the two sides, draw by draw, has mean zero. The Gaussian rest
// moves it by about the error of log Z over β: at k = 256 the bound of that is at most 0.03
// standard errors, and 0.1 are allowed. At N = 1e300 and load 0.6 nothing fluctuates and roundings
// are left.
TEST(WeighTopScores, ObeysGaussianIntegrationByParts) {
  const GaussianLaw law(2.0);
  for (double log10_n : {4.0, 30.0, 300.0}) {
    const double log_n = log10_n * std::numbers::ln10;
    const auto tops = test::top_draws(law, log_n, 256, 3000, seed(), "WeighTopScores/ByParts");
    for (double load : {0.6, 1.0, 1.6, 3.0}) {
      const double beta = load * std::sqrt(2.0 * log_n) / 2.0;
      RunningMoments difference;
      for (std::size_t draw = 0; draw < tops.size(); ++draw) {
        const TopSample sample =
            weigh_top_scores(law, tops[draw], beta, Stream(seed(), "WeighTopScores/ByParts", draw));
        difference.add(sample.top_score - sample.mean_gap -
                       4.0 * beta * (1.0 - sample.participation));
      }
      const Estimate found = difference.estimate();
      const double rounding = 32.0 * kEpsilon * 4.0 * beta;
      EXPECT_NEAR(found.mean, 0.0, (kSigmas + 0.1) * found.standard_error + rounding)
          << log10_n << " " << load;
    }
  }
}

// The mean largest weight from the integral over the two outermost levels, derived elsewhere.
TEST(WeighTopScores, HasTheExactMeanLargestWeight) {
  const GaussianLaw law;
  for (double log10_n : {6.0, 30.0, 250.0}) {
    const double log_n = log10_n * std::numbers::ln10;
    const auto tops = test::top_draws(law, log_n, 128, 4000, seed(), "WeighTopScores/Largest");
    for (double load : {0.8, 1.0, 1.25, 2.0}) {
      const double beta = load * std::sqrt(2.0 * log_n);
      RunningMoments largest, bound;
      for (std::size_t draw = 0; draw < tops.size(); ++draw) {
        const TopSample sample =
            weigh_top_scores(law, tops[draw], beta, Stream(seed(), "WeighTopScores/Largest", draw));
        largest.add(sample.largest_weight);
        bound.add(sample.largest_weight_bound);
      }
      const Estimate found = largest.estimate();
      EXPECT_NEAR(found.mean, theory::mean_largest_weight(log_n, beta),
                  kSigmas * found.standard_error + bound.mean() + theory::kLargestWeightError)
          << log10_n << " " << load;
    }
  }
}

// Exact means on the sphere at β = θ (c_d n)^{1/a}, printed with six digits: w_max, Σw² and the
// mean depth in units of 1/β*. The rows at 1e300 are those of the limit law; at d = 3 it is
// reached.
TEST(WeighTopScores, HasTheExactMeansOnTheSphere) {
  struct Row {
    int dimension;
    double log10_n, theta, largest, participation, depth;
  };
  constexpr Row rows[] = {
      {2, 4, 0.5, 0.655496, 0.573977, 2.54094},   {3, 9, 0.2, 0.179466, 0.102671, 5.2865},
      {3, 9, 2, 0.729488, 0.635256, 1.15566},     {3, 300, 1, 0.561459, 0.438541, 1.49299},
      {5, 3, 0.5, 0.0898758, 0.0343778, 3.90978}, {5, 6, 2, 0.475209, 0.326624, 1.28222},
      {5, 9, 1, 0.230975, 0.114044, 2.13356},     {8, 4, 1, 0.047463, 0.0113469, 3.22876},
      {8, 6, 2, 0.187088, 0.0744781, 1.8052},     {8, 15, 5, 0.566685, 0.42415, 1.04689}};
  for (const Row& row : rows) {
    const SphereLaw law(row.dimension);
    const SphereGap gap(row.dimension);
    const double log_n = row.log10_n * std::numbers::ln10;
    const double unit = std::exp((std::log(gap.local_constant()) + log_n) / gap.exponent());
    RunningMoments largest, participation, depth;
    for (std::uint64_t draw = 0; draw < 2500; ++draw) {
      const Stream stream(seed(), "WeighTopScores/Sphere", draw);
      const TopScores top = draw_top_scores(law, log_n, 64, stream);
      const TopSample sample = weigh_top_scores(law, top, row.theta * unit, stream);
      largest.add(sample.largest_weight);
      participation.add(sample.participation);
      depth.add(unit * (top.depths.front() + sample.mean_gap));
    }
    const auto agrees = [&](const RunningMoments& moments, double exact) {
      const Estimate found = moments.estimate();
      EXPECT_NEAR(found.mean, exact, kSigmas * found.standard_error + 1e-5 * exact)
          << law.name() << " " << row.log10_n << " " << row.theta;
    };
    agrees(largest, row.largest);
    agrees(participation, row.participation);
    agrees(depth, row.depth);
  }
}

}  // namespace
}  // namespace dewpoint::scores
