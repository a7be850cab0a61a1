#include "dewpoint/question/asked.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"

namespace dewpoint::question {
namespace {

struct Line {
  double slope = 2.0;
  double offset = 1.0;
};

template <class Visitor>
void describe(Visitor& visit, Line& line) {
  visit("slope", line.slope, in(0.0, 8.0), "of the line", grid("1,2,4"));
  visit("offset", line.offset, any_number(), "at 0");
}

TEST(Asked, GivesNumbersOfAxesAndOfValues) {
  const Asked asked{{{"offset", 3.0}}, {{"slope", {1.0, 2.0}}}};
  EXPECT_EQ(asked.numbers("slope"), (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(asked.numbers("offset"), std::vector<double>{3.0});
  EXPECT_TRUE(asked.numbers("curvature").empty());
  const auto line = asked.first<Line>();
  EXPECT_EQ(line.slope, 1.0);
  EXPECT_EQ(line.offset, 3.0);
}

TEST(Asked, TheFirstOfAnAxisOfWordsIsAWord) {
  EXPECT_EQ(Asked({}, {{"law", {}, {"power", "log"}}}).first_point().at("law"), Value("power"));
}

TEST(Axis, EveryNumberIsAllowed) {
  const Field& slope = fields_of<Line>().front();
  EXPECT_EQ(parse_axis(slope, "0:8:5").values, (std::vector<double>{0.0, 2.0, 4.0, 6.0, 8.0}));
  try {
    (void)parse_axis(slope, "1,9");
    FAIL() << "parsed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "slope: 9 is not a number in [0, 8]");
  }
}

}  // namespace
}  // namespace dewpoint::question
