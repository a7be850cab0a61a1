#include "dewpoint/report/heatmap.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <sstream>
#include <string>

#include "dewpoint/core/error.hpp"
#include "report/svg_text.hpp"
#include "report/without_gnuplot.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint::report {
namespace {

using test::code_of;
using test::count;
using test::has_python;
using test::read_bytes;
using test::ScratchFolder;
using test::texts_of;
using test::write_bytes;
using Names = std::vector<std::string>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Properties (1) and (2).
TEST(CellEdges, LieHalfWayBetweenNeighbours) {
  EXPECT_EQ(cell_edges(std::vector{0.0, 1.0, 3.0}), (std::vector{-0.5, 0.5, 2.0, 4.0}));
  EXPECT_EQ(cell_edges(std::vector{7.0}), (std::vector{6.5, 7.5}));
  const std::vector<double> centres{0.001, 0.01, 0.1, 1.0, 10.0};
  const std::vector<double> edges = cell_edges(centres);
  ASSERT_EQ(edges.size(), centres.size() + 1);
  for (std::size_t i = 0; i < centres.size(); ++i) {
    EXPECT_LT(edges[i], centres[i]);
    EXPECT_LT(centres[i], edges[i + 1]);
  }
}

// Property (3).
TEST(CellEdges, AreEquallySpacedWhenTheCentresAre) {
  std::vector<double> centres;
  for (int i = 0; i < 20; ++i) centres.push_back(0.05 * i);
  const std::vector<double> edges = cell_edges(centres);
  // Coordinates below 1 and three roundings each.
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    EXPECT_NEAR(edges[i + 1] - edges[i], 0.05, 6 * std::numeric_limits<double>::epsilon());
  }
}

HeatmapFigure small_figure(std::size_t panels) {
  HeatmapFigure figure;
  figure.x_label = "overlap ρ";
  figure.y_label = "scaling γ";
  figure.z_label = "contraction λ";
  figure.caption = "seed 1";
  for (std::size_t k = 0; k < panels; ++k) {
    const std::vector<double> line{0.0, 1.0, 4.0};
    figure.panels.push_back({fmt::format("panel {}", k),
                             {0, 1, 3},
                             {1, 2},
                             {0.1, 0.2, 0.3, 0.4, 0.5, kNaN},
                             {{"theory", CurveStyle::dashed, line, line}}});
  }
  return figure;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

TEST(DrawHeatmap, WritesAnSvgAndAPngOfTwiceItsSizeAndNothingElse) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  draw(small_figure(3), folder / "a.b");
  EXPECT_EQ(folder.names(), (Names{"a.b.png", "a.b.svg"}));
  const std::string png = read_bytes(folder / "a.b.png");
  const std::string svg = read_bytes(folder / "a.b.svg");
  ASSERT_GT(png.size(), 24U);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const std::string size =
      fmt::format("viewBox=\"0 0 {} {}\"", big_endian(png, 16) / 2, big_endian(png, 20) / 2);
  EXPECT_EQ(count(svg, size), 1U) << size;
}

TEST(DrawHeatmap, PaintsEveryCellOnceInItsColour) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  HeatmapFigure figure = small_figure(1);
  figure.panels[0].curves.clear();
  draw(figure, folder / "a");
  const std::string svg = read_bytes(folder / "a.svg");
  EXPECT_EQ(count(svg, "<polygon"), 6 + 128 + 1U);                    // cells, bar, legend
  EXPECT_EQ(count(svg, "<polygon fill = 'rgb(228, 228, 228)'"), 2U);  // NaN, and its legend
}

TEST(DrawHeatmap, HasItsTextsAsWellFormedXml) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  if (!has_python()) GTEST_SKIP() << "python3 is not installed here";
  const ScratchFolder folder;
  HeatmapFigure figure = small_figure(3);
  figure.title = "The title";
  draw(figure, folder / "a");
  const std::string texts = texts_of(folder / "a.svg", folder);
  for (const char* text : {"The title", "panel 0", "panel 1", "panel 2", "scaling γ",
                           "contraction λ", "theory", "unknown", "seed 1"}) {
    EXPECT_EQ(count(texts, std::string(text) + "\n"), 1U) << text << " in\n" << texts;
  }
  EXPECT_EQ(count(texts, "overlap ρ\n"), 3U);
}

TEST(DrawHeatmap, LabelsEachRowAndColumnOnce) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  HeatmapFigure figure = small_figure(5);
  figure.columns = 2;
  draw(figure, folder / "a");
  const std::string svg = read_bytes(folder / "a.svg");
  EXPECT_EQ(count(svg, "scaling γ"), 3U);
  EXPECT_EQ(count(svg, "overlap ρ"), 2U);
}

// Whatever is in a text is drawn as a text: it neither ends the string it stands in, nor runs, nor
// is taken for markup.
TEST(DrawHeatmap, IsNotBrokenByAnyText) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  if (!has_python()) GTEST_SKIP() << "python3 is not installed here";
  const ScratchFolder folder;
  const std::string owned = (folder / "owned").string();
  for (const std::string& text :
       {std::string("it's \"quoted\" \\' \\"), "'; system('touch " + owned + "'); print '",
        "`touch " + owned + "`", std::string("<b> & ]> </text> &amp;"),
        std::string("@macro {/Bold x}_1^2 %g # $x ~ | EOD")}) {
    HeatmapFigure figure = small_figure(1);
    figure.title = figure.x_label = figure.y_label = figure.z_label = text;
    figure.panels[0].title = figure.panels[0].curves[0].label = text;
    draw(figure, folder / "a");
    std::string texts = texts_of(folder / "a.svg", folder);
    std::replace(texts.begin(), texts.end(), '\n', ' ');  // a long title stands on several lines
    EXPECT_EQ(count(texts, text + " "), 6U) << text;
    EXPECT_FALSE(std::filesystem::exists(owned));
  }
  HeatmapFigure figure = small_figure(1);
  figure.title = std::string("a\nEOD\nexit\r\0b\x01\xff", 15);
  figure.caption = "one\ntwo ]]>";
  draw(figure, folder / "a");
  const std::string texts = texts_of(folder / "a.svg", folder);
  EXPECT_EQ(count(texts, "a EOD exit  b \xEF\xBF\xBD\n"), 1U) << texts;
  EXPECT_EQ(count(texts, "one two ]] >\n"), 1U);
}

struct Point {
  double x;
  double y;
};

// Corners of the translucent lines of an SVG, which are the halos of curves.
std::vector<Point> halo_points(const std::string& svg) {
  std::vector<Point> points;
  for (std::size_t at = svg.find("opacity='0"); at != std::string::npos;
       at = svg.find("opacity='0", at + 1)) {
    const std::size_t begin = svg.find(" d='", at) + 4;
    std::istringstream corners(svg.substr(begin, svg.find('\'', begin) - begin));
    Point point{};
    char letter = 0;
    char comma = 0;
    while (corners >> letter >> point.x >> comma >> point.y) points.push_back(point);
  }
  return points;
}

TEST(DrawHeatmap, ClipsCurvesToTheirPanel) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  HeatmapFigure figure = small_figure(1);
  const double infinity = std::numeric_limits<double>::infinity();
  // Without labels, so that the legend has no lines.
  figure.panels[0].curves = {
      {"", CurveStyle::solid, {-1e6, 1e6, 1.0, 2.0}, {-1e6, 1e6, 1e300, -1e300}},
      {"", CurveStyle::solid, {0.0, 1.0, 2.0, 3.0}, {1.0, infinity, kNaN, 2.0}},
      {"", CurveStyle::dashed, {}, {}}};
  draw(figure, folder / "a");
  const std::vector<Point> points = halo_points(read_bytes(folder / "a.svg"));
  EXPECT_FALSE(points.empty());
  for (const auto& [x, y] : points) {
    EXPECT_TRUE(x > 57 && x < 327 && y > 20 && y < 290) << x << "," << y;
  }
}

TEST(DrawHeatmap, DrawsASingleCell) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  HeatmapFigure figure;
  figure.panels.push_back({"", {0.5}, {2.0}, {0.5}, {}});
  draw(figure, folder / "a");
  EXPECT_EQ(folder.names(), (Names{"a.png", "a.svg"}));
}

TEST(DrawHeatmap, TakesAFolderWithAnAwkwardName) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  const std::filesystem::path inside = folder / "it's \"a\" `b` \\ λ";
  std::filesystem::create_directory(inside);
  draw(small_figure(1), inside / "~|x");
  EXPECT_TRUE(std::filesystem::exists(inside / "~|x.png"));
}

TEST(DrawHeatmap, SaysSoWhenItCannotWrite) {
  const ScratchFolder folder;
  const auto drawing = [&] { draw(small_figure(1), folder / "absent" / "a"); };
  EXPECT_EQ(code_of(drawing), Code::unwritable_file);
}

TEST(DrawHeatmap, LeavesTheOldFilesWhenGnuplotIsNotInstalled) {
  const ScratchFolder folder;
  write_bytes(folder / "a.svg", "old");
  const test::EmptyPath nothing_installed;
  EXPECT_EQ(code_of([&] { draw(small_figure(1), {folder / "a", true}); }), Code::missing_tool);
  EXPECT_EQ(folder.names(), Names{"a.svg"});
  EXPECT_EQ(read_bytes(folder / "a.svg"), "old");
}

// Files of the child, and of the gnuplot it starts, may not grow beyond 16 kB, as on a full disk.
TEST(DrawHeatmap, LeavesTheOldFilesOnAFullDisk) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  write_bytes(folder / "a.svg", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{16384, 16384};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Code code = code_of([&] { draw(small_figure(1), {folder / "a", true}); });
    ::_exit(code == Code::unwritable_file ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(folder.names(), Names{"a.svg"});
  EXPECT_EQ(read_bytes(folder / "a.svg"), "old");
}

}  // namespace
}  // namespace dewpoint::report
