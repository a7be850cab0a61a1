#include <gtest/gtest.h>

#include <limits>

#include "dewpoint/report/colour.hpp"
#include "dewpoint/report/heatmap.hpp"

namespace dewpoint::report {
namespace {

double luma(Colour colour) {
  return 0.2126 * ((colour >> 16) & 0xff) + 0.7152 * ((colour >> 8) & 0xff) +
         0.0722 * (colour & 0xff);
}

// Property (1).
TEST(Diverging, RunsFromBlueOverWhiteToRed) {
  EXPECT_EQ(diverging(-1), 0x053061U);
  EXPECT_EQ(diverging(0), 0x053061U);
  EXPECT_EQ(diverging(0.5), 0xf7f7f7U);
  EXPECT_EQ(diverging(2), 0x67001fU);
  EXPECT_EQ(diverging(std::numeric_limits<double>::quiet_NaN()), kUnknownBesideWhite);
}

// Property (2). Steps of 1/50 change luma by more than one rounding of a channel.
TEST(Diverging, IsLightestInTheMiddle) {
  for (int k = 0; k < 25; ++k) {
    EXPECT_LT(luma(diverging(k / 50.0)), luma(diverging((k + 1) / 50.0))) << k;
    EXPECT_LT(luma(diverging(1 - k / 50.0)), luma(diverging(1 - (k + 1) / 50.0))) << k;
  }
}

TEST(ColourOf, FollowsTheScaleOfTheColours) {
  HeatmapFigure figure;
  figure.z_low = 0.01;
  figure.z_high = 100;
  figure.z_scale = AxisScale::logarithmic;
  EXPECT_EQ(colour_of(figure, 1), viridis(0.5));
  EXPECT_EQ(colour_of(figure, 0), viridis(0));
  EXPECT_EQ(colour_of(figure, -1), kUnknownColour);
  EXPECT_EQ(colour_of(figure, std::numeric_limits<double>::infinity()), viridis(1));
  figure.z_scale = AxisScale::linear;
  EXPECT_EQ(colour_of(figure, -1), viridis(0));
}

}  // namespace
}  // namespace dewpoint::report
