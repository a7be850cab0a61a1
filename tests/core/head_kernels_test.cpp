// Every kernel on every instruction set of this machine, against plain double loops.
#include "dewpoint/core/head_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();
constexpr float kNothing = -std::numeric_limits<float>::infinity();

class HeadKernels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    force_simd_target(GetParam());
    ASSERT_EQ(simd_target(), GetParam());
  }
  void TearDown() override { force_simd_target(""); }
};

INSTANTIATE_TEST_SUITE_P(EveryTarget, HeadKernels, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

// Normal scores on a grid of 1/64, so that their differences are exact in float32.
std::vector<float> normal_scores(std::size_t n) {
  const Stream stream = test::stream("HeadKernels");
  std::vector<float> scores(n);
  for (std::size_t j = 0; j < n; ++j) {
    scores[j] = static_cast<float>(std::round(64.0 * stream.normal(j)) / 64.0);
  }
  return scores;
}

// Around every width of a vector and of a run of additions, each at an odd address too.
const std::vector<std::size_t> kLengths = {0,  1,  2,   3,   7,   8,   9,   15,   16,
                                           17, 33, 100, 255, 256, 257, 511, 1000, 5000};

TEST_P(HeadKernels, LargestScoresAreFoundWhereverTheyStand) {
  for (const std::size_t n : kLengths) {
    for (std::size_t place = 0; place < std::min<std::size_t>(n, 40); ++place) {
      std::vector<float> scores = normal_scores(n + 1);
      scores[0] = 100.0F;  // outside of the row
      scores[1 + place] = 50.0F;
      const std::span<const float> row = std::span(scores).subspan(1);
      EXPECT_EQ(kernels::largest_score(row), 50.0F);
      std::vector<float> sorted(row.begin(), row.end());
      sorted.resize(std::max<std::size_t>(n, 3), kNothing);
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      const auto best = kernels::three_largest(row);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(best[k], sorted[k]) << n << ' ' << place;
    }
  }
  EXPECT_EQ(kernels::largest_score({}), kNothing);
  EXPECT_EQ(kernels::three_largest({})[0], kNothing);
}

TEST_P(HeadKernels, TiesAreRepeatedAmongTheThreeLargest) {
  std::vector<float> scores(300, -1.0F);
  scores[8] = scores[16] = scores[299] = 2.0F;  // the first two share a lane of every target
  const auto best = kernels::three_largest(scores);
  EXPECT_EQ(best[0], 2.0F);
  EXPECT_EQ(best[1], 2.0F);
  EXPECT_EQ(best[2], 2.0F);
}

// Gaps are exact and below 12, y = rate · gap is rounded once: a weight is good to kExpUlp and
// (1/2 + kExpUlpPerUnit) y units, its square to twice that; the factors y round once each, and a
// run adds kHeadRun roundings.
TEST_P(HeadKernels, MomentsAreThoseOfADoubleLoop) {
  constexpr float rate = 1.7F, largest = 6.0F;
  constexpr double largest_y = 1.7 * 12.0;
  constexpr double weight = kernels::kExpUlp + (0.5 + kernels::kExpUlpPerUnit) * largest_y;
  constexpr double tolerance = kEps * (2.0 * weight + 3.0 + kernels::kHeadRun);
  for (const std::size_t n : kLengths) {
    const std::vector<float> scores = normal_scores(n + 1);
    const std::span<const float> row = std::span(scores).subspan(1);
    RowMoments truth;
    kernels::GapSums plain_truth, plain;
    for (const float score : row) {
      const double gap = static_cast<double>(largest) - static_cast<double>(score);
      ASSERT_GE(gap, 0.0);
      ASSERT_LE(gap, 12.0);
      const double y = static_cast<double>(rate) * gap, w = std::exp(-y);
      truth += {w, y * w, y * y * w, w * w};
      plain_truth.gap += gap;
      plain_truth.squared_gap += gap * gap;
    }
    const RowMoments found = kernels::score_moments(row, largest, rate, &plain);
    EXPECT_NEAR(found.partition, truth.partition, tolerance * truth.partition);
    EXPECT_NEAR(found.gap, truth.gap, tolerance * truth.gap);
    EXPECT_NEAR(found.squared_gap, truth.squared_gap, tolerance * truth.squared_gap);
    EXPECT_NEAR(found.weight_squared, truth.weight_squared, tolerance * truth.weight_squared);
    EXPECT_NEAR(plain.gap, plain_truth.gap, tolerance * plain_truth.gap);
    EXPECT_NEAR(plain.squared_gap, plain_truth.squared_gap, tolerance * plain_truth.squared_gap);
    const RowMoments alone = kernels::score_moments(row, largest, rate);
    EXPECT_EQ(alone.partition, found.partition);
    EXPECT_EQ(alone.squared_gap, found.squared_gap);
  }
}

TEST_P(HeadKernels, PlainSumsAreAddedToWhatIsThere) {
  const std::vector<float> scores(37, 1.0F);
  kernels::GapSums plain{5.0, 7.0};
  (void)kernels::score_moments(scores, 3.0F, 1.0F, &plain);
  EXPECT_EQ(plain.gap, 5.0 + 37.0 * 2.0);
  EXPECT_EQ(plain.squared_gap, 7.0 + 37.0 * 4.0);
}

// As above; the fourth power rounds twice more. The two scores above the reference count 1 and 0.
TEST_P(HeadKernels, PowerSumsAreThoseOfADoubleLoop) {
  constexpr float rate = 1.7F, reference = 1.0F;
  constexpr double largest_y = 1.7 * 8.0;
  constexpr double tolerance =
      kEps *
      (kernels::kExpUlp + (0.5 + kernels::kExpUlpPerUnit) * largest_y + 6.0 + kernels::kHeadRun);
  for (const std::size_t n : kLengths) {
    const std::vector<float> scores = normal_scores(n);
    std::array<double, 5> truth{};
    for (const float score : scores) {
      const double gap = static_cast<double>(reference) - static_cast<double>(score);
      ASSERT_LE(gap, 8.0);
      const double y = static_cast<double>(rate) * std::max(0.0, gap);
      for (std::size_t k = 0; k < 5; ++k) {
        truth[k] += std::pow(y, static_cast<double>(k)) * std::exp(-y);
      }
    }
    const auto found = kernels::power_sums(scores, reference, rate);
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(found[k], truth[k], tolerance * truth[k]);
  }
}

TEST_P(HeadKernels, ScoresAboveTheReferenceCountExactlyOne) {
  const std::vector<float> scores = {5.0F, 4.0F, 3.0F, -1e6F};
  const auto sums = kernels::power_sums(scores, 3.0F, 123.0F);
  EXPECT_EQ(sums[0], 3.0);
  for (std::size_t k = 1; k < 5; ++k) EXPECT_EQ(sums[k], 0.0);
}

// kCapUlp. The argument rate/cap · score is exact here: powers of two.
TEST_P(HeadKernels, CappedScoresAreAsAccurateAsPromised) {
  constexpr std::size_t n = 1 << 15;
  constexpr float cap = 32.0F;
  std::vector<float> scores(n + 3), capped(n + 3);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    scores[j] = 400.0F * (static_cast<float>(j) / n - 0.5F);
  }
  kernels::cap_scores(scores, 0.5F, cap, capped);
  double worst = 0.0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double truth = cap * std::tanh(0.5 * static_cast<double>(scores[j]) / cap);
    if (truth == 0.0) {
      EXPECT_EQ(capped[j], 0.0F);
      continue;
    }
    worst = std::max(worst, std::abs(static_cast<double>(capped[j]) / truth - 1.0) / kEps);
  }
  EXPECT_LE(worst, kernels::kCapUlp);
  EXPECT_GT(worst, 0.2 * kernels::kCapUlp);  // the promise is not idle
  kernels::cap_scores(scores, 0.5F, cap, scores);
  EXPECT_EQ(scores, capped);
}

TEST_P(HeadKernels, WeightsReplaceScoresAndNothingElse) {
  constexpr float rate = 1.7F, largest = 6.0F;
  constexpr double tolerance =
      kEps * (kernels::kExpUlp + (0.5 + kernels::kExpUlpPerUnit) * 1.7 * 12.0 + kernels::kHeadRun);
  for (const std::size_t n : kLengths) {
    const std::vector<float> scores = normal_scores(n + 2);
    std::vector<float> weights = scores;
    const double sum = kernels::weigh_scores(std::span(weights).subspan(1, n), largest, rate);
    double truth = 0.0;
    for (std::size_t j = 1; j <= n; ++j) {
      const double gap = static_cast<double>(largest) - static_cast<double>(scores[j]);
      const double w = std::exp(-static_cast<double>(rate) * gap);
      EXPECT_NEAR(weights[j], w, tolerance * w);
      truth += w;
    }
    EXPECT_NEAR(sum, truth, tolerance * truth);
    EXPECT_EQ(weights.front(), scores.front());
    EXPECT_EQ(weights.back(), scores.back());
  }
}

}  // namespace
}  // namespace dewpoint
