// Critical inverse temperatures by five definitions: printed values, closed forms, asymptotics.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/critical_scales.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/finite_scores.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- tables ---------------------------------------------------------------------------------

/// Half a unit of a significant digit, and a rounding of the table's own.
double half_digit(double value, int digits) {
  return 0.501 * std::pow(10.0, std::floor(std::log10(value)) - digits + 1);
}

struct Scales {
  int dimension;
  double n, unit, exact_unit, edge, participation;
};

// Eight digits are printed, of the last column six.
TEST(CriticalScales, ReproduceTheTableOfSpheres) {
  constexpr Scales kTable[] = {{2, 1e4, 20264237, 20264237, 10132119, 6.76595e6},
                               {2, 1e6, 2.0264237e11, 2.0264237e11, 1.0132118e11, 6.76528e10},
                               {3, 1e4, 5000, 5000, 5000, 6164.33},
                               {3, 1e6, 500000, 500000, 500000, 616406},
                               {5, 1e4, 86.60254, 86.43539, 172.53616, 267.252},
                               {5, 1e6, 866.0254, 865.85869, 1731.3839, 2685.28},
                               {5, 1e9, 27386.128, 27385.961, 54771.589, 84959.2},
                               {8, 1e4, 16.021984, 15.738475, 54.089829, 91.0991},
                               {8, 1e6, 59.723448, 59.444175, 207.07649, 350.662},
                               {8, 1e9, 429.8211, 429.54311, 1502.4279, 2548.15},
                               {9, 1e4, 12.161496, 11.852819, 46.173121, 78.8666},
                               {9, 1e6, 38.458028, 38.155385, 151.40991, 260.344},
                               {9, 1e9, 216.26539, 215.96492, 862.65765, 1486.59},
                               {17, 1e4, 4.7319329, 4.3033713, 30.99247, 55.7018},
                               {17, 1e6, 8.4146988, 8.0053996, 60.764942, 110.556},
                               {17, 1e9, 19.954395, 19.557393, 153.28142, 280.648},
                               {64, 1e4, 2.4362897, 1.8034981, 36.989827, 69.2007},
                               {64, 1e6, 2.8198175, 2.2258854, 51.459504, 97.9436},
                               {64, 1e9, 3.5112285, 2.9535802, 75.492679, 145.217},
                               {128, 1e4, 2.1936048, 1.4745314, 48.341334, 91.0785},
                               {128, 1e6, 2.3586009, 1.6790644, 63.680736, 122.170},
                               {128, 1e9, 2.6296537, 1.9900065, 85.857807, 166.585}};
  for (const Scales& row : kTable) {
    const SphereGap gap(row.dimension);
    const double log_n = std::log(row.n);
    const auto where = ::testing::Message() << row.dimension << ' ' << row.n;
    EXPECT_NEAR(sphere_unit(log_n, row.dimension), row.unit, half_digit(row.unit, 8)) << where;
    EXPECT_NEAR(unit_beta(gap, log_n).value(), row.exact_unit, half_digit(row.exact_unit, 8))
        << where;
    EXPECT_NEAR(edge_beta(gap, log_n), row.edge, half_digit(row.edge, 8)) << where;
    EXPECT_NEAR(participation_beta(gap, log_n), row.participation, half_digit(row.participation, 6))
        << where;
  }
}

struct Definitions {
  int dimension;
  double n, annealed, information, tilted_mean;
  int digits[3];
};

TEST(CriticalScales, ReproduceTheTableOfDefinitions) {
  constexpr Definitions kTable[] = {
      {3, 1e6, 5e5, 1.3591e6, 5e5, {5, 5, 5}},     {5, 1e4, 121.97, 331.92, 172.37, {5, 5, 5}},
      {5, 1e6, 1224.2, 3328.2, 1731.2, {5, 5, 5}}, {9, 1e4, 25.343, 70.072, 45.83, {5, 5, 4}},
      {9, 1e6, 83.599, 228.35, 151.10, {5, 5, 5}}, {17, 1e6, 27.899, 78.721, 60.28, {5, 5, 4}},
      {64, 1e4, 9.979, 42.523, 35.39, {4, 5, 4}},  {64, 1e6, 15.686, 58.113, 50.23, {5, 5, 4}},
      {128, 1e6, 14.648, 69.877, 61.76, {5, 5, 4}}};
  for (const Definitions& row : kTable) {
    const SphereGap gap(row.dimension);
    const double log_n = std::log(row.n);
    const auto where = ::testing::Message() << row.dimension << ' ' << row.n;
    EXPECT_NEAR(annealed_beta(gap, log_n).value(), row.annealed,
                half_digit(row.annealed, row.digits[0]))
        << where;
    EXPECT_NEAR(information_beta(gap, log_n), row.information,
                half_digit(row.information, row.digits[1]))
        << where;
    EXPECT_NEAR(tilted_mean_beta(gap, log_n).value(), row.tilted_mean,
                half_digit(row.tilted_mean, row.digits[2]))
        << where;
  }
}

struct Gaussian {
  double n, participation, edge, information, tilted_mean;
};

// Three decimals.
TEST(CriticalScales, ReproduceTheTableOfGaussianScores) {
  constexpr Gaussian kTable[] = {{1e3, 6.261, 3.367, 3.717, 3.090},
                                 {1e4, 7.511, 3.958, 4.292, 3.719},
                                 {1e6, 9.568, 4.948, 5.257, 4.753},
                                 {1e9, 12.047, 6.156, 6.438, 5.998},
                                 {1e15, 15.923, 8.064, 8.311, 7.941}};
  const NormalDepth depth;
  for (const Gaussian& row : kTable) {
    const double log_n = std::log(row.n);
    EXPECT_NEAR(participation_beta(depth, log_n), row.participation, 0.501e-3) << row.n;
    EXPECT_NEAR(edge_beta(depth, log_n), row.edge, 0.501e-3) << row.n;
    EXPECT_NEAR(information_beta(depth, log_n), row.information, 0.501e-3) << row.n;
    EXPECT_NEAR(tilted_mean_beta(depth, log_n).value(), row.tilted_mean, 0.501e-3) << row.n;
  }
}

// ---- closed forms ---------------------------------------------------------------------------

// Properties (1) of information_beta and of tilted_mean_beta; no supremum, no annealed scale.
TEST(CriticalScales, OfGaussianScoresHaveClosedForms) {
  constexpr double kDeviation = 2.5;
  const NormalDepth depth(kDeviation);
  for (double n : {10.0, 1e6, 1e100, 1e300}) {
    const double log_n = std::log(n);
    EXPECT_NEAR(information_beta(depth, log_n) / freezing_beta(log_n, kDeviation), 1.0,
                kCriticalScalesError)
        << n;
    EXPECT_NEAR(tilted_mean_beta(depth, log_n).value() * kDeviation / edge_score(log_n), 1.0,
                kCriticalScalesError)
        << n;
    EXPECT_FALSE(annealed_beta(depth, log_n).has_value());
    EXPECT_FALSE(unit_beta(depth, log_n).has_value());
  }
}

// Properties (1) of unit_beta, edge_beta and annealed_beta: gaps are uniform on [0, 2].
TEST(CriticalScales, OfUniformGapsHaveClosedForms) {
  const SphereGap gap(3);
  for (double n : {3.0, 50.0, 1e10}) {
    const double log_n = std::log(n), annealed = annealed_beta(gap, log_n).value();
    EXPECT_NEAR(unit_beta(gap, log_n).value() / n, 0.5, 1e-12);
    EXPECT_NEAR(edge_beta(gap, log_n) / n, 0.5, 1e-12);
    EXPECT_NEAR(-n * std::expm1(-2.0 * annealed) / (2.0 * annealed), 1.0,
                2.0 * kCriticalScalesError)
        << n;
  }
}

// The edge of two keys is the median of one, and half of the keys are deeper: for a symmetric law
// no tilt is needed to reach it.
TEST(TiltedMeanBeta, DoesNotExistWhereTheEdgeIsTheMean) {
  EXPECT_FALSE(tilted_mean_beta(SphereGap(3), std::log(1.5)).has_value());
  EXPECT_TRUE(tilted_mean_beta(SphereGap(3), std::log(3.0)).has_value());
}

// ---- participation --------------------------------------------------------------------------

// Property (1), from three keys to 1e300. The slope of E Σw² in log β is below 1.
TEST(ParticipationBeta, IsWhereTheParticipationIsOneHalf) {
  for (int dimension : {2, 6, 100, 512})
    for (double n : {3.0, 1e5, 1e50, 1e300}) {
      const SphereGap gap(dimension);
      const double log_n = std::log(n);
      if (gap.log_quantile(-log_n) < -650.0) continue;  // no double
      const double beta = participation_beta(gap, log_n);
      EXPECT_NEAR(finite_score_means(gap, {log_n, beta}).participation, 0.5, kCriticalScalesError)
          << dimension << ' ' << n;
    }
}

// Property (2), and the asymptotic constants of the others, which corrections of the relative size
// a²/β* leave alone at n = 1e100.
TEST(CriticalScales, TendToMultiplesOfTheUnitOfTheSphere) {
  const double log_n = std::log(1e100);
  for (int dimension : {3, 5, 9}) {
    const SphereGap gap(dimension);
    const double a = gap.exponent(), unit = sphere_unit(log_n, dimension);
    const double volume = std::pow(std::tgamma(a + 1.0), 1.0 / a);
    EXPECT_NEAR(unit_beta(gap, log_n).value() / unit, 1.0, 1e-9);
    EXPECT_NEAR(edge_beta(gap, log_n) / unit, a, 1e-9);
    EXPECT_NEAR(annealed_beta(gap, log_n).value() / unit, volume, 1e-8);
    EXPECT_NEAR(information_beta(gap, log_n) / unit, std::exp(1.0) * volume, 1e-8);
    EXPECT_NEAR(tilted_mean_beta(gap, log_n).value() / unit, a, 1e-8);
    EXPECT_NEAR(participation_beta(gap, log_n) / unit / half_participation_theta(a), 1.0, 1e-8)
        << dimension;
  }
}

// Property (2) for Gaussian scores: the ratio to √(2 log n) creeps towards 2.
TEST(ParticipationBeta, OfGaussianScoresApproachesTwiceTheFreezingScaleSlowly) {
  double previous = 0.0;
  for (double n : {1e3, 1e6, 1e15, 1e300}) {
    const double ratio =
        participation_beta(NormalDepth(), std::log(n)) / freezing_beta(std::log(n));
    EXPECT_GT(ratio, previous);
    EXPECT_LT(ratio, 2.0);
    previous = ratio;
  }
  EXPECT_GT(previous, 1.99);
}

// ---- the simplex ----------------------------------------------------------------------------

// Printed values and properties (1) and (2). β Δ = 700 at n = 1e300 costs 700 roundings.
TEST(SimplexBeta, SolvesItsEquation) {
  EXPECT_NEAR(simplex_annealed_beta(std::log(1e3), 1.0), 6.907, 0.501e-3);
  EXPECT_NEAR(simplex_annealed_beta(std::log(1e6), 1.0), 13.816, 0.501e-3);
  EXPECT_NEAR(simplex_annealed_beta(std::log(1e15), 1.0), 34.539, 0.501e-3);
  EXPECT_NEAR(simplex_participation_beta(std::log(1e3), 1.0), 7.788, 0.501e-3);
  EXPECT_NEAR(simplex_participation_beta(std::log(1e6), 1.0), 14.697, 0.501e-3);
  EXPECT_NEAR(simplex_participation_beta(std::log(1e15), 1.0), 35.420, 0.501e-3);
  constexpr double kGap = 0.7;
  for (double n : {3.0, 100.0, 1e300}) {
    const double log_n = std::log(n), error = 8.0 * kEpsilon * (1.0 + log_n);
    EXPECT_NEAR((n - 1.0) * std::exp(-simplex_annealed_beta(log_n, kGap) * kGap), 1.0, error);
    const double others =
        (n - 1.0) * std::exp(-simplex_participation_beta(log_n, kGap) * kGap);  // against 1
    EXPECT_NEAR((1.0 + others * others / (n - 1.0)) / ((1.0 + others) * (1.0 + others)), 0.5,
                error);
  }
}

}  // namespace
}  // namespace dewpoint::theory
