#include "dewpoint/report/training_screen.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/text_plot.hpp"
#include "dewpoint/report/training_run.hpp"
#include "report/svg_text.hpp"
#include "report/synthetic_run.hpp"

namespace dewpoint::report {
namespace {

using test::synthetic_trajectory;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool holds(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

// Query 0 looks at itself, query 1 at both; two tokens, one record.
Frame small_trajectory() {
  Frame frame = synthetic_trajectory(2, {40});
  frame.variable("attention").cells = {{1.0, 0, 1}, {0.0, 0, 1}, {0.37, 0, 1}, {0.63, 0, 1}};
  frame.variable("loss").cells = {{0.81253, 0, 1}};
  frame.variable("group_loss").cells = {{0.25, 0, 1}, {1.5, 0, 1}};
  frame.variable("embedding_rank_one").cells = {{0.974, 0, 1}};
  frame.variable("focus").cells = {{0.37, 0, 1}};
  return frame;
}

// One large value would widen the y axis; these are as losses are.
Frame falling_trajectory(std::size_t tokens) {
  Frame frame = synthetic_trajectory(tokens, {0, 10, 20, 30});
  double value = 2.0;
  for (Estimate& cell : frame.variable("loss").cells) cell.mean = value /= 1.5;
  for (Estimate& cell : frame.variable("group_loss").cells) cell.mean = 1.0;
  return frame;
}

TEST(TrainingScreen, ShowsAttentionWithShadesAndNumbersBesideTheLoss) {
  const auto lines = lines_of(training_screen(small_trajectory(), 80, 20));
  ASSERT_EQ(lines.size(), 20U);
  EXPECT_NE(lines[0].find("loss"), std::string::npos);
  EXPECT_TRUE(lines[0].ends_with("  attention of row to column"));
  EXPECT_TRUE(lines[1].ends_with("   0      1         loss"));
  EXPECT_TRUE(lines[2].ends_with("0  ██ 1.0    .00   0.250")) << lines[2];
  EXPECT_TRUE(lines[3].ends_with("1  ░░ .37 ▓▓ .63   1.500")) << lines[3];
  EXPECT_TRUE(lines[4].ends_with("focus: s0\u00a00.37"));
  EXPECT_EQ(lines[19], "time 40  loss 0.81253  rank one 0.97");
}

TEST(TrainingScreen, PutsAttentionBelowTheLossOnANarrowTerminal) {
  const auto lines = lines_of(training_screen(small_trajectory(), 44, 24));
  ASSERT_EQ(lines.size(), 24U);
  EXPECT_EQ(lines[18], "attention of row to column");
  EXPECT_EQ(lines[20], "0  ██ 1.0    .00   0.250");
  EXPECT_TRUE(holds(lines, "└"));
}

TEST(TrainingScreen, KeepsTheLossWhereBothHaveNoRoom) {
  const auto lines = lines_of(training_screen(small_trajectory(), 44, 10));
  EXPECT_TRUE(holds(lines, "└"));
  EXPECT_FALSE(holds(lines, "attention"));
  EXPECT_EQ(lines.back(), "time 40  loss 0.81253  rank one 0.97");
}

TEST(TrainingScreen, ShowsWhatFitsOnALowTerminal) {
  const auto lines = lines_of(training_screen(small_trajectory(), 80, 5));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "attention of row to column");
  EXPECT_FALSE(holds(lines, "└"));
}

// Whatever the size, the screen is as many rows and never wider than the terminal.
TEST(TrainingScreen, KeepsToItsSize) {
  for (const std::size_t tokens : {2U, 4U, 8U, 12U, 20U}) {
    const Frame frame = falling_trajectory(tokens);
    for (const std::size_t columns : {40U, 41U, 66U, 80U, 133U, 250U}) {
      for (const std::size_t rows : {2U, 7U, 8U, 9U, 10U, 24U, 60U}) {
        const auto lines = lines_of(training_screen(frame, columns, rows));
        EXPECT_EQ(lines.size(), rows);
        for (const std::string& line : lines) EXPECT_LE(characters_of(line).size(), columns);
        EXPECT_TRUE(lines.back().starts_with("time 30  loss ")) << lines.back();
      }
    }
  }
}

TEST(TrainingScreen, UsesFortyColumnsAndTwoRowsAtLeast) {
  EXPECT_EQ(training_screen(small_trajectory(), 1, 0), training_screen(small_trajectory(), 40, 2));
}

TEST(TrainingScreen, ShowsTheFirstTwelveTokensWithoutNumbersWhereTheyHaveNoRoom) {
  const auto lines = lines_of(training_screen(falling_trajectory(20), 80, 24));
  EXPECT_TRUE(lines[1].ends_with("0   2   4   6   8   10     loss")) << lines[1];
  EXPECT_TRUE(holds(lines, "  11 "));
  EXPECT_FALSE(holds(lines, "  12 "));
  const auto wide = lines_of(training_screen(falling_trajectory(20), 150, 24));
  EXPECT_TRUE(wide[1].ends_with("10     11        loss")) << wide[1];
}

// The curve falls: its dots are in the first rows at the left, in the last rows at the right.
TEST(TrainingScreen, DrawsTheLossSoFar) {
  const auto lines = lines_of(training_screen(falling_trajectory(2), 80, 14));
  const auto ink = [&](std::size_t row, std::size_t from, std::size_t until) {
    const auto characters = characters_of(lines[row]);
    for (std::size_t k = from; k < std::min(until, characters.size()); ++k) {
      if (characters[k] >= "⠁" && characters[k] <= "⣿") return true;
    }
    return false;
  };
  EXPECT_TRUE(ink(1, 5, 15));
  EXPECT_FALSE(ink(1, 25, 45));
  EXPECT_TRUE(ink(9, 35, 55));
  EXPECT_FALSE(ink(9, 5, 15));
}

TEST(TrainingScreen, ShowsTheLossOfEachTokenWhereItHasColours) {
  const Frame frame = falling_trajectory(2);
  EXPECT_EQ(test::count(training_screen(frame, 80, 20), "\x1b"), 0U);
  const std::string coloured = training_screen(frame, 80, 20, TerminalColours::full);
  EXPECT_GE(test::count(coloured, "\x1b[38;2;213;94;0m"), 3U);  // its number twice, and the curve
}

TEST(TrainingScreen, SurvivesWhatIsNotANumber) {
  Frame frame = small_trajectory();
  frame.variable("loss").cells[0] = {};
  frame.variable("attention").cells[1] = {};
  const auto lines = lines_of(training_screen(frame, 80, 20));
  EXPECT_TRUE(holds(lines, "██ 1.0 ??  ?  "));
  EXPECT_TRUE(lines.back().starts_with("time 40  loss nan"));
}

TEST(TrainingScreen, RefusesAFrameOfAnotherForm) {
  EXPECT_EQ(test::code_of([] { static_cast<void>(training_screen(Frame("x"), 80, 24)); }),
            Code::bad_value);
}

}  // namespace
}  // namespace dewpoint::report
