#include "dewpoint/tokens/equicorrelated.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/test_seed.hpp"

namespace dewpoint::tokens {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

double true_gap(const TokenCloud& cloud, std::size_t i, std::size_t j) {
  double sum = 0.0;
  for (std::size_t k = 0; k < cloud.dimension(); ++k) {
    const double difference = cloud.directions(i, k) - cloud.directions(j, k);
    sum += difference * difference;
  }
  return 0.5 * sum;
}

// One Gram of the noise serves every ρ, up to 0.99999, with a relative error that does not grow:
// the Gram is rounded d times relative to ‖z‖², everything else a handful of times, and Δ is at
// least a tenth of (1−ρ)‖z‖²/r² for noise in 32 dimensions.
TEST(EquicorrelatedGaps, AreRelativelyExactAtEveryCorrelation) {
  const EquicorrelatedNoise noise(90, 32, Common::random, test::seed(), 0);
  for (const double rho : {0.0, 0.5, 0.95, 0.999, 0.99999}) {
    const TokenCloud cloud = noise.cloud(rho, Norm::unit);
    const EquicorrelatedGaps source(noise, rho);
    Matrix<float> gaps(90, 90);
    source.gaps({0, 90}, {0, 90}, gaps);
    for (std::size_t i = 0; i < 90; ++i) {
      EXPECT_EQ(gaps(i, i), 0.0F);
      for (std::size_t j = 0; j < i; ++j) {
        const double truth = true_gap(cloud, i, j);
        // Differences of double directions lose 2⁻⁵³/√Δ of themselves as ρ → 1.
        const double tolerance = (32 + 16) * kEps * truth + 1e-15 * std::sqrt(truth);
        EXPECT_NEAR(gaps(i, j), truth, tolerance) << rho;
      }
    }
  }
}

TEST(EquicorrelatedGaps, AreTheSameWithAndWithoutAKeptGram) {
  const std::size_t n = kKeptGram + 64;  // not kept
  EquicorrelatedNoise large(n, 8, Common::fixed, test::seed(), 1);
  EquicorrelatedNoise small(100, 8, Common::fixed, test::seed(), 1);
  large.keep_gram();
  small.keep_gram();
  const EquicorrelatedGaps a(large, 0.4), b(small, 0.4);
  Matrix<float> from_large(10, 100), from_small(10, 100);
  a.gaps({20, 30}, {0, 100}, from_large);
  b.gaps({20, 30}, {0, 100}, from_small);
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = 0; j < 100; ++j) {
      // The same tokens (a larger cloud contains the smaller one); mean r differs in the last bits.
      EXPECT_NEAR(from_large(i, j), from_small(i, j), 20 * kEps);
    }
  }
}

// E⟨x_i, x_j⟩ = ρ and E‖x‖² = 1 over clouds. Var of the mean over a cloud is dominated by z_0:
// ρ‖z_0‖² has standard deviation ρ√(2/d); the rest adds less than 1/√(n d) each.
TEST(EquicorrelatedNoise, HasTheAskedCorrelationAndNorms) {
  constexpr std::size_t n = 200, d = 40, clouds = 200;
  constexpr double rho = 0.6;
  double correlation = 0.0, square = 0.0;
  for (std::size_t r = 0; r < clouds; ++r) {
    const EquicorrelatedNoise noise(n, d, Common::random, test::seed(), r);
    const TokenCloud cloud = noise.cloud(rho, Norm::gauss_per_d);
    for (std::size_t i = 0; i < n; i += 2) {
      const double product = cloud.norms[i] * cloud.norms[i + 1] *
                             dot(cloud.directions.row(i), cloud.directions.row(i + 1));
      correlation += product / (clouds * n / 2.0);
      square += cloud.norms[i] * cloud.norms[i] / (clouds * n / 2.0);
    }
  }
  const double sigma = std::sqrt((rho * rho * 2.0 / d + 4.0 / (n * d)) / clouds);
  EXPECT_NEAR(correlation, rho, test::kSigmas * sigma);
  EXPECT_NEAR(square, 1.0, test::kSigmas * sigma);
}

// Given |z_0|, the directions are exactly those of the model with |z_0| = 1 and
// ρ_eff = ρ|z_0|²/(ρ|z_0|² + 1 − ρ): the reason why fixing it loses nothing.
TEST(EquicorrelatedNoise, FixedCommonVectorIsTheRandomOneAtAnotherCorrelation) {
  const EquicorrelatedNoise random(30, 12, Common::random, test::seed(), 5);
  const EquicorrelatedNoise fixed(30, 12, Common::fixed, test::seed(), 5);
  EXPECT_NEAR(fixed.common_square(), 1.0, 1e-15 * 12);
  const double rho = 0.35;
  const double weight = rho * random.common_square();
  const TokenCloud a = random.cloud(rho, Norm::unit);
  const TokenCloud b = fixed.cloud(weight / (weight + 1.0 - rho), Norm::unit);
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_NEAR(a.directions(i, k), b.directions(i, k), 20 * 2.3e-16);
    }
  }
}

TEST(EquicorrelatedNoise, NormsFollowTheAskedUnit) {
  const EquicorrelatedNoise noise(10, 25, Common::random, test::seed(), 0);
  const TokenCloud per_d = noise.cloud(0.5, Norm::gauss_per_d);
  const TokenCloud gauss = noise.cloud(0.5, Norm::gauss);
  const TokenCloud unit = noise.cloud(0.5, Norm::unit);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_DOUBLE_EQ(gauss.norms[i], 5.0 * per_d.norms[i]);
    EXPECT_EQ(unit.norms[i], 1.0);
    EXPECT_EQ(unit.directions(i, 3), gauss.directions(i, 3));
  }
}

}  // namespace
}  // namespace dewpoint::tokens
