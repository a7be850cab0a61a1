// Laws and covariances of chains against matrices written out.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/markov_chain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

const std::vector<double> kLaw{0.5, 0.3, 0.15, 0.05};

/// Up the ring with a current: stationary for kLaw and not reversible.
Matrix<double> ring() {
  Matrix<double> p(4, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    p(i, (i + 1) % 4) = 0.04 / kLaw[i];
    p(i, i) = 1.0 - p(i, (i + 1) % 4);
  }
  return p;
}

std::vector<double> random_vector(const char* name) {
  const Stream draw = test::stream(name);
  std::vector<double> x(4);
  for (std::size_t i = 0; i < 4; ++i) x[i] = draw.normal(i);
  return x;
}

// A few products of numbers below 10.
constexpr double kRounding = 1e-15 * 10;

TEST(MarkovChain, CovariancesAreTheProductsOfTheirMatrices) {
  const Matrix<double> p = ring();
  const std::vector<double> x = random_vector("MarkovChain/Covariances");
  const auto v = covariance_times(kLaw, x), k = pair_covariance_times(kLaw, p, x);
  const auto transposed = pair_covariance_transposed_times(kLaw, p, x);
  for (std::size_t i = 0; i < 4; ++i) {
    double vx = kLaw[i] * x[i], kx = 0.0, ktx = 0.0;
    for (std::size_t j = 0; j < 4; ++j) {
      vx -= kLaw[i] * kLaw[j] * x[j];
      kx += (kLaw[i] * p(i, j) - kLaw[i] * kLaw[j]) * x[j];
      ktx += (kLaw[j] * p(j, i) - kLaw[i] * kLaw[j]) * x[j];
    }
    EXPECT_NEAR(v[i], vx, kRounding);
    EXPECT_NEAR(k[i], kx, kRounding);
    EXPECT_NEAR(transposed[i], ktx, kRounding);
  }
}

TEST(MarkovChain, PairCovarianceOfThePersistentChainIsLambdaTimesTheCovariance) {
  const std::vector<double> x = random_vector("MarkovChain/Persistent");
  const auto v = covariance_times(kLaw, x);
  const auto k = pair_covariance_times(kLaw, persistent_chain(kLaw, 0.3), x);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(k[i], 0.3 * v[i], kRounding);
}

TEST(MarkovChain, PersistentChainIsStochasticWithTheGivenLaw) {
  const Matrix<double> p = persistent_chain(kLaw, 0.8);
  for (std::size_t j = 0; j < 4; ++j) {
    double row = 0.0, stationary = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      row += p(j, i);
      stationary += kLaw[i] * p(i, j);
    }
    EXPECT_NEAR(row, 1.0, 4 * 0x1p-52);
    EXPECT_NEAR(stationary, kLaw[j], 4 * 0x1p-52);
  }
}

TEST(MarkovChain, TwoGroupLawSumsToOne) {
  for (const std::size_t d : {2, 3, 255}) {
    const std::vector<double> law = two_group_law(0.6, d);
    EXPECT_EQ(law[0], 0.6);
    EXPECT_NEAR(std::accumulate(law.begin(), law.end(), 0.0), 1.0,
                static_cast<double>(d) * 0x1p-53);
  }
}

// Property (1) of the entropy rate; transitions that do not occur cost nothing.
TEST(MarkovChain, EntropyRateIsBelowTheEntropyOfTheLaw) {
  EXPECT_NEAR(chain_entropy_rate(kLaw, persistent_chain(kLaw, 0.0)), law_entropy(kLaw), 1e-15);
  EXPECT_LT(chain_entropy_rate(kLaw, persistent_chain(kLaw, 0.5)), law_entropy(kLaw));
  double expected = 0.0;
  for (const double pi : kLaw) {
    const double p = 0.04 / pi;
    expected -= pi * (p * std::log(p) + (1.0 - p) * std::log1p(-p));
  }
  EXPECT_NEAR(chain_entropy_rate(kLaw, ring()), expected, 1e-15);
}

TEST(MarkovChain, RayOfANegligibleVectorIsZero) {
  const std::vector<double> x{3e-20, 4e-20};
  const Ray ray = ray_of(x, 1e-19);
  EXPECT_EQ(ray.length, 0.0);
  EXPECT_EQ(ray.direction, (std::vector<double>{0.0, 0.0}));
  EXPECT_NEAR(ray_of(x).direction[1], 0.8, 1e-15);
}

}  // namespace
}  // namespace dewpoint::theory
