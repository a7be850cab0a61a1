// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/sphere_average.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

double bound(double value) {
  return kSphereAverageError + kSphereAverageRounding * std::abs(value);
}

// Γ(ν+1)(2/k)^ν I_ν(k) from Boost's Bessel function, wherever that is a normal number. Its own
// logarithms are large and cancel: a unit in the last place of each enters the tolerance, with
// Boost's documented 10 units for I.
TEST(SphereAverage, AgreesWithTheBesselFunctionWhereThatIsRepresentable) {
  int compared = 0;
  for (int dimension : {1, 2, 3, 4, 5, 8, 9, 15, 31, 40, 41, 42, 43, 64, 127, 200})
    for (double k = 0.25; k < 700.0; k *= 1.25) {
      const double order = 0.5 * dimension - 1.0;
      const double bessel = boost::math::cyl_bessel_i(order, k);
      if (!(bessel > 1e-280 && bessel < 1e290)) continue;
      const double pieces[] = {std::lgamma(order + 1.0), order * std::log(2.0 / k),
                               std::log(bessel), -k};
      double expected = 0.0, rounding = 10 * kEpsilon;
      for (double piece : pieces) {
        expected += piece;
        rounding += 2 * kEpsilon * std::abs(piece);
      }
      EXPECT_NEAR(SphereAverage(dimension).log(k), expected, bound(expected) + rounding)
          << dimension << ' ' << k;
      ++compared;
    }
  EXPECT_GT(compared, 400);
}

struct Exact {
  int dimension;
  double k, value;
};

// Logarithms of 0F1(ν+1; k²/4) e^{−k}, evaluated with 50 decimal digits: orders where the Bessel
// function itself is far outside a double, and both sides of every change of method.
constexpr Exact kExact[] = {
    {2, 49.5, -2.8673735534286969},       {2, 50.5, -2.8774249246151842},
    {7, 1.0, -0.929128712029816141},      {15, 210.0, -26.4091015259498364},
    {15, 212.0, -26.4745050608274353},    {41, 1900.0, -97.6632762919441415},
    {41, 1902.0, -97.6842126459010764},   {42, 0.5, -0.497024010800670063},
    {42, 10.0, -8.8396990246519571},      {42, 5000.0, -119.362817830286479},
    {63, 200.0, -69.9808907397546062},    {511, 100.0, -90.3930579135762606},
    {1023, 2000.0, -919.246011517075899}, {4095, 1.0, -0.999877899881538745},
    {4095, 300.0, -289.040255212069351},  {4095, 20000.0, -5398.93360846819374},
};

TEST(SphereAverage, AgreesWithFiftyDigits) {
  for (const Exact& row : kExact)
    EXPECT_NEAR(SphereAverage(row.dimension).log(row.k), row.value, bound(row.value))
        << row.dimension << ' ' << row.k;
}

// Property (1).
TEST(SphereAverage, FallsFromZero) {
  for (int dimension : {1, 2, 7, 30, 42, 1000}) {
    const SphereAverage average(dimension);
    EXPECT_NEAR(average.log(0.0), 0.0, kSphereAverageError);
    double previous = average.log(0.0);
    for (double k = 0.1; k < 3e4; k *= 1.1) {
      const double value = average.log(k);
      if (dimension == 1 && k > 5.0) break;  // already within rounding of its limit, log ½
      EXPECT_LT(value, previous) << dimension << ' ' << k;
      previous = value;
    }
  }
}

// Property (2).
TEST(SphereAverage, HasElementaryFormsOnTwoPointsAndInSpace) {
  for (double k : {1e-3, 0.5, 4.0, 49.0, 51.0, 300.0, 1e5, 1e12, 1e100}) {
    const double two_points = std::log1p(std::exp(-2.0 * k)) - std::numbers::ln2;
    const double space = std::log(-std::expm1(-2.0 * k)) - std::log(2.0 * k);
    EXPECT_NEAR(SphereAverage(1).log(k), two_points, bound(two_points)) << k;
    EXPECT_NEAR(SphereAverage(3).log(k), space, bound(space)) << k;
  }
}

// Property (3).
TEST(SphereAverage, LiesBetweenJensenAndGaussian) {
  for (int dimension : {1, 2, 5, 60, 4095})
    for (double k : {0.01, 1.0, 10.0, 1e3}) {
      const double value = SphereAverage(dimension).log(k);
      EXPECT_GE(value, -k - bound(value));
      EXPECT_LE(value, -k + k * k / (2.0 * dimension) + bound(value) + kEpsilon * k * k);
    }
}

// Property (4). The next term of the expansion is |4ν² − 1|/(8k).
TEST(SphereAverage, DecaysAsAPowerAtLargeConcentration) {
  for (int dimension : {2, 4, 9, 60, 300}) {
    const double k = 1e9, order = 0.5 * dimension - 1.0;
    const double limit = std::lgamma(0.5 * dimension) + 0.5 * (dimension - 3) * std::numbers::ln2 -
                         0.5 * std::log(std::numbers::pi) - 0.5 * (dimension - 1) * std::log(k);
    EXPECT_NEAR(SphereAverage(dimension).log(k), limit,
                std::abs(4 * order * order - 1) / (8 * k) + 2 * bound(limit));
  }
}

}  // namespace
}  // namespace dewpoint::theory
