#include "dewpoint/attention/mask.hpp"

#include <gtest/gtest.h>

#include <string>

namespace dewpoint::attention {
namespace {

std::string complaint(const std::string& text) {
  try {
    (void)parse_mask(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

TEST(Mask, WithoutOneEveryQuerySeesEveryKey) {
  EXPECT_TRUE(Mask::none().hides_nothing());
  EXPECT_EQ(Mask::none().visible(2, 7), (Range{0, 7}));
}

TEST(Mask, CausalShowsAQueryItselfAndWhatCameBefore) {
  EXPECT_EQ(Mask::causal().visible(0, 7), (Range{0, 1}));
  EXPECT_EQ(Mask::causal().visible(6, 7), (Range{0, 7}));
}

TEST(Mask, AWindowShowsTheLastKeys) {
  EXPECT_EQ(Mask::window(3).visible(1, 7), (Range{0, 2}));
  EXPECT_EQ(Mask::window(3).visible(5, 7), (Range{3, 6}));
  EXPECT_EQ(Mask::window(1).visible(5, 7), (Range{5, 6}));
}

TEST(Mask, ItsNameParsesBackToIt) {
  for (const Mask& mask : {Mask::none(), Mask::causal(), Mask::window(12)}) {
    EXPECT_EQ(parse_mask(mask.name()), mask) << mask.name();
  }
}

TEST(Mask, AWindowThatShowsNothingIsRefused) {
  EXPECT_EQ(complaint("window:0"),
            "mask: window:0 leaves every query without a visible key; the width must be >= 1");
}

TEST(Mask, AnythingElseIsRefusedByName) {
  for (const std::string text : {"", "Causal", "window", "window:", "window:-1", "window:3x"}) {
    EXPECT_NE(complaint(text).find("'" + text + "' is not none, causal or window:W"),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace dewpoint::attention
