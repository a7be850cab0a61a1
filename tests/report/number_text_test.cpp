#include "dewpoint/report/number_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace dewpoint::report {
namespace {

TEST(PowerOfTenText, RaisesItsDigits) {
  EXPECT_EQ(power_of_ten_text(0), "10⁰");
  EXPECT_EQ(power_of_ten_text(-3), "10⁻³");
  EXPECT_EQ(power_of_ten_text(1234567890), "10¹²³⁴⁵⁶⁷⁸⁹⁰");
}

TEST(NumberText, IsPlainNearOne) {
  EXPECT_EQ(number_text(0.0), "0");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(3 * 0.1), "0.3");
  EXPECT_EQ(number_text(-2.5), "−2.5");
  EXPECT_EQ(number_text(1e-4), "0.0001");
  EXPECT_EQ(number_text(99999), "99999");
}

TEST(NumberText, HasAPowerOfTenFarFromOne) {
  EXPECT_EQ(number_text(1e5), "10⁵");
  EXPECT_EQ(number_text(-2.5e-7), "−2.5·10⁻⁷");
  EXPECT_EQ(number_text(9.9999999999999e6), "10⁷");
  EXPECT_EQ(number_text(std::numeric_limits<double>::denorm_min()), "4.94065645841·10⁻³²⁴");
}

TEST(NumberText, NamesWhatIsNotFinite) {
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "−∞");
}

TEST(LengthText, WritesPowersOfTenAsSuchAndCountsPlainly) {
  EXPECT_EQ(length_text(512), "512");
  EXPECT_EQ(length_text(100), "100");
  EXPECT_EQ(length_text(1000), "10³");
  EXPECT_EQ(length_text(1048576), "1048576");
  EXPECT_EQ(length_text(1e100), "10¹⁰⁰");
  EXPECT_EQ(length_text(2.5e12), "2.5·10¹²");
}

TEST(NumberText, GivesQuantitiesTheirSymbol) {
  EXPECT_EQ(value_label("n", 1e6), "n = 10⁶");
  EXPECT_EQ(value_label("rho", 0.25), "ρ = 0.25");
}

}  // namespace
}  // namespace dewpoint::report
