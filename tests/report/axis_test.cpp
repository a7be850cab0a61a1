#include "dewpoint/report/axis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dewpoint/report/number_text.hpp"

namespace dewpoint::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::string> numbers(AxisScale scale, const Range& range) {
  std::vector<std::string> labels;
  for (const auto& tic : tics_of(scale, range)) {
    if (!tic.label.empty()) labels.push_back(tic.label);
  }
  return labels;
}

TEST(PlaceOn, IsTheValueOrItsLogarithm) {
  EXPECT_EQ(place_on(AxisScale::linear, -2.5), -2.5);
  EXPECT_EQ(place_on(AxisScale::exponent, -1000.0), -1000.0);
  EXPECT_EQ(place_on(AxisScale::logarithmic, 100.0), 2.0);
}

TEST(PlaceOn, HasNoneForWhatTheAxisCannotShow) {
  for (const AxisScale scale : {AxisScale::linear, AxisScale::logarithmic, AxisScale::exponent}) {
    EXPECT_TRUE(std::isnan(place_on(scale, kNaN)));
    EXPECT_TRUE(std::isnan(place_on(scale, kInfinity)));
    EXPECT_TRUE(std::isnan(place_on(scale, -kInfinity)));
  }
  EXPECT_TRUE(std::isnan(place_on(AxisScale::logarithmic, 0.0)));
  EXPECT_TRUE(std::isnan(place_on(AxisScale::logarithmic, -1.0)));
  EXPECT_TRUE(std::isnan(place_on(AxisScale::exponent, -2 * kLargestExponent)));
}

TEST(ShownRange, IsTheOneGivenInPlaces) {
  EXPECT_EQ(shown_range({"", AxisScale::logarithmic, Range{0.1, 1000}}, {7}), (Range{-1, 3}));
  EXPECT_EQ(shown_range({"", AxisScale::linear, Range{-2, 3}}, {}), (Range{-2, 3}));
}

TEST(ShownRange, LeavesRoomAroundTheData) {
  const Range range = shown_range({}, {5.0, kNaN, 0.0, 10.0});
  EXPECT_LT(range.low, 0.0);
  EXPECT_GT(range.low, -1.0);
  EXPECT_GT(range.high, 10.0);
  EXPECT_LT(range.high, 11.0);
}

TEST(ShownRange, IsNeverEmpty) {
  EXPECT_EQ(shown_range({}, {}), (Range{0, 1}));
  EXPECT_EQ(shown_range({}, {0.25, 0.25}), (Range{-0.25, 0.75}));
  const Range far = shown_range({}, {1e20, std::nextafter(1e20, 2e20)});
  EXPECT_LT(far.low, 0.6e20);
  EXPECT_GT(far.high, 1.4e20);
  const Range decade = shown_range({"", AxisScale::logarithmic, {}}, {2.0, 2.1});
  EXPECT_GE(decade.high - decade.low, 1.0);
}

TEST(Tics, IncreaseAndLieInside) {
  for (const AxisScale scale : {AxisScale::linear, AxisScale::logarithmic, AxisScale::exponent}) {
    for (const Range& range : {Range{-0.03, 1.03}, Range{-6.5, 6.5}, Range{-123.4, 0.7},
                               Range{2.3, 3.3}, Range{-1e9, 12}}) {
      const std::vector<Tic> tics = tics_of(scale, range);
      ASSERT_FALSE(tics.empty());
      // A tic may lie outside by a rounding: 10⁻⁹ of a step, and no step is longer than the range.
      const double rounding = 1e-9 * (range.high - range.low);
      EXPECT_GE(tics.front().place, range.low - rounding);
      EXPECT_LE(tics.back().place, range.high + rounding);
      for (std::size_t k = 1; k < tics.size(); ++k) EXPECT_LT(tics[k - 1].place, tics[k].place);
    }
  }
}

// Property (1).
TEST(Tics, AreTidyOnALinearAxis) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(numbers(AxisScale::linear, {-0.03, 1.03}),
            (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  EXPECT_EQ(numbers(AxisScale::linear, {-6.5, 6.5}),
            (Labels{"−6", "−4", "−2", "0", "2", "4", "6"}));
  EXPECT_EQ(numbers(AxisScale::linear, {0, 5e6}),
            (Labels{"0", "10⁶", "2·10⁶", "3·10⁶", "4·10⁶", "5·10⁶"}));
}

// Property (2), for a decade that begins anywhere.
TEST(Tics, HaveAtLeastThreeNumbersInADecade) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(numbers(AxisScale::logarithmic, {-1, 0.5}), (Labels{"0.1", "0.2", "0.5", "1", "2"}));
  for (double low = -2.0; low <= 2.0; low += 0.03125) {
    EXPECT_GE(numbers(AxisScale::logarithmic, {low, low + 1}).size(), 3U) << low;
  }
  EXPECT_EQ(numbers(AxisScale::exponent, {-400, -399}),
            (Labels{"10⁻⁴⁰⁰", "2·10⁻⁴⁰⁰", "5·10⁻⁴⁰⁰", "10⁻³⁹⁹"}));
}

// Property (3).
TEST(Tics, NumberThePowersOfTen) {
  const std::vector<Tic> tics = tics_of(AxisScale::logarithmic, {-3, 0});
  EXPECT_EQ(tics.size(), 3 * 9 + 1U);
  EXPECT_EQ(tics.front(), (Tic{-3, "10⁻³"}));
  EXPECT_EQ(tics[1], (Tic{-3 + std::log10(2.0), ""}));
  EXPECT_EQ(tics.back(), (Tic{0, "10⁰"}));
  EXPECT_EQ(numbers(AxisScale::exponent, {-6.1, 0.1}).size(), 7U);
}

// Property (4).
TEST(Tics, AreNeverCrowdedOverManyDecades) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(numbers(AxisScale::exponent, {-125, 5}),
            (Labels{"10⁻¹²⁰", "10⁻¹⁰⁰", "10⁻⁸⁰", "10⁻⁶⁰", "10⁻⁴⁰", "10⁻²⁰", "10⁰"}));
  for (double span = 8.0; span < 1e14; span *= 1.37) {
    const std::size_t size = numbers(AxisScale::exponent, {-span, 0.3}).size();
    EXPECT_LE(size, 7U) << span;
    EXPECT_GE(size, 3U) << span;
  }
}

}  // namespace
}  // namespace dewpoint::report
