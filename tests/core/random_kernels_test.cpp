#include "dewpoint/core/random_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/core/random_transforms.hpp"
#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

using kernels::RandomBlocks;

// ---- the plain transforms -----------------------------------------------------------------------

// Words at which something changes: the smallest and the largest uniform number; u on both sides of
// √½ 2ᵉ and of 2ᵉ; v on both sides of every eighth of a turn.
std::vector<std::uint64_t> special_words() {
  std::vector<std::uint64_t> words = {0, ~std::uint64_t{0}};
  const auto around = [&](double u) {
    const auto k = static_cast<std::uint64_t>(u * 0x1p52);
    for (std::uint64_t near = k > 3 ? k - 3 : 0; near < k + 3 && near < 1ULL << 52; ++near) {
      words.push_back(near << 12);
    }
  };
  for (int e = -53; e < 0; ++e) {
    around(std::ldexp(1.0, e));
    around(std::ldexp(std::numbers::sqrt2, e));
  }
  for (int eighth = 1; eighth < 8; ++eighth) around(0.125 * eighth);
  return words;
}

// Relative errors against long double. Its own error, 2⁻⁶³, is a thousandth of ε = 2⁻⁵³.
constexpr double kReference = 0x1p-62;

void expect_exponential(std::uint64_t bits) {
  const auto u = static_cast<long double>(transforms::open_uniform(bits));
  const long double exact = -std::log(u);
  const double draw = transforms::exponential(bits);
  ASSERT_LT(std::abs(static_cast<double>(draw / exact - 1.0L)),
            transforms::kExponentialError + kReference)
      << bits;
}

// Quarters of a turn are taken off exactly, so that numbers next to a zero of sine or cosine have
// correct digits too.
void expect_normals(std::uint64_t radius_bits, std::uint64_t angle_bits) {
  const auto u = static_cast<long double>(transforms::open_uniform(radius_bits));
  const auto v = static_cast<long double>(transforms::open_uniform(angle_bits));
  const long double radius = std::sqrt(-2.0L * std::log(u));
  const long double pi = std::numbers::pi_v<long double>;
  const long double w = v - std::nearbyint(4.0L * v) / 4.0L;
  long double x = std::cos(2.0L * pi * w), y = std::sin(2.0L * pi * w);
  for (auto quarter = std::lround(4.0L * v); quarter > 0; --quarter) {
    const long double turned = x;
    x = -y;
    y = turned;
  }
  const transforms::Pair draw = transforms::normal_pair(radius_bits, angle_bits);
  const double bound = transforms::kNormalError + kReference;
  ASSERT_LT(std::abs(static_cast<double>(draw.first / (radius * x) - 1.0L)), bound) << angle_bits;
  ASSERT_LT(std::abs(static_cast<double>(draw.second / (radius * y) - 1.0L)), bound) << angle_bits;
  ASSERT_LT(std::max(std::abs(draw.first), std::abs(draw.second)), 8.6);
}

// Property (1) of random_transforms.hpp.
TEST(RandomTransforms, ExponentialIsAccurate) {
  EXPECT_NEAR(transforms::exponential(0), 53.0 * std::numbers::ln2, 53.0 * 0x1p-50);
  EXPECT_GE(transforms::exponential(~std::uint64_t{0}), 0x1p-53);
  for (const std::uint64_t word : special_words()) expect_exponential(word);
  const Stream stream = test::stream("ExponentialIsAccurate");
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const auto words = stream.bits(i);
    const std::uint64_t wide = std::uint64_t{words[1]} << 32 | words[0];
    expect_exponential(wide);
    expect_exponential(wide >> words[2] % 52);     // far into the tail
    expect_exponential(~(wide >> words[2] % 52));  // and close to 0
  }
}

// Properties (2) and (3).
TEST(RandomTransforms, NormalPairsAreAccurate) {
  for (const std::uint64_t radius : special_words()) {
    for (const std::uint64_t angle : special_words()) expect_normals(radius, angle);
  }
  const Stream stream = test::stream("NormalPairsAreAccurate");
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const auto words = stream.bits(i);
    expect_normals(std::uint64_t{words[1]} << 32 | words[0],
                   std::uint64_t{words[3]} << 32 | words[2]);
  }
}

TEST(RandomTransforms, OpenUniformIsExact) {
  EXPECT_EQ(transforms::open_uniform(0), 0x1p-53);
  EXPECT_EQ(transforms::open_uniform(~std::uint64_t{0}), 1.0 - 0x1p-53);
  EXPECT_EQ(transforms::open_uniform(std::uint64_t{1} << 63), 0.5 + 0x1p-53);
  EXPECT_EQ(transforms::open_uniform(0xFFF), 0x1p-53);
}

// ---- the vectors, on every instruction set ------------------------------------------------------

class RandomKernels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }
};

INSTANTIATE_TEST_SUITE_P(Core, RandomKernels, testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return test.param; });

std::vector<std::uint64_t> words_of(const RandomBlocks& blocks) {
  std::vector<std::uint64_t> words(2 * blocks.count);
  kernels::random_words(blocks, words.data());
  return words;
}

// The known answers of Random123 (kat_vectors) again, as the first of a vector.
TEST_P(RandomKernels, PhiloxGivesItsPublishedTestVectors) {
  using Answer = std::vector<std::uint64_t>;
  EXPECT_EQ(words_of({{0, 0}, 0, 0, 1}), (Answer{0xe169c58d'6627e8d5, 0x9b00dbd8'bc57ac4c}));
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(words_of({{0xffffffff, 0xffffffff}, ones, ones, 1}),
            (Answer{0x41c83b0e'408f276d, 0x6d5451fd'a20bc7c6}));
  EXPECT_EQ(words_of({{0xa4093822, 0x299f31d0}, 0x03707344'13198a2e, 0x85a308d3'243f6a88, 1}),
            (Answer{0x94fdcceb'd16cfe09, 0x24126ea1'5001e420}));
}

// Property (1) of random_kernels.hpp, also where the lower word of the counter overflows.
TEST_P(RandomKernels, PhiloxIsThatOfRandom123) {
  for (const std::size_t count : {1, 5, 8, 16, 37}) {
    const RandomBlocks blocks{{0x12345678, 0x9abcdef0}, 0xfedcba98'76543210, 0xffff'fff0, count};
    const auto words = words_of(blocks);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t index = blocks.first + i;
      const auto block =
          philox_block({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                        0x76543210, 0xfedcba98},
                       blocks.key);
      ASSERT_EQ(words[2 * i], std::uint64_t{block[1]} << 32 | block[0]) << i;
      ASSERT_EQ(words[2 * i + 1], std::uint64_t{block[3]} << 32 | block[2]) << i;
    }
  }
}

// Properties (2) and (3), over enough blocks for draws at 1e-5 of the probability.
TEST_P(RandomKernels, TransformsAreThePlainOnes) {
  const RandomBlocks blocks{{static_cast<std::uint32_t>(test::seed()), 7}, 3, 11, 100'003};
  const auto words = words_of(blocks);
  std::vector<double> draws(2 * blocks.count);
  kernels::random_exponentials(blocks, draws.data());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    ASSERT_EQ(draws[i], transforms::exponential(words[i])) << i;
  }
  kernels::random_normals(blocks, draws.data());
  for (std::size_t i = 0; i < draws.size(); i += 2) {
    const transforms::Pair pair = transforms::normal_pair(words[i], words[i + 1]);
    ASSERT_EQ(draws[i], pair.first) << i;
    ASSERT_EQ(draws[i + 1], pair.second) << i;
  }
}

}  // namespace
}  // namespace dewpoint
