#include "dewpoint/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The three known answers for philox4x32-10 that Random123 publishes (kat_vectors): zeros, ones,
// and the digits of pi.
TEST(Philox, GivesItsPublishedTestVectors) {
  EXPECT_EQ(philox_block({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox_block({f, f, f, f}, {f, f}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Stream, IsAFunctionOfItsAddressOnly) {
  const Stream a(7, "tokens", 3);
  const double late = a.normal(1'000'000);
  EXPECT_EQ(Stream(7, "tokens", 3).normal(1'000'000), late);
  std::vector<double> run(33);
  a.normals(999'985, run);  // an odd start and an even end
  for (std::size_t j = 0; j < run.size(); ++j) EXPECT_EQ(run[j], a.normal(999'985 + j));
}

TEST(Stream, DiffersBySeedNameReplicaAndIndex) {
  std::set<Words> blocks;
  for (std::uint64_t seed : {1ULL, 2ULL, 1ULL << 40}) {
    for (const char* name : {"a", "b", "tokens/noise"}) {
      for (std::uint64_t replica : {0ULL, 1ULL, 1ULL << 33}) {
        for (std::uint64_t index : {0ULL, 1ULL, 1ULL << 32}) {
          blocks.insert(Stream(seed, name, replica).bits(index));
        }
      }
    }
  }
  EXPECT_EQ(blocks.size(), 81U);
}

// Property (1): u = (k + ½) 2⁻⁵² with k < 2⁵².
TEST(Stream, UniformStaysInsideTheOpenInterval) {
  const Stream stream = test::stream("UniformStaysInside");
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const double u = stream.uniform(i);
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    ASSERT_EQ(u * 0x1p53, std::floor(u * 0x1p53));  // exactly representable, never rounded to 1
  }
}

// Kolmogorov-Smirnov: √n D exceeds x with probability at most 2 exp(−2x²) [Massart 1990], which is
// 4e-8 at x = 3.
constexpr double kKolmogorov = 3.0;

template <class Cdf>
double scaled_distance(std::vector<double> values, Cdf cdf) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double f = cdf(values[i]);
    distance =
        std::max({distance, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  return distance * std::sqrt(n);
}

constexpr std::size_t kDraws = 200'000;

template <class Draw>
std::vector<double> draws(Draw draw) {
  std::vector<double> values(kDraws);
  for (std::size_t i = 0; i < kDraws; ++i) values[i] = draw(i);
  return values;
}

TEST(Stream, UniformFollowsItsLaw) {
  const Stream stream = test::stream("UniformFollowsItsLaw");
  const auto values = draws([&](std::size_t i) { return stream.uniform(i); });
  EXPECT_LT(scaled_distance(values, [](double u) { return u; }), kKolmogorov);
}

TEST(Stream, NormalFollowsItsLaw) {
  const Stream stream = test::stream("NormalFollowsItsLaw");
  const auto values = draws([&](std::size_t i) { return stream.normal(i); });
  EXPECT_LT(
      scaled_distance(values, [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }),
      kKolmogorov);
  // Property (2): √(−2 log(2⁻⁵³)).
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 8.6);
}

TEST(Stream, ExponentialFollowsItsLaw) {
  const Stream stream = test::stream("ExponentialFollowsItsLaw");
  const auto values = draws([&](std::size_t i) { return stream.exponential(i); });
  EXPECT_LT(scaled_distance(values, [](double x) { return -std::expm1(-x); }), kKolmogorov);
}

TEST(Stream, ExponentialsAreThoseAskedForOneByOne) {
  const Stream stream = test::stream("many exponentials");
  std::vector<double> run(33);
  stream.exponentials(17, run);  // an odd start and an even end
  for (std::size_t j = 0; j < run.size(); ++j) {
    EXPECT_EQ(run[j], stream.exponential(17 + j)) << j;
  }
}

// Moments of the normal law: E x^k and Var x^k are (0, 1), (1, 2), (0, 15), (3, 96). The two halves
// of a Box-Muller pair and neighbouring blocks are uncorrelated: E x_i x_{i+1} = 0, variance 1.
TEST(Stream, NormalMomentsAndNeighboursAreRight) {
  const Stream stream = test::stream("NormalMoments");
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, lag = 0;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const double x = stream.normal(i);
    m1 += x;
    m2 += x * x;
    m3 += x * x * x;
    m4 += x * x * x * x;
    lag += x * stream.normal(i + 1);
  }
  const double n = kDraws;
  const double unit = test::kSigmas / std::sqrt(n);
  EXPECT_NEAR(m1 / n, 0.0, unit);
  EXPECT_NEAR(m2 / n, 1.0, unit * std::sqrt(2.0));
  EXPECT_NEAR(m3 / n, 0.0, unit * std::sqrt(15.0));
  EXPECT_NEAR(m4 / n, 3.0, unit * std::sqrt(96.0));
  EXPECT_NEAR(lag / n, 0.0, unit);
}

TEST(Stream, RademacherIsFairAndUncorrelated) {
  const Stream stream = test::stream("Rademacher");
  double sum = 0;
  double lag = 0;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const int sign = stream.rademacher(i);
    ASSERT_EQ(sign * sign, 1);
    sum += sign;
    lag += sign * stream.rademacher(i + 1);
  }
  const double unit = test::kSigmas / std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(sum / kDraws, 0.0, unit);
  EXPECT_NEAR(lag / kDraws, 0.0, unit);
}

TEST(Stream, RademachersAreThoseAskedForOneByOne) {
  const Stream stream = test::stream("many signs");
  std::vector<float> signs(300);
  stream.rademachers(100, signs);
  for (std::size_t j = 0; j < signs.size(); ++j) {
    EXPECT_EQ(signs[j], static_cast<float>(stream.rademacher(100 + j))) << j;
  }
}

TEST(SampleWithoutReplacement, IsIncreasingDistinctAndInRange) {
  const auto sample = sample_without_replacement(100, 100, test::stream("Sample"));
  ASSERT_EQ(sample.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(sample[i], i);
}

// Each of 10 elements is in a sample of 3 with probability 0.3: binomial variance 0.21 per draw.
TEST(SampleWithoutReplacement, ChoosesEveryElementEquallyOften) {
  constexpr int repeats = 20'000;
  std::array<int, 10> count{};
  for (int r = 0; r < repeats; ++r) {
    const Stream stream(test::seed(), "Sample/fair", static_cast<std::uint64_t>(r));
    for (const std::size_t i : sample_without_replacement(10, 3, stream)) ++count[i];
  }
  for (const int c : count) {
    EXPECT_NEAR(c / static_cast<double>(repeats), 0.3, test::kSigmas * std::sqrt(0.21 / repeats));
  }
}

}  // namespace
}  // namespace dewpoint
