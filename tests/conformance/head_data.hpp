// Heads that the tests of fast against plain share, with the tolerances that their data allows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/attention/head_strip.hpp"
#include "dewpoint/core/head_kernels.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {

inline constexpr double kEps = std::numeric_limits<float>::epsilon();
inline const RunContext kOneThread{1, {}, {}};
inline const RunContext kTwoThreads{2, {}, {}};

// What is asked of every number of a row, relative to itself.
inline constexpr double kTolerance = kHeadError;

// Data for which float32 can keep it: entries are multiples of 1/16 below 2 in size, so products of
// up to 80 of them are multiples of 1/256 below 2⁹ and float32 adds them without rounding. What is
// left are the rounding of the rate and of y = rate · gap, the exponential (twice, for w²) and the
// additions. The largest exponent is asserted.
inline constexpr double kLargestExponent = 30.0;
static_assert(kEps *
                  (2.0 * (kernels::kExpUlp + (1.0 + kernels::kExpUlpPerUnit) * kLargestExponent) +
                   kernels::kHeadRun) <=
              kTolerance);

// With a cap c, scores are off by kCapUlp and three more roundings of at most c.
inline constexpr double kCap = 2.0;
inline constexpr double kCappedScoreError = kEps * (kernels::kCapUlp + 3.0) * kCap;

struct Data {
  Matrix<float> queries, keys, values;

  Data(std::size_t query_count, std::size_t n, std::size_t d)
      : queries(on_grid(query_count, d, "Head/queries")),
        keys(on_grid(n, d, "Head/keys")),
        values(on_grid(n, d, "Head/values")) {}

  static Matrix<float> on_grid(std::size_t rows, std::size_t cols, const char* name) {
    const Stream stream = test::stream(name);
    Matrix<float> result(rows, cols);
    for (std::size_t k = 0; k < result.size(); ++k) {
      result.data()[k] = static_cast<float>(std::floor(64.0 * stream.uniform(k)) - 32.0) / 16.0F;
    }
    return result;
  }

  // Scores then have standard deviation 4/3 whatever the dimension; the scale is a power of two so
  // that it rounds nothing either.
  [[nodiscard]] Head head(const Mask& mask) const {
    Head head;
    head.queries = queries;
    head.keys = keys;
    head.values = values;
    head.first_position = keys.rows() - queries.rows();
    head.mask = mask;
    head.scale = std::exp2(-std::round(0.5 * std::log2(static_cast<double>(queries.cols()))));
    return head;
  }
};

inline std::vector<std::size_t> all_queries(const Head& head) {
  std::vector<std::size_t> queries(head.queries.rows());
  for (std::size_t i = 0; i < queries.size(); ++i) queries[i] = i;
  return queries;
}

inline const std::vector<Mask> kMasks = {Mask::none(),    Mask::causal(),   Mask::window(1),
                                         Mask::window(7), Mask::window(64), Mask::window(1000)};

inline const std::vector<LogitMultiplier> kMultipliers = {
    [](std::size_t) { return 0.3; },
    [](std::size_t keys) { return std::log(static_cast<double>(keys) + 1.0) / 4.0; }};

struct Shape {
  std::size_t queries, keys, dimension;
};

// The last spans several blocks of keys.
inline const std::vector<Shape> kShapes = {
    {1, 1, 16},   {2, 2, 5},      {3, 3, 64},     {17, 17, 80},
    {20, 83, 16}, {512, 512, 64}, {130, 513, 64}, {30, 2 * kBlockKeys + 300, 16}};

/// Once per instruction set.
class HeadConformance : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }
};

}  // namespace dewpoint::attention
