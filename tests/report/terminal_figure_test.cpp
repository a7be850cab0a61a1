#include "dewpoint/report/terminal_figure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "report/svg_text.hpp"

namespace dewpoint::report {
namespace {

using test::count;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

HeatmapFigure two_by_two() {
  HeatmapFigure figure;
  figure.x_label = "overlap";
  figure.y_label = "scaling";
  figure.z_label = "contraction";
  figure.panels.push_back({"", {0, 1}, {0, 1}, {0.0, 1.0, kNaN, 0.55}, {}});
  return figure;
}

TerminalStyle plain() {
  TerminalStyle style;
  style.width = 60;
  style.height = 6;
  style.unicode = false;
  return style;
}

TEST(TerminalColours, FollowTheEnvironment) {
  EXPECT_EQ(terminal_colours(false, nullptr, "truecolor", "xterm"), TerminalColours::none);
  EXPECT_EQ(terminal_colours(true, "1", "truecolor", "xterm"), TerminalColours::none);
  EXPECT_EQ(terminal_colours(true, "", "truecolor", "xterm"), TerminalColours::full);
  EXPECT_EQ(terminal_colours(true, nullptr, nullptr, "xterm"), TerminalColours::palette);
  EXPECT_EQ(terminal_colours(true, nullptr, "24bit", "dumb"), TerminalColours::none);
}

// The ends of the cube and of the greys, and white between them.
TEST(PaletteColour, IsTheNearestOfXterms) {
  EXPECT_EQ(palette_colour(0x000000), 16);
  EXPECT_EQ(palette_colour(0xffffff), 231);
  EXPECT_EQ(palette_colour(0xff0000), 196);
  EXPECT_EQ(palette_colour(0x808080), 244);
  EXPECT_EQ(palette_colour(0x5f87af), 67);
}

// Upper left 1, lower left 0, lower right unknown, upper right 0.55: the sixth of ten marks.
TEST(TerminalHeatmap, PutsEveryCellWhereItBelongs) {
  const auto lines = lines_in(terminal_text(two_by_two(), plain()));
  ASSERT_GT(lines.size(), 9U);
  EXPECT_EQ(lines[0].find("scaling"), lines[1].find('@'));
  for (std::size_t row = 1; row <= 3; ++row) {
    const std::size_t half = std::count(lines[row].begin(), lines[row].end(), '@');
    EXPECT_GE(half, 24U);
    EXPECT_EQ(std::count(lines[row].begin(), lines[row].end(), '+'),
              std::count(lines[1].begin(), lines[1].end(), '+'));
    EXPECT_LT(lines[row].rfind('@'), lines[row].rfind('+'));
  }
  EXPECT_EQ(count(lines[5], "@"), 0U);
  EXPECT_GE(std::count(lines[5].begin(), lines[5].end(), '?'), 24);
  EXPECT_EQ(lines[lines.size() - 1], "0 [ .:-=+*#%@] 1  contraction");
}

TEST(TerminalHeatmap, DrawsCurvesOnTop) {
  HeatmapFigure figure = two_by_two();
  figure.panels[0].curves = {{"theory", CurveStyle::dashed, {-0.5, 1.5}, {-0.5, 1.5}}};
  const auto lines = lines_in(terminal_text(figure, plain()));
  for (std::size_t row = 1; row <= 6; ++row) EXPECT_GE(count(lines[row], "o"), 1U) << row;
  EXPECT_GT(lines[1].find('o'), lines[6].find('o'));  // upwards to the right
  EXPECT_EQ(lines.back(), "o theory");
}

TEST(TerminalHeatmap, PaintsHalfBlocksInTwoColours) {
  TerminalStyle style = plain();
  style.unicode = true;
  style.height = 5;  // ten halves: the boundary runs through the middle character
  style.colours = TerminalColours::full;
  const auto lines = lines_in(terminal_text(two_by_two(), style));
  EXPECT_EQ(count(lines[3], "\x1b[38;2;253;231;37m\x1b[48;2;68;1;84m"), 1U);
  for (const auto& line : lines) {
    const std::size_t last_colour = line.rfind("\x1b[38;");
    if (last_colour == std::string::npos) continue;
    EXPECT_NE(line.find("\x1b[0m", last_colour),
              std::string::npos);  // none runs on beyond its line
  }
  style.colours = TerminalColours::none;
  EXPECT_EQ(count(terminal_text(two_by_two(), style), "\x1b"), 0U);
}

LineFigure rising() {
  LinePanel panel;
  panel.x = {"x", AxisScale::linear, Range{0, 4}};
  panel.y = {"y", AxisScale::linear, Range{0, 4}};
  panel.series = {{"measured", SeriesStyle::points, 0x0072b2, {1, 3}, {1, 3}, {0.9, 0.0}},
                  {"theory", SeriesStyle::dashed, 0x000000, {0, 4}, {0, 4}, {}}};
  panel.markers = {{2, "here"}};
  LineFigure figure;
  figure.title = "Rising";
  figure.panels = {panel};
  figure.caption = "seed 1";
  return figure;
}

// Title, y label, eight rows, axis, numbers, x label, a blank line, legend, caption. The first
// point is at a quarter of the height, in the sixth row; its error of 0.9 passes the rows beside
// it.
TEST(TerminalLines, HaveMarksErrorsLinesAndALegend) {
  TerminalStyle style = plain();
  style.height = 8;
  const auto lines = lines_in(terminal_text(rising(), style));
  ASSERT_EQ(lines.size(), 16U);
  EXPECT_EQ(lines[0], "Rising");
  EXPECT_EQ(count(lines[2], "here"), 1U);
  EXPECT_EQ(lines[14], "a measured   .. theory");
  EXPECT_EQ(lines[15], "seed 1");
  const std::size_t first = lines[7].find('a');
  const std::size_t second = lines[3].find('a');
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(second, std::string::npos);
  EXPECT_LT(first, second);
  EXPECT_EQ(lines[6][first], '.');
  EXPECT_EQ(lines[8][first], '.');
  EXPECT_EQ(count(lines[5], "."), count(lines[4], "."));  // the line of theory, nothing else
}

TEST(TerminalLines, AreBrailleInUnicode) {
  TerminalStyle style = plain();
  style.unicode = true;
  const std::string text = terminal_text(rising(), style);
  EXPECT_EQ(count(text, "●"), 3U);  // two points and the legend
  EXPECT_GE(count(text, "\xe2\xa0") + count(text, "\xe2\xa1") + count(text, "\xe2\xa2"), 10U);
}

TEST(TerminalFigure, StaysWithinItsWidth) {
  TerminalStyle style;
  style.width = 44;
  for (const bool unicode : {false, true}) {
    style.unicode = unicode;
    for (const Figure& figure : {Figure(two_by_two()), Figure(rising())}) {
      for (const auto& line : lines_in(terminal_text(figure, style))) {
        EXPECT_LE(characters_of(line).size(), 44U) << line;
      }
    }
  }
}

TEST(TerminalLines, ShowDarkColoursLighterAndBlackAsTheTerminalsOwn) {
  TerminalStyle style = plain();
  style.colours = TerminalColours::full;
  LineFigure figure = rising();
  figure.panels[0].series[0].colour = 0x440154;  // the dark end of viridis
  const std::string text = terminal_text(figure, style);
  EXPECT_EQ(count(text, "38;2;68;1;84m"), 0U);
  EXPECT_GE(count(text, "\x1b[38;2;"), 2U);
  EXPECT_EQ(count(text, "38;2;0;0;0m"), 0U);
}

}  // namespace
}  // namespace dewpoint::report
