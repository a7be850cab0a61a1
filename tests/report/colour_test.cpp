#include "dewpoint/report/colour.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace dewpoint::report {
namespace {

double luma(Colour colour) {
  return 0.2126 * ((colour >> 16) & 0xff) + 0.7152 * ((colour >> 8) & 0xff) +
         0.0722 * (colour & 0xff);
}

// Property (1).
TEST(Viridis, HasItsPublishedEnds) {
  EXPECT_EQ(viridis(0.0), 0x440154U);
  EXPECT_EQ(viridis(1.0), 0xfde725U);
}

// Property (2). A step of 1/50 is wide enough that rounding to whole channels cannot invert it.
TEST(Viridis, GrowsLighter) {
  for (int k = 1; k <= 50; ++k) EXPECT_GT(luma(viridis(k / 50.0)), luma(viridis((k - 1) / 50.0)));
}

TEST(Viridis, StaysAtItsEndsOutsideAndIsGreyWhereNothingIsKnown) {
  EXPECT_EQ(viridis(-1.0), viridis(0.0));
  EXPECT_EQ(viridis(std::numeric_limits<double>::infinity()), viridis(1.0));
  EXPECT_EQ(viridis(std::numeric_limits<double>::quiet_NaN()), kUnknownColour);
}

}  // namespace
}  // namespace dewpoint::report
