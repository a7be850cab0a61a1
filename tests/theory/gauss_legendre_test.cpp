// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/gauss_legendre.hpp"

#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numeric>

namespace dewpoint::theory {
namespace {

double integral_of_power(const QuadratureRule& rule, int power) {
  double sum = 0.0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i)
    sum += rule.weights[i] * std::pow(rule.nodes[i], power);
  return sum;
}

// Property (1). Odd powers vanish by symmetry. For x^{2N} the error of the rule is known:
// 2^{2N+1} N!⁴/((2N+1) (2N)!²), above 1e-7 for N ≤ 12.
TEST(GaussLegendre, IsExactUpToItsDegreeAndNotBeyond) {
  for (int count : {1, 2, 3, 5, 8, 12}) {
    const QuadratureRule rule = gauss_legendre(count);
    const double bound = count * kGaussLegendreError;
    for (int power = 0; power < 2 * count; power += 2)
      EXPECT_NEAR(integral_of_power(rule, power), 2.0 / (power + 1), bound)
          << count << ' ' << power;
    const double log_error = (2 * count + 1) * std::log(2.0) + 4 * std::lgamma(count + 1.0) -
                             std::log(2.0 * count + 1.0) - 2 * std::lgamma(2.0 * count + 1.0);
    EXPECT_NEAR(2.0 / (2 * count + 1) - integral_of_power(rule, 2 * count), std::exp(log_error),
                bound);
  }
}

// Property (2).
TEST(GaussLegendre, IsSymmetricIncreasingAndPositive) {
  for (int count : {7, 64, 689, 2000}) {
    const QuadratureRule rule = gauss_legendre(count);
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(rule.nodes[i], -rule.nodes[count - 1 - i]);
      EXPECT_GT(rule.weights[i], 0.0);
      if (i > 0) {
        EXPECT_GT(rule.nodes[i], rule.nodes[i - 1]);
      }
    }
    EXPECT_NEAR(std::accumulate(rule.weights.begin(), rule.weights.end(), 0.0), 2.0,
                count * kGaussLegendreError);
  }
}

TEST(GaussLegendre, AgreesWithTabulatedNodes) {
  const QuadratureRule rule = gauss_legendre(30);
  const auto& nodes = boost::math::quadrature::gauss<double, 30>::abscissa();
  const auto& weights = boost::math::quadrature::gauss<double, 30>::weights();
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_NEAR(rule.nodes[15 + i], nodes[i], kGaussLegendreError);
    EXPECT_NEAR(rule.weights[15 + i] / weights[i], 1.0, 30 * kGaussLegendreError);
  }
}

TEST(GaussLegendre, MovesToAnyInterval) {
  const QuadratureRule rule = on_interval(gauss_legendre(20), 1.0, 3.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) sum += rule.weights[i] / rule.nodes[i];
  EXPECT_NEAR(sum, std::log(3.0), 20 * kGaussLegendreError);
}

}  // namespace
}  // namespace dewpoint::theory
