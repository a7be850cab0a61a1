#include "dewpoint/attention/variants/key_pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace dewpoint::attention {
namespace {

using Keys = std::vector<std::size_t>;

std::string complaint(const std::string& text) {
  try {
    (void)parse_key_pattern(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

const std::vector<KeyPattern> kPatterns = {Mask::none(),
                                           Mask::causal(),
                                           Mask::window(1),
                                           Mask::window(5),
                                           KeyPattern::dilated(1, 3),
                                           KeyPattern::dilated(3, 1),
                                           KeyPattern::dilated(4, 3),
                                           KeyPattern::dilated(100, 2),
                                           KeyPattern::global(1, 1),
                                           KeyPattern::global(3, 4),
                                           KeyPattern::global(2, 100)};

// Properties (1) and (4).
TEST(KeyPattern, EveryQuerySeesItselfAndNothingLater) {
  for (const KeyPattern& pattern : kPatterns) {
    for (std::size_t query = 0; query < 23; ++query) {
      const Keys keys = pattern.visible(query, 23).keys();
      EXPECT_EQ(keys.size(), pattern.visible(query, 23).size());
      EXPECT_TRUE(std::ranges::is_sorted(keys));
      EXPECT_EQ(std::ranges::count(keys, query), 1) << pattern.name() << ", query " << query;
      EXPECT_TRUE(keys.back() == query || pattern == KeyPattern()) << pattern.name();
    }
  }
}

// Property (2).
TEST(KeyPattern, OfAMaskIsThatMask) {
  for (const Mask& mask : {Mask::none(), Mask::causal(), Mask::window(3)}) {
    for (std::size_t query = 0; query < 7; ++query) {
      const VisibleKeys seen = KeyPattern(mask).visible(query, 7);
      ASSERT_EQ(seen.runs().size(), 1U);
      EXPECT_EQ(seen.runs()[0].hull(), mask.visible(query, 7));
    }
  }
}

TEST(KeyPattern, ADilatedWindowStepsBackward) {
  EXPECT_EQ(KeyPattern::dilated(3, 4).visible(10, 20).keys(), (Keys{2, 6, 10}));
  EXPECT_EQ(KeyPattern::dilated(3, 4).visible(7, 20).keys(), (Keys{3, 7}));
  EXPECT_EQ(KeyPattern::dilated(3, 4).visible(3, 20).keys(), (Keys{3}));
}

// Property (3).
TEST(KeyPattern, AtStrideOneADilatedWindowIsAWindow) {
  for (std::size_t query = 0; query < 9; ++query) {
    EXPECT_EQ(KeyPattern::dilated(4, 1).visible(query, 9).keys(),
              KeyPattern(Mask::window(4)).visible(query, 9).keys());
  }
}

TEST(KeyPattern, GlobalTokensAreSeenByAllThatFollow) {
  const KeyPattern pattern = KeyPattern::global(2, 3);
  EXPECT_EQ(pattern.visible(1, 20).keys(), (Keys{0, 1}));
  EXPECT_EQ(pattern.visible(3, 20).keys(), (Keys{0, 1, 2, 3}));
  EXPECT_EQ(pattern.visible(4, 20).keys(), (Keys{0, 1, 2, 3, 4}));
  EXPECT_EQ(pattern.visible(9, 20).keys(), (Keys{0, 1, 2, 8, 9}));
}

TEST(KeyPattern, RangesSeenHoldEveryRunAndStayApart) {
  for (const KeyPattern& pattern : kPatterns) {
    for (std::size_t begin = 0; begin < 40; begin += 8) {
      const auto ranges = pattern.ranges_seen({begin, begin + 8}, 40);
      for (std::size_t r = 1; r < ranges.size(); ++r) EXPECT_LT(ranges[r - 1].end, ranges[r].begin);
      for (std::size_t query = begin; query < begin + 8; ++query) {
        const VisibleKeys seen = pattern.visible(query, 40);
        for (const KeyRun& run : seen.runs()) {
          EXPECT_EQ(std::ranges::count_if(ranges,
                                          [&](const Range& range) {
                                            return range.begin <= run.begin && run.end <= range.end;
                                          }),
                    1)
              << pattern.name() << ", query " << query;
        }
      }
    }
  }
  const auto ranges = KeyPattern::global(2, 3).ranges_seen({20, 28}, 40);
  EXPECT_EQ(ranges, (std::vector<Range>{{0, 3}, {19, 28}}));
}

TEST(KeyPattern, ItsNameParsesBackToIt) {
  for (const KeyPattern& pattern : kPatterns) {
    EXPECT_EQ(parse_key_pattern(pattern.name()), pattern) << pattern.name();
  }
}

TEST(KeyPattern, ZeroesAreRefusedWithTheReason) {
  EXPECT_EQ(complaint("window:0"),
            "mask: window:0 leaves every query without a visible key; the width must be >= 1");
  EXPECT_EQ(complaint("dilated:0:2"),
            "mask: dilated:0:2 needs a width >= 1 (0 leaves every query without a visible key) and "
            "a stride >= 1");
  EXPECT_NE(complaint("dilated:2:0").find("a stride >= 1"), std::string::npos);
  EXPECT_NE(complaint("global:0:2").find("a width >= 1"), std::string::npos);
  EXPECT_EQ(complaint("global:4:0"),
            "mask: global:4:0 needs a width >= 1, so that every query sees itself, and at least 1 "
            "global token (without any it is window:4)");
}

TEST(KeyPattern, AnythingElseIsRefusedByName) {
  for (const std::string text :
       {"", "Causal", "window", "window:", "window:-1", "window:3x", "dilated:3", "dilated:3:2:1",
        "dilated:3:", "dilated::2", "global", "global:3", "global:3:2.5", "dilatedx:1:1"}) {
    EXPECT_NE(complaint(text).find("'" + text + "' is not none, causal, window:W, dilated:W:S"),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace dewpoint::attention
