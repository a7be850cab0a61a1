#include "dewpoint/observables/effective_rank.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/test_seed.hpp"

namespace dewpoint::observables {
namespace {

/// Rows ±√s_k e_k, 2d of them: their mean is 0 and their covariance diagonal with shares s_k.
Matrix<double> cross(const std::vector<double>& shares) {
  Matrix<double> rows(2 * shares.size(), shares.size());
  for (std::size_t k = 0; k < shares.size(); ++k) {
    rows(2 * k, k) = std::sqrt(shares[k]);
    rows(2 * k + 1, k) = -std::sqrt(shares[k]);
  }
  return rows;
}

Matrix<double> gaussian(std::size_t rows, std::size_t d, const char* name) {
  Matrix<double> x(rows, d);
  test::stream(name).normals(0, {x.data(), x.size()});
  return x;
}

// Property (3).
TEST(EffectiveRank, IsTheExponentialOfTheEntropyOfTheSpectrum) {
  const std::vector<double> shares = {0.5, 0.25, 0.125, 0.125};
  double entropy = 0.0;
  for (const double share : shares) entropy -= share * std::log(share);
  EXPECT_NEAR(effective_rank(cross(shares)), std::exp(entropy),
              effective_rank_error(8, 4) * std::exp(entropy));
  for (const std::size_t count : {1U, 2U, 7U}) {
    std::vector<double> equal(9, 0.0);
    std::fill_n(equal.begin(), count, 3.0);
    EXPECT_NEAR(effective_rank(cross(equal)), static_cast<double>(count),
                effective_rank_error(18, 9) * static_cast<double>(count));
  }
}

// Property (1): fewer rows than dimensions span rows − 1 of them at most; equal rows none.
TEST(EffectiveRank, IsBoundedByDimensionsAndByRows) {
  const double few = effective_rank(gaussian(5, 40, "EffectiveRank/few"));
  EXPECT_GE(few, 1.0);
  EXPECT_LE(few, 4.0 * (1.0 + effective_rank_error(5, 40)));
  const double many = effective_rank(gaussian(400, 6, "EffectiveRank/many"));
  EXPECT_LE(many, 6.0 * (1.0 + effective_rank_error(400, 6)));
  EXPECT_EQ(effective_rank(Matrix<double>(4, 3)), 0.0);
}

// Property (2): a shift of size 1, a factor, and a rotation of the first two coordinates. A shift
// leaves its own rounding in every number, 2ε of numbers of size 1 to 4.
TEST(EffectiveRank, DoesNotSeeShiftsScalesAndRotations) {
  const Matrix<double> rows = gaussian(60, 5, "EffectiveRank/rotated");
  Matrix<double> moved(60, 5);
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t k = 0; k < 5; ++k) moved(i, k) = 7.0 * rows(i, k) + 1.0;
    const double x = moved(i, 0), y = moved(i, 1);
    moved(i, 0) = 0.6 * x - 0.8 * y;
    moved(i, 1) = 0.8 * x + 0.6 * y;
  }
  const double rank = effective_rank(rows);
  EXPECT_NEAR(effective_rank(moved), rank, 4.0 * effective_rank_error(60, 5) * rank);
}

// Isotropic Gaussian rows: the mean entropy of the spectrum is log d − d/(2r) [Page 1993], up to
// terms of order 1/r for real numbers and for the mean that is taken off; single draws scatter by
// less than 1/r.
TEST(EffectiveRank, OfASampleIsTooSmallByHalfTheRatioOfDimensionToRows) {
  constexpr std::size_t rows = 1024, d = 64;
  const double ratio = static_cast<double>(d) / rows;
  const double logarithm = std::log(effective_rank(gaussian(rows, d, "EffectiveRank/sample")));
  EXPECT_NEAR(logarithm, std::log(64.0) - 0.5 * ratio, test::kSigmas / rows);
}

}  // namespace
}  // namespace dewpoint::observables
