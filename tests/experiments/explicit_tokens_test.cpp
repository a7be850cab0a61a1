#include "dewpoint/experiments/explicit_tokens.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

// A cosine or a square of n coordinates: n products and a few more roundings, twice.
double rounding(std::size_t n) {
  return 2.0 * std::numeric_limits<double>::epsilon() * (static_cast<double>(n) + 4.0);
}

TEST(ExplicitTokens, ASimplexHasOneCosineAndOneNorm) {
  for (const std::size_t extra : {0U, 3U}) {
    const Matrix<double> tokens = simplex_tokens(12, 0.3, 2.5, 12 + extra);
    ASSERT_EQ(tokens.cols(), 12 + extra);
    const Interval cosines = cosine_interval(tokens), squares = square_interval(tokens);
    EXPECT_NEAR(cosines.smallest, 0.3, rounding(12));
    EXPECT_NEAR(cosines.largest, 0.3, rounding(12));
    EXPECT_NEAR(squares.smallest, 2.5, 2.5 * rounding(12));
    EXPECT_NEAR(squares.largest, 2.5, 2.5 * rounding(12));
  }
  EXPECT_EQ(simplex_tokens(7, 0.1).cols(), 7U);
}

TEST(ExplicitTokens, TwoLevelTokensHaveTwoCosines) {
  const Matrix<double> tokens = two_level_tokens({20, 5, 0.8, 0.2});
  const ClusterCosines cosines = cluster_cosines(tokens, 5);
  EXPECT_NEAR(cosines.inner.smallest, 0.8, rounding(25));
  EXPECT_NEAR(cosines.inner.largest, 0.8, rounding(25));
  EXPECT_NEAR(cosines.outer.smallest, 0.2, rounding(25));
  EXPECT_NEAR(cosines.outer.largest, 0.2, rounding(25));
}

// A cosine of two Gaussian tokens has a standard deviation of at most (1 + ρ)/√d ≤ 2/√d around a
// mean that is off by at most 2/d; with 435 pairs kSigmas of them are exceeded with probability
// 1e-5.
TEST(ExplicitTokens, GaussianTokensAreAlmostASimplex) {
  constexpr std::size_t n = 30, d = 4096;
  const Matrix<double> tokens = gaussian_tokens(n, d, 0.4, test::seed(), 3);
  const double allowed = test::kSigmas * 2.0 / std::sqrt(double{d}) + 2.0 / d;
  const Interval cosines = cosine_interval(tokens), squares = square_interval(tokens);
  EXPECT_NEAR(cosines.smallest, 0.4, allowed);
  EXPECT_NEAR(cosines.largest, 0.4, allowed);
  EXPECT_LT(cosines.smallest, cosines.largest);
  EXPECT_NEAR(squares.smallest, 1.0, allowed);
  EXPECT_NEAR(squares.largest, 1.0, allowed);
  EXPECT_LT(squares.smallest, squares.largest);
}

TEST(ExplicitTokens, GaussianClustersScatterAroundBothCosines) {
  constexpr std::size_t d = 4096;
  const Clusters clusters = {24, 6, 0.7, 0.2};
  const ClusterCosines cosines =
      cluster_cosines(clustered_tokens(clusters, d, test::seed(), 1), clusters.size);
  const double allowed = test::kSigmas * 2.0 / std::sqrt(double{d}) + 2.0 / d;
  EXPECT_NEAR(cosines.inner.smallest, 0.7, allowed);
  EXPECT_NEAR(cosines.inner.largest, 0.7, allowed);
  EXPECT_NEAR(cosines.outer.smallest, 0.2, allowed);
  EXPECT_NEAR(cosines.outer.largest, 0.2, allowed);
}

TEST(ExplicitTokens, AReplicaCanBeMadeAgain) {
  const Matrix<double> first = gaussian_tokens(5, 4, 0.5, 9, 2);
  const Matrix<double> again = gaussian_tokens(5, 4, 0.5, 9, 2);
  const Matrix<double> other = gaussian_tokens(5, 4, 0.5, 9, 3);
  for (std::size_t k = 0; k < first.size(); ++k) EXPECT_EQ(first.data()[k], again.data()[k]);
  EXPECT_NE(first(0, 0), other(0, 0));
}

}  // namespace
}  // namespace dewpoint::experiments
