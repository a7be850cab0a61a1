#include "dewpoint/core/nearest_word.hpp"

#include <gtest/gtest.h>

namespace dewpoint {
namespace {

TEST(NearestWord, FindsTheWordThatWasMeant) {
  const std::vector<std::string> words = {"gamma", "rho", "n", "tokens", "alpha"};
  EXPECT_EQ(nearest_word("gama", words), "gamma");
  EXPECT_EQ(nearest_word("Gamma", words), "gamma");
  EXPECT_EQ(nearest_word("token", words), "tokens");
  EXPECT_EQ(nearest_word("roh", words), "rho");
  EXPECT_EQ(nearest_word("rh", words), "rho");
}

TEST(NearestWord, DeclinesWhereNothingIsNear) {
  const std::vector<std::string> words = {"gamma", "rho", "n", "tokens", "alpha"};
  EXPECT_EQ(nearest_word("rxy", words), std::nullopt);  // two letters of three
  EXPECT_EQ(nearest_word("x", words), std::nullopt);
  EXPECT_EQ(nearest_word("temperature", words), std::nullopt);
  EXPECT_EQ(nearest_word("gamma", {}), std::nullopt);
}

TEST(NearestWord, TakesTheFirstOfTwoThatAreEquallyNear) {
  EXPECT_EQ(nearest_word("beta_", {"betas", "beta1"}), "betas");
}

TEST(InsteadOf, SaysWhatIsAllowedAndWhatWasProbablyMeant) {
  EXPECT_EQ(instead_of("gama", {"rho", "gamma"}), "; did you mean 'gamma'? Allowed: rho, gamma");
  EXPECT_EQ(instead_of("zeta", {"rho", "gamma"}), "; allowed: rho, gamma");
}

}  // namespace
}  // namespace dewpoint
