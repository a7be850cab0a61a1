#include "dewpoint/training/leading_pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"

namespace dewpoint::training {
namespace {

using test::matrix_of;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

double product_residual(const Matrix<double>& gram, const LeadingPair& pair, std::size_t k) {
  double sum = 0.0;
  for (std::size_t i = 0; i < gram.rows(); ++i) {
    double entry = -pair.values[k] * pair.vectors[k][i];
    for (std::size_t j = 0; j < gram.rows(); ++j) entry += gram(i, j) * pair.vectors[k][j];
    sum += entry * entry;
  }
  return std::sqrt(sum);
}

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Matrix<double> random_gram(std::size_t side) {
  const Matrix<double> rows = test::normal_matrix(side, side, "LeadingPair/gram");
  return matrix_of(side, side, [&](double i, double j) {
    double sum = 0.0;
    for (std::size_t k = 0; k < side; ++k) {
      sum += rows(static_cast<std::size_t>(i), k) * rows(static_cast<std::size_t>(j), k);
    }
    return sum;
  });
}

/// The smallest first.
std::vector<double> all_eigenvalues(const Matrix<double>& gram) {
  const auto values = test::jacobi_eigenvalues(test::in_long_double(gram));
  return {values.begin(), values.end()};
}

// 64 is the last size that is decomposed as a whole. Vectors are combinations of a basis that is
// orthonormal to a few roundings per coordinate.
TEST(LeadingPair, IsThatOfTheWholeDecomposition) {
  for (const std::size_t side : {2U, 64U, 65U, 200U}) {
    const Matrix<double> gram = random_gram(side);
    const LeadingPair pair = leading_pair(gram);
    const double roundings = 8.0 * static_cast<double>(side) * kEpsilon;
    const std::vector<double> all = all_eigenvalues(gram);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(pair.values[k], all[side - 1 - k], kLeadingValueError * all.back());
      EXPECT_LE(product_residual(gram, pair, k), kLeadingValueError * all.back());
      EXPECT_NEAR(inner(pair.vectors[k], pair.vectors[k]), 1.0, roundings);
    }
    EXPECT_NEAR(inner(pair.vectors[0], pair.vectors[1]), 0.0, roundings);
    EXPECT_NEAR(pair.trace, std::accumulate(all.begin(), all.end(), 0.0), roundings * pair.trace);
  }
}

// Scores of rank one leave nothing for the second direction; equal values leave any.
TEST(LeadingPair, EndsForMatricesOfRankOneAndForMultiplesOfOne) {
  for (const std::size_t side : {10U, 100U}) {
    const LeadingPair one =
        leading_pair(matrix_of(side, side, [](double i, double j) { return (1 + i) * (1 + j); }));
    EXPECT_NEAR(one.values[0], one.trace, kLeadingValueError * one.trace);
    EXPECT_NEAR(one.values[1], 0.0, kLeadingValueError * one.trace);
    const LeadingPair equal = leading_pair(
        matrix_of(side, side, [](double i, double j) { return i == j ? 1e-30 : 0.0; }));
    EXPECT_NEAR(equal.values[1] / 1e-30, 1.0, kLeadingValueError);
  }
}

TEST(LeadingPair, IsZeroWhereThereIsNothing) {
  for (const std::size_t side : {1U, 3U, 70U}) {
    const LeadingPair pair = leading_pair(Matrix<double>(side, side));
    EXPECT_EQ(pair.values[0], 0.0);
    EXPECT_EQ(pair.vectors[0], std::vector<double>(side, 0.0));
  }
  Matrix<double> broken = random_gram(3);
  broken(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(leading_pair(broken).values[0], 0.0);
  Matrix<double> single(1, 1);
  single(0, 0) = 4.0;
  EXPECT_DOUBLE_EQ(leading_pair(single).values[0], 4.0);
  EXPECT_EQ(leading_pair(single).vectors[1], std::vector<double>{0.0});
}

}  // namespace
}  // namespace dewpoint::training
