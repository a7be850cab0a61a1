#include "dewpoint/training/condensation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/vectors.hpp"
#include "support/matrices.hpp"

namespace dewpoint::training {
namespace {

using test::matrix_of;
using test::normal_matrix;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// A cosine of m coordinates has at most m + 4 roundings: two lengths, quotients and m products. Up
// to m = 60 that is below
constexpr double kCosineError = 64.0 * kEpsilon;

Parameters<double> random_parameters(std::size_t tokens, std::size_t width,
                                     const std::string& name) {
  Parameters<double> parameters;
  parameters.embedding = normal_matrix(tokens, width, name + "/W0");
  parameters.unembedding = normal_matrix(width, tokens, name + "/W1");
  parameters.query = normal_matrix(width, width, name + "/WQ");
  parameters.key = normal_matrix(width, width, name + "/WK");
  return parameters;
}

Condensation::Block block_of_query(const Matrix<double>& query) {
  Parameters<double> parameters(2, query.rows());
  parameters.query = query;
  return condensation_of(0.0, parameters).blocks.at(2);
}

Matrix<double> plain_cosines(const Matrix<double>& rows) {
  Matrix<double> cosines(rows.rows(), rows.rows());
  const auto dot = [&](std::size_t i, std::size_t j) {
    long double sum = 0.0L;
    for (std::size_t k = 0; k < rows.cols(); ++k) {
      sum += static_cast<long double>(rows(i, k)) * rows(j, k);
    }
    return sum;
  };
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < rows.rows(); ++j) {
      cosines(i, j) = static_cast<double>(dot(i, j) / std::sqrt(dot(i, i) * dot(j, j)));
    }
  }
  return cosines;
}

// A fingerprint of a unit that does not depend on the order of the others.
std::vector<double> sorted_row_sums(const Matrix<double>& cosines) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < cosines.rows(); ++i) {
    double sum = 0.0;
    for (const double cosine : cosines.row(i)) sum += cosine;
    sums.push_back(sum);
  }
  std::sort(sums.begin(), sums.end());
  return sums;
}

double mean_of_all(const Matrix<double>& matrix) {
  double sum = 0.0;
  for (std::size_t k = 0; k < matrix.size(); ++k) sum += matrix.data()[k];
  return sum / static_cast<double>(matrix.size());
}

Matrix<double> transposed(const Matrix<double>& m) {
  return matrix_of(m.cols(), m.rows(), [&](double i, double k) {
    return m(static_cast<std::size_t>(k), static_cast<std::size_t>(i));
  });
}

// Property (4): every unit is there once. A cosine has at most m + 4 roundings, a sum m of them.
TEST(CondensationOf, HoldsTheCosinesOfAllUnitsInSomeOrder) {
  constexpr std::size_t width = 40;
  const Parameters<double> p = random_parameters(4, width, "CondensationOf/order");
  const Condensation found = condensation_of(7.0, p);
  EXPECT_EQ(found.time, 7.0);
  const Matrix<double> units[] = {transposed(p.embedding), p.unembedding, p.query, p.key};
  const char* names[] = {"W0", "W1", "WQ", "WK"};
  ASSERT_EQ(found.blocks.size(), 4U);
  for (std::size_t b = 0; b < 4; ++b) {
    EXPECT_EQ(found.blocks[b].matrix, names[b]);
    const auto ours = sorted_row_sums(found.blocks[b].cosines);
    const auto plain = sorted_row_sums(plain_cosines(units[b]));
    for (std::size_t i = 0; i < width; ++i) {
      EXPECT_NEAR(ours[i], plain[i], width * (width + 4) * kEpsilon);
    }
  }
}

TEST(CondensationOf, IsSymmetricWithUnitDiagonal) {  // property (1)
  for (const auto& block :
       condensation_of(0.0, random_parameters(3, kMostUnits, "Condensation/symmetry")).blocks) {
    ASSERT_EQ(block.cosines.rows(), kMostUnits);
    for (std::size_t i = 0; i < kMostUnits; ++i) {
      EXPECT_EQ(block.cosines(i, i), 1.0);
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_EQ(block.cosines(i, j), block.cosines(j, i));
        EXPECT_LE(std::abs(block.cosines(i, j)), 1.0);
      }
    }
  }
}

// Signs of 30 units of one direction, mixed: after ordering one change of sign along each row.
TEST(CondensationOf, ShowsTwoBlocksWhereUnitsHaveOneDirection) {
  const auto block = block_of_query(matrix_of(30, 30, [](double i, double k) {
    const double sign = std::fmod(7.0 * i, 10.0) < 6.0 ? 1.0 : -1.0;
    return sign * (1.0 + i) * (k - 3.5);
  }));
  EXPECT_NEAR(block.rank_one, 1.0, kRankOneError);
  EXPECT_NEAR(block.mean_modulus, 1.0, kCosineError);
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t j = 0; j < 30; ++j) {
      const double expected = (i < 18) == (j < 18) ? 1.0 : -1.0;
      EXPECT_NEAR(block.cosines(i, j), expected, kCosineError) << i << ' ' << j;
    }
  }
}

// Bundles ±a and ±b, 70 degrees apart, of ten units each and different lengths.
TEST(CondensationOf, ShowsFourBlocksWhereUnitsHaveTwoDirections) {
  const auto block = block_of_query(matrix_of(40, 40, [](double i, double k) {
    const double places[] = {0.0, 70.0, 180.0, 250.0};
    const double angle = places[static_cast<int>(i) % 4] * std::numbers::pi / 180.0;
    const double length = std::fmod(i, 2.0) == 0.0 ? 3.0 : 1.0;
    return length * (k == 5.0 ? std::cos(angle) : k == 11.0 ? std::sin(angle) : 0.0);
  }));
  const double between = 70.0 * std::numbers::pi / 180.0;
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 40; ++j) {
      // Neighbouring bundles are 70 or 110 degrees apart, those after next opposite.
      const double expected[] = {1.0, std::cos(between), -1.0, std::cos(between)};
      const std::size_t apart = (i / 10 + 4 - j / 10) % 4;
      EXPECT_NEAR(apart % 2 == 0 ? block.cosines(i, j) : std::abs(block.cosines(i, j)),
                  expected[apart], kCosineError)
          << i << ' ' << j;
    }
  }
  // Of the pairs of different units 4 · 45 are equal, 2 · 100 opposite, 4 · 100 at ± cos 70°.
  const double mean = (4 * 45 + 2 * 100 + 400 * std::cos(between)) / (40.0 * 39.0 / 2.0);
  EXPECT_NEAR(block.mean_modulus, mean, kCosineError);
}

TEST(CondensationOf, AveragesManyUnitsWithoutChangingTheirMean) {  // property (3)
  constexpr std::size_t width = 2 * kMostUnits;
  const Matrix<double> query = normal_matrix(width, width, "CondensationOf/averages");
  const auto block = block_of_query(query);
  ASSERT_EQ(block.cosines.rows(), kMostUnits);
  ASSERT_EQ(block.cosines.cols(), kMostUnits);
  const Matrix<double> plain = plain_cosines(query);
  // Means of m² numbers in [−1, 1] with errors of m + 4 roundings.
  EXPECT_NEAR(mean_of_all(block.cosines), mean_of_all(plain), (width + 4) * kEpsilon);
  double moduli = -static_cast<double>(width);
  for (std::size_t k = 0; k < plain.size(); ++k) moduli += std::abs(plain.data()[k]);
  EXPECT_NEAR(block.mean_modulus, moduli / static_cast<double>(width * (width - 1)),
              2.0 * width * kEpsilon);
}

TEST(CondensationOf, PutsUnitsOfZeroLastWithoutCosine) {  // property (2)
  Matrix<double> query = normal_matrix(12, 12, "CondensationOf/zeros");
  for (const std::size_t zero : {0U, 5U}) {
    for (double& entry : query.row(zero)) entry = 0.0;
  }
  const auto block = block_of_query(query);
  for (std::size_t j = 0; j < 12; ++j) {
    EXPECT_EQ(block.cosines(10, j), 0.0);
    EXPECT_EQ(block.cosines(j, 11), 0.0);
    EXPECT_EQ(block.cosines(j, j), j < 10 ? 1.0 : 0.0);
  }
}

TEST(CondensationOf, HasNothingToSayAboutZerosAndSingleUnits) {
  const auto zeros = condensation_of(0.0, Parameters<double>(3, 8)).blocks.at(3);
  EXPECT_EQ(zeros.rank_one, 0.0);
  EXPECT_EQ(zeros.mean_modulus, 0.0);
  const auto single = condensation_of(0.0, random_parameters(3, 1, "CondensationOf/one")).blocks;
  EXPECT_TRUE(std::isnan(single[0].mean_modulus));
  EXPECT_DOUBLE_EQ(single[0].rank_one, 1.0);
  EXPECT_EQ(single[2].cosines(0, 0), 1.0);
}

TEST(CondensationOf, SurvivesVeryShortAndVeryLongUnits) {
  const auto block = block_of_query(matrix_of(3, 3, [](double i, double k) {
    return (k == 1.0 ? -1.0 : 1.0) * (i == 0.0 ? 1e-200 : i == 1.0 ? 1.0 : 1e150);
  }));
  EXPECT_NEAR(block.mean_modulus, 1.0, kCosineError);
}

// Of WQ and WK beyond 64 units the leading value comes from a Lanczos iteration.
TEST(CondensationOf, HasTheRankOneFractionOfAWholeDecomposition) {
  constexpr std::size_t width = 150;
  Matrix<double> query = normal_matrix(width, width, "CondensationOf/rank one");
  for (const double planted : {0.0, 0.1, 10.0}) {
    for (std::size_t k = 0; k < width; ++k) query(k, 3) += planted;
    const std::vector<double> sigma = singular_values(query);
    EXPECT_NEAR(block_of_query(query).rank_one, sigma[0] * sigma[0] / inner(sigma, sigma),
                kRankOneError);
  }
}

// Directions drawn uniformly from a sphere in n dimensions have
//
//     E|cos| = Γ(n/2) / (√π Γ((n + 1)/2)),   Var|cos| = 1/n − (E|cos|)²,
//
// and pairs are uncorrelated, so the variance of the mean is that over the number of pairs. The
// mean is not normal: its largest part is a χ² over the harmonics of degree two (9 for n = 4),
// whose tail beyond twelve standard deviations has probability 1e-9.
TEST(CondensationOf, StartsFromCosinesOfIndependentDirections) {
  constexpr std::size_t width = 256;
  const Condensation found =
      condensation_of(0.0, random_parameters(4, width, "CondensationOf/start"));
  const auto expect = [&](std::size_t block, double n) {
    const double mean =
        std::exp(std::lgamma(n / 2.0) - std::lgamma((n + 1.0) / 2.0)) / std::sqrt(std::numbers::pi);
    const double pairs = 0.5 * width * (width - 1);
    const double deviation = std::sqrt((1.0 / n - mean * mean) / pairs);
    EXPECT_NEAR(found.blocks[block].mean_modulus, mean, 12.0 * deviation) << "n = " << n;
  };
  expect(0, 4.0);
  expect(1, 4.0);
  expect(2, 256.0);
  expect(3, 256.0);
}

}  // namespace
}  // namespace dewpoint::training
