// Correlated rows, and the blocks that stand for them.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/diagnosis/row_blocks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dewpoint/core/random.hpp"
#include "dewpoint/diagnosis/row_bootstrap.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::diagnosis {
namespace {

/// x_i = φ x_{i−1} + √(1 − φ²) noise, of variance 1.
std::vector<double> chain(std::size_t count, double memory, std::uint64_t number) {
  std::vector<double> values(count);
  Stream(test::seed(), "row blocks", number).normals(0, values);
  for (std::size_t i = 1; i < count; ++i)
    values[i] = memory * values[i - 1] + std::sqrt(1.0 - memory * memory) * values[i];
  return values;
}

// The estimate of t scatters by t √(4 · 5t/rows) [Sokal 1997]: 0.05 at t = 3 and 20000 rows.
// Property (1).
TEST(CorrelationTime, IsThatOfAChainWithMemory) {
  const double time = correlation_time(chain(20000, 0.5, 0));
  const double scatter = 3.0 * std::sqrt(4.0 * 5.0 * 3.0 / 20000.0);
  EXPECT_LT(time, 3.0 + test::kSigmas * scatter);
  EXPECT_GT(time, 0.9 * 3.0 - test::kSigmas * scatter);
}

// Property (2).
TEST(CorrelationTime, OnlyKnowsTheOrderOfValues) {
  std::vector<double> values = chain(300, 0.7, 1);
  const double before = correlation_time(values);
  for (double& value : values) value = std::exp(3.0 * value);
  EXPECT_EQ(correlation_time(values), before);
}

TEST(CorrelationTime, IsOneForLinesConstantsAndFewValues) {
  std::vector<double> line(100);
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = std::log(50.0 + static_cast<double>(i));
  EXPECT_EQ(correlation_time(line), 1.0);
  EXPECT_EQ(correlation_time(std::vector<double>(20, 2.0)), 1.0);
  EXPECT_EQ(correlation_time(std::vector<double>{1.0, 5.0, 2.0}), 1.0);
  EXPECT_EQ(correlation_time(std::vector<double>(10, std::numeric_limits<double>::quiet_NaN())),
            1.0);
}

// The bound in independent_blocks is two scatters of t, so about 2 % of lists are cut into blocks
// without need; 200 lists: at most 4 + 5.6 √4.
TEST(IndependentBlocks, AreSingleRowsWhereRowsAreIndependent) {
  int cut = 0;
  for (std::uint64_t list = 0; list < 200; ++list)
    cut += independent_blocks(chain(256, 0.0, 100 + list)) == 256 ? 0 : 1;
  EXPECT_LE(cut, 15);
}

// z² of the mean over 300 correlated lists: mean 1 but for what blocks of finite length miss
// (a quarter at most) and the scatter of an error from about 20 blocks (a tenth); variance 2.
TEST(BlockMean, HasTheErrorOfCorrelatedRows) {
  constexpr int lists = 300;
  double with = 0.0, without = 0.0;
  for (std::uint64_t list = 0; list < lists; ++list) {
    const std::vector<double> values = chain(512, 0.6, 1000 + list);
    const Estimate mean = block_mean(values, independent_blocks(values));
    const Estimate naive = block_mean(values, values.size());
    with += std::pow(mean.mean / mean.standard_error, 2) / lists;
    without += std::pow(naive.mean / naive.standard_error, 2) / lists;
  }
  EXPECT_NEAR(with, 1.2, 0.25 + test::kSigmas * std::sqrt(2.0 / lists));
  EXPECT_GT(without, 2.5);  // (1 + φ)/(1 − φ) = 4 in the mean
}

// Blocks of equal values: their redrawn means are those of independent values.
TEST(RowBootstrap, DrawsBlocksTogether) {
  const RowBootstrap bootstrap(40, {200, 3}, 10);
  for (std::size_t b = 0; b < 200; ++b) {
    const auto counts = bootstrap.counts(b);
    std::uint32_t total = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(counts[i], counts[i - i % 4]);
      total += counts[i];
    }
    EXPECT_EQ(total, 40U);
  }
}

}  // namespace
}  // namespace dewpoint::diagnosis
