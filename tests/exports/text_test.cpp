#include "dewpoint/exports/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace dewpoint::exports {
namespace {

TEST(NumberText, HasTheFewestDigits) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(512.0), "512");
  EXPECT_EQ(number_text(1.0 / 3.0), "0.3333333333333333");
  EXPECT_EQ(number_text(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(number_text(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(number_text(0.0), "0");
  EXPECT_EQ(number_text(-0.0), "-0.0");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

RC_GTEST_PROP(NumberText, GivesEveryBitBack, (std::uint64_t bits)) {
  const auto value = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(value));
  const std::string text = number_text(value);
  double found = 0.0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), found);
  RC_ASSERT(end.ptr == text.data() + text.size());
  RC_ASSERT(std::bit_cast<std::uint64_t>(found) == bits);
}

TEST(CleanText, MendsWhatIsNotText) {
  EXPECT_EQ(clean_text("\xc3\xa9t\xc3\xa9"), "\xc3\xa9t\xc3\xa9");
  EXPECT_EQ(clean_text("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(clean_text(std::string_view("a\0b", 3)),
            "a\xef\xbf\xbd"
            "b");
}

TEST(FilePart, NeverLeavesItsFolder) {
  EXPECT_EQ(file_part("phase_map-1.5+x"), "phase_map-1.5+x");
  EXPECT_EQ(file_part("../a b\n"), ".._a_b_");
  EXPECT_EQ(file_part("\xce\xbc"), "\xce\xbc");
  EXPECT_EQ(file_part(""), "_");
}

TEST(NetcdfName, BeginsWithALetterAndIsShort) {
  EXPECT_EQ(netcdf_name("mean_cosine"), "mean_cosine");
  EXPECT_EQ(netcdf_name("a/b c"), "a_b_c");
  EXPECT_EQ(netcdf_name("2x"), "_2x");
  EXPECT_EQ(netcdf_name(""), "__");
  EXPECT_EQ(netcdf_name("\xce\xbc"), "\xce\xbc");
  std::string longest;
  for (int k = 0; k < 150; ++k) longest += "\xce\xbc";
  EXPECT_EQ(netcdf_name(longest), longest.substr(0, kLongestNetcdfName));
}

TEST(Names, AreGivenOnce) {
  Names names;
  EXPECT_EQ(names.claim("x"), "x");
  EXPECT_EQ(names.claim("x_2"), "x_2");
  EXPECT_EQ(names.claim("x"), "x_3");
  EXPECT_EQ(names.claim("x"), "x_4");
  EXPECT_EQ(names.claim("y"), "y");
}

}  // namespace
}  // namespace dewpoint::exports
