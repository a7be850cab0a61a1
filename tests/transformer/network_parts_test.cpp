// The parts a network is made of: inner loops over rows on every instruction set, groups of equal
// tokens, and a last layer for asked rows only against one for all rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dewpoint/core/kernels.hpp"
#include "dewpoint/transformer/network.hpp"
#include "dewpoint/transformer/row_kernels.hpp"
#include "dewpoint/transformer/token_groups.hpp"
#include "transformer/model_cases.hpp"

namespace dewpoint::transformer::test {
namespace {

// ---- inner loops --------------------------------------------------------------------------------

// Each test runs on every instruction set, with rows that end within a vector.
template <class Real>
class RowKernels : public testing::Test {
 protected:
  static constexpr double kUnit = std::numeric_limits<Real>::epsilon() / 2.0;
  static constexpr std::size_t kColumns = 133;

  ~RowKernels() override { force_simd_target({}); }

  static std::vector<Real> numbers(std::size_t count, const std::string& name) {
    const Stream stream = dewpoint::test::stream(name);
    std::vector<Real> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<Real>(stream.uniform(i) - 0.5);
    return all;
  }
};

using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(RowKernels, Reals);

// A sum of n products of numbers below 1/2 has an error of at most n² u/4 in any order.
TYPED_TEST(RowKernels, MultiplyRowsByTheirNumbers) {
  using Real = TypeParam;
  constexpr std::size_t n = TestFixture::kColumns;
  const auto memory = this->numbers(6 * n, "table"), vector = this->numbers(n, "vector");
  const MatrixView<const Real> table(memory.data(), 6, n, n);
  const std::vector<std::uint32_t> rows{5, 0, 3, 3, 1, 5, 2};
  const double tolerance = n * n * TestFixture::kUnit / 4.0;
  for (const std::string& target : simd_targets()) {
    force_simd_target(target);
    std::vector<Real> found(rows.size());
    dot_rows(std::span<const Real>(vector), table, rows, std::span<Real>(found));
    std::vector<Real> sum(n);
    add_rows(std::span<const Real>(found), table, rows, std::span<Real>(sum));
    std::vector<double> wanted(n);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      double product = 0.0;
      for (std::size_t c = 0; c < n; ++c) {
        product += double{vector[c]} * double{table(rows[k], c)};
        wanted[c] += double{found[k]} * double{table(rows[k], c)};
      }
      EXPECT_NEAR(double{found[k]}, product, tolerance) << target;
    }
    for (std::size_t c = 0; c < n; ++c) EXPECT_NEAR(double{sum[c]}, wanted[c], tolerance) << target;
  }
}

// Scores are exact differences here, so an exponential is off by two units, its share of the sum by
// two more and two roundings; the sum of a run of 16 in Real adds 16 halves at most.
TYPED_TEST(RowKernels, WeighScoresLikeSoftmax) {
  using Real = TypeParam;
  for (const std::size_t n : {1U, 3U, 8U, 133U, 2000U}) {
    std::vector<Real> scores(n);
    for (std::size_t j = 0; j < n; ++j) scores[j] = static_cast<Real>(j * 37 % 101) / Real{8};
    double sum = 0.0;
    for (const Real score : scores) sum += std::exp(double{score});
    for (const std::string& target : simd_targets()) {
      force_simd_target(target);
      std::vector<Real> weights = scores;
      const double log_sum = weigh(std::span<Real>(weights), Real{0.5});
      EXPECT_NEAR(log_sum, std::log(sum), 24 * TestFixture::kUnit) << target;
      for (std::size_t j = 0; j < n; ++j) {
        const double wanted = 0.5 * std::exp(double{scores[j]}) / sum;
        EXPECT_NEAR(double{weights[j]}, wanted, 24 * TestFixture::kUnit * wanted) << target;
      }
    }
  }
}

TYPED_TEST(RowKernels, AnswerNanWhereAScoreIs) {
  using Real = TypeParam;
  for (const std::string& target : simd_targets()) {
    force_simd_target(target);
    for (const std::size_t place : {0U, 7U, 20U}) {
      std::vector<Real> scores(21, Real{1});
      scores[place] = std::numeric_limits<Real>::quiet_NaN();
      EXPECT_TRUE(std::isnan(weigh(std::span<Real>(scores)))) << target << ' ' << place;
      EXPECT_TRUE(std::ranges::all_of(scores, [](Real x) { return std::isnan(x); })) << target;
    }
  }
}

// Slopes by scores have no component along a shift of all of them: the sum is rounding, n products
// of numbers below 1.
TYPED_TEST(RowKernels, TakeSlopesThatSumToZero) {
  using Real = TypeParam;
  constexpr std::size_t n = TestFixture::kColumns;
  for (const std::string& target : simd_targets()) {
    force_simd_target(target);
    std::vector<Real> weights = this->numbers(n, "weights"), slopes = this->numbers(n, "slopes");
    const Real first = slopes[0], second = slopes[1];
    weigh(std::span<Real>(weights));
    take_score_slopes(std::span<const Real>(weights), std::span<Real>(slopes));
    const double sum = std::accumulate(slopes.begin(), slopes.end(), 0.0);
    EXPECT_NEAR(sum, 0.0, 4 * n * TestFixture::kUnit) << target;
    const double difference = double{slopes[0] / weights[0]} - double{slopes[1] / weights[1]};
    EXPECT_NEAR(difference, double{first} - double{second}, 8 * TestFixture::kUnit) << target;
  }
}

// ---- groups -------------------------------------------------------------------------------------

TEST(TokenGroups, ListTheMembersOfEveryTokenInOrder) {
  TokenGroups groups(10, 8);
  groups.group(std::vector<std::int32_t>{7, 2, 7, 0, 2, 7});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_TRUE(std::ranges::equal(groups.tokens(), std::vector{0, 2, 7}));
  EXPECT_TRUE(std::ranges::equal(groups.group_of(), std::vector{2, 1, 2, 0, 1, 2}));
  EXPECT_TRUE(std::ranges::equal(groups.members(0), std::vector{3}));
  EXPECT_TRUE(std::ranges::equal(groups.members(1), std::vector{1, 4}));
  EXPECT_TRUE(std::ranges::equal(groups.members(2), std::vector{0, 2, 5}));
}

TEST(TokenGroups, CanBeOneItemEach) {
  TokenGroups groups(10, 8);
  groups.group(std::vector<std::int32_t>{1, 1});
  groups.separate(3);
  ASSERT_EQ(groups.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(groups.group_of()[i], i);
    EXPECT_TRUE(std::ranges::equal(groups.members(i), std::vector{i}));
  }
}

// ---- the last layer -----------------------------------------------------------------------------

// Few tokens and many windows: contexts with the same histogram have several asked rows, and with
// one layer asked rows share their token. The tolerance is that of gradient_test.cpp with sums over
// 90 windows.
TEST(ALastLayerForAskedRows, IsThatForAllRows) {
  const Windows windows = random_windows(4, 5, 90, "asked");
  const Batch batch = collapsed_batch(windows);
  ASSERT_LT(batch.contexts(), batch.asked.size());
  for (const std::size_t layers : {1, 2}) {
    for (unsigned parts = 0; parts < 16; ++parts) {
      Shape shape{.vocabulary = 4, .width = 8, .layers = layers, .heads = 2};
      shape.residual = parts & 1U;
      if (shape.residual) shape.branch = 0.75;
      shape.value_matrix = parts & 2U;
      shape.pre_norm = parts & 4U;
      if (parts & 8U) shape.heads = 1;
      const Weights<double> weights = some_weights(shape, 12);
      Network<double> few(shape, capacity_of(90, 5, Targets::last));
      Network<double> all(shape, capacity_of(90, 5, Targets::all));
      Weights<double> found(shape), wanted(shape);
      const double loss = all.gradient(weights, batch, wanted);
      EXPECT_NEAR(few.gradient(weights, batch, found), loss, 5e-12 * loss);
      EXPECT_LE(largest_difference(found, wanted), 5e-12 * largest(wanted)) << name_of(shape);
    }
  }
}

}  // namespace
}  // namespace dewpoint::transformer::test
