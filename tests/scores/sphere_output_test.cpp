// Attention outputs on the sphere from their top scores: identities, moments, and their law against
// that of explicit keys.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scores/sphere_output.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "scores/output_draws.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::scores {
namespace {

using dewpoint::test::kFamilyLevel;
using dewpoint::test::kSigmas;
using dewpoint::test::same_law_p;
using dewpoint::test::seed;
using dewpoint::test::smallest_holm_p;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Property (1) of SphereRest::moments.
TEST(SphereRest, HasTheMomentsOfTheScoreLaw) {
  for (int dimension : {2, 3, 5, 8, 64, 512})
    for (double cut : {1e-200, 1e-6, 0.3, 1.2})
      for (double load : {0.0, 1.0, 60.0}) {
        const double tilt = load / cut;
        const SphereTilt rest = SphereRest(dimension).moments(cut, tilt);
        const TiltedDepth law = SphereLaw(dimension).rest(cut, tilt);
        EXPECT_NEAR(rest.log_mass, law.log_mass,
                    2.0 * kSphereRestError * (1.0 + std::abs(law.log_mass)))
            << dimension << " " << cut << " " << tilt;
        // A logarithm near −460 is rounded by 460 ε.
        const double allowed = 2.0 * kSphereRestError;
        EXPECT_NEAR(rest.log_x, std::log(law.mean), allowed);
        EXPECT_NEAR(rest.log_xx, 2.0 * std::log(law.root_mean_square), 2.0 * allowed);
      }
}

// Property (2): T(2 − T) = cut(2 − cut) + 2(1 − cut)x − x².
TEST(SphereRest, AgreesWithTheSquaredSineAsAPolynomialOfTheGap) {
  for (int dimension : {2, 3, 8, 64})
    for (double cut : {1e-6, 0.3, 0.9})
      for (double load : {0.3, 3.0, 60.0}) {
        const SphereTilt rest = SphereRest(dimension).moments(cut, load / cut);
        const double x = std::exp(rest.log_x), xx = std::exp(rest.log_xx);
        const double size = cut * (2.0 - cut) + 2.0 * (1.0 - cut) * x + xx;
        EXPECT_NEAR(std::exp(rest.log_v), size - 2.0 * xx, 3.0 * kSphereRestError * size)
            << dimension << " " << cut << " " << load;
      }
}

// Property (3), up to terms of the order of 1/λ.
TEST(SphereRest, IsExponentialInThreeDimensionsFarFromTheAntipode) {
  constexpr double tilt = 1e14;
  const SphereTilt rest = SphereRest(3).moments(0.0, tilt);
  EXPECT_NEAR(tilt * std::exp(rest.log_x), 1.0, kSphereRestError);
  EXPECT_NEAR(tilt * tilt * std::exp(rest.log_xx), 2.0, 2.0 * kSphereRestError);
  EXPECT_NEAR(tilt * tilt * std::exp(rest.log_xv), 4.0, 4.0 * kSphereRestError);
  EXPECT_NEAR(tilt * tilt * std::exp(rest.log_vv), 8.0, 8.0 * kSphereRestError);
}

// Property (1) of SphereOutput::rest_moments. A relative covariance is a difference whose terms
// carry the error of the moments.
TEST(SphereOutput, SharesTheCovariancesOfTheScores) {
  for (int dimension : {2, 5, 17}) {
    const SphereOutput sphere(dimension);
    const Stream stream(seed(), "SphereOutput/Shares");
    const TopScores top = draw_top_scores(sphere.law(), std::log(1e6), 16, stream);
    for (double load : {0.3, 3.0}) {
      const double beta = load / top.depths.back();
      const OutputRestMoments output = sphere.rest_moments(top, beta);
      const RestMoments scores = rest_moments(sphere.law(), top, beta);
      EXPECT_NEAR(output.log_count, scores.log_count, 4.0 * kEpsilon * scores.log_count);
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          EXPECT_NEAR(
              output.covariance[a][b], scores.covariance[a][b],
              16.0 * kSphereRestError * (scores.covariance[a][b] + std::exp(-scores.log_count)))
              << dimension << " " << load << " " << a << b;
    }
  }
}

/// The five sums over the keys beyond a cut, drawn key by key.
std::array<double, 5> direct_sums(const SphereLaw& law, double cut, std::size_t count, double beta,
                                  const Stream& stream) {
  std::array<double, 5> sums{};
  std::size_t found = 0;
  for (const double depth : law.sample(4 * count, stream)) {
    if (depth <= cut || found == count) continue;
    ++found;
    const double x = depth - cut, e = std::exp(-beta * x), v = depth * (2.0 - depth);
    const std::array<double, 5> terms = {e, e * e, x * e, v * e * e, v * e};
    for (std::size_t a = 0; a < 5; ++a) sums[a] += terms[a];
  }
  EXPECT_EQ(found, count);
  return sums;
}

// Property (2) of SphereOutput::rest_moments.
TEST(SphereOutput, HasTheCovariancesOfSumsDrawnKeyByKey) {
  constexpr std::size_t rest = 40, draws = 8000;
  for (int dimension : {2, 5}) {
    const SphereOutput sphere(dimension);
    const double cut = 0.3, beta = 4.0;
    const OutputRestMoments moments = sphere.rest_moments({std::log(rest + 2.0), {0.1, cut}}, beta);
    std::vector<std::array<double, 5>> relative(draws);
    for (std::size_t i = 0; i < draws; ++i) {
      relative[i] =
          direct_sums(sphere.law(), cut, rest, beta, Stream(seed(), "SphereOutput/KeyByKey", i));
      for (std::size_t a = 0; a < 5; ++a)
        relative[i][a] = relative[i][a] / std::exp(moments.log_mean[a]) - 1.0;
    }
    for (std::size_t a = 0; a < 5; ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        RunningMoments mean, product;
        for (const auto& draw : relative) {
          mean.add(draw[a]);
          product.add(draw[a] * draw[b]);
        }
        const Estimate measured = product.estimate();
        EXPECT_NEAR(mean.mean(), 0.0, kSigmas * mean.estimate().standard_error) << dimension << a;
        EXPECT_NEAR(measured.mean, moments.covariance[a][b], kSigmas * measured.standard_error)
            << dimension << " " << a << b;
      }
  }
}

// Property (1) of weigh: 12 keys, all drawn. A sum of 12 positive terms has 12 roundings of its own
// beside a few of each term; exponents up to 40 round the weights by 40 ε.
TEST(SphereOutput, IsTheOutputOfTheVectorsWhenAllAreDrawn) {
  constexpr std::size_t n = 12;
  constexpr double allowed = 200.0 * kEpsilon;
  for (int dimension : {2, 3, 5, 24}) {
    const SphereOutput sphere(dimension);
    const Stream stream(seed(), "SphereOutput/AllDrawn");
    const TopScores top = draw_top_scores(sphere.law(), std::log(12.0), n, stream);
    for (double beta : {0.0, 1.0, 20.0}) {
      std::vector<double> weights(n), along(n);
      double partition = 0.0;
      for (std::size_t j = 0; j < n; ++j) partition += std::exp(-beta * top.depths[j]);
      double radial = 0.0, entropy = 0.0, participation = 0.0, sines = 0.0, squares = 0.0;
      std::vector<double> across(static_cast<std::size_t>(dimension - 1), 0.0);
      for (std::size_t j = 0; j < n; ++j) {
        const double w = std::exp(-beta * top.depths[j]) / partition;
        const double sine = std::sqrt(1.0 - (1.0 - top.depths[j]) * (1.0 - top.depths[j]));
        const std::vector<double> omega = sphere.direction(j, stream);
        for (std::size_t c = 0; c < across.size(); ++c) across[c] += w * sine * omega[c];
        radial += w * (1.0 - top.depths[j]);
        entropy -= w * std::log(w);
        participation += w * w;
        sines += w * sine * sine;
        squares += w * w * sine * sine;
        weights[j] = w;
      }
      const OutputSample sample = sphere.weigh(top, beta, stream);
      EXPECT_NEAR(1.0 - sample.radial_gap, radial, allowed);
      EXPECT_NEAR(sample.entropy, entropy, allowed);
      EXPECT_NEAR(sample.softmax.participation, participation, allowed);
      EXPECT_NEAR(sample.sine_square, sines, allowed);
      EXPECT_NEAR(sample.expected_across, squares, allowed);
      EXPECT_EQ(sample.exchange, 0.0);
      EXPECT_EQ(sample.softmax.log_partition_bound, 0.0);
      double square = 0.0;
      for (std::size_t c = 0; c < across.size(); ++c) {
        EXPECT_NEAR(sample.across[c], across[c], allowed);
        square += across[c] * across[c];
      }
      EXPECT_NEAR(sample.across_square, square, allowed);
      for (std::size_t j = 0; j < n; ++j) EXPECT_NEAR(sample.weights[j], weights[j], allowed);
    }
  }
}

// Keys 1e-230 away from the query are told apart from it, and their parts across keep their size.
TEST(SphereOutput, KeepsItsPrecisionFarBelowOne) {
  const SphereOutput sphere(2);
  const Stream stream(seed(), "SphereOutput/Tiny");
  const TopScores top = draw_top_scores(sphere.law(), std::log(1e115), 64, stream);
  const double beta = 1.0 / top.depths[0];
  const OutputSample sample = sphere.weigh(top, beta, stream);
  EXPECT_LT(sample.radial_gap, 1e-220);
  EXPECT_GE(sample.radial_gap, top.depths[0]);
  // Jensen: |ATT_⊥|² ≤ Σ w v ≤ 2 Σ w T, and the second inequality is nearly sharp at small gaps.
  EXPECT_NEAR(sample.sine_square / (2.0 * sample.radial_gap), 1.0, 1e-12);
  EXPECT_LE(sample.across_square, sample.sine_square);
  EXPECT_GT(sample.across_square, 0.0);
}

// Properties (3) and (4) of weigh, in the three regimes and where the rest is nearly everything.
TEST(SphereOutput, ObeysTheVirialIdentityAndTheSquareAcross) {
  for (int dimension : {2, 5, 32})
    for (double n : {100.0, 1e5, 1e15}) {
      const SphereOutput sphere(dimension);
      for (double load : {0.3, 1.0, 4.0}) {
        const double beta = load / sphere.law().depth_at(-std::log(n));
        RunningMoments virial, square;
        for (std::uint64_t i = 0; i < 800; ++i) {
          const Stream stream(seed(), "SphereOutput/Virial", i);
          const auto top = draw_top_scores(sphere.law(), std::log(n), 32, stream);
          const OutputSample sample = sphere.weigh(top, beta, stream);
          virial.add((dimension - 1.0) * (1.0 - sample.radial_gap) -
                     beta * (sample.sine_square - sample.expected_across));
          square.add(sample.across_square / sample.expected_across - 1.0);
        }
        EXPECT_NEAR(virial.mean(), 0.0, kSigmas * virial.estimate().standard_error)
            << dimension << " " << n << " " << load;
        EXPECT_NEAR(square.mean(), 0.0, kSigmas * square.estimate().standard_error)
            << dimension << " " << n << " " << load;
      }
    }
}

// Property (2) of weigh: θ = 0.05, 0.3, 1 and 3 with all keys explicit.
TEST(SphereOutputLaw, IsThatOfExplicitKeys) {
  constexpr std::size_t n = 10'000, explicit_draws = 400, draws = 1600, count = 16;
  std::vector<double> p_values;
  for (int dimension : {2, 3, 5, 8}) {
    const SphereOutput sphere(dimension);
    const test::OutputQuestion question{
        dimension, n, 0.05 * test::critical_unit(dimension, 1e4), {1, 6, 20, 60}};
    const std::string name = "SphereOutputLaw/" + sphere.law().name();
    const auto keys = test::explicit_outputs(question, explicit_draws, seed(), name + "/keys");
    for (std::size_t s = 0; s < question.powers.size(); ++s) {
      const auto top = test::sampled_outputs(sphere, 1e4, question.unit * question.powers[s], count,
                                             draws, seed(), name + "/top");
      for (const double p : test::same_output_law(keys[s], top)) p_values.push_back(p);
    }
  }
  EXPECT_GT(smallest_holm_p(p_values), kFamilyLevel);
}

/// |ATT_⊥|² with R_4 at its mean: the part across of the rest rescaled.
double square_with_mean_rest(const SphereOutput& sphere, const TopScores& top, double beta,
                             const Stream& stream) {
  const OutputSample sample = sphere.weigh(top, beta, stream);
  const OutputRestMoments rest = sphere.rest_moments(top, beta);
  const double log_cut =
      -beta * (top.depths.back() - top.depths.front()) - sample.softmax.log_relative_partition;
  double drawn = sample.expected_across;  // of the rest alone: Σ w² v without the top
  std::vector<double> nearest(sample.across.size(), 0.0);
  for (std::size_t j = 0; j < top.depths.size(); ++j) {
    const double w = sample.weights[j], v = top.depths[j] * (2.0 - top.depths[j]);
    const std::vector<double> omega = sphere.direction(j, stream);
    drawn -= w * w * v;
    for (std::size_t c = 0; c < omega.size(); ++c) nearest[c] += w * std::sqrt(v) * omega[c];
  }
  const double scale =
      drawn > 0.0 ? std::sqrt(std::exp(rest.log_mean[3] + 2.0 * log_cut) / drawn) : 0.0;
  double square = 0.0;
  for (std::size_t c = 0; c < nearest.size(); ++c) {
    const double across = nearest[c] + scale * (sample.across[c] - nearest[c]);
    square += across * across;
  }
  return square;
}

/// Σw² with R_1 and R_2 at their means.
double participation_with_mean_rest(const SphereOutput& sphere, const TopScores& top, double beta) {
  const OutputRestMoments rest = sphere.rest_moments(top, beta);
  const double log_cut = -beta * (top.depths.back() - top.depths.front());
  double first = std::exp(rest.log_mean[0] + log_cut),
         second = std::exp(rest.log_mean[1] + 2.0 * log_cut);
  for (const double depth : top.depths) {
    const double w = std::exp(-beta * (depth - top.depths.front()));
    first += w;
    second += w * w;
  }
  return second / (first * first);
}

// The tests have power. At d = 5 and n = 1000: with the mean of the rest instead of a draw, Σw² is
// rejected at θ = 0.3, k = 4, where the distance is 9 times what these draws resolve. With a part
// across that does not know R_4, |ATT_⊥|² is rejected at θ = 1, k = 1, by 5 against a level of 2.5
// on Kolmogorov's scale, whose deviation is at most 1/2. The complete draw passes both.
TEST(SphereOutputLaw, WouldBeRejectedWithoutTheFluctuationsOfTheRest) {
  constexpr std::size_t draws = 10'000;
  const SphereOutput sphere(5);
  const double unit = 0.1 * test::critical_unit(5, 1e3);
  const auto keys =
      test::explicit_outputs({5, 1000, unit, {3, 10}}, draws, seed(), "SphereOutputLaw/PowerKeys");
  std::vector<double> mean_rest(draws), complete(draws), free_across(draws), complete_across(draws);
  parallel_for(draws, {}, [&](std::size_t i) {
    const Stream stream(seed(), "SphereOutputLaw/PowerTop", i);
    const TopScores top = draw_top_scores(sphere.law(), std::log(1e3), 4, stream);
    mean_rest[i] = participation_with_mean_rest(sphere, top, 3.0 * unit);
    complete[i] = weigh_top_scores(sphere.law(), top, 3.0 * unit, stream).participation;
    const TopScores one = test::first_of(top, 1);
    free_across[i] = square_with_mean_rest(sphere, one, 10.0 * unit, stream);
    complete_across[i] = sphere.weigh(one, 10.0 * unit, stream).across_square;
  });
  EXPECT_LT(same_law_p(test::column(keys[0], 1), mean_rest), kFamilyLevel);
  EXPECT_GT(same_law_p(test::column(keys[0], 1), complete), kFamilyLevel);
  EXPECT_LT(same_law_p(test::column(keys[1], 4), free_across), kFamilyLevel);
  EXPECT_GT(same_law_p(test::column(keys[1], 4), complete_across), kFamilyLevel);
}

TEST(SphereOutput, RefusesADimensionBelowTwo) {
  EXPECT_THROW(SphereOutput(1), Error);
  EXPECT_THROW(SphereOutput(SphereGap::kMostDimension + 1), Error);
}

}  // namespace
}  // namespace dewpoint::scores
