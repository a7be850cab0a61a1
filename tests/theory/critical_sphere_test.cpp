// The critical law of the sphere against closed forms for S², its exact identities, printed values,
// half its step, and draws.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/critical_sphere.hpp"

#include <gtest/gtest.h>

#include <boost/math/quadrature/exp_sinh.hpp>
#include <boost/math/special_functions/expint.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

const std::vector<CriticalSphere> kLaws = {
    {0.0025, 0.5}, {0.5, 0.5},  {30.0, 0.5},  {1000.0, 0.5}, {0.05, 1.0},  {1.0, 1.0},
    {5.0, 1.0},    {1.0, 1.5},  {0.5, 2.0},   {4.0, 2.0},    {1.0, 3.5},   {7.0, 3.5},
    {2.0, 8.0},    {16.0, 8.0}, {31.5, 31.5}, {127.0, 63.5}, {0.5, 100.0}, {1000.0, 100.0}};

double entire_exponential_integral(double s) {
  return boost::math::expint(1, s) + std::log(s) + std::numbers::egamma;
}

// Property (1). d = 2 has a = 1/2, so that the square doubles the error.
TEST(SphereUnit, IsAPowerOfTheNumberOfKeys) {
  for (double n : {10.0, 1e4, 1e12}) {
    const double error = 1e-14 * (1.0 + std::log(n));
    EXPECT_NEAR(sphere_unit(std::log(n), 2) / (2.0 * n * n / (std::numbers::pi * std::numbers::pi)),
                1.0, error);
    EXPECT_NEAR(sphere_unit(std::log(n), 3) / (n / 2.0), 1.0, error);
    EXPECT_NEAR(sphere_unit(std::log(n), 5) / std::sqrt(0.75 * n), 1.0, error);
  }
}

// Properties (1) and (2). The first correction at y → −∞ is e^y E Z₂/2 with E Z₂ = 2^{−a} E Z; that
// at ∞ is a E G/y = γ_E a/y, and as much again is allowed for the next.
TEST(CriticalSphereLaplace, IsAnExponentialIntegralForTheSphereInSpace) {
  for (double theta : {0.3, 1.0, 20.0})
    for (double y : {-1.0, 0.0, 2.0, 6.0}) {
      const double exact = entire_exponential_integral(std::exp(y)) / theta;
      EXPECT_NEAR(critical_sphere_laplace({theta, 1.0}, y) / exact, 1.0, kCriticalSphereError)
          << theta << ' ' << y;
    }
  for (double a : {0.5, 1.5, 8.0}) {
    const double rate = std::pow(2.0, -a);
    EXPECT_NEAR(
        critical_sphere_laplace({2.0, a}, -20.0) / (rate * std::tgamma(a + 1.0) * std::exp(-20.0)),
        1.0, std::exp(-20.0) * std::pow(2.0, -a) + kCriticalSphereError)
        << a;
    EXPECT_NEAR(critical_sphere_laplace({2.0, a}, 1000.0) / (rate * std::pow(1000.0, a)), 1.0,
                2.0 * std::numbers::egamma * a / 1000.0)
        << a;
  }
}

// Properties (1) and (2) of the means. Both sides of the identity are of size θ·bias.
TEST(CriticalSphereMeans, AreNormalisedAndVirial) {
  for (const CriticalSphere& law : kLaws) {
    const CriticalSphereMeans means = critical_sphere_means(law);
    EXPECT_NEAR(means.normalisation, 1.0, kCriticalSphereError) << law.exponent << ' ' << law.theta;
    EXPECT_NEAR(law.theta * (means.bias - 0.5 * means.scatter), law.exponent,
                kCriticalSphereError * law.theta * (means.bias + 0.5 * means.scatter))
        << law.exponent << ' ' << law.theta;
  }
}

// Property (4), and (3) of the largest weight.
TEST(CriticalSphere, DoesNotChangeWhenTheStepIsHalved) {
  for (const CriticalSphere& law : kLaws) {
    CriticalSphere fine = law;
    fine.step = 0.5 * law.step;
    const CriticalSphereMeans means = critical_sphere_means(law),
                              finer = critical_sphere_means(fine);
    const auto place = [&] {
      return std::to_string(law.exponent) + ' ' + std::to_string(law.theta);
    };
    EXPECT_NEAR(means.participation / finer.participation, 1.0, kCriticalSphereError) << place();
    EXPECT_NEAR(means.bias / finer.bias, 1.0, kCriticalSphereError) << place();
    EXPECT_NEAR(means.scatter / finer.scatter, 1.0, kCriticalSphereError) << place();
    EXPECT_NEAR(means.entropy, finer.entropy, kCriticalSphereError * (1.0 + finer.entropy))
        << place();
  }
  for (const CriticalSphere& law : {CriticalSphere{0.5, 0.5}, CriticalSphere{1.0, 1.5},
                                    CriticalSphere{4.0, 2.0}, CriticalSphere{16.0, 8.0}}) {
    const CriticalSphere fine{law.theta, law.exponent, 0.5 * law.step};
    EXPECT_NEAR(critical_sphere_largest_weight(law) / critical_sphere_largest_weight(fine), 1.0,
                kCriticalSphereError)
        << law.exponent;
  }
}

// Property (3) of the means.
TEST(CriticalSphereMeans, HaveAClosedFormInSpace) {
  boost::math::quadrature::exp_sinh<double> rule;
  for (double theta : {0.2, 1.0, 6.0}) {
    const auto integrand = [theta](double s) {
      if (s < 1e-8) return 0.5 * s;  // 1 − e^{−s}(1 + s) ≈ s²/2
      const double missing = -std::expm1(-s) - s * std::exp(-s);
      return missing / s * std::exp(-entire_exponential_integral(s) / theta);
    };
    // The difference in `missing` loses ε/s where the integrand is s/2: 1e-16 in the integral.
    const double exact = rule.integrate(integrand, 1e-13) / theta;
    EXPECT_NEAR(critical_sphere_means({theta, 1.0}).participation / exact, 1.0, 1e-10) << theta;
  }
}

// Properties (1) and (2) of the largest weight, and (2) of published_largest_weight.
TEST(CriticalSphereLargestWeight, IsTheDickmanLawInSpace) {
  for (double theta : {0.25, 0.5, 2.0, 10.0})
    EXPECT_NEAR(critical_sphere_largest_weight({theta, 1.0}) / published_largest_weight(theta), 1.0,
                kCriticalSphereError + kPoissonDirichletError)
        << theta;
  for (const CriticalSphere& law : kLaws) {
    if (law.exponent > 50.0) continue;
    const double weight = critical_sphere_largest_weight(law);
    const double participation = critical_sphere_means(law).participation;
    EXPECT_GE(weight * (1.0 + kCriticalSphereError), participation);
    EXPECT_LE(weight, std::sqrt(participation) * (1.0 + kCriticalSphereError));
  }
}

// Properties (1) and (2) of the average, and the entropy as minus the slope in p: the one-sided
// difference of second order errs by less than its change from twice the step.
TEST(CriticalSphereAverage, ContainsTheMeans) {
  for (const CriticalSphere& law : {CriticalSphere{1.0, 0.5}, CriticalSphere{3.0, 2.0}}) {
    const CriticalSphereMeans means = critical_sphere_means(law);
    const auto one = [](double) { return 1.0; };
    const auto gap = [](double u) { return u; };
    EXPECT_NEAR(critical_sphere_average(law, 1.0, one), 1.0, kCriticalSphereError);
    EXPECT_NEAR(critical_sphere_average(law, 2.0, one), means.participation, kCriticalSphereError);
    EXPECT_NEAR(critical_sphere_average(law, 1.0, gap), means.bias,
                2.0 * kCriticalSphereError * means.bias);
    EXPECT_NEAR(2.0 * critical_sphere_average(law, 2.0, gap), means.scatter,
                2.0 * kCriticalSphereError * means.scatter);
    const auto slope = [&](double step) {
      return (-3.0 + 4.0 * critical_sphere_average(law, 1.0 + step, one) -
              critical_sphere_average(law, 1.0 + 2.0 * step, one)) /
             (2.0 * step);
    };
    const double fine = slope(1e-3), coarse = slope(2e-3);
    EXPECT_NEAR(-fine, means.entropy, std::abs(fine - coarse) + 8.0 * kCriticalSphereError / 1e-3);
  }
}

// ---- printed values -------------------------------------------------------------------------

struct HalfPoint {
  double exponent, theta;
};

constexpr HalfPoint kHalfPoints[] = {
    {.5, .33385},   {1, 1.23281},   {1.5, 2.16848},   {2, 3.10232},
    {2.5, 4.04024}, {3, 4.98525},   {3.5, 5.93753},   {4, 6.89625},
    {5, 8.82902},   {6, 10.77683},  {8, 14.70100},    {12, 22.60943},
    {16, 30.55551}, {24, 46.49411}, {31.5, 61.46151}, {63.5, 125.40299}};

// Properties (1) and (2). Printed with five decimals from a root found to 1e-6, relative.
TEST(HalfParticipationTheta, ReproducesThePrintedTable) {
  for (const HalfPoint& row : kHalfPoints) {
    const double theta = half_participation_theta(row.exponent);
    EXPECT_NEAR(theta, row.theta, 5e-6 + 1e-6 * row.theta) << row.exponent;
    EXPECT_LT(theta, 2.0 * row.exponent);
    EXPECT_GT(theta, 2.0 * row.exponent - 2.0);
    EXPECT_NEAR(critical_sphere_means({theta, row.exponent}).participation, 0.5, 1e-9);
  }
}

// Property (6), printed with four decimals; the distance to the limit falls as 1/a, with a
// correction of relative size 1/a.
TEST(CriticalSphereMeans, TendToThePoissonDirichletLaw) {
  constexpr double kExponents[] = {4, 8, 16, 31.5};
  constexpr double kTwice[] = {.5614, .5375, .5215, .5118};
  constexpr double kFourTimes[] = {.7727, .7631, .7571, .7537};
  for (int i = 0; i < 4; ++i) {
    const double a = kExponents[i];
    EXPECT_NEAR(critical_sphere_means({2.0 * a, a}).participation, kTwice[i], 5e-5) << a;
    EXPECT_NEAR(critical_sphere_means({4.0 * a, a}).participation, kFourTimes[i], 5e-5) << a;
  }
  const auto distance = [](double a, auto quantity, double limit) {
    return a * (quantity(critical_sphere_means({3.0 * a, a})) - limit);
  };
  const auto participation = [](const CriticalSphereMeans& means) { return means.participation; };
  const auto entropy = [](const CriticalSphereMeans& means) { return means.entropy; };
  const double y = poisson_dirichlet_participation(3.0), s = poisson_dirichlet_entropy(3.0);
  EXPECT_NEAR(distance(50.0, participation, y) / distance(100.0, participation, y), 1.0,
              2.0 / 50.0);
  EXPECT_NEAR(distance(50.0, entropy, s) / distance(100.0, entropy, s), 1.0, 2.0 / 50.0);
}

// E w_1 on S⁷ at θ = 1, printed with four significant digits.
TEST(CriticalSphereLargestWeight, ReproducesAPrintedValue) {
  EXPECT_NEAR(critical_sphere_largest_weight({1.0, 3.5}), 0.03630, 5e-6);
}

// ---- draws ----------------------------------------------------------------------------------

struct DrawnMeans {
  RunningMoments largest_weight, participation, entropy, bias, scatter, mixed;
};

// Points kept: the next would weigh e^{−20} of the first or less for the laws below.
constexpr int kPoints = 500;

void add_draw(const CriticalSphere& law, const Stream& stream, DrawnMeans& means) {
  std::vector<double> gaps(kPoints), weights(kPoints);
  double gamma = 0.0, partition = 0.0;
  for (int k = 0; k < kPoints; ++k) {
    gamma += stream.exponential(static_cast<std::uint64_t>(k));
    gaps[k] = std::pow(gamma, 1.0 / law.exponent);
    weights[k] = std::exp(-law.theta * (gaps[k] - gaps[0]));
    partition += weights[k];
  }
  double squares = 0.0, entropy = 0.0, bias = 0.0, scatter = 0.0, mixed = 0.0;
  for (int k = 0; k < kPoints; ++k) {
    const double w = weights[k] / partition;
    squares += w * w;
    entropy -= w > 0.0 ? w * std::log(w) : 0.0;
    bias += w * gaps[k];
    scatter += 2.0 * w * w * gaps[k];
    mixed += std::pow(w, 1.5) * gaps[k] * gaps[k];
  }
  means.largest_weight.add(1.0 / partition);
  means.participation.add(squares);
  means.entropy.add(entropy);
  means.bias.add(bias);
  means.scatter.add(scatter);
  means.mixed.add(mixed);
}

void expect_mean(const RunningMoments& values, double exact, const char* what, double exponent) {
  const Estimate estimate = values.estimate();
  EXPECT_NEAR(estimate.mean, exact, test::kSigmas * estimate.standard_error + 1e-7)
      << what << " at a = " << exponent;
}

// Property (5) of the means, (4) of the largest weight, (3) of the average.
TEST(CriticalSphere, HasTheMeansOfItsDraws) {
  for (const CriticalSphere& law : {CriticalSphere{0.5, 0.5}, CriticalSphere{1.0, 1.5},
                                    CriticalSphere{2.0, 2.0}, CriticalSphere{5.0, 3.5}}) {
    DrawnMeans drawn;
    for (std::uint64_t i = 0; i < 4000; ++i)
      add_draw(law, Stream(test::seed(), "CriticalSphere", i), drawn);
    const CriticalSphereMeans means = critical_sphere_means(law);
    const double mixed = critical_sphere_average(law, 1.5, [](double u) { return u * u; });
    expect_mean(drawn.largest_weight, critical_sphere_largest_weight(law), "weight", law.exponent);
    expect_mean(drawn.participation, means.participation, "participation", law.exponent);
    expect_mean(drawn.entropy, means.entropy, "entropy", law.exponent);
    expect_mean(drawn.bias, means.bias, "bias", law.exponent);
    expect_mean(drawn.scatter, means.scatter, "scatter", law.exponent);
    expect_mean(drawn.mixed, mixed, "mixed", law.exponent);
  }
}

}  // namespace
}  // namespace dewpoint::theory
