#include "dewpoint/question/asked.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"

namespace dewpoint::question {
namespace {

struct Line {
  double slope = 2.0;
  double offset = 1.0;
  std::string law = "power";
};

template <class Visitor>
void describe(Visitor& visit, Line& line) {
  visit("slope", line.slope, in(0.0, 8.0), "of the line", grid("1,2,4"));
  visit("offset", line.offset, any_number(), "at 0");
  visit("law", line.law, "of the line", one_of({"power", "log", "flat"}), grid("power log"));
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

TEST(Asked, GivesWordsOfAxesAndOfValues) {
  const std::vector<std::string> both = {"power", "log"};
  EXPECT_EQ(Asked({}, {{"law", {}, both}}).words("law"), both);
  EXPECT_EQ(Asked({{"law", "log"}}, {}).words("law"), std::vector<std::string>{"log"});
  EXPECT_TRUE(Asked().words("law").empty());
}

TEST(Asked, HasAQuestionForEveryCell) {
  const Asked asked{{{"offset", 3.0}}, {{"slope", {1.0, 2.0}}, {"law", {}, {"power", "log"}}}};
  std::string cells;
  for (const auto& line : asked.all<Line>()) {
    EXPECT_EQ(line.offset, 3.0);
    cells += number_text(line.slope) + line.law + " ";
  }
  EXPECT_EQ(cells, "1power 1log 2power 2log ");
  EXPECT_EQ(Asked().all<Line>().size(), 1U);
}

TEST(Axis, WordsHaveBlanksBetweenThem) {
  const Field& law = fields_of<Line>().back();
  EXPECT_EQ(parse_axis(law, " log  flat").words, (std::vector<std::string>{"log", "flat"}));
  const auto refusal = [&](const char* text) -> std::string {
    try {
      (void)parse_axis(law, text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("log cubic").substr(0, 26), "law: 'cubic' is not known;");
  EXPECT_EQ(refusal("log log"), "law: 'log' is there twice");
  EXPECT_EQ(refusal(""), "law: at least one is needed");
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
