// Every kernel on every instruction set of this machine, against plain double loops.
#include "dewpoint/core/gradient_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dewpoint/core/kernels.hpp"
#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();

class GradientKernels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    force_simd_target(GetParam());
    ASSERT_EQ(simd_target(), GetParam());
  }
  void TearDown() override { force_simd_target(""); }
};

INSTANTIATE_TEST_SUITE_P(EveryTarget, GradientKernels, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

Matrix<float> uniform_strip(std::size_t rows, std::size_t cols, const char* name) {
  const Stream stream = test::stream(name);
  Matrix<float> strip(rows, padded(cols));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      strip(i, j) = static_cast<float>(stream.uniform(i * cols + j));
    }
  }
  return strip;
}

std::vector<float> uniform_row(std::size_t cols, const char* name) {
  const Matrix<float> strip = uniform_strip(1, cols, name);
  return {strip.data(), strip.data() + strip.size()};
}

// Numbers of a strip that need not belong to any tokens: the kernel is arithmetic on them. Beyond a
// buffer of columns and a group of rows, and not a multiple of the vector length.
struct Strip {
  std::size_t rows = 37;
  std::size_t cols = 541;
  Matrix<float> gaps = uniform_strip(rows, cols, "gaps");
  Matrix<float> weights = uniform_strip(rows, cols, "weights");
  Matrix<float> overlaps = uniform_strip(rows, cols, "overlaps");
  std::vector<float> half_square = uniform_row(cols, "half squares");
  std::vector<float> along_centre = uniform_row(cols, "along");
  std::vector<float> inverse_square_norm = uniform_row(cols, "norms");
  std::vector<kernels::QueryTerms> queries;
  kernels::BlockScale scale{3.5F, 11.0F};

  Strip() {
    const Stream draw = test::stream("queries");
    const auto number = [&](std::size_t k) { return static_cast<float>(draw.uniform(k)); };
    for (std::size_t j = 0; j < rows; ++j) {
      // Large enough a half square that no distance is negative.
      queries.push_back({number(5 * j), 1.0F + number(5 * j + 1), number(5 * j + 2),
                         number(5 * j + 3), number(5 * j + 4)});
    }
  }
};

// One element by the formulas, in double, and the sum of the absolute values of its terms.
struct Element {
  double block, block_size, score, distance, overlap, weight;
};

Element element(const Strip& s, std::size_t j, std::size_t i) {
  const auto& q = s.queries[j];
  const double gap = s.gaps(j, i);
  const double overlap = s.overlaps(j, i);
  const double weight = static_cast<double>(s.weights(j, i)) * static_cast<double>(q.share);
  const double distance =
      2.0 * (static_cast<double>(s.half_square[i]) + static_cast<double>(q.half_square) - overlap);
  const double on_key =
      static_cast<double>(q.centre_part) + static_cast<double>(s.along_centre[i]) + overlap;
  const double lean = static_cast<double>(s.along_centre[i]) + overlap -
                      static_cast<double>(q.self_overlap) - gap * on_key;
  const double tangent = gap * (2.0 - gap);
  const double beta = s.scale.inverse_temperature;
  const double inside =
      static_cast<double>(s.scale.tangents) + 2.0 * beta * lean + beta * beta * distance * tangent;
  const double size = static_cast<double>(s.scale.tangents) + 2.0 * beta * (3.0 + gap * on_key) +
                      beta * beta * 4.0 * tangent;
  return {weight * weight * inside,
          weight * weight * size,
          static_cast<double>(q.mean_gap) - gap,
          distance,
          overlap,
          weight};
}

// An element takes about a dozen roundings, a sum at most kShort = 8 more in float32.
constexpr double kRoundings = 24.0 * kEps;

TEST_P(GradientKernels, JacobianRowsAddUpTheBlocksOfEveryKeyAndQuery) {
  const Strip s;
  Matrix<float> overlaps = s.overlaps;
  std::vector<kernels::QuerySums> sums(s.rows);
  std::vector<double> columns(s.cols, 1.0);
  kernels::jacobian_rows(s.gaps, s.weights, s.scale,
                         {s.half_square, s.along_centre, s.inverse_square_norm}, s.queries,
                         overlaps, sums, columns);
  std::vector<double> column(s.cols, 0.0);
  std::vector<double> column_size(s.cols, 0.0);
  for (std::size_t j = 0; j < s.rows; ++j) {
    kernels::QuerySums row;
    double size = 0.0;
    for (std::size_t i = 0; i < s.cols; ++i) {
      const Element e = element(s, j, i);
      column[i] += e.block;
      column_size[i] += e.block_size;
      row.blocks += e.block * static_cast<double>(s.inverse_square_norm[i]);
      size += e.block_size * static_cast<double>(s.inverse_square_norm[i]);
      row.spread += e.weight * e.distance;
      row.along += e.weight * e.score * e.score;
      row.squared_overlap += e.weight * e.overlap * e.overlap;
      EXPECT_NEAR(overlaps(j, i), e.weight * e.score, 4.0 * kEps * e.weight);
    }
    EXPECT_NEAR(sums[j].blocks, row.blocks, kRoundings * size);
    EXPECT_NEAR(sums[j].spread, row.spread, kRoundings * 4.0 * static_cast<double>(s.cols));
    EXPECT_NEAR(sums[j].along, row.along, kRoundings * static_cast<double>(s.cols));
    EXPECT_NEAR(sums[j].squared_overlap, row.squared_overlap, kRoundings * row.squared_overlap);
  }
  // A column is summed over up to 32 rows in float32.
  for (std::size_t i = 0; i < s.cols; ++i) {
    EXPECT_NEAR(columns[i] - 1.0, column[i], (kRoundings + 32.0 * kEps) * column_size[i]) << i;
  }
}

TEST_P(GradientKernels, HiddenKeysAddNothing) {
  Strip s;
  s.scale.inverse_temperature = 1e8F;  // its square times that of a hidden gap is no float
  for (std::size_t i = 100; i < s.cols; ++i) {
    for (std::size_t j = 0; j < s.rows; ++j) {
      s.gaps(j, i) = kFarGap;
      s.weights(j, i) = 0.0F;
    }
  }
  std::vector<kernels::QuerySums> sums(s.rows);
  std::vector<double> columns(s.cols, 0.0);
  kernels::jacobian_rows(s.gaps, s.weights, s.scale,
                         {s.half_square, s.along_centre, s.inverse_square_norm}, s.queries,
                         s.overlaps, sums, columns);
  for (std::size_t i = 100; i < s.cols; ++i) {
    EXPECT_EQ(columns[i], 0.0);
    EXPECT_EQ(s.overlaps(3, i), 0.0F);
  }
  for (const auto& row : sums) EXPECT_TRUE(std::isfinite(row.blocks + row.spread + row.along));
}

TEST_P(GradientKernels, CentreAndWeighScalesWhatIsLeftOfAValue) {
  const Strip s;
  Matrix<float> values = s.overlaps;
  std::vector<float> shares(s.rows, 0.25F);
  std::vector<float> shifts(s.rows, 0.5F);
  shifts[2] = -1.0F;
  kernels::centre_and_weigh(s.weights, shares, shifts, values);
  for (std::size_t j = 0; j < s.rows; ++j) {
    for (std::size_t i = 0; i < s.cols; ++i) {
      const double expected = 0.25 * static_cast<double>(s.weights(j, i)) *
                              static_cast<double>(s.overlaps(j, i) - shifts[j]);
      EXPECT_NEAR(values(j, i), expected, 2.0 * kEps * std::abs(expected));
    }
  }
}

TEST_P(GradientKernels, RowProductsAreInnerProductsOfRows) {
  const Strip s;
  std::vector<double> sums(s.rows);
  kernels::row_products(s.gaps, s.weights, sums);
  for (std::size_t j = 0; j < s.rows; ++j) {
    double expected = 0.0;
    for (std::size_t i = 0; i < s.cols; ++i) {
      expected += static_cast<double>(s.gaps(j, i)) * static_cast<double>(s.weights(j, i));
    }
    EXPECT_NEAR(sums[j], expected, 9.0 * kEps * expected);  // one product, eight additions
  }
}

}  // namespace
}  // namespace dewpoint
