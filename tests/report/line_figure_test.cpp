#include "dewpoint/report/line_figure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "dewpoint/core/error.hpp"
#include "report/svg_text.hpp"
#include "report/without_gnuplot.hpp"

namespace dewpoint::report {
namespace {

using test::code_of;
using test::count;
using test::kPixelRounding;
using test::read_bytes;
using test::ScratchFolder;
using test::texts_of;
using test::write_bytes;
using Names = std::vector<std::string>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Colour kBlue = 0x0072b2;
constexpr double kHeight = 248;  // of a panel, in pixels

double luma(Colour colour) {
  return 0.2126 * ((colour >> 16) & 0xff) + 0.7152 * ((colour >> 8) & 0xff) +
         0.0722 * (colour & 0xff);
}

// Properties (1) and (2) of kind_colour.
TEST(KindColour, HasSevenColoursFromBlackOn) {
  std::set<Colour> colours;
  for (std::size_t k = 0; k < 14; ++k) colours.insert(kind_colour(k));
  EXPECT_EQ(colours.size(), 7U);
  EXPECT_EQ(kind_colour(0), 0x000000U);
  EXPECT_EQ(kind_colour(1), kind_colour(8));
}

// Properties (1) and (2) of degree_colour.
TEST(DegreeColour, GrowsLighterAndStillShowsOnPaper) {
  for (const std::size_t size : {1U, 2U, 5U, 12U}) {
    for (std::size_t k = 1; k < size; ++k) {
      EXPECT_GT(luma(degree_colour(k, size)), luma(degree_colour(k - 1, size)));
    }
    EXPECT_LT(luma(degree_colour(size - 1, size)), 0.75 * 255);
  }
}

// One panel, both axes from 0 to 4, and the series in it.
LineFigure figure_with(const Series& series) {
  LinePanel panel;
  panel.x.range = panel.y.range = Range{0, 4};
  panel.series = {series};
  LineFigure figure;
  figure.panels = {panel};
  return figure;
}

LineFigure small_figure(std::size_t panels) {
  LineFigure figure;
  figure.caption = "seed 1";
  for (std::size_t k = 0; k < panels; ++k) {
    figure.panels.push_back({fmt::format("panel {}", k),
                             {"scaling γ", AxisScale::linear, {}},
                             {"contraction λ", AxisScale::linear, {}},
                             {{"theory", SeriesStyle::dashed, kBlue, {0, 1, 2}, {1, 2, 1}, {}},
                              {"measured", SeriesStyle::points, kBlue, {1}, {2}, {0.1}}},
                             {{1.5, "γ₁"}}});
  }
  return figure;
}

std::string svg_of(const LineFigure& figure) {
  const ScratchFolder folder;
  draw(figure, folder / "a");
  return read_bytes(folder / "a.svg");
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

TEST(DrawLineFigure, WritesAnSvgAndAPngOfTwiceItsSizeAndNothingElse) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  draw(small_figure(3), folder / "a.b");
  EXPECT_EQ(folder.names(), (Names{"a.b.png", "a.b.svg"}));
  const std::string png = read_bytes(folder / "a.b.png");
  ASSERT_GT(png.size(), 24U);
  const std::string size =
      fmt::format("viewBox=\"0 0 {} {}\"", big_endian(png, 16) / 2, big_endian(png, 20) / 2);
  EXPECT_EQ(count(read_bytes(folder / "a.b.svg"), size), 1U) << size;
}

TEST(DrawLineFigure, HasItsTextsAsWellFormedXml) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  if (!test::has_python()) GTEST_SKIP() << "python3 is not installed here";
  const ScratchFolder folder;
  LineFigure figure = small_figure(3);
  figure.title = "The title";
  draw(figure, folder / "a");
  const std::string texts = texts_of(folder / "a.svg", folder);
  for (const char* text :
       {"The title", "panel 0", "panel 1", "panel 2", "theory", "measured", "seed 1"}) {
    EXPECT_EQ(count(texts, std::string(text) + "\n"), 1U) << text << " in\n" << texts;
  }
  for (const char* text : {"scaling γ", "contraction λ", "γ₁"}) {
    EXPECT_EQ(count(texts, "\n" + std::string(text) + "\n"), 3U) << text << " in\n" << texts;
  }
}

TEST(DrawLineFigure, TellsSeriesOfOneNameApartByTheirLook) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  LineFigure figure = small_figure(2);
  figure.panels[1].series[0].style = SeriesStyle::dotted;
  figure.panels[1].series[1].label = "";
  const std::string svg = svg_of(figure);
  EXPECT_EQ(count(svg, "<text>theory<"), 2U);
  EXPECT_EQ(count(svg, "<text>measured<"), 1U);
}

TEST(DrawLineFigure, NamesASeriesWithoutPoints) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const std::string svg =
      svg_of(figure_with({"only a name", SeriesStyle::points, kBlue, {}, {}, {}}));
  EXPECT_EQ(count(svg, "<text>only a name<"), 1U);
  EXPECT_EQ(test::discs_of(svg, kBlue).size(), 1U);
}

TEST(DrawLineFigure, NumbersASharedYAxisOncePerRow) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  LineFigure figure = small_figure(5);
  figure.columns = 2;
  for (auto& panel : figure.panels) panel.x.range = Range{0, 2.5};
  EXPECT_EQ(count(svg_of(figure), "<text>contraction λ<"), 5U);
  for (auto& panel : figure.panels) panel.y.range = Range{70, 80};
  const std::string svg = svg_of(figure);
  EXPECT_EQ(count(svg, "<text>contraction λ<"), 3U);
  EXPECT_EQ(count(svg, "<text>72<"), 3U);
  EXPECT_EQ(count(svg, "<text>scaling γ<"), 2U);
}

TEST(DrawLineFigure, InterruptsALineWhereAValueIsUnknown) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  Series series{"", SeriesStyle::solid, kBlue, {0, 1, 2, 3, 4}, {1, 2, 3, 2, 1}, {}};
  EXPECT_EQ(test::strokes_of(svg_of(figure_with(series)), kBlue).size(), 1U);
  series.y[2] = kNaN;
  const auto strokes = test::strokes_of(svg_of(figure_with(series)), kBlue);
  ASSERT_EQ(strokes.size(), 2U);
  EXPECT_EQ(strokes[0].size(), 2U);
  EXPECT_EQ(strokes[1].size(), 2U);
}

// Both axes have four decades; a decade is as wide everywhere.
TEST(DrawLineFigure, PutsPointsWhereALogarithmicAxisHasThem) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  LineFigure figure = figure_with({"",
                                   SeriesStyle::points,
                                   kBlue,
                                   {1, 10, 100, 0, 1000, -1},
                                   {1e-4, 1e-3, 1e-2, 1e-1, 0, 1e-1},
                                   {}});
  figure.panels[0].x = {"", AxisScale::logarithmic, Range{1, 1e4}};
  figure.panels[0].y = {"", AxisScale::logarithmic, Range{1e-4, 1}};
  const auto discs = test::discs_of(svg_of(figure), kBlue);
  ASSERT_EQ(discs.size(), 3U);  // the others have no place on one of the axes
  for (std::size_t k = 1; k < 3; ++k) {
    // Two rounded places, and the two ends of the panel.
    EXPECT_NEAR(discs[k].x - discs[k - 1].x, 268.0 / 4, 4 * kPixelRounding);
    EXPECT_NEAR(discs[k - 1].y - discs[k].y, kHeight / 4, 4 * kPixelRounding);
  }
}

TEST(DrawLineFigure, ReachesBeyondTheSmallestDouble) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  LineFigure figure =
      figure_with({"", SeriesStyle::points, kBlue, {1, 2, 3}, {0, -500, -1000}, {}});
  figure.panels[0].y = {"", AxisScale::exponent, Range{-1000, 0}};
  const std::string svg = svg_of(figure);
  const auto discs = test::discs_of(svg, kBlue);
  ASSERT_EQ(discs.size(), 3U);
  EXPECT_NEAR(discs[1].y - discs[0].y, kHeight / 2, 4 * kPixelRounding);
  EXPECT_EQ(count(svg, "<text>10⁻¹⁰⁰⁰<"), 1U);
}

// The y axis from 0 to 4: an error of 1/2 is a bar of a quarter of the panel.
TEST(DrawLineFigure, DrawsErrorsToScale) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const auto strokes = test::strokes_of(
      svg_of(figure_with({"", SeriesStyle::points, kBlue, {1, 2}, {2, 3}, {0.5, 0.25}})), kBlue);
  ASSERT_EQ(strokes.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    const double length = std::abs(strokes[k].back().y - strokes[k].front().y);
    EXPECT_NEAR(length, kHeight / 4 / static_cast<double>(k + 1), 4 * kPixelRounding);
  }
}

TEST(DrawLineFigure, EndsAnErrorThatReachesZeroAtTheFootOfALogarithmicPanel) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  LineFigure figure = figure_with({"", SeriesStyle::points, kBlue, {1}, {10}, {90}});
  figure.panels[0].y = {"", AxisScale::logarithmic, Range{1, 100}};
  const auto strokes = test::strokes_of(svg_of(figure), kBlue);
  ASSERT_EQ(strokes.size(), 1U);
  EXPECT_NEAR(std::abs(strokes[0].back().y - strokes[0].front().y), kHeight, 4 * kPixelRounding);
}

// Scale of the last disc of a colour.
double disc_scale(const std::string& svg, Colour colour) {
  const std::size_t end = svg.rfind("color='" + test::rgb_text(colour));
  return std::stod(svg.substr(svg.rfind("scale(", end) + 6));
}

// A line, a cloud around it, and a point: dots first, the line over them, the point on top.
TEST(DrawLineFigure, DrawsDotsSmallAndBeneathTheLines) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  constexpr Colour kOrange = 0xd55e00;
  constexpr Colour kGreen = 0x009e73;
  LineFigure figure = figure_with({"", SeriesStyle::solid, kBlue, {0, 4}, {2, 2}, {}});
  figure.panels[0].series.push_back({"", SeriesStyle::points, kGreen, {3}, {2}, {}});
  figure.panels[0].series.push_back(
      {"cloud", SeriesStyle::dots, kOrange, {1, 2, 3}, {2, 1.5, 2.5}, {}});
  const std::string svg = svg_of(figure);
  EXPECT_EQ(test::discs_of(svg, kOrange).size(), 4U);   // one in the legend
  EXPECT_EQ(test::discs_of(svg, 0xffffff).size(), 1U);  // the halo of the point
  EXPECT_TRUE(test::strokes_of(svg, kOrange).empty());
  EXPECT_LT(disc_scale(svg, kOrange), 0.5 * disc_scale(svg, kGreen));
  const std::size_t line = svg.find("<path stroke='" + test::rgb_text(kBlue));
  EXPECT_LT(svg.rfind("color='" + test::rgb_text(kOrange)), line);
  EXPECT_LT(line, svg.find("color='" + test::rgb_text(kGreen)));
}

TEST(DrawLineFigure, KeepsWhatIsOutsideTheRangeOutOfThePanel) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  LineFigure figure =
      figure_with({"", SeriesStyle::line_and_points, kBlue, {-9, 9, 2, 2}, {-9, 9, 1e300, 2}, {}});
  figure.panels[0].markers = {{-1, "left"}, {5, "right"}, {kNaN, "nowhere"}};
  const std::string svg = svg_of(figure);
  EXPECT_EQ(test::discs_of(svg, kBlue).size(), 1U);
  for (const char* label : {"left", "right", "nowhere"}) EXPECT_EQ(count(svg, label), 0U);
  const auto strokes = test::strokes_of(svg, kBlue);
  ASSERT_FALSE(strokes.empty());
  // The panel begins at 58, the room for the y axis, and is 268 wide.
  for (const auto& stroke : strokes) {
    for (const auto& corner : stroke) {
      EXPECT_GE(corner.x, 58 - 2 * kPixelRounding);
      EXPECT_LE(corner.x, 58 + 268 + 2 * kPixelRounding);
    }
  }
}

TEST(DrawLineFigure, KeepsTheLabelsOfMarkersApart) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  LineFigure figure = small_figure(1);
  figure.panels[0].x.range = Range{0, 4};
  figure.panels[0].markers = {{2.01, "second"}, {2.0, "first"}};
  const std::string svg = svg_of(figure);
  const auto first = test::places_of(svg, "first");
  const auto second = test::places_of(svg, "second");
  ASSERT_EQ(first.size() + second.size(), 2U);
  // Half of either text, 6 and 5 letters of at least a third of 11 pixels.
  EXPECT_GT(second[0].x - first[0].x, (6 + 5) / 2.0 * 11 / 3);
}

TEST(DrawLineFigure, DrawsAPanelWithoutData) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  LineFigure figure;
  figure.panels.resize(3);
  figure.panels[1].series = {{"", SeriesStyle::solid, kBlue, {kNaN, 1}, {1, kNaN}, {1, 1}}};
  figure.panels[2].y.scale = AxisScale::logarithmic;
  draw(figure, folder / "a");
  EXPECT_EQ(folder.names(), (Names{"a.png", "a.svg"}));
}

TEST(DrawLineFigure, IsNotBrokenByAnyText) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  if (!test::has_python()) GTEST_SKIP() << "python3 is not installed here";
  const ScratchFolder folder;
  const std::string owned = (folder / "owned").string();
  for (const std::string& text :
       {std::string("it's \"quoted\" \\' \\"), "'; system('touch " + owned + "'); print '",
        "`touch " + owned + "`", std::string("<b> & ]> </text> &amp;"),
        std::string("@macro {/Bold x}_1^2 %g # $x ~ | EOD")}) {
    LineFigure figure = small_figure(1);
    LinePanel& panel = figure.panels[0];
    figure.title = panel.title = panel.x.label = panel.y.label = text;
    panel.series[0].label = panel.markers[0].label = text;
    draw(figure, folder / "a");
    std::string texts = texts_of(folder / "a.svg", folder);
    std::replace(texts.begin(), texts.end(), '\n', ' ');  // a long title stands on several lines
    EXPECT_EQ(count(texts, text + " "), 6U) << text;
    EXPECT_FALSE(std::filesystem::exists(owned));
  }
}

TEST(DrawLineFigure, SaysSoWhenItCannotWrite) {
  const ScratchFolder folder;
  const auto drawing = [&] { draw(small_figure(1), folder / "absent" / "a"); };
  EXPECT_EQ(code_of(drawing), Code::unwritable_file);
}

TEST(DrawLineFigure, LeavesTheOldFilesWhenGnuplotIsNotInstalled) {
  const ScratchFolder folder;
  write_bytes(folder / "a.svg", "old");
  const test::EmptyPath nothing_installed;
  EXPECT_EQ(code_of([&] { draw(small_figure(1), {folder / "a", true}); }), Code::missing_tool);
  EXPECT_EQ(folder.names(), Names{"a.svg"});
  EXPECT_EQ(read_bytes(folder / "a.svg"), "old");
}

}  // namespace
}  // namespace dewpoint::report
