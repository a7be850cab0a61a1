// The gap law of the sphere against many digits, against closed forms and printed constants, and
// against itself down to probabilities of 1e-300.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/core/distributions/sphere_gap.hpp"

#include <gtest/gtest.h>

#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace dewpoint {
namespace {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<150>,
                                           boost::multiprecision::et_off>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kDimensions[] = {2, 3, 4, 5, 8, 9, 17, 64, 65, 128, 511, 512};

/// Γ(k/2) from Γ(1/2) = √π or Γ(1) = 1 upwards.
Wide gamma_of_half(int k) {
  Wide result = k % 2 == 0 ? Wide(1) : sqrt(boost::math::constants::pi<Wide>());
  for (int below = 2 - k % 2; below < k; below += 2) result *= Wide(below) / 2;
  return result;
}

/// log F from the definition I_x = x^a/B Σ_k (1 − a)_k/(k! (a + k)) x^k, whose terms alternate: at
/// x ≤ 1/2 they reach 2^a, 1e77 at d = 512, which leaves more than 70 of 150 digits.
double wide_log_cdf(int dimension, double log_gap) {
  const Wide a = Wide(dimension - 1) / 2, log_x = Wide(log_gap) - log(Wide(2));
  const Wide x = exp(log_x);
  Wide term = 1, sum = 1 / a;
  for (int k = 1; k < 4000; ++k) {
    term *= (k - a) * x / k;
    const Wide addend = term / (a + k);
    sum += addend;
    if (abs(addend) < 1e-40 * abs(sum)) break;
  }
  const Wide gamma = gamma_of_half(dimension - 1);
  const Wide beta = gamma * gamma / gamma_of_half(2 * (dimension - 1));
  return static_cast<double>(a * log_x - log(beta) + log(sum));
}

TEST(SphereGap, AgreesWithManyDigits) {
  for (int dimension : kDimensions) {
    const SphereGap law(dimension);
    for (double gap : {1.0, 0.99, 0.7, 0.5, 0.49, 0.2, 1e-2, 1e-5, 1e-20, 1e-100, 1e-300}) {
      const double exact = wide_log_cdf(dimension, std::log(gap));
      // log(gap) itself is rounded: a |log gap| ε/2 in the logarithm.
      const double rounding = 1.2e-16 * law.exponent() * std::abs(std::log(gap));
      EXPECT_NEAR(law.log_cdf(gap), exact, kSphereGapError * (1.0 + std::abs(exact)) + rounding)
          << dimension << " " << gap;
    }
  }
}

// Boost's incomplete beta function claims a few hundred ε in this range.
TEST(SphereGap, AgreesWithTheIncompleteBetaFunction) {
  for (int dimension : kDimensions) {
    const SphereGap law(dimension);
    const double a = law.exponent();
    for (double gap : {0.05, 0.4, 0.8, 1.0, 1.2, 1.7, 1.99}) {
      const double exact = boost::math::ibeta(a, a, 0.5 * gap);
      if (exact < 1e-290 || law.log_density(gap) < -600.0) continue;
      EXPECT_NEAR(law.cdf(gap) / exact, 1.0, 1e-12) << dimension << " " << gap;
      EXPECT_NEAR(law.density(gap) / (0.5 * boost::math::ibeta_derivative(a, a, 0.5 * gap)), 1.0,
                  1e-12)
          << dimension << " " << gap;
    }
  }
}

// Property (1) of local_constant, and printed values.
TEST(SphereGapConstant, ReproducesThePrintedList) {
  struct Row {
    int dimension;
    double constant, half_digit;
  };
  constexpr Row rows[] = {{4, 0.60021, 5e-6},   {8, 1.646293, 5e-7},    {9, 2.1875, 1e-14},
                          {17, 25.13672, 5e-6}, {64, 1.520412e8, 50.0}, {128, 4.608483e17, 5e10}};
  for (const Row& row : rows)
    EXPECT_NEAR(SphereGap(row.dimension).local_constant(), row.constant, 1.001 * row.half_digit)
        << row.dimension;
  EXPECT_NEAR(SphereGap(2).local_constant(), std::numbers::sqrt2 / std::numbers::pi,
              kSphereGapError);
  EXPECT_NEAR(SphereGap(3).local_constant(), 0.5, kSphereGapError);
  EXPECT_NEAR(SphereGap(5).local_constant(), 0.75, kSphereGapError);
}

// Against gamma functions of many digits.
TEST(SphereGapConstant, AgreesWithManyDigits) {
  for (int dimension : kDimensions) {
    const Wide power = exp(Wide(dimension - 3) / 2 * log(Wide(2)));
    const Wide exact = power * gamma_of_half(dimension) / gamma_of_half(dimension + 1) /
                       sqrt(boost::math::constants::pi<Wide>());
    EXPECT_NEAR(SphereGap(dimension).local_constant() / static_cast<double>(exact), 1.0,
                kSphereGapError)
        << dimension;
  }
}

// Property (2) of log_cdf.
TEST(SphereGap, HasItsClosedFormsInTheSmallestDimensions) {
  for (double gap : {1e-250, 1e-9, 0.3, 0.999, 1.0, 1.4, 1.999}) {
    const double circle = 2.0 / std::numbers::pi * std::asin(std::sqrt(0.5 * gap));
    EXPECT_NEAR(SphereGap(2).cdf(gap) / circle, 1.0,
                2.0 * kSphereGapError * (1.0 - std::log(circle)));
    EXPECT_NEAR(SphereGap(3).cdf(gap) / (0.5 * gap), 1.0,
                kSphereGapError * (1.0 - std::log(0.5 * gap)));
  }
}

// Property (1) of log_cdf; a survival is the distribution function of the antipode.
TEST(SphereGap, IsSymmetricAboutOne) {
  for (int dimension : kDimensions) {
    const SphereGap law(dimension);
    for (double gap : {0.0, 0.1, 0.6, 0.9375, 1.0, 1.25, 2.0}) {
      EXPECT_NEAR(law.cdf(gap) + law.cdf(2.0 - gap), 1.0, 4.0 * kSphereGapError);
      // Each side is right to kSphereGapError (1 + |log|), which is small or moderate here.
      const double tail = law.log_cdf(2.0 - gap);
      if (gap < 2.0) {
        EXPECT_NEAR(law.log_survival(gap), tail, 2.0 * kSphereGapError * (1.0 - tail));
      } else {
        EXPECT_EQ(law.log_survival(gap), tail);  // −∞
      }
    }
    EXPECT_EQ(law.cdf(0.0), 0.0);
    EXPECT_EQ(law.cdf(2.0), 1.0);
  }
}

// Property (3): the next term of F/(c t^a) is a(a − 1)(a − 2)/(8(a + 2)) t², below a² t²/8.
TEST(SphereGap, IsAPowerLawNearTheQuery) {
  for (int dimension : kDimensions) {
    const SphereGap law(dimension);
    const double a = law.exponent(), gap = 1e-3 / (a * a);
    const double log_power = std::log(law.local_constant()) + a * std::log(gap);
    const double expected = -a * (a - 1.0) / (2.0 * (a + 1.0)) * gap;
    // The logarithm takes another square of the first term, and both sides their roundings.
    EXPECT_NEAR(law.log_cdf(gap) - log_power, expected,
                a * a * gap * gap + 3.0 * kSphereGapError * (1.0 - law.log_cdf(gap)))
        << dimension;
  }
}

// Property (1) of log_density by a central difference of log F: its error is step² (log F)'''/6,
// and the third derivative is of order (a/t)³, so a relative step of 1e-4/a keeps it to 1e-8.
TEST(SphereGapDensity, IsTheDerivativeOfTheDistribution) {
  for (int dimension : kDimensions) {
    const SphereGap law(dimension);
    for (double gap : {0.01, 0.3, 0.8, 1.0, 1.3, 1.9}) {
      const double step = 1e-4 * std::min(gap, 2.0 - gap) / law.exponent();
      const double slope = (law.log_cdf(gap + step) - law.log_cdf(gap - step)) / (2.0 * step);
      const double rounding = kSphereGapError * (1.0 - law.log_cdf(gap)) / step;
      const double exact = std::exp(law.log_density(gap) - law.log_cdf(gap));
      EXPECT_NEAR(slope, exact, 1e-7 * exact + rounding) << dimension << " " << gap;
    }
  }
  EXPECT_EQ(SphereGap(2).density(0.0), kInfinity);
  EXPECT_NEAR(SphereGap(3).density(0.0), 0.5, kSphereGapError);
  EXPECT_EQ(SphereGap(4).density(2.0), 0.0);
}

// Property (1) of the quantile, in logarithms down to 1e-300 and beyond. Where the gap is a double
// the same through log_cdf.
TEST(SphereGapQuantile, InvertsTheDistribution) {
  for (int dimension : kDimensions) {
    const SphereGap law(dimension);
    const double least_slope = std::min(law.exponent(), 1.0);
    for (double log_u : {-690.7755, -345.0, -100.0, -46.0, -18.5, -18.3, -5.0, -1.0, -0.694, -0.693,
                         -0.2, -1e-3, -1e-12}) {
      const double log_gap = law.log_quantile(log_u), gap = law.quantile(log_u);
      EXPECT_NEAR(gap, std::exp(log_gap), 0.0);
      if (gap == 0.0) {
        EXPECT_EQ(dimension, 2);
        EXPECT_NEAR(wide_log_cdf(dimension, log_gap), log_u, 4.0 * kSphereGapError * (1.0 - log_u));
        continue;
      }
      // The rounding of log t and of t, times the slope a of log F; beyond t = 1 the rounding of t
      // moves F by at most its value that far from the end.
      const double rounding =
          2.4e-16 * law.exponent() * (1.0 + std::abs(log_gap)) + (gap > 1.0 ? law.cdf(9e-16) : 0.0);
      EXPECT_NEAR(law.log_cdf(gap), log_u,
                  5.0 * kSphereGapError * (1.0 - log_u) / least_slope + rounding)
          << dimension;
    }
    EXPECT_NEAR(law.quantile(-std::numbers::ln2), 1.0, 4.0 * kSphereGapError);
    EXPECT_EQ(law.quantile(0.0), 2.0);
  }
}

// The smallest gap of n keys is near t_n = F⁻¹(1/n); 1/t_n and the edge f(t_n)/F(t_n) as printed,
// with eight digits.
TEST(SphereGapQuantile, ReproducesTheTableOfScales) {
  struct Row {
    int dimension;
    double n, inverse_gap, edge;
  };
  constexpr Row rows[] = {
      {2, 1e4, 20264237, 10132119},     {3, 1e6, 500000, 500000},
      {5, 1e4, 86.43539, 172.53616},    {5, 1e9, 27385.961, 54771.589},
      {8, 1e6, 59.444175, 207.07649},   {9, 1e4, 11.852819, 46.173121},
      {9, 1e9, 215.96492, 862.65765},   {17, 1e6, 8.0053996, 60.764942},
      {64, 1e4, 1.8034981, 36.989827},  {64, 1e9, 2.9535802, 75.492679},
      {128, 1e4, 1.4745314, 48.341334}, {128, 1e6, 1.6790644, 63.680736},
      {128, 1e9, 1.9900065, 85.857807},
  };
  for (const Row& row : rows) {
    const SphereGap law(row.dimension);
    const double gap = law.quantile(-std::log(row.n));
    EXPECT_NEAR(1.0 / gap / row.inverse_gap, 1.0, 6e-8) << row.dimension << " " << row.n;
    EXPECT_NEAR(law.density(gap) * row.n / row.edge, 1.0, 6e-8) << row.dimension << " " << row.n;
  }
}

// At d = 2, F(t) = (2/π) asin √(t/2): tiny gaps count, and 2 − t does not know them.
TEST(SphereGap, SurvivalKnowsTheSmallestGaps) {
  const SphereGap circle(2);
  for (const double gap : {1e-300, 1e-20, 1e-10, 0.3}) {
    const double exact = std::log1p(-2.0 / std::numbers::pi * std::asin(std::sqrt(0.5 * gap)));
    // F is the exponential of a logarithm that is right to kSphereGapError (1 + |log F|).
    EXPECT_NEAR(circle.log_survival(gap) / exact, 1.0,
                2.0 * kSphereGapError * (1.0 - circle.log_cdf(gap)))
        << gap;
  }
}

}  // namespace
}  // namespace dewpoint
