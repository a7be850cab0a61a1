#include "dewpoint/attention/variants/projections.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/vectors.hpp"
#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

template <class Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

// Property (1) of random_projections.
TEST(RandomProjections, AreOrthogonalAndDifferFromEachOther) {
  const Projections maps = random_projections(24, 4, test::seed());
  for (const Matrix<double>* matrix : {&maps.queries, &maps.keys, &maps.values}) {
    const Matrix<double> gram = test::times(test::transposed(*matrix), *matrix);
    for (std::size_t i = 0; i < 24; ++i) {
      for (std::size_t k = 0; k < 24; ++k) {
        EXPECT_NEAR(gram(i, k), i == k ? 1.0 : 0.0, dense_error(24));
      }
    }
  }
  EXPECT_GT(test::largest_difference(maps.queries, maps.keys), 0.1);
  EXPECT_GT(test::largest_difference(maps.keys, maps.values), 0.1);
  const Projections other = random_projections(24, 4, test::seed(), 1);
  EXPECT_GT(test::largest_difference(maps.queries, other.queries), 0.1);
}

// Property (2): an entry of a uniform orthogonal matrix has mean 0, mean square 1/d and mean fourth
// power 3/(d (d + 2)). Without the signs of R the first column would be half on one side: its mean
// would be off by √(2/πd).
TEST(RandomProjections, AreUniform) {
  constexpr std::size_t d = 3, draws = 2000;
  std::array<RunningMoments, d * d> entries, squares;
  for (std::size_t replica = 0; replica < draws; ++replica) {
    const Matrix<double> matrix = random_projections(d, 1, test::seed(), replica).queries;
    for (std::size_t k = 0; k < matrix.size(); ++k) {
      entries[k].add(matrix.data()[k]);
      squares[k].add(matrix.data()[k] * matrix.data()[k]);
    }
  }
  constexpr double variance = 1.0 / d, fourth = 3.0 / (d * (d + 2));
  for (std::size_t k = 0; k < d * d; ++k) {
    EXPECT_NEAR(entries[k].mean(), 0.0, test::kSigmas * std::sqrt(variance / draws));
    EXPECT_NEAR(squares[k].mean(), variance,
                test::kSigmas * std::sqrt((fourth - variance * variance) / draws));
  }
}

TEST(Projections, HeadsThatDoNotFitAreRefusedInOneLine) {
  EXPECT_EQ(complaint([] { (void)random_projections(10, 4, 0); }),
            "projections: 4 heads do not divide the dimension 10 of the tokens");
  EXPECT_EQ(complaint([] { (void)random_projections(10, 0, 0); }),
            "projections: 0 heads do not divide the dimension 10 of the tokens");
  Projections odd;
  odd.heads = 2;
  odd.rotary_base = 1e4;
  EXPECT_EQ(complaint([&] { check(odd, 6); }),
            "rope: 3 coordinates of a head do not pair up to planes; the number must be even");
  odd.rotary_base = 0.0;
  EXPECT_EQ(complaint([&] { check(odd, 8); }), "rope: base 0 is not a finite number above 0");
}

// Angles up to n are known to n ε; cos, sin and two products round besides.
constexpr std::size_t kTokens = 40;
constexpr double kTurnError = (kTokens + 8) * 0x1p-52;

TEST(RotateRows, KeepsLengthsAndTurnsBack) {
  const Matrix<double> rows = test::normal_matrix(kTokens, 6, "RotateRows/rows");
  Matrix<double> turned = rows;
  rotate_rows(turned, 100.0, Turn::forward);
  for (std::size_t j = 0; j < kTokens; ++j) {
    const double square = inner(rows.row(j), rows.row(j));
    EXPECT_NEAR(inner(turned.row(j), turned.row(j)), square, 2.0 * kTurnError * square);
  }
  EXPECT_GT(test::largest_difference(rows, turned), 0.1);
  rotate_rows(turned, 100.0, Turn::back);
  EXPECT_LE(test::largest_difference(rows, turned), 4.0 * kTurnError * test::largest(rows));
}

// One vector everywhere: its product at positions j and i is that at j − i and 0.
TEST(RotateRows, LetsScoresDependOnTheDistanceOnly) {
  Matrix<double> queries = test::normal_matrix(kTokens, 4, "RotateRows/query");
  Matrix<double> keys = test::normal_matrix(kTokens, 4, "RotateRows/key");
  for (Matrix<double>* rows : {&queries, &keys}) {
    for (std::size_t j = 1; j < kTokens; ++j) std::ranges::copy(rows->row(0), rows->row(j).begin());
    rotate_rows(*rows, 1e4, Turn::forward);
  }
  const double size =
      std::sqrt(inner(queries.row(0), queries.row(0)) * inner(keys.row(0), keys.row(0)));
  for (std::size_t j = 0; j < kTokens; ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      EXPECT_NEAR(inner(queries.row(j), keys.row(i)), inner(queries.row(j - i), keys.row(0)),
                  4.0 * kTurnError * size);
    }
  }
}

// The plane of the smallest frequency of d = 4, base 100: θ = 1 and 1/10.
TEST(RotateRows, TurnsEachPlaneAtItsOwnPace) {
  Matrix<double> rows(8, 4);
  for (std::size_t j = 0; j < 8; ++j) rows(j, 0) = rows(j, 1) = 1.0;
  rotate_rows(rows, 100.0, Turn::forward);
  EXPECT_NEAR(rows(7, 0), std::cos(7.0), kTurnError);
  EXPECT_NEAR(rows(7, 2), std::sin(7.0), kTurnError);
  EXPECT_NEAR(rows(7, 1), std::cos(0.7), kTurnError);
  EXPECT_NEAR(rows(7, 3), std::sin(0.7), kTurnError);
}

// Property (1) of add_unprojected: d additions on the way there, three times d back.
TEST(Projections, UnprojectingIsTheTransposeOfProjecting) {
  for (const bool matrices : {false, true}) {
    Projections maps = matrices ? random_projections(12, 3, test::seed()) : Projections{};
    maps.heads = 3;
    maps.rotary_base = 1e3;
    const Matrix<double> rows = test::normal_matrix(9, 12, "Projections/rows");
    for (std::size_t h = 0; h < 3; ++h) {
      const AttentionMatrices there = project(maps, h, rows);
      const AttentionMatrices gradient{test::normal_matrix(9, 4, "Projections/queries"),
                                       test::normal_matrix(9, 4, "Projections/keys"),
                                       test::normal_matrix(9, 4, "Projections/values")};
      Matrix<double> back(9, 12);
      add_unprojected(maps, h, gradient, back);
      const double forth = test::inner(gradient.queries, there.queries) +
                           test::inner(gradient.keys, there.keys) +
                           test::inner(gradient.values, there.values);
      const double size =
          test::length(rows) * (test::length(gradient.queries) + test::length(gradient.keys) +
                                test::length(gradient.values));
      EXPECT_NEAR(forth, test::inner(back, rows), (9 * 12 + 4 * 12 + 2 * 48) * 0x1p-52 * size);
    }
  }
}

}  // namespace
}  // namespace dewpoint::attention
