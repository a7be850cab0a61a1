#include "dewpoint/core/weight_stream.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dewpoint/core/token_cloud.hpp"
#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

CentredCloud cloud(std::size_t n, std::size_t d) {
  Matrix<double> x(n, d);
  test::stream("WeightStream").normals(0, {x.data(), x.size()});
  return CentredCloud::of_unit_vectors(split_norms(std::move(x)).directions);
}

// Whatever the visitor sees adds up to what the moments say: Σ_j (w_ij − shift) + n shift + 1 =
// Z_i. Sums of n float32 weights by a plain double loop; weights are the same numbers on both
// sides.
TEST(WeightStream, ShowsEveryPairOfTokensExactlyOnce) {
  const std::size_t n = 2 * kStreamBlock + 100;
  const CentredCloud tokens = cloud(n, 8);
  const WeightStream stream(tokens, 6.0);
  std::vector<std::vector<double>> sums(stream.stripes(), std::vector<double>(n, 0.0));
  std::vector<std::vector<int>> seen(stream.stripes(), std::vector<int>(n, 0));
  std::vector<BlockVisitor> visitors;
  for (std::size_t s = 0; s < stream.stripes(); ++s) {
    visitors.emplace_back([&, s](const WeightBlock& block) {
      EXPECT_LE(block.rows.begin, block.cols.begin);
      for (std::size_t i = 0; i < block.rows.size(); ++i) {
        for (std::size_t j = 0; j < block.cols.size(); ++j) {
          sums[s][block.rows.begin + i] += static_cast<double>(block.weights(i, j));
          ++seen[s][block.rows.begin + i];
          if (!block.mirrored) continue;
          sums[s][block.cols.begin + j] += static_cast<double>(block.weights(i, j));
          ++seen[s][block.cols.begin + j];
        }
      }
    });
  }
  const auto moments = stream.all_pairs(visitors, {2, {}, {}});
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0.0;
    int count = 0;
    for (std::size_t s = 0; s < stream.stripes(); ++s) {
      sum += sums[s][i];
      count += seen[s][i];
    }
    EXPECT_EQ(count, static_cast<int>(n));
    const double partition = sum + static_cast<double>(n) * stream.shift() + 1.0;
    // w − shift is rounded once, by half a unit in the last place of a number below 1.
    EXPECT_NEAR(moments[i].partition, partition, static_cast<double>(n) * 6e-8);
  }
}

TEST(WeightStream, GivesSomeRowsTheMomentsOfAllRows) {
  const std::size_t n = kStreamBlock + 37;
  const CentredCloud tokens = cloud(n, 5);
  const WeightStream stream(tokens, 9.0);
  const std::vector<BlockVisitor> nobody(stream.stripes(), [](const WeightBlock&) {});
  const auto all = stream.all_pairs(nobody, {});
  const std::vector<std::size_t> queries = {0, 17, kStreamBlock - 1, kStreamBlock, n - 1};
  const auto some = stream.some_rows(queries, [](const WeightBlock&) {}, {});
  for (std::size_t q = 0; q < queries.size(); ++q) {
    // The same weights but for the rounding of inner products of length 5, times β: 9 · 10 ε each.
    EXPECT_NEAR(some[q].partition, all[queries[q]].partition, 1e-5 * some[q].partition);
    EXPECT_NEAR(some[q].weight_squared, all[queries[q]].weight_squared,
                2e-5 * some[q].weight_squared);
  }
}

// The number of stripes is a function of the problem: few for few tokens, bounded for many.
TEST(WeightStream, SharesTheWorkByTheProblemOnly) {
  const CentredCloud small = cloud(100, 4);
  const CentredCloud large = cloud(40 * kStreamBlock, 4);
  EXPECT_EQ(WeightStream(small, 1.0).stripes(), 2U);
  EXPECT_EQ(WeightStream(large, 1.0).stripes(), 5U);
}

}  // namespace
}  // namespace dewpoint
