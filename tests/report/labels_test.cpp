#include "dewpoint/report/labels.hpp"

#include <gtest/gtest.h>

namespace dewpoint::report {
namespace {

TEST(Labels, NameWhatIsKnownWithItsSymbol) {
  EXPECT_EQ(long_label("contraction"), "contraction λ");
  EXPECT_EQ(short_label("contraction"), "λ");
  EXPECT_EQ(long_label("rho"), "token overlap ρ");
  EXPECT_EQ(short_label("layer"), "layer");
}

TEST(Labels, LeaveOtherNamesAsTheyAre) {
  EXPECT_EQ(long_label("my_own_number"), "my own number");
  EXPECT_EQ(short_label("my_own_number"), "my own number");
  EXPECT_FALSE(is_fraction("my_own_number"));
}

TEST(Labels, WriteLengthsAsPowersAndNumbersPlainly) {
  EXPECT_EQ(value_label("n", 1e6), "n = 10⁶");
  EXPECT_EQ(value_label("rho", 0.25), "ρ = 0.25");
}

}  // namespace
}  // namespace dewpoint::report
