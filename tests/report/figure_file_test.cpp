#include "dewpoint/report/figure_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "dewpoint/core/error.hpp"
#include "report/svg_text.hpp"
#include "report/without_gnuplot.hpp"

namespace dewpoint::report {
namespace {

using test::code_of;
using test::count;
using test::read_bytes;
using test::ScratchFolder;
using test::write_bytes;
using Names = std::vector<std::string>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Figure heat_map() {
  HeatmapFigure figure;
  figure.title = "A map";
  figure.panels.push_back({"n = 64, \"simplex\"",
                           {1, 2},
                           {0.5, 1.5},
                           {0.25, 0.5, 0.75, kNaN},
                           {{"theory", CurveStyle::dashed, {1, 2}, {0.5, 1.5}}},
                           {false, true, false, false},
                           "",
                           {0.125, kNaN, kNaN, 0.5}});
  return figure;
}

Figure lines() {
  LinePanel panel;
  panel.series = {{"n = 8", SeriesStyle::points, 0x0072b2, {1, 2}, {0.1, 0.3}, {0.01, kNaN}},
                  {"theory", SeriesStyle::dashed, 0x000000, {1, 2}, {0.125, 1.0 / 3}, {}}};
  LineFigure figure;
  figure.panels = {panel};
  return figure;
}

TEST(WriteFigure, WritesOneFileInTheFormatOfItsName) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  for (const Figure& figure : {heat_map(), lines()}) {
    for (const char* name : {"a.svg", "a.png", "a.pdf"}) write_figure(figure, folder / name);
    EXPECT_EQ(folder.names(), (Names{"a.pdf", "a.png", "a.svg"}));
    EXPECT_EQ(read_bytes(folder / "a.png").substr(0, 8), "\x89PNG\r\n\x1a\n");
    EXPECT_EQ(read_bytes(folder / "a.pdf").substr(0, 5), "%PDF-");
    EXPECT_EQ(count(read_bytes(folder / "a.svg"), "<svg"), 1U);
  }
}

// A pixel of the SVG is 3/4 of a point of the PDF; gnuplot rounds the page to whole points.
TEST(WriteFigure, MakesThePdfAsLargeAsTheSvg) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  write_figure(lines(), folder / "a.svg");
  write_figure(lines(), folder / "a.pdf");
  const std::string svg = read_bytes(folder / "a.svg");
  const std::string pdf = read_bytes(folder / "a.pdf");
  double width = 0;
  double height = 0;
  ASSERT_EQ(
      std::sscanf(svg.c_str() + svg.find("viewBox"), "viewBox=\"0 0 %lf %lf", &width, &height), 2);
  double paper_width = 0;
  double paper_height = 0;
  ASSERT_EQ(std::sscanf(pdf.c_str() + pdf.find("/MediaBox"), "/MediaBox [ 0 0 %lf %lf",
                        &paper_width, &paper_height),
            2);
  EXPECT_NEAR(paper_width, 0.75 * width, 1);
  EXPECT_NEAR(paper_height, 0.75 * height, 1);
}

TEST(WriteFigure, RefusesAnotherEnding) {
  const ScratchFolder folder;
  for (const char* name : {"a", "a.jpg", "a.svg.gz", "a.SVG"}) {
    EXPECT_EQ(code_of([&] { write_figure(lines(), folder / name); }), Code::bad_value) << name;
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(WriteFigure, PutsScriptAndPointsBesideItWhenAsked) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  write_figure(lines(), folder / "a.b.svg", {true, true});
  EXPECT_EQ(folder.names(), (Names{"a.b.csv", "a.b.gp", "a.b.svg"}));
  EXPECT_EQ(read_bytes(folder / "a.b.csv"), points_csv(lines()));
}

// The script knows nothing of the folder it was written in.
TEST(WriteFigure, GivesAScriptThatDrawsTheFigureAgain) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  const ScratchFolder elsewhere;
  for (const Figure& figure : {heat_map(), lines()}) {
    write_figure(figure, folder / "it's.svg", {true, false});
    const std::string command = fmt::format(
        "cd '{}' && gnuplot -d \"{}\"", (elsewhere / "").string(), (folder / "it's.gp").string());
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(read_bytes(elsewhere / "it's.svg"), read_bytes(folder / "it's.svg"));
  }
}

TEST(WriteFigure, LeavesAllOldFilesWhenOneCannotBeWritten) {
  const ScratchFolder folder;
  write_bytes(folder / "a.svg", "old");
  write_bytes(folder / "a.csv", "old");
  const test::EmptyPath nothing_installed;
  EXPECT_EQ(code_of([&] {
              write_figure(lines(), {folder / "a.svg", true}, {true, true});
            }),
            Code::missing_tool);
  EXPECT_EQ(folder.names(), (Names{"a.csv", "a.svg"}));
  EXPECT_EQ(read_bytes(folder / "a.svg") + read_bytes(folder / "a.csv"), "oldold");
}

// What was not measured there is no point: the second cell borrows.
TEST(PointsCsv, HoldsMeasuredCellsAndCurves) {
  EXPECT_EQ(points_csv(heat_map()),
            "panel,curve,x,y,value,standard_error\n"
            "\"n = 64, \"\"simplex\"\"\",,1,0.5,0.25,0.125\n"
            "\"n = 64, \"\"simplex\"\"\",,2,0.5,0.75,\n"
            "\"n = 64, \"\"simplex\"\"\",,2,1.5,,0.5\n"
            "\"n = 64, \"\"simplex\"\"\",theory,1,0.5,,\n"
            "\"n = 64, \"\"simplex\"\"\",theory,2,1.5,,\n");
}

TEST(PointsCsv, LeavesErrorsEmptyWhereAMapHasNone) {
  HeatmapFigure map;
  map.panels = {{"", {1}, {2}, {0.5}, {}}};
  EXPECT_EQ(points_csv(map), "panel,curve,x,y,value,standard_error\n,,1,2,0.5,\n");
}

TEST(PointsCsv, HoldsPointsWithTheirErrors) {
  EXPECT_EQ(points_csv(lines()),
            "panel,series,x,y,standard_error\n"
            ",n = 8,1,0.1,0.01\n"
            ",n = 8,2,0.3,\n"
            ",theory,1,0.125,\n"
            ",theory,2,0.3333333333333333,\n");
}

TEST(DrawFigure, WrapsATitleThatIsWiderThanThePage) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  Figure figure = lines();
  set_title(figure,
            "A title of so many words that a page of one panel is too narrow for all of it");
  write_figure(figure, folder / "a.svg");
  const std::string svg = read_bytes(folder / "a.svg");
  EXPECT_EQ(test::places_of(svg, std::get<LineFigure>(figure).title).size(), 0U);
  EXPECT_EQ(count(svg, "<text>A title of so many words"), 1U);
}

}  // namespace
}  // namespace dewpoint::report
