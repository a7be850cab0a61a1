#include "dewpoint/scaling/law.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scaling {
namespace {

// n = e^8 rounded: 2981; values from the formulas in the header, by hand.
TEST(ScalingLaw, GivesItsFormula) {
  const double log_n = std::log(2981.0);
  EXPECT_EQ(inverse_temperature({"constant", 7.0}, 2981, 64), 7.0);
  EXPECT_DOUBLE_EQ(inverse_temperature({"log", 2.0}, 2981, 64), 2.0 * log_n);
  EXPECT_DOUBLE_EQ(inverse_temperature({"sqrt-log", 1.5}, 2981, 64), 1.5 * std::sqrt(2.0 * log_n));
  EXPECT_DOUBLE_EQ(inverse_temperature({"power", 1.0}, 4096, 5), 64.0);  // 4096^{1/2}
}

// Properties (1) and (2).
TEST(ScalingLaw, IsProportionalToItsStrengthAndGrowsWithN) {
  for (const std::string& name : law_names()) {
    const double one = inverse_temperature({name, 1.0}, 1000, 8);
    EXPECT_DOUBLE_EQ(inverse_temperature({name, 3.0}, 1000, 8), 3.0 * one);
    const double later = inverse_temperature({name, 1.0}, 100000, 8);
    if (name == "constant") {
      EXPECT_EQ(later, one);
    } else {
      EXPECT_GT(later, one);
    }
  }
}

TEST(ScalingLaw, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW((void)inverse_temperature({"cubic", 1.0}, 10, 2), Error);
  EXPECT_THROW((void)inverse_temperature({"log", -1.0}, 10, 2), Error);
  EXPECT_THROW((void)inverse_temperature({"log", std::nan("")}, 10, 2), Error);
  EXPECT_THROW((void)inverse_temperature({"power", 1.0}, 10, 1), Error);
}

}  // namespace
}  // namespace dewpoint::scaling
