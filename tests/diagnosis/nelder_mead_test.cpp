// Minima whose places are known.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/diagnosis/nelder_mead.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dewpoint::diagnosis {
namespace {

/// Rosenbrock's valley: bent, narrow, lowest at (1, 1).
double valley(const std::vector<double>& place) {
  const double along = 1.0 - place[0], across = place[1] - place[0] * place[0];
  return along * along + 100.0 * across * across;
}

// The walk ends when the simplex is smaller than the tolerance; along the valley, where the
// curvature is 0.4 against 1000 across it, the best corner may be further off by √(1000/0.4).
TEST(Descend, FollowsABentValleyToItsEnd) {
  const Descent descent{.restarts = 10};
  const Lowest lowest = descend(valley, {-1.2, 1.0}, {0.3, 0.3}, descent);
  const double tolerance = descent.tolerance * 0.3 * std::sqrt(1000.0 / 0.4);
  EXPECT_NEAR(lowest.place[0], 1.0, tolerance);
  EXPECT_NEAR(lowest.place[1], 1.0, 2.0 * tolerance);
}

// Property (1), with a wall between the start and the minimum of what lies behind it.
TEST(Descend, StaysOutOfForbiddenPlaces) {
  const auto walled = [](const std::vector<double>& place) {
    return place[0] < 0.25 ? std::numeric_limits<double>::infinity() : place[0] * place[0];
  };
  const Lowest lowest = descend(walled, {1.0}, {0.3});
  EXPECT_GE(lowest.place[0], 0.25);
  EXPECT_NEAR(lowest.place[0], 0.25, 0.3 * Descent{}.tolerance);
}

// Property (2).
TEST(Descend, HasNothingToDoWithoutVariables) {
  const Lowest lowest = descend([](const std::vector<double>&) { return 7.0; }, {}, {});
  EXPECT_TRUE(lowest.place.empty());
  EXPECT_EQ(lowest.value, 7.0);
}

}  // namespace
}  // namespace dewpoint::diagnosis
