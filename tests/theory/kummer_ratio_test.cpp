// Ratios of Kummer functions against quotients of series in extended precision.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/kummer_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dewpoint::theory {
namespace {

// M(a, b, z) for z ≤ 5000, where the extended format neither overflows nor loses: positive terms.
long double kummer_series(long double a, long double b, long double z) {
  long double term = 1.0L, sum = 1.0L;
  for (int k = 0; k < z || term > 1e-22L * sum; ++k) {
    term *= (a + k) * z / ((b + k) * (k + 1));
    sum += term;
  }
  return sum;
}

// Property (1). The series round by about 1e-19 √(number of terms). 1 − s is their quotient; s
// their difference, which loses a factor 1/s in the reference.
TEST(KummerStep, IsAQuotientOfSeries) {
  struct Parameters {
    double a, b;
  };
  constexpr Parameters kParameters[] = {{0.5, 1},  {0.5, 4},   {1, 2},       {2, 5},
                                        {7.5, 15}, {31.5, 63}, {255.5, 514}, {1.5, 257},
                                        {3, 20},   {200, 300}, {1.5, 6.25},  {0.6, 600}};
  for (const auto& [a, b] : kParameters)
    for (double z : {1e-6, 0.1, 1.0, 7.0, 30.0, 80.0, 200.0, 257.0, 511.0, 1000.0, 4000.0}) {
      const long double exact = kummer_series(a, b + 1, z) / kummer_series(a, b, z);
      const KummerStep step = kummer_step(a, b, z);
      const double bound = kKummerRatioError * (3.0 * a < b ? std::sqrt(b) : 1.0);
      EXPECT_NEAR(static_cast<double>(step.ratio(z) / exact), 1.0, bound)
          << a << ' ' << b << ' ' << z;
      const double s = z * step.slope / (step.product + z * step.slope);
      const auto exact_s = static_cast<double>(1.0L - exact);
      EXPECT_NEAR(s / exact_s, 1.0, bound + 1e-17 / exact_s) << a << ' ' << b << ' ' << z;
    }
}

// Property (2): M(1, 3, z) = 2(e^z − 1 − z)/z².
TEST(KummerStep, HasAClosedFormForTheExponential) {
  for (double z : {2.0, 10.0, 100.0}) {
    const double exact = 2.0 * (std::expm1(z) - z) / (z * std::expm1(z));
    EXPECT_NEAR(kummer_step(1.0, 2.0, z).ratio(z) / exact, 1.0, 2.0 * kKummerRatioError) << z;
  }
  EXPECT_EQ(kummer_step(1.0, 2.0, 0.0).ratio(0.0), 1.0);
}

}  // namespace
}  // namespace dewpoint::theory
