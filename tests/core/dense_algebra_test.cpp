// Decompositions against rotations in long double, against spectra known in closed form, and
// against what defines them.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/core/dense_algebra.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"

namespace dewpoint {
namespace {

using test::length;
using test::matrix_of;
using test::normal_matrix;
using test::times;
using test::transposed;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Singular values from the eigenvalues of AᵀA or AAᵀ in long double, the largest first. Those
/// below 1e-9 of the largest are lost in its rounding.
std::vector<double> reference_singular_values(const Matrix<double>& a) {
  const auto wide = test::in_long_double(a);
  const auto gram =
      a.rows() < a.cols() ? times(wide, transposed(wide)) : times(transposed(wide), wide);
  std::vector<double> values;
  for (const long double square : test::jacobi_eigenvalues(gram)) {
    values.push_back(static_cast<double>(std::sqrt(std::max(0.0L, square))));
  }
  std::reverse(values.begin(), values.end());
  return values;
}

double norm(const Matrix<double>& a) { return reference_singular_values(a).front(); }

Matrix<double> random_symmetric(std::size_t n) {
  return test::symmetric_part(normal_matrix(n, n, "DenseAlgebra/symmetric"));
}

/// QΛQᵀ with the eigenvalues 10^{−k/2}, each twice.
Matrix<double> graded_symmetric(std::size_t n) {
  const auto basis =
      test::orthonormal_columns(test::in_long_double(normal_matrix(n, n, "DenseAlgebra/graded")));
  return matrix_of(n, n, [&](double i, double j) {
    long double sum = 0.0L;
    for (std::size_t k = 0; k < n; ++k) {
      sum += std::pow(10.0L, -0.5L * static_cast<long double>(k / 2)) *
             basis(static_cast<std::size_t>(i), k) * basis(static_cast<std::size_t>(j), k);
    }
    return static_cast<double>(sum);
  });
}

std::vector<Matrix<double>> symmetric_examples() {
  std::vector<Matrix<double>> examples;
  for (const std::size_t n : {1, 2, 5, 40}) examples.push_back(random_symmetric(n));
  for (const std::size_t n : {4, 30}) examples.push_back(graded_symmetric(n));
  examples.push_back(matrix_of(20, 20, [](double i, double j) { return i == j ? 3.0 : 0.0; }));
  examples.push_back(matrix_of(20, 20, [](double i, double j) { return (1 + i) * (1 + j); }));
  examples.emplace_back(6, 6);
  return examples;
}

// ---- linear systems ----------------------------------------------------------------------------

// Properties (1) of lu_solve and lu_inverse.
TEST(LuSolve, LeavesASmallResidual) {
  for (const std::size_t n : {1, 3, 8, 40}) {
    const Matrix<double> a = normal_matrix(n, n, "LuSolve/matrix");
    std::vector<double> b = test::column(normal_matrix(n, 1, "LuSolve/right"), 0);
    const std::vector<double> x = lu_solve(a, b);
    const std::vector<double> image = times(a, x);
    for (std::size_t i = 0; i < n; ++i) b[i] -= image[i];
    EXPECT_LE(length(b), dense_error(n) * norm(a) * length(x)) << n;

    const Matrix<double> inverse = lu_inverse(a);
    Matrix<double> product = times(a, inverse);
    for (std::size_t i = 0; i < n; ++i) product(i, i) -= 1.0;
    EXPECT_LE(norm(product), static_cast<double>(n) * dense_error(n) * norm(a) * norm(inverse));
  }
}

TEST(LuSolve, ReadsABlockOfALargerMatrix) {
  const Matrix<double> a = normal_matrix(9, 11, "LuSolve/block");
  const auto block = a.view().block({2, 6}, {5, 9});
  const std::vector<double> b{1.0, -2.0, 0.5, 3.0};
  EXPECT_EQ(lu_solve(block, b), lu_solve(matrix_of(4, 4,
                                                   [&](double i, double j) {
                                                     return block(static_cast<std::size_t>(i),
                                                                  static_cast<std::size_t>(j));
                                                   }),
                                         b));
}

// ---- symmetric matrices ------------------------------------------------------------------------

// Sums of products of integers below 2⁵³: exact.
TEST(SmallerGram, IsTheProductOfTheShorterSide) {
  const Matrix<double> wide = matrix_of(3, 7, [](double i, double k) { return 1 + i * k - k; });
  EXPECT_EQ(test::largest_difference(smaller_gram(wide), times(wide, transposed(wide))), 0.0);
  const Matrix<double> tall = transposed(wide);
  EXPECT_EQ(test::largest_difference(smaller_gram(tall), smaller_gram(wide)), 0.0);
}

// Property (1). The reference is exact beside the bound.
TEST(SymmetricEigenvalues, AreThoseOfJacobisRotations) {
  for (const Matrix<double>& a : symmetric_examples()) {
    const std::size_t n = a.rows();
    const std::vector<double> found = symmetric_eigenvalues(a);
    const auto expected = test::jacobi_eigenvalues(test::in_long_double(a));
    const double bound = dense_error(n) * norm(a);
    ASSERT_EQ(found.size(), n);
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_NEAR(found[k], static_cast<double>(expected[k]), bound) << n << ' ' << k;
    }
  }
}

// The second difference with fixed ends: 2 − 2cos(kπ/(n + 1)), k = 1 .. n.
TEST(SymmetricEigenvalues, OfTheSecondDifferenceAreKnown) {
  constexpr std::size_t n = 200;
  const std::vector<double> found = symmetric_eigenvalues(matrix_of(n, n, [](double i, double j) {
    return i == j ? 2.0 : std::abs(i - j) == 1.0 ? -1.0 : 0.0;
  }));
  for (std::size_t k = 0; k < n; ++k) {
    const double angle = static_cast<double>(k + 1) * std::numbers::pi / (n + 1.0);
    EXPECT_NEAR(found[k], 2.0 - 2.0 * std::cos(angle), 4.0 * dense_error(n));
  }
}

TEST(SymmetricEigenvalues, ReadTheLowerTriangleOnly) {
  Matrix<double> a = random_symmetric(12);
  const std::vector<double> before = symmetric_eigenvalues(a);
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = i + 1; j < 12; ++j) a(i, j) = 1e3;
  }
  EXPECT_EQ(symmetric_eigenvalues(a), before);
}

TEST(SymmetricEigenvalues, AreUnknownWhereAnEntryIsNotFinite) {
  for (const double broken : {kNaN, std::numeric_limits<double>::infinity()}) {
    Matrix<double> a(3, 3);
    a(1, 1) = broken;
    for (const double value : symmetric_eigenvalues(a)) EXPECT_TRUE(std::isnan(value));
    for (const double value : symmetric_eigen(a).values) EXPECT_TRUE(std::isnan(value));
    for (const double value : symmetric_exponential(a, 1.0, std::vector<double>(3))) {
      EXPECT_TRUE(std::isnan(value));
    }
  }
}

// Properties (1), (2), (3).
TEST(SymmetricEigen, HasOrthonormalVectorsThatAreOnlyStretched) {
  for (const Matrix<double>& a : symmetric_examples()) {
    const std::size_t n = a.rows();
    const SymmetricEigen found = symmetric_eigen(a);
    const double bound = dense_error(n) * norm(a);
    const std::vector<double> values = symmetric_eigenvalues(a);
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_NEAR(found.values[k], values[k], 2.0 * bound);
      const std::vector<double> v = test::column(found.vectors, k);
      std::vector<double> image = times(a, v);
      for (std::size_t i = 0; i < n; ++i) image[i] -= found.values[k] * v[i];
      EXPECT_LE(length(image), bound) << n << ' ' << k;
    }
    Matrix<double> overlaps = times(transposed(found.vectors), found.vectors);
    for (std::size_t k = 0; k < n; ++k) overlaps(k, k) -= 1.0;
    EXPECT_LE(test::largest(overlaps), dense_error(n)) << n;
  }
}

// Property (1), and e^{t(0 1; 1 0)} = (cosh t, sinh t; sinh t, cosh t).
TEST(SymmetricExponential, IsAFlow) {
  Matrix<double> swap(2, 2);
  swap(0, 1) = swap(1, 0) = 1.0;
  const std::vector<double> turned =
      symmetric_exponential(swap, 1.5, std::vector<double>{1.0, 0.0});
  const double bound = dense_error(2) * 2.5 * std::exp(1.5);
  EXPECT_NEAR(turned[0], std::cosh(1.5), bound);
  EXPECT_NEAR(turned[1], std::sinh(1.5), bound);

  const Matrix<double> a = random_symmetric(15);
  const std::vector<double> x = test::column(normal_matrix(15, 1, "SymmetricExponential"), 0);
  const std::vector<double> whole = symmetric_exponential(a, 0.7, x);
  const std::vector<double> halves =
      symmetric_exponential(a, 0.3, symmetric_exponential(a, 0.4, x));
  const std::vector<double> resting = symmetric_exponential(a, 0.0, x);
  const double growth = std::exp(0.7 * symmetric_eigenvalues(a).back());
  const double error = dense_error(15) * (0.7 * norm(a) + 1.0) * growth * length(x);
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_NEAR(whole[i], halves[i], 2.0 * error);
    EXPECT_NEAR(resting[i], x[i], dense_error(15) * length(x));
  }
}

// ---- any square matrix -------------------------------------------------------------------------

/// Those above the real axis, and the real ones, by their angle.
std::vector<Complex> upper_half(std::vector<Complex> values) {
  std::erase_if(values, [](Complex z) { return z.imag() < 0.0; });
  std::sort(values.begin(), values.end(),
            [](Complex a, Complex b) { return std::arg(a) < std::arg(b); });
  return values;
}

// A turn of n places: the n-th roots of 1. Its matrix is orthogonal, so all are well conditioned.
TEST(GeneralEigenvalues, OfATurnAreTheRootsOfOne) {
  constexpr std::size_t n = 9;
  const auto found = general_eigenvalues(
      matrix_of(n, n, [](double i, double j) { return j == i + 1 || j == i - 8 ? 1.0 : 0.0; }));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), n);
  const std::vector<Complex> above = upper_half(*found);
  ASSERT_EQ(above.size(), 5u);  // property (1)
  for (std::size_t k = 0; k < above.size(); ++k) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(k) / n;
    EXPECT_LE(std::abs(above[k] - std::polar(1.0, angle)), dense_error(n)) << k;
  }
}

// Eigenvalues of a symmetric matrix are as well conditioned for one method as for the other.
TEST(GeneralEigenvalues, OfASymmetricMatrixAreReal) {
  const Matrix<double> a = random_symmetric(20);
  const auto values = general_eigenvalues(a);
  ASSERT_TRUE(values);
  std::vector<double> found;
  for (const Complex& value : *values) {
    EXPECT_NEAR(value.imag(), 0.0, dense_error(20) * norm(a));
    found.push_back(value.real());
  }
  std::sort(found.begin(), found.end());
  const std::vector<double> expected = symmetric_eigenvalues(a);
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_NEAR(found[k], expected[k], 2.0 * dense_error(20) * norm(a));
  }
}

TEST(GeneralEigenvalues, AreAbsentWhereAnEntryIsNotFinite) {
  for (const std::size_t n : {1, 4}) {
    Matrix<double> a(n, n);
    a(0, 0) = kNaN;
    EXPECT_FALSE(general_eigenvalues(a).has_value());
    EXPECT_FALSE(eigen_modes(a).has_value());
  }
}

// Properties (1), (2), and the sum of the modes. ‖right‖ is at most √n, and `left` is its inverse.
TEST(EigenModes, AddUpToTheMatrix) {
  for (const std::size_t n : {2, 5, 12}) {
    const Matrix<double> a = normal_matrix(n, n, "EigenModes");
    const auto modes = eigen_modes(a);
    ASSERT_TRUE(modes);
    double left = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      double residual = 0.0, size = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        Complex image = -modes->values[k] * modes->right(i, k);
        for (std::size_t j = 0; j < n; ++j) image += a(i, j) * modes->right(j, k);
        residual += std::norm(image);
        size += std::norm(modes->right(i, k));
        left += std::norm(modes->left(k, i));
      }
      EXPECT_LE(std::sqrt(residual), dense_error(n) * norm(a)) << n << ' ' << k;
      EXPECT_NEAR(size, 1.0, dense_error(n));
    }
    const double sides = static_cast<double>(n), condition = std::sqrt(sides * left);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        Complex sum = 0.0, overlap = 0.0;
        for (std::size_t k = 0; k < n; ++k) {
          sum += modes->values[k] * modes->right(i, k) * modes->left(k, j);
          overlap += modes->left(i, k) * modes->right(k, j);
        }
        EXPECT_LE(std::abs(overlap - (i == j ? 1.0 : 0.0)), sides * dense_error(n) * condition);
        EXPECT_LE(std::abs(sum - a(i, j)), 2.0 * sides * dense_error(n) * norm(a) * condition);
      }
    }
  }
}

// ---- any matrix --------------------------------------------------------------------------------

// Property (1). Squares in long double lose what is below √(5e-20) = 2e-10 of the largest, so only
// matrices whose singular values are larger, or are known.
TEST(SingularValues, AreTheRootsOfTheEigenvaluesOfTheGramMatrix) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 8}, {4, 60}, {60, 4}, {17, 20}, {40, 40}}) {
    const Matrix<double> a = normal_matrix(static_cast<std::size_t>(rows),
                                           static_cast<std::size_t>(cols), "SingularValues");
    const std::vector<double> found = singular_values(a), expected = reference_singular_values(a);
    ASSERT_EQ(found.size(), std::min(a.rows(), a.cols()));
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_NEAR(found[k], expected[k], dense_error(std::max(a.rows(), a.cols())) * expected[0]);
    }
  }
}

// Symmetric and positive: they are the eigenvalues, here 10^{−k/2} twice, down to 3e-8.
TEST(SingularValues, OfAGradedMatrixAreItsEigenvalues) {
  const std::vector<double> found = singular_values(graded_symmetric(32));
  for (std::size_t k = 0; k < 32; ++k) {
    EXPECT_NEAR(found[k], std::pow(10.0, -0.5 * static_cast<double>(k / 2)), 2.0 * dense_error(32));
  }
}

TEST(SingularValues, AreUnknownWhereAnEntryIsNotFinite) {
  Matrix<double> a(3, 5);
  a(2, 4) = kNaN;
  const std::vector<double> found = singular_values(a);
  ASSERT_EQ(found.size(), 3u);
  for (const double value : found) EXPECT_TRUE(std::isnan(value));
}

// Properties (1) and (2).
TEST(OrthonormalFactor, IsOrthonormalAndLeavesATriangle) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {8, 1}, {60, 4}, {40, 40}}) {
    const Matrix<double> a = normal_matrix(static_cast<std::size_t>(rows),
                                           static_cast<std::size_t>(cols), "OrthonormalFactor");
    const Matrix<double> q = orthonormal_factor(a);
    const Matrix<double> gram = times(transposed(q), q), triangle = times(transposed(q), a);
    const double error = dense_error(a.rows()), size = norm(a);
    for (std::size_t i = 0; i < a.cols(); ++i) {
      for (std::size_t k = 0; k < a.cols(); ++k) {
        EXPECT_NEAR(gram(i, k), i == k ? 1.0 : 0.0, error);
        if (i > k) {
          EXPECT_NEAR(triangle(i, k), 0.0, error * size);
        }
      }
      EXPECT_GE(triangle(i, i), -error * size);
    }
  }
}

TEST(OrthonormalFactor, IsUnknownWhereAnEntryIsNotFinite) {
  Matrix<double> a(3, 2);
  a(1, 1) = kNaN;
  const Matrix<double> q = orthonormal_factor(a);
  for (std::size_t k = 0; k < q.size(); ++k) EXPECT_TRUE(std::isnan(q.data()[k]));
}

}  // namespace
}  // namespace dewpoint
