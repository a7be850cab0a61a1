// Every kernel on every instruction set of this machine, against plain double loops.
#include "dewpoint/core/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();

class Kernels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    force_simd_target(GetParam());
    ASSERT_EQ(simd_target(), GetParam());
  }
  void TearDown() override { force_simd_target(""); }
};

INSTANTIATE_TEST_SUITE_P(EveryTarget, Kernels, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

Matrix<float> uniform_strip(std::size_t rows, std::size_t cols, float low, float high,
                            const char* name) {
  const Stream stream = test::stream(name);
  Matrix<float> strip(rows, padded(cols));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      strip(i, j) = low + (high - low) * static_cast<float>(stream.uniform(i * cols + j));
    }
  }
  return strip;
}

// kExpUlp and kExpUlpPerUnit, over the whole range of exponents, with 1 as the temperature so that
// the exponent is exact.
TEST_P(Kernels, ExponentialIsAsAccurateAsPromised) {
  constexpr std::size_t n = 1 << 16;
  Matrix<float> gaps(1, n);
  for (std::size_t j = 0; j < n; ++j) gaps(0, j) = 87.0F * static_cast<float>(j) / n;
  Matrix<float> weights(1, n);
  kernels::exp_gaps(gaps, 1.0F, weights);
  EXPECT_EQ(weights(0, 0), 1.0F);
  double worst = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    const double x = gaps(0, j);
    const double relative = std::abs(weights(0, j) / std::exp(-x) - 1.0) / kEps;
    worst = std::max(worst, relative / (kernels::kExpUlp + kernels::kExpUlpPerUnit * x));
  }
  EXPECT_LE(worst, 1.0);
  EXPECT_GT(worst, 0.2);  // the promise is not idle
}

TEST_P(Kernels, ExponentialUnderflowsToZero) {
  Matrix<float> gaps(1, 16);
  for (float& g : gaps.row(0)) g = kFarGap;
  gaps(0, 0) = 87.4F;
  Matrix<float> weights(1, 16);
  kernels::exp_gaps(gaps, 1.0F, weights);
  for (const float w : weights.row(0)) EXPECT_EQ(w, 0.0F);
}

struct BlockCase {
  std::size_t rows;
  std::size_t cols;
};

// Sizes with and without remainders in every direction. Relative error of a sum: that of a weight
// (exponent x ≤ 12·3, three roundings of the gap, polynomial) plus one rounding per addition; the
// sums here have at most 200 terms, all positive.
TEST_P(Kernels, WeighBlockGivesWeightsAndMomentsOfRowsAndColumns) {
  constexpr float beta = 12.0F;
  constexpr double largest_x = 12.0 * 3.0;
  const double tolerance =
      kEps * (kernels::kExpUlp + (2.0 + kernels::kExpUlpPerUnit) * largest_x + 200.0);
  for (const auto [rows, cols] : {BlockCase{1, 1}, {2, 16}, {3, 17}, {5, 200}, {64, 31}}) {
    Matrix<float> dots = uniform_strip(rows, cols, -1.0F, 1.0F, "WeighBlock");
    const Matrix<float> original = dots;
    const Stream stream = test::stream("WeighBlock/half");
    std::vector<float> row_half(rows), col_half(padded(cols), kFarGap);
    for (std::size_t i = 0; i < rows; ++i)
      row_half[i] = 0.5F + 0.5F * static_cast<float>(stream.uniform(i));
    for (std::size_t j = 0; j < cols; ++j)
      col_half[j] = 0.5F + 0.5F * static_cast<float>(stream.uniform(999 + j));
    std::vector<RowMoments> row_moments(rows), col_moments(cols), only_rows(rows);

    Matrix<float> again = dots;
    const auto block = [&](Matrix<float>& m) { return m.view().block({0, rows}, {0, cols}); };
    kernels::weigh_block(block(dots), {beta}, row_half, col_half, row_moments, col_moments);
    kernels::weigh_block(block(again), {beta, 0.25F}, row_half, col_half, only_rows, {});

    std::vector<RowMoments> row_truth(rows), col_truth(cols);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; ++j) {
        const double gap =
            std::max(0.0, static_cast<double>(row_half[i]) + col_half[j] - original(i, j));
        const double w = std::exp(-beta * gap);
        EXPECT_NEAR(dots(i, j), w, tolerance * w);
        EXPECT_EQ(again(i, j), dots(i, j) - 0.25F);
        const RowMoments term{w, gap * w, gap * gap * w, w * w};
        row_truth[i] += term;
        col_truth[j] += term;
      }
    }
    const auto expect_close = [&](const RowMoments& got, const RowMoments& want) {
      EXPECT_NEAR(got.partition, want.partition, tolerance * want.partition);
      EXPECT_NEAR(got.gap, want.gap, tolerance * want.gap);
      EXPECT_NEAR(got.squared_gap, want.squared_gap, tolerance * want.squared_gap);
      EXPECT_NEAR(got.weight_squared, want.weight_squared, 2 * tolerance * want.weight_squared);
    };
    for (std::size_t i = 0; i < rows; ++i) {
      expect_close(row_moments[i], row_truth[i]);
      EXPECT_EQ(row_moments[i].partition, only_rows[i].partition);
    }
    for (std::size_t j = 0; j < cols; ++j) expect_close(col_moments[j], col_truth[j]);
  }
}

// One multiplication rounds once; sums of 100 positive terms round at most 100 times.
TEST_P(Kernels, MultiplyWithMomentsIsMultiplyThenMoments) {
  constexpr std::size_t rows = 5, cols = 100;
  Matrix<float> weights = uniform_strip(rows, cols, 0.1F, 1.0F, "Multiply/w");
  Matrix<float> separate = weights;
  const Matrix<float> factor = uniform_strip(rows, cols, 0.1F, 1.0F, "Multiply/f");
  const Matrix<float> gaps = uniform_strip(rows, cols, 0.0F, 2.0F, "Multiply/g");
  std::vector<RowMoments> fused(rows), apart(rows);
  kernels::multiply_with_moments(weights, factor, gaps, fused);
  kernels::multiply(separate, factor);
  kernels::row_moments(separate, gaps, apart);
  for (std::size_t i = 0; i < rows; ++i) {
    RowMoments truth;
    for (std::size_t j = 0; j < cols; ++j) {
      EXPECT_EQ(weights(i, j), separate(i, j));
      const double w = weights(i, j);
      const double g = gaps(i, j);
      truth += {w, g * w, g * g * w, w * w};
    }
    EXPECT_EQ(fused[i].partition, apart[i].partition);
    EXPECT_EQ(fused[i].squared_gap, apart[i].squared_gap);
    EXPECT_NEAR(fused[i].partition, truth.partition, 100 * kEps * truth.partition);
    EXPECT_NEAR(fused[i].gap, truth.gap, 102 * kEps * truth.gap);
    EXPECT_NEAR(fused[i].squared_gap, truth.squared_gap, 103 * kEps * truth.squared_gap);
    EXPECT_NEAR(fused[i].weight_squared, truth.weight_squared, 101 * kEps * truth.weight_squared);
  }
}

TEST_P(Kernels, AccumulateAddsExactly) {
  const Matrix<float> part = uniform_strip(3, 37, -1.0F, 1.0F, "Accumulate");
  Matrix<double> total(3, part.cols());
  for (double& x : total.row(1)) x = 1.0;
  kernels::accumulate(part, total);
  for (std::size_t j = 0; j < part.cols(); ++j) {
    EXPECT_EQ(total(0, j), static_cast<double>(part(0, j)));
    EXPECT_EQ(total(1, j), 1.0 + static_cast<double>(part(1, j)));
  }
}

TEST_P(Kernels, AddColumnsIsExact) {
  const Matrix<float> rows = uniform_strip(9, 21, -1.0F, 1.0F, "AddColumns");
  std::vector<double> sums(rows.cols(), 1.0);
  kernels::add_columns(rows, sums);
  for (std::size_t k = 0; k < rows.cols(); ++k) {
    double truth = 1.0;
    for (std::size_t i = 0; i < 9; ++i) truth += static_cast<double>(rows(i, k));
    EXPECT_EQ(sums[k], truth);
  }
}

// Against the plain formula in double, with a remainder in d. The excess is a sum of d terms, each
// rounded twice; the offset is then rounded four times. All relative to the size of the deviations.
TEST_P(Kernels, NormaliseRowsGivesDirectionsMinusTheCentre) {
  constexpr std::size_t n = 7, d = 21;
  for (const float size : {0.5F, 1e-3F}) {
    const Stream stream = test::stream("NormaliseRows");
    Matrix<float> deviations(n, d), out(n, d);
    std::vector<float> shift(d), u(d, 0.0F);
    for (std::size_t k = 0; k < d; ++k) shift[k] = size * static_cast<float>(stream.normal(k));
    u[3] = 0.6F;
    u[20] = -0.8F;
    for (std::size_t k = 0; k < n * d; ++k) {
      deviations.data()[k] = size * static_cast<float>(stream.normal(100 + k));
    }
    constexpr float c = 0.75F;
    kernels::normalise_rows(deviations, shift, u, c, out);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> x(d);
      double square = 0.0;
      for (std::size_t k = 0; k < d; ++k) {
        x[k] = static_cast<double>(c) * u[k] + deviations(i, k) - shift[k];
        square += x[k] * x[k];
      }
      for (std::size_t k = 0; k < d; ++k) {
        EXPECT_NEAR(out(i, k), x[k] / std::sqrt(square) - u[k], (2 * d + 8) * kEps * 10 * size / c);
      }
    }
  }
}

TEST_P(Kernels, RecentreRowsSubtractsAndMeasures) {
  constexpr std::size_t n = 5, d = 19;
  Matrix<float> rows(n, d);
  for (std::size_t k = 0; k < n * d; ++k) rows.data()[k] = static_cast<float>(k % 7);
  std::vector<float> shift(d, 2.0F), half(n);
  kernels::recentre_rows(rows, shift, half);
  for (std::size_t i = 0; i < n; ++i) {
    double square = 0.0;
    for (std::size_t k = 0; k < d; ++k) {
      EXPECT_EQ(rows(i, k), static_cast<float>((i * d + k) % 7) - 2.0F);
      square += static_cast<double>(rows(i, k)) * rows(i, k);
    }
    EXPECT_EQ(half[i], static_cast<float>(0.5 * square));  // small integers: nothing is rounded
  }
}

TEST_P(Kernels, PairSumsCoverExactlyTheAskedColumns) {
  constexpr std::size_t n = 53;
  const Matrix<float> dots = uniform_strip(n, n, -0.5F, 0.4F, "PairSums/dots");
  const Matrix<float> inverse = uniform_strip(n, n, 0.5F, 2.0F, "PairSums/inverse");
  std::vector<float> half(n, 0.25F);
  half[10] = 0.75F;
  const auto gap = [&](std::size_t i, std::size_t j) {
    return std::max(0.0, static_cast<double>(half[i]) + half[j] - dots(i, j));
  };
  double ratio = 0.0, least = 10.0, most = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    double row = 0.0;
    for (std::size_t j = i + 1; j < n; ++j) {
      row += gap(i, j) * inverse(i, j);
      least = std::min(least, gap(i, j));
      most = std::max(most, gap(i, j));
    }
    const auto sums = kernels::pair_sums(dots.row(i).data(), half[i], half.data(),
                                         inverse.row(i).data(), {i + 1, n});
    EXPECT_NEAR(sums.ratio, row, 60 * kEps * row);
    ratio += row;
  }
  const auto sums = kernels::upper_pair_sums(dots.view().block({0, n}, {0, n}), half.data(),
                                             inverse.view().block({0, n}, {0, n}));
  EXPECT_NEAR(sums.ratio, ratio, 60 * kEps * ratio);
  EXPECT_NEAR(sums.smallest_gap, least, 2 * kEps);
  EXPECT_NEAR(sums.largest_gap, most, 2 * kEps * 2.0);
}

TEST(SimdTargets, AreNamedBestFirstAndCanBeForced) {
  const auto targets = simd_targets();
  ASSERT_FALSE(targets.empty());
  force_simd_target(targets.back());
  EXPECT_EQ(simd_target(), targets.back());
  force_simd_target("");
  EXPECT_EQ(simd_targets(), targets);
}

}  // namespace
}  // namespace dewpoint
