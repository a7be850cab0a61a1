// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/log_space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Property (1) of softplus, two units in the last place of the larger of the two.
TEST(Softplus, DiffersFromItsMirrorByTheArgument) {
  for (double x : {-800.0, -30.0, -1.0, 0.0, 1e-9, 0.5, 40.0, 1e6})
    EXPECT_NEAR(softplus(x) - softplus(-x), x, 4 * kEpsilon * (1.0 + std::abs(x)));
}

TEST(Softplus, KeepsTinyValuesAndReachesTheInfinities) {
  EXPECT_NEAR(softplus(-700.0) / std::exp(-700.0), 1.0, 4 * kEpsilon);
  EXPECT_EQ(softplus(-kInfinity), 0.0);
  EXPECT_EQ(softplus(kInfinity), kInfinity);
}

// Properties (1) and (2) of log_add.
TEST(LogAdd, IsSymmetricWithMinusInfinityNeutral) {
  EXPECT_EQ(log_add(3.0, -2.0), log_add(-2.0, 3.0));
  EXPECT_EQ(log_add(-kInfinity, 5.0), 5.0);
  EXPECT_EQ(log_add(-kInfinity, -kInfinity), -kInfinity);
  EXPECT_NEAR(log_add(std::log(2.0), std::log(3.0)), std::log(5.0), 4 * kEpsilon);
  EXPECT_NEAR(log_add(2000.0, 2000.0), 2000.0 + std::log(2.0), 2 * 2000.0 * kEpsilon);
}

// Property (1) of log_subtract. Near equality the difference x − y carries kEpsilon · |x| and is
// divided by 1 − e^{y−x}, but adding y back weighs it with the same factor.
TEST(LogSubtract, UndoesLogAdd) {
  for (double x : {0.5, 3.0, 700.0})
    for (double distance : {1e-6, 0.1, 1.0, 50.0}) {
      const double y = x - distance;
      EXPECT_NEAR(log_add(log_subtract(x, y), y), x, 8 * kEpsilon * (1.0 + x));
    }
  EXPECT_EQ(log_subtract(1.0, 1.0), -kInfinity);
}

}  // namespace
}  // namespace dewpoint::theory
