// The Poisson-Dirichlet law against its table, against both forms of its integral by nested
// quadrature, and against draws.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/poisson_dirichlet.hpp"

#include <gtest/gtest.h>

#include <boost/math/quadrature/exp_sinh.hpp>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "dewpoint/core/estimate.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- printed values -------------------------------------------------------------------------

struct Row {
  double load, largest_weight, participation, entropy, published;
};

constexpr Row kTable[] = {
    {1.01, .04082460, .009901, 100.98383, .564128}, {1.05, .13049175, .047619, 20.924284, .574498},
    {1.1, .20390444, .090909, 10.859647, .586812},  {1.2, .30540552, .166667, 5.754912, .609483},
    {1.25, .34420455, .2, 4.711824, .619937},       {1.5, .48030844, .333333, 2.554818, .664966},
    {1.75, .56608667, .428571, 1.788603, .700612},  {2, .62650760, .5, 1.386294, .729488},
    {2.5, .70701045, .6, .963404, .773348},         {3, .75860806, .666667, .741019, .805040},
    {4, .82125022, .75, .508645, .847714},          {5, .85799550, .8, .387793, .875093},
    {10, .92989530, .9, .177711, .934265},          {20, .96515115, .95, .085394, .966257}};

// Property (1) of each: half a printed digit.
TEST(PoissonDirichlet, ReproducesThePrintedTable) {
  for (const Row& row : kTable) {
    EXPECT_NEAR(poisson_dirichlet_largest_weight(row.load), row.largest_weight, 5e-9) << row.load;
    EXPECT_NEAR(poisson_dirichlet_participation(row.load), row.participation, 5e-7) << row.load;
    EXPECT_NEAR(poisson_dirichlet_entropy(row.load), row.entropy, row.entropy > 99.0 ? 5e-6 : 5e-7)
        << row.load;
    EXPECT_NEAR(published_largest_weight(row.load), row.published, 5e-7) << row.load;
  }
  EXPECT_NEAR(published_largest_weight(0.25), 0.2178, 5e-5);
  EXPECT_NEAR(published_largest_weight(0.5), 0.3738, 5e-5);
  EXPECT_NEAR(published_largest_weight(0.9), 0.5330, 5e-5);
}

// ---- the two forms of Ψ ---------------------------------------------------------------------

double near_form(double x, double alpha) {
  boost::math::quadrature::tanh_sinh<double> rule;
  const auto integrand = [&](double v) {
    return -std::expm1(-x * v) / v * std::pow(v, -alpha);  // grouped so that nothing overflows
  };
  return 1.0 + alpha * rule.integrate(integrand, 0.0, 1.0, 1e-13);
}

double far_form(double x, double alpha) {
  boost::math::quadrature::exp_sinh<double> rule;
  const auto integrand = [&](double v) { return std::exp(-x * v) * std::pow(v, -alpha - 1.0); };
  return std::tgamma(1.0 - alpha) * std::pow(x, alpha) +
         alpha * rule.integrate(integrand, 1.0, kInfinity, 1e-13);
}

// Property (2). The nested rules are asked for 1e-13 and lose a digit or two to each other.
TEST(PoissonDirichletLargestWeight, IsGivenByBothFormsOfTheIntegral) {
  boost::math::quadrature::exp_sinh<double> rule;
  for (double load : {1.25, 2.0, 5.0}) {
    const double alpha = 1.0 / load, value = poisson_dirichlet_largest_weight(load);
    const auto with = [&](auto form) {
      return rule.integrate(
          [&](double x) { return x > 700.0 ? 0.0 : std::exp(-x) / form(x, alpha); }, 1e-11);
    };
    EXPECT_NEAR(with(near_form) / value, 1.0, 1e-10) << load;
    EXPECT_NEAR(with([](double x, double a) {
                  return x < 1e-6 ? near_form(x, a) : far_form(x, a);
                }) / value,
                1.0, 1e-10)
        << load;
  }
}

// Property (3).
TEST(PoissonDirichletLargestWeight, GrowsAndStaysBetweenItsBounds) {
  double previous = 0.0;
  for (double load : {1.0001, 1.01, 1.3, 2.0, 7.0, 50.0, 1e4, kInfinity}) {
    const double weight = poisson_dirichlet_largest_weight(load);
    const double participation = poisson_dirichlet_participation(load);
    EXPECT_GT(weight, previous) << load;
    EXPECT_GE(weight * (1.0 + kPoissonDirichletError), participation) << load;
    EXPECT_LE(weight, std::sqrt(participation) + kPoissonDirichletError) << load;
    previous = weight;
  }
  EXPECT_NEAR(previous, 1.0, kPoissonDirichletError);
}

// Properties (1) and (2) of the majority, whose slope in t is below 1; and its density integrated:
// the substitution leaves ∫_0^1 u^{α−1} du, here by quadrature of the density itself.
TEST(PoissonDirichletMajority, IsTheIntegralOfTheDensityAboveOneHalf) {
  boost::math::quadrature::tanh_sinh<double> rule;
  for (double load : {1.05, 1.5, 2.0, 7.0}) {
    const double alpha = 1.0 / load;
    const double density = rule.integrate(
        [&](double x, double to_end) {  // to_end: 1 − x in the right half, exactly
          const double rest = to_end > 0.0 ? to_end : 1.0 - x;
          return std::pow(x, -1.0 - alpha) * std::pow(rest, alpha - 1.0);
        },
        0.5, 1.0, 1e-12);
    EXPECT_NEAR(poisson_dirichlet_majority(load),
                density / (std::tgamma(alpha) * std::tgamma(1.0 - alpha)), 1e-10)
        << load;
  }
  EXPECT_NEAR(poisson_dirichlet_majority(kMedianDewLoad), 0.5, 4.0 * kEpsilon);
  EXPECT_NEAR(poisson_dirichlet_majority(2.0), 2.0 / std::numbers::pi, 2.0 * kEpsilon);
  EXPECT_EQ(poisson_dirichlet_majority(1.0), 0.0);
  EXPECT_EQ(poisson_dirichlet_majority(kInfinity), 1.0);
}

TEST(PoissonDirichlet, VanishesBelowFreezing) {
  for (double load : {0.0, 0.5, 1.0}) {
    EXPECT_EQ(poisson_dirichlet_largest_weight(load), 0.0);
    EXPECT_EQ(poisson_dirichlet_participation(load), 0.0);
    EXPECT_EQ(poisson_dirichlet_participation_variance(load), 0.0);
    EXPECT_EQ(poisson_dirichlet_entropy(load), kInfinity);
  }
  EXPECT_NEAR(poisson_dirichlet_entropy(kInfinity), 0.0, kPoissonDirichletError);
}

// ---- moments --------------------------------------------------------------------------------

// Properties (1) and (2).
TEST(PoissonDirichletMoment, StartsAtOneAndFalls) {
  for (double load : {1.001, 1.5, 2.0, 30.0}) {
    EXPECT_NEAR(poisson_dirichlet_moment(load, 1.0), 1.0, kPoissonDirichletError) << load;
    EXPECT_NEAR(poisson_dirichlet_moment(load, 2.0) / poisson_dirichlet_participation(load), 1.0,
                kPoissonDirichletError)
        << load;
    double previous = kInfinity;
    for (double power : {1.0, 1.5, 2.0, 5.0, 40.0, 100.0}) {
      const double moment = poisson_dirichlet_moment(load, power);
      EXPECT_LT(moment, previous) << load << ' ' << power;
      previous = moment;
    }
    EXPECT_EQ(poisson_dirichlet_moment(load, 0.5 / load), kInfinity);
  }
}

// Property (1) of the entropy by a central difference, whose error is a third of the change from
// twice the step, plus the rounding of the moments over the step.
TEST(PoissonDirichletEntropy, IsMinusTheSlopeOfTheMoments) {
  for (double load : {1.5, 2.0, 10.0}) {
    const auto slope = [load](double step) {
      return (poisson_dirichlet_moment(load, 1.0 + step) -
              poisson_dirichlet_moment(load, 1.0 - step)) /
             (2.0 * step);
    };
    const double fine = slope(1e-4), coarse = slope(2e-4);
    EXPECT_NEAR(-fine, poisson_dirichlet_entropy(load),
                std::abs(fine - coarse) + 16.0 * kEpsilon / 1e-4)
        << load;
  }
}

// ---- draws ----------------------------------------------------------------------------------

struct DrawnMeans {
  RunningMoments largest_weight, majority, participation, squared_deviation, entropy;
};

// Atoms kept; the rest enters by its mean given the last one. What that misses is the variance
// Γ_K^{1−2t}/(2t−1) of the rest over Z² ≥ Γ_1^{−2t}, 1e-5 in the worst case t = 1.5.
constexpr int kAtoms = 1024;
constexpr double kRestBias = 1e-5;

DrawnMeans drawn(double load, int draws) {
  DrawnMeans means;
  for (int i = 0; i < draws; ++i) {
    const Stream stream(test::seed(), "PoissonDirichlet", static_cast<std::uint64_t>(i));
    double gamma = 0.0, first = 0.0, partition = 0.0, squares = 0.0, weighted_log = 0.0;
    for (int k = 0; k < kAtoms; ++k) {
      gamma += stream.exponential(static_cast<std::uint64_t>(k));
      const double atom = std::pow(gamma, -load);
      if (k == 0) first = atom;
      partition += atom;
      squares += atom * atom;
      weighted_log += load * std::log(gamma) * atom;
    }
    const double over = load - 1.0, rest = std::pow(gamma, -over) / over;
    partition += rest;
    squares += std::pow(gamma, 1.0 - 2.0 * load) / (2.0 * load - 1.0);
    weighted_log += load * rest * (std::log(gamma) + 1.0 / over);
    const double participation = squares / (partition * partition);
    means.largest_weight.add(first / partition);
    means.majority.add(first / partition > 0.5 ? 1.0 : 0.0);
    means.participation.add(participation);
    means.squared_deviation.add(std::pow(participation - poisson_dirichlet_participation(load), 2));
    means.entropy.add(std::log(partition) + weighted_log / partition);
  }
  return means;
}

void expect_mean(const RunningMoments& drawn_values, double exact, const char* what, double load) {
  const Estimate estimate = drawn_values.estimate();
  EXPECT_NEAR(estimate.mean, exact, test::kSigmas * estimate.standard_error + kRestBias)
      << what << " at load " << load;
}

// Property (4) of the largest weight, (3) of the majority, (1) of participation and variance, (2)
// of the entropy.
TEST(PoissonDirichlet, HasTheMeansOfItsDraws) {
  for (double load : {1.5, 2.0, 3.0}) {
    const DrawnMeans means = drawn(load, 4000);
    expect_mean(means.largest_weight, poisson_dirichlet_largest_weight(load), "weight", load);
    expect_mean(means.majority, poisson_dirichlet_majority(load), "majority", load);
    expect_mean(means.participation, poisson_dirichlet_participation(load), "participation", load);
    expect_mean(means.squared_deviation, poisson_dirichlet_participation_variance(load), "variance",
                load);
    expect_mean(means.entropy, poisson_dirichlet_entropy(load), "entropy", load);
  }
}

}  // namespace
}  // namespace dewpoint::theory
