#include "dewpoint/core/centred_cloud.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dewpoint/core/token_cloud.hpp"
#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();

// n unit vectors within an angle of about `spread` of each other.
Matrix<double> narrow_cloud(std::size_t n, std::size_t d, double spread) {
  const Stream stream = test::stream("NarrowCloud");
  Matrix<double> x(n, d);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < d; ++k) {
      x(i, k) = 1.0 + spread * stream.normal(i * d + k);
    }
  }
  return split_norms(std::move(x)).directions;
}

double true_gap(const Matrix<double>& y, std::size_t i, std::size_t j) {
  long double sum = 0;
  for (std::size_t k = 0; k < y.cols(); ++k) {
    const long double difference = static_cast<long double>(y(i, k)) - y(j, k);
    sum += difference * difference;
  }
  return static_cast<double>(sum / 2);
}

// Offsets are rounded once (relative ε/2 each), products of length d once per addition, all
// relative to the size of the cloud: (d + 4) ε times the largest ½‖o‖², a bound for every single
// gap. The double unit vectors themselves are off by 2⁻⁵³: ‖o‖ 2⁻⁵², which matters below spreads of
// 1e-8.
TEST(CentredCloud, KeepsGapsToTheSizeOfTheCloudHoweverNarrow) {
  for (const double spread : {1.0, 1e-2, 1e-4, 1e-6}) {
    const Matrix<double> y = narrow_cloud(40, 24, spread);
    const CentredCloud cloud = CentredCloud::of_unit_vectors(y);
    Matrix<float> gaps(40, 40);
    cloud.gaps({0, 40}, {0, 40}, gaps);
    double largest = 0.0;
    for (std::size_t i = 0; i < 40; ++i)
      largest = std::max(largest, static_cast<double>(cloud.half_squares()[i]));
    const double tolerance = (24 + 4) * kEps * largest + 4.0 * 0x1p-52 * std::sqrt(largest);
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(gaps(i, i), 0.0F);
      for (std::size_t j = 0; j < 40; ++j) EXPECT_NEAR(gaps(i, j), true_gap(y, i, j), tolerance);
    }
  }
}

TEST(CentredCloud, GivesTheSameGapsBlockByBlock) {
  const CentredCloud cloud = CentredCloud::of_unit_vectors(narrow_cloud(30, 7, 0.3));
  Matrix<float> whole(30, 30), block(5, 9);
  cloud.gaps({0, 30}, {0, 30}, whole);
  cloud.gaps({10, 15}, {12, 21}, block);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 9; ++j) {
      EXPECT_NEAR(block(i, j), whole(10 + i, 12 + j), 10 * kEps);
    }
  }
  EXPECT_EQ(block(2, 0), 0.0F);  // token 12 with itself
}

// base + deviations against the plain normalisation in long double. The float32 path rounds each
// offset a few times relative to the size of the deviations.
TEST(CentredCloud, NormalisesDeviationsWithoutCancellation) {
  const std::size_t n = 25, d = 16;
  for (const double spread : {0.5, 1e-3, 1e-6}) {
    const Stream stream = test::stream("Deviations");
    std::vector<double> base(d);
    stream.normals(0, base);
    Matrix<double> deviations(n, d);
    Matrix<float> deviations32(n, d);
    for (std::size_t k = 0; k < deviations.size(); ++k) {
      deviations32.data()[k] = static_cast<float>(spread * stream.normal(100 + k));
      deviations.data()[k] = deviations32.data()[k];
    }
    std::vector<std::vector<long double>> direction(n, std::vector<long double>(d));
    for (std::size_t i = 0; i < n; ++i) {
      long double square = 0;
      for (std::size_t k = 0; k < d; ++k) {
        direction[i][k] = static_cast<long double>(base[k]) + deviations(i, k);
        square += direction[i][k] * direction[i][k];
      }
      for (auto& x : direction[i]) x /= std::sqrt(square);
    }
    const CentredCloud from32 = CentredCloud::of_deviations(base, deviations32.view());
    const CentredCloud from64 = CentredCloud::of_deviations(base, deviations.view());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        for (std::size_t k = 0; k < d; ++k) {
          const auto truth = static_cast<double>(direction[i][k] - direction[j][k]);
          const double got32 = static_cast<double>(from32.offsets()(i, k)) - from32.offsets()(j, k);
          const double got64 = static_cast<double>(from64.offsets()(i, k)) - from64.offsets()(j, k);
          // Offsets are at most about 6 spread/‖base‖; float32 rounds each once, and float32
          // arithmetic d + 8 times more.
          const double size = 6.0 * spread / 2.0;
          EXPECT_NEAR(got64, truth, 2 * kEps * size);
          EXPECT_NEAR(got32, truth, (d + 10) * kEps * size);
        }
      }
    }
  }
}

TEST(CentredCloud, TakesDirectionsOnAllSidesOfTheOrigin) {
  Matrix<double> square(4, 2);
  square(0, 0) = 2.0;
  square(1, 0) = -2.0;
  square(2, 1) = 3.0;
  square(3, 1) = -3.0;
  const std::vector<double> origin(2, 0.0);
  const CentredCloud cloud = CentredCloud::of_deviations(origin, square.view());
  Matrix<float> gaps(4, 4);
  cloud.gaps({0, 4}, {0, 4}, gaps);
  EXPECT_NEAR(gaps(0, 1), 2.0, 4 * kEps);
  EXPECT_NEAR(gaps(0, 2), 1.0, 4 * kEps);
}

// x' = 0 points nowhere.
TEST(CentredCloud, IsEmptyWhereAVectorIsZero) {
  const Matrix<double> still(3, 2);
  const std::vector<double> origin(2, 0.0);
  EXPECT_EQ(CentredCloud::of_deviations(origin, still.view()).size(), 0U);
}

// Two tokens of a wide cloud, 1e-4 apart: a gap of 5e-9, which products tell to the rounding of 1.
// Offsets are rounded to 2^-24 of their size, at most 1 here: e is off by 2 of those, Δ by 2·2/1e-4
// times that, relative.
TEST(CentredCloud, TellsNearGapsOneByOne) {
  Matrix<double> y(4, 2);
  const double angles[] = {0.3, 0.3001, 2.4, 4.5};
  for (std::size_t i = 0; i < 4; ++i) {
    y(i, 0) = std::cos(angles[i]);
    y(i, 1) = std::sin(angles[i]);
  }
  const CentredCloud cloud = CentredCloud::of_unit_vectors(y);
  const double exact = 1.0 - std::cos(1e-4);
  EXPECT_LT(exact, cloud.resolution());
  EXPECT_NEAR(cloud.near_gap(0, 1), 2.0 * std::pow(std::sin(0.5e-4), 2.0),
              4.0 / 1e-4 * 0x1p-24 * 5e-9);
}

TEST(CentredCloud, MeanGapIsTheMeanOfTheGaps) {
  const Matrix<double> y = narrow_cloud(33, 9, 0.4);
  const CentredCloud cloud = CentredCloud::of_unit_vectors(y);
  double sum = 0.0;
  for (std::size_t i = 0; i < 33; ++i) {
    for (std::size_t j = i + 1; j < 33; ++j) sum += true_gap(y, i, j);
  }
  const double mean = sum / (33 * 16);
  // Only the rounding of the offsets to float32 remains, averaged over 33·9 of them.
  EXPECT_NEAR(cloud.mean_gap(), mean, 2 * kEps * mean);
}

TEST(TokenCloud, SplitsTokensIntoDirectionsAndNorms) {
  Matrix<double> x(2, 2);
  x(0, 0) = 3.0;
  x(0, 1) = 4.0;
  x(1, 1) = -2.0;
  TokenCloud cloud = split_norms(x);
  EXPECT_DOUBLE_EQ(cloud.norms[0], 5.0);
  EXPECT_DOUBLE_EQ(cloud.directions(0, 1), 0.8);
  EXPECT_DOUBLE_EQ(cloud.directions(1, 1), -1.0);
  set_unit_norms(cloud);
  EXPECT_EQ(cloud.norms[0], 1.0);
}

// Squares of 1e-160 are denormal, of 1e-310 zero, of 1e300 infinite. Denormal coordinates are given
// to the spacing of denormal numbers, here 4.9e-324/1e-310 of them.
TEST(TokenCloud, SplitsTokensOfAnySize) {
  for (const double scale : {1e-310, 1e-160, 1e-30, 1.0, 1e160, 1e300, 1e307}) {
    Matrix<double> x(2, 3);
    const double row[] = {1.0, -2.0, 2.0};
    for (std::size_t k = 0; k < 3; ++k) {
      x(0, k) = scale * row[k];
      x(1, k) = row[k];
    }
    const TokenCloud cloud = split_norms(x);
    const double given = scale < 1e-300 ? 5e-14 : 0x1p-51;
    EXPECT_NEAR(cloud.norms[0] / scale, 3.0, 3.0 * given) << scale;
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(cloud.directions(0, k), row[k] / 3.0, given) << scale;
    }
  }
  Matrix<double> least(1, 2);
  least(0, 1) = -std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(split_norms(least).directions(0, 1), -1.0);
}

}  // namespace
}  // namespace dewpoint
