#include <gtest/gtest.h>

#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/report/page.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/report/text_canvas.hpp"
#include "report/svg_text.hpp"
#include "report/without_gnuplot.hpp"

namespace dewpoint::report {
namespace {

using test::count;

// z counts on from 0 to 1, column by column.
HeatmapFigure squares(std::size_t size, PanelLook look) {
  HeatmapPanel panel;
  panel.title = "title";
  panel.subtitle = "subtitle";
  for (std::size_t k = 0; k < size; ++k) panel.x.push_back(static_cast<double>(k));
  panel.y = panel.x;
  for (std::size_t k = 0; k < size * size; ++k) {
    panel.z.push_back(static_cast<double>(k) / static_cast<double>(size * size));
  }
  HeatmapFigure figure;
  figure.panels = {panel, panel};
  figure.look = look;
  return figure;
}

std::string svg_of(const HeatmapFigure& figure) {
  const test::ScratchFolder folder;
  draw(figure, folder / "a");
  return test::read_bytes(folder / "a.svg");
}

TEST(PanelLook, OfAMatrixHasRowZeroOnTopAndItsValuesInTheCells) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const std::string svg = svg_of(squares(2, PanelLook::matrix));
  // z = 0, 1/4 in the first column from the top, 1/2, 3/4 in the second.
  const auto first = test::places_of(svg, "0.00");
  const auto below = test::places_of(svg, "0.25");
  const auto beside = test::places_of(svg, "0.50");
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(below.size(), 2U);
  ASSERT_EQ(beside.size(), 2U);
  // Cells are 75 pixels high and wide.
  EXPECT_NEAR(below[0].y - first[0].y, 75, 4 * test::kPixelRounding);
  EXPECT_NEAR(beside[0].x - first[0].x, 75, 4 * test::kPixelRounding);
  EXPECT_EQ(test::places_of(svg, "0.5").size(), 0U);  // numbers along axes are whole
  EXPECT_EQ(count(svg, "<text>subtitle</text>"), 2U);
}

TEST(PanelLook, OfAMatrixHasNoValuesWhereCellsAreNarrow) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  EXPECT_EQ(test::places_of(svg_of(squares(7, PanelLook::matrix)), "0.00").size(), 0U);
}

TEST(PanelLook, OfATextureHasNoNumbersAndBecomesAnImageWhenFine) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const std::string coarse = svg_of(squares(4, PanelLook::texture));
  EXPECT_EQ(count(coarse, "<image"), 0U);
  EXPECT_EQ(test::places_of(coarse, "2").size(), 0U);
  const std::string fine = svg_of(squares(40, PanelLook::texture));
  EXPECT_EQ(count(fine, "<image"), 2U);
  EXPECT_EQ(count(fine, "data:image/png;base64"), 2U);  // inside the file, not beside it
  EXPECT_EQ(count(svg_of(squares(40, PanelLook::graph)), "<image"), 0U);
}

TEST(PanelLook, DrawsASingleUnit) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  EXPECT_GT(svg_of(squares(1, PanelLook::texture)).size(), 0U);
  EXPECT_GT(svg_of(squares(1, PanelLook::matrix)).size(), 0U);
}

TEST(LineFigureStretch, WidensPanels) {
  LineFigure figure;
  figure.panels.resize(2);
  const Page usual = sheet_of(figure).page;
  figure.stretch = 1.5;
  const Page wide = sheet_of(figure).page;
  EXPECT_EQ(usual.panels[1].width, kPanelWidth);
  EXPECT_EQ(wide.panels[1].width, 1.5 * kPanelWidth);
  EXPECT_EQ(wide.panels[1].height, usual.panels[1].height);
  EXPECT_EQ(wide.width - usual.width, 2 * 0.5 * kPanelWidth);
}

TEST(TextCanvasPaste, PutsAPageOnAPageAndCutsWhatDoesNotFit) {
  TextCanvas small(3, 2);
  small.write(0, 0, "abc");
  small.write(0, 1, "défg");
  TextCanvas page(5, 3);
  page.paste(1, 1, small);
  EXPECT_EQ(page.text(TerminalColours::none), "\n abc\n déf\n");
  page.paste(4, 2, small);
  EXPECT_EQ(page.text(TerminalColours::none), "\n abc\n défa\n");
}

}  // namespace
}  // namespace dewpoint::report
