// As in a release: what DEWPOINT_EXPECTS names is used there too, and never evaluated. Warnings are
// errors here, so that this file does not compile where it is not.
#undef DEWPOINT_CHECKS
#include "dewpoint/core/error.hpp"

#include <gtest/gtest.h>

namespace dewpoint {
namespace {

int asked = 0;

bool used_by_an_expectation_alone() { return ++asked > 0; }

TEST(Expectations, AreNamedAndNotEvaluatedInARelease) {
  const auto fits = [](int value) { return value == ++asked; };
  DEWPOINT_EXPECTS(used_by_an_expectation_alone() && fits(3));
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace dewpoint
