#include "dewpoint/question/value.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "support/test_seed.hpp"

namespace dewpoint::question {
namespace {

// Keys of stored cells are hashes of this text: a change here loses every cell ever computed.
TEST(CanonicalText, IsThisOneForever) {
  const Point point = {{"alpha", 0.0},
                       {"n", 512.0},
                       {"rho", 0.95},
                       {"sum", 0.1 + 0.2},
                       {"huge", 1e300},
                       {"small", 1e-7},
                       {"tokens", std::string("simplex")},
                       {"quiet", true},
                       {"path", std::string("a\"b\\c\n\xc3\xa9")}};
  EXPECT_EQ(canonical_text(point),
            "{\"alpha\":0,\"huge\":1e+300,\"n\":512,\"path\":\"a\\\"b\\\\c\\u000a\xc3\xa9\","
            "\"quiet\":true,\"rho\":0.95,\"small\":1e-07,\"sum\":0.30000000000000004,"
            "\"tokens\":\"simplex\"}");
  EXPECT_EQ(canonical_text({}), "{}");
}

TEST(CanonicalText, TellsApartWhatIsDifferent) {
  EXPECT_NE(canonical_text({{"x", 1.0}}), canonical_text({{"x", std::string("1")}}));
  EXPECT_NE(canonical_text({{"x", true}}), canonical_text({{"x", std::string("true")}}));
  EXPECT_NE(canonical_text({{"x", 0.1}}), canonical_text({{"x", std::nextafter(0.1, 1.0)}}));
}

TEST(NumberText, IsShortAndHasNoExponentWherePeopleWouldNotWriteOne) {
  EXPECT_EQ(number_text(0.0), "0");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(-2.5), "-2.5");
  EXPECT_EQ(number_text(100000.0), "100000");
  EXPECT_EQ(number_text(1e8), "100000000");
  EXPECT_EQ(number_text(0x1p53), "9007199254740992");
  EXPECT_EQ(number_text(0x1p53 + 2.0), "9.007199254740994e+15");
  EXPECT_EQ(number_text(1e-5), "0.00001");
  EXPECT_EQ(number_text(9e-6), "9e-06");
  EXPECT_EQ(number_text(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(NumberText, GivesEveryNumberBack) {
  const Stream draws = test::stream("NumberText/GivesEveryNumberBack");
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double number = draws.normal(2 * i) * std::pow(10.0, 20.0 * draws.normal(2 * i + 1));
    if (!std::isfinite(number)) continue;
    const std::string text = number_text(number);
    double read = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    EXPECT_EQ(read, number) << text;
  }
}

TEST(ValueText, IsTheBareValue) {
  EXPECT_EQ(value_text(std::string("simplex")), "simplex");
  EXPECT_EQ(value_text(true), "true");
  EXPECT_EQ(value_text(false), "false");
  EXPECT_EQ(value_text(0.25), "0.25");
}

TEST(ShortText, HasTheFewestLetters) {
  EXPECT_EQ(short_text(512.0), "512");
  EXPECT_EQ(short_text(1e300), "1e300");
  EXPECT_EQ(short_text(1e-50), "1e-50");
  EXPECT_EQ(short_text(1e7), "1e7");
  EXPECT_EQ(short_text(-2.5), "-2.5");
  EXPECT_EQ(short_text(1234567.0), "1234567");
}

}  // namespace
}  // namespace dewpoint::question
