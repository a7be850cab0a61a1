#include "dewpoint/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "dewpoint/core/kernels.hpp"
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

// Draws that were asked for in one request.
std::vector<double> many_normals(const Stream& stream, std::size_t count = kDraws) {
  std::vector<double> values(count);
  stream.normals(0, values);
  return values;
}
std::vector<double> many_exponentials(const Stream& stream, std::size_t count = kDraws) {
  std::vector<double> values(count);
  stream.exponentials(0, values);
  return values;
}

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
  const auto values = many_normals(stream);
  EXPECT_LT(
      scaled_distance(values, [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }),
      kKolmogorov);
  // Property (2): √(−2 log(2⁻⁵³)).
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 8.6);
  EXPECT_GT(*std::min_element(values.begin(), values.end()), -8.6);
}

TEST(Stream, ExponentialFollowsItsLaw) {
  const Stream stream = test::stream("ExponentialFollowsItsLaw");
  const auto values = many_exponentials(stream);
  EXPECT_LT(scaled_distance(values, [](double x) { return -std::expm1(-x); }), kKolmogorov);
}

// Properties (4) and (6): odd and even first numbers; lengths below, at and beyond those of two
// vectors of eight blocks; an index whose block needs its upper word.
class EveryTarget : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }
};

INSTANTIATE_TEST_SUITE_P(Stream, EveryTarget, testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryTarget, ManyDrawsAreThoseAskedForOneByOne) {
  const Stream stream(test::seed(), "many draws", 0x1234'5678'9ABC);
  std::vector<double> run;
  for (const std::uint64_t first : {0ULL, 17ULL, 0x1'FFFF'FFF0ULL, 0x1'FFFF'FFF1ULL}) {
    for (std::size_t length = 0; length < 70; ++length) {
      run.assign(length + 1, 7.0);  // the last is nobody's
      stream.normals(first, {run.data(), length});
      for (std::size_t j = 0; j < length; ++j) ASSERT_EQ(run[j], stream.normal(first + j)) << j;
      ASSERT_EQ(run.back(), 7.0);
      stream.exponentials(first, {run.data(), length});
      for (std::size_t j = 0; j < length; ++j) {
        ASSERT_EQ(run[j], stream.exponential(first + j)) << j;
      }
      ASSERT_EQ(run.back(), 7.0);
    }
  }
}

// A power of a draw: its mean and its variance.
struct Moment {
  int power;
  double mean;
  double variance;
};

void expect_moments(const std::vector<double>& values, std::initializer_list<Moment> moments) {
  const auto n = static_cast<double>(values.size());
  for (const Moment& moment : moments) {
    double sum = 0.0;
    for (const double x : values) sum += std::pow(x, moment.power);
    EXPECT_NEAR(sum / n, moment.mean, test::kSigmas * std::sqrt(moment.variance / n))
        << "power " << moment.power;
  }
}

constexpr std::array<std::size_t, 6> kDistances = {1, 2, 4, 8, 16, 32};

// Mean of f(x_i) f(x_{i+distance}) in standard errors, for f with mean 0 and variance 1, over pairs
// of which no two share a draw.
template <class Function>
double lagged_product(const std::vector<double>& values, std::size_t first, std::size_t distance,
                      Function f) {
  double sum = 0.0, pairs = 0.0;
  for (std::size_t i = first; i + distance < values.size(); i += 2 * distance) {
    sum += f(values[i]) * f(values[i + distance]);
    pairs += 1.0;
  }
  return sum / std::sqrt(pairs);
}

// E xᵏ of the normal law is 0, 1, 0, 3, and Var xᵏ = E x²ᵏ − (E xᵏ)² is 1, 2, 15, 96.
TEST(Stream, NormalMomentsAreRight) {
  expect_moments(many_normals(test::stream("NormalMoments")),
                 {{1, 0.0, 1.0}, {2, 1.0, 2.0}, {3, 0.0, 15.0}, {4, 3.0, 96.0}});
}

// E xᵏ of the exponential law is k!, and Var xᵏ = (2k)! − k!². The fourth power is skewed by 60:
// with a million draws the mean's skewness, 0.06, makes 5.6 standard errors six times as likely as
// for a normal number, 1e-7.
TEST(Stream, ExponentialMomentsAreRight) {
  expect_moments(many_exponentials(test::stream("ExponentialMoments"), 1'000'000),
                 {{1, 1.0, 1.0}, {2, 2.0, 20.0}, {3, 6.0, 684.0}, {4, 24.0, 39744.0}});
}

// The two numbers of a block, the neighbours in two blocks, and draws a vector (16) or two apart
// are independent: products of x, and of (x² − 1)/√2, have mean 0 and variance 1.
TEST(Stream, NeighbouringNormalsAreIndependent) {
  const auto values = many_normals(test::stream("NormalNeighbours"));
  const auto itself = [](double x) { return x; };
  const auto square = [](double x) { return (x * x - 1.0) / std::numbers::sqrt2; };
  for (const std::size_t distance : kDistances) {
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
      EXPECT_LT(std::abs(lagged_product(values, first, distance, itself)), test::kSigmas);
      EXPECT_LT(std::abs(lagged_product(values, first, distance, square)), test::kSigmas);
    }
  }
}

// The same for x − 1 of exponential draws, with variance 1.
TEST(Stream, NeighbouringExponentialsAreIndependent) {
  const auto values = many_exponentials(test::stream("ExponentialNeighbours"));
  const auto deviation = [](double x) { return x - 1.0; };
  for (const std::size_t distance : kDistances) {
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
      EXPECT_LT(std::abs(lagged_product(values, first, distance, deviation)), test::kSigmas);
    }
  }
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
