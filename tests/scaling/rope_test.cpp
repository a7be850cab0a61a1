// Rotary frequencies against plain formulas written a second time, and their properties.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/rope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scaling {
namespace {

// Oracles follow the published Python step by step, with inverse powers and explicit branches where
// the code under test has clamps.
std::vector<double> inverse_powers(double base, std::size_t dimension) {
  std::vector<double> result;
  for (std::size_t i = 0; i < dimension; i += 2)
    result.push_back(1.0 / std::pow(base, static_cast<double>(i) / static_cast<double>(dimension)));
  return result;
}

std::vector<double> oracle_llama3(double base, std::size_t dimension, double factor, double low,
                                  double high, double old_length) {
  std::vector<double> result = inverse_powers(base, dimension);
  for (double& frequency : result) {
    const double wavelength = 2.0 * std::numbers::pi / frequency;
    if (wavelength < old_length / high) continue;
    const double divided = frequency / factor;
    if (wavelength > old_length / low) {
      frequency = divided;
      continue;
    }
    const double smooth = (old_length / wavelength - low) / (high - low);
    frequency = (1.0 - smooth) * divided + smooth * frequency;
  }
  return result;
}

std::vector<double> oracle_yarn(double base, std::size_t dimension, double factor, double length,
                                bool truncate) {
  const auto correction = [&](double turns) {
    return static_cast<double>(dimension) * std::log(length / (turns * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(base));
  };
  double low = correction(32.0), high = correction(1.0);
  if (truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  if (low < 0.0) low = 0.0;
  if (high > static_cast<double>(dimension) - 1.0) high = static_cast<double>(dimension) - 1.0;
  const std::vector<double> extrapolated = inverse_powers(base, dimension);
  std::vector<double> result;
  for (std::size_t k = 0; k < extrapolated.size(); ++k) {
    const double ramp = (static_cast<double>(k) - low) / (high - low);
    const double mask = 1.0 - (ramp < 0.0 ? 0.0 : ramp > 1.0 ? 1.0 : ramp);
    result.push_back(extrapolated[k] / factor * (1.0 - mask) + extrapolated[k] * mask);
  }
  return result;
}

void expect_equal(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    EXPECT_NEAR(found[k], expected[k], 2.0 * kRopeError * expected[k]) << k;
}

RopeScaling scaled(RopeKind kind, double factor) {
  RopeScaling rope;
  rope.kind = kind;
  rope.base = 500000.0;
  rope.factor = factor;
  rope.original_length = 8192;
  return rope;
}

const std::vector<double> kDefault = inverse_powers(500000.0, 128);

TEST(RopeFrequencies, AreInversePowersOfTheBase) {
  expect_equal(rope_frequencies(scaled(RopeKind::standard, 1.0), 128, 8192, 100), kDefault);
}

TEST(RopeFrequencies, CoverTheRotaryShare) {
  RopeScaling rope = scaled(RopeKind::standard, 1.0);
  rope.rotary_share = 0.25;
  expect_equal(rope_frequencies(rope, 128, 8192, 100), inverse_powers(500000.0, 32));
}

TEST(RopeFrequencies, AreDividedByLinearScaling) {
  std::vector<double> expected = kDefault;
  for (double& frequency : expected) frequency /= 4.0;
  expect_equal(rope_frequencies(scaled(RopeKind::linear, 4.0), 128, 8192, 100), expected);
}

TEST(RopeFrequencies, FollowTheLengthUnderDynamicScaling) {
  const RopeScaling rope = scaled(RopeKind::dynamic, 2.0);
  const double base = 500000.0 * std::pow(2.0 * 20000.0 / 8192.0 - 1.0, 128.0 / 126.0);
  expect_equal(rope_frequencies(rope, 128, 8192, 20000), inverse_powers(base, 128));
}

TEST(RopeFrequencies, AreTheseForLlama3) {
  RopeScaling rope = scaled(RopeKind::llama3, 8.0);
  expect_equal(rope_frequencies(rope, 128, 131072, 100),
               oracle_llama3(500000.0, 128, 8.0, 1.0, 4.0, 8192.0));
  rope.low_frequency_factor = 2.0;
  rope.high_frequency_factor = 16.0;
  expect_equal(rope_frequencies(rope, 128, 131072, 100),
               oracle_llama3(500000.0, 128, 8.0, 2.0, 16.0, 8192.0));
}

TEST(RopeFrequencies, AreTheseForYarn) {
  for (const bool truncate : {true, false})
    for (const double base : {10000.0, 500000.0, 1e6}) {
      RopeScaling rope = scaled(RopeKind::yarn, 16.0);
      rope.base = base;
      rope.truncate = truncate;
      expect_equal(rope_frequencies(rope, 64, 131072, 100),
                   oracle_yarn(base, 64, 16.0, 8192.0, truncate));
    }
}

// gpt-oss: base 150000, 64 coordinates, original length 4096, factor 32, no rounding. The ramp then
// runs from pair 8.09 to 17.40: pair 8 is kept, pair 18 divided by 32, and pair 12, 0.41989 of the
// way, has θ (1 − 0.41989 · 31/32). Worked out with 60-digit arithmetic; five digits.
TEST(RopeFrequencies, HaveGptOssesRamp) {
  RopeScaling rope;
  rope.kind = RopeKind::yarn;
  rope.base = 150000.0;
  rope.factor = 32.0;
  rope.original_length = 4096;
  rope.truncate = false;
  const std::vector<double> found = rope_frequencies(rope, 64, 131072, 1);
  const std::vector<double> plain = inverse_powers(150000.0, 64);
  EXPECT_EQ(found[8], plain[8]);
  EXPECT_NEAR(found[12] / plain[12], 0.593227, 5e-6);
  EXPECT_NEAR(found[18] / plain[18], 1.0 / 32.0, kRopeError);
}

TEST(RopeFrequencies, AreDividedByLongRopesLists) {
  RopeScaling rope = scaled(RopeKind::longrope, 1.0);
  for (std::size_t k = 0; k < 64; ++k) {
    rope.short_factor.push_back(1.0 + 0.01 * static_cast<double>(k));
    rope.long_factor.push_back(2.0 + static_cast<double>(k));
  }
  std::vector<double> shorter = kDefault, longer = kDefault;
  for (std::size_t k = 0; k < 64; ++k) {
    shorter[k] /= rope.short_factor[k];
    longer[k] /= rope.long_factor[k];
  }
  expect_equal(rope_frequencies(rope, 128, 131072, 8192), shorter);
  expect_equal(rope_frequencies(rope, 128, 131072, 8193), longer);
}

// A missing original length is the model's maximum.
TEST(RopeFrequencies, TakeTheMaximumForAMissingOriginalLength) {
  RopeScaling rope = scaled(RopeKind::yarn, 4.0);
  const std::vector<double> given = rope_frequencies(rope, 64, 8192, 1);
  rope.original_length = 0;
  EXPECT_EQ(rope_frequencies(rope, 64, 8192, 1), given);
}

// Property (1).
TEST(RopeFrequencies, AreTheDefaultForAFactorOfOne) {
  for (const RopeKind kind :
       {RopeKind::linear, RopeKind::dynamic, RopeKind::ntk, RopeKind::llama3, RopeKind::yarn})
    expect_equal(rope_frequencies(scaled(kind, 1.0), 128, 8192, 8192), kDefault);
  expect_equal(rope_frequencies(scaled(RopeKind::dynamic, 4.0), 128, 8192, 8192), kDefault);
}

// Property (2).
TEST(RopeFrequencies, TurnNoFasterThanTheDefault) {
  for (const RopeKind kind :
       {RopeKind::linear, RopeKind::dynamic, RopeKind::ntk, RopeKind::llama3, RopeKind::yarn}) {
    const std::vector<double> found = rope_frequencies(scaled(kind, 8.0), 128, 8192, 65536);
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_LE(found[k], kDefault[k] * (1.0 + 2.0 * kRopeError));
      if (kind != RopeKind::dynamic && kind != RopeKind::ntk) {
        EXPECT_GE(found[k], kDefault[k] / 8.0 * (1.0 - 2.0 * kRopeError));
      }
    }
  }
}

// Property (3).
TEST(RopeFrequencies, AreDividedMoreTheSlowerTheyTurn) {
  for (const RopeKind kind : {RopeKind::llama3, RopeKind::yarn}) {
    const std::vector<double> found = rope_frequencies(scaled(kind, 8.0), 128, 65536, 1);
    double last = 1.0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double divisor = kDefault[k] / found[k];
      EXPECT_GE(divisor, last * (1.0 - 4.0 * kRopeError)) << k;
      last = divisor;
    }
    EXPECT_NEAR(last, 8.0, 8.0 * 4.0 * kRopeError);
    EXPECT_NEAR(found[0], 1.0, kRopeError);
  }
  for (const RopeKind kind : {RopeKind::dynamic, RopeKind::ntk}) {
    const std::vector<double> found = rope_frequencies(scaled(kind, 8.0), 128, 8192, 65536);
    for (std::size_t k = 2; k < found.size(); ++k)
      EXPECT_NEAR(found[k] / found[k - 1], found[1], 8.0 * kRopeError * found[1]);
  }
}

// Property (4).
TEST(RopeFrequencies, KeepTheFastestAndDivideTheSlowestUnderNtk) {
  const std::vector<double> found = rope_frequencies(scaled(RopeKind::ntk, 4.0), 128, 8192, 1);
  EXPECT_EQ(found.front(), 1.0);
  EXPECT_NEAR(found.back(), kDefault.back() / 4.0, 4.0 * kRopeError * kDefault.back());
}

TEST(RopeFrequencies, AreNoneWithoutRotation) {
  EXPECT_TRUE(rope_frequencies(scaled(RopeKind::none, 1.0), 128, 8192, 1).empty());
}

TEST(RopeFrequencies, RefuseWhatTheyCannotDo) {
  const auto refused = [](RopeKind kind, std::size_t dimension, std::size_t longest,
                          const std::function<void(RopeScaling&)>& change) {
    RopeScaling rope = scaled(kind, 2.0);
    change(rope);
    EXPECT_THROW((void)rope_frequencies(rope, dimension, longest, 1), Error) << name_of(kind);
  };
  const auto as_is = [](RopeScaling&) {};
  refused(RopeKind::standard, 7, 8192, as_is);
  refused(RopeKind::standard, 0, 8192, as_is);
  refused(RopeKind::ntk, 2, 8192, as_is);
  refused(RopeKind::dynamic, 64, 0, as_is);
  refused(RopeKind::linear, 64, 8192, [](RopeScaling& rope) { rope.factor = 0.5; });
  refused(RopeKind::yarn, 64, 8192, [](RopeScaling& rope) { rope.factor = std::nan(""); });
  refused(RopeKind::yarn, 64, 0, [](RopeScaling& rope) { rope.original_length = 0; });
  refused(RopeKind::standard, 64, 8192, [](RopeScaling& rope) { rope.base = 1.0; });
  refused(RopeKind::standard, 64, 8192, [](RopeScaling& rope) { rope.rotary_share = 1.5; });
  refused(RopeKind::llama3, 64, 8192, [](RopeScaling& rope) { rope.high_frequency_factor = 1.0; });
  refused(RopeKind::longrope, 64, 8192, [](RopeScaling& rope) { rope.short_factor = {1.0}; });
  refused(RopeKind::longrope, 4, 8192, [](RopeScaling& rope) { rope.short_factor = {1.0, 0.0}; });
}

TEST(RopeKind, HasTheNamesOfConfigurations) {
  for (const char* name :
       {"none", "default", "linear", "dynamic", "ntk", "llama3", "yarn", "longrope"})
    EXPECT_STREQ(name_of(parse_rope_kind(name)), name);
  EXPECT_EQ(parse_rope_kind("su"), RopeKind::longrope);
  EXPECT_EQ(parse_rope_kind("deepseek_yarn"), RopeKind::yarn);
  EXPECT_THROW((void)parse_rope_kind("alibi"), Error);
}

}  // namespace
}  // namespace dewpoint::scaling
