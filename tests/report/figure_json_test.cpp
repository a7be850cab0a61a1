#include "dewpoint/report/figure_json.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "dewpoint/report/study_heatmap.hpp"
#include "report/base64_numbers.hpp"
#include "report/synthetic_study.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::report {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Json panel_json(const LinePanel& panel) {
  LineFigure figure;
  figure.panels = {panel};
  return to_json(figure).at("panels").at(0);
}

Json y_of(const Values& y) {
  LinePanel panel;
  panel.series = {{"", SeriesStyle::points, 0, Values(y.size(), 1.0), y, {}}};
  return panel_json(panel).at("series").at(0).at("y");
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

// -------------------------------------------------------------------------------------- shapes

TEST(FigureJson, HasTheShapeOfLines) {
  LinePanel panel{"n = 8",
                  {"γ", AxisScale::linear, Range{0, 4}},
                  {"λ", AxisScale::logarithmic, Range{0.01, 100}},
                  {{"all", SeriesStyle::line_and_points, 0x0072b2, {1, 2}, {0.5, 5}, {0.1, kNaN}},
                   as_theory({"law", SeriesStyle::dashed, 0, {1}, {0.25}, {}}),
                   {"name", SeriesStyle::dots, 0xffffff, {}, {}, {}}},
                  {{1.5, "γ₁"}}};
  LineFigure figure;
  figure.panels = {panel};
  figure.columns = 2;
  EXPECT_EQ(to_json(figure), Json::parse(R"({
    "kind": "lines", "columns": 2, "panels": [{
      "title": "n = 8",
      "x": {"label": "γ", "scale": "linear", "range": [0, 4]},
      "y": {"label": "λ", "scale": "logarithmic", "range": [-2, 2]},
      "series": [
        {"label": "all", "style": "line-and-points", "colour": "#0072b2", "theory": false,
         "x": [1, 2], "y": [0.5, 5], "error": [0.1, null]},
        {"label": "law", "style": "dashed", "colour": "#000000", "theory": true,
         "x": [1], "y": [0.25], "error": []},
        {"label": "name", "style": "dots", "colour": "#ffffff", "theory": false,
         "x": [], "y": [], "error": []}],
      "markers": [{"x": 1.5, "label": "γ₁"}]}]})"));
}

TEST(FigureJson, HasTheShapeOfAHeatMap) {
  HeatmapPanel panel{"n = 64",
                     {1, 2},
                     {10, 100},
                     {0.25, 0.5, kNaN, kInfinity},
                     {{"theory", CurveStyle::dashed, {1, 2}, {10, kNaN}}},
                     {false, true, false, true},
                     "mean 0.5"};
  panel.error = {0.1, kNaN, kNaN, 0};
  HeatmapFigure figure;
  figure.x_label = "ρ";
  figure.y_label = "n";
  figure.z_label = "λ";
  figure.z_low = -1;
  figure.panels = {panel};
  figure.columns = 3;
  figure.y_scale = AxisScale::logarithmic;
  figure.z_scale = AxisScale::exponent;
  figure.colours = ColourMap::diverging;
  figure.look = PanelLook::texture;
  EXPECT_EQ(to_json(figure), Json::parse(R"({
    "kind": "heatmap", "columns": 3, "x_label": "ρ", "y_label": "n", "z_label": "λ",
    "x_scale": "linear", "y_scale": "logarithmic", "z_scale": "exponent",
    "z_low": -1, "z_high": 1, "colours": "diverging", "look": "texture",
    "panels": [{
      "title": "n = 64", "subtitle": "mean 0.5", "x": [1, 2], "y": [10, 100],
      "z": [0.25, 0.5, null, "inf"], "error": [0.1, null, null, 0], "borrowed": [1, 3],
      "curves": [{"label": "theory", "style": "dashed", "x": [1, 2], "y": [10, null]}]}]})"));
}

TEST(FigureJson, HasAWordForEveryStyleAndLook) {
  LinePanel panel;
  for (const SeriesStyle style :
       {SeriesStyle::solid, SeriesStyle::dashed, SeriesStyle::dotted, SeriesStyle::points,
        SeriesStyle::line_and_points, SeriesStyle::dots}) {
    panel.series.push_back({"", style, 0, {}, {}, {}});
  }
  std::vector<std::string> words;
  const Json json = panel_json(panel);
  for (const Json& series : json.at("series")) words.push_back(series.at("style"));
  EXPECT_EQ(words, (std::vector<std::string>{"solid", "dashed", "dotted", "points",
                                             "line-and-points", "dots"}));
  HeatmapFigure map;
  map.panels = {{"", {1}, {1}, {0}, {{"", CurveStyle::solid, {}, {}}}}};
  EXPECT_EQ(to_json(map).at("look"), "graph");
  EXPECT_EQ(to_json(map).at("colours"), "viridis");
  EXPECT_EQ(to_json(map).at("panels").at(0).at("curves").at(0).at("style"), "solid");
  map.look = PanelLook::matrix;
  EXPECT_EQ(to_json(map).at("look"), "matrix");
}

// A panel without errors, curves or borrowed cells has all the same fields.
TEST(FigureJson, HasEmptyListsForWhatIsNotThere) {
  HeatmapFigure map;
  map.panels = {{"", {1}, {1}, {0}, {}}};
  const Json panel = to_json(map).at("panels").at(0);
  EXPECT_EQ(keys_of(panel), (std::vector<std::string>{"title", "subtitle", "x", "y", "z", "error",
                                                      "borrowed", "curves"}));
  for (const char* name : {"error", "borrowed", "curves"}) {
    EXPECT_EQ(panel.at(name), Json::array()) << name;
  }
}

// ------------------------------------------------------------------------------------- numbers

TEST(FigureJson, WritesWhatJsonHasNoNumberFor) {
  EXPECT_EQ(y_of({kNaN, -kNaN, kInfinity, -kInfinity, 0.5}).dump(),
            R"([null,null,"inf","-inf",0.5])");
}

// Two whole numbers are a list and not an object, one is no number.
TEST(FigureJson, KeepsShortRowsAsLists) {
  EXPECT_EQ(y_of({}).dump(), "[]");
  EXPECT_EQ(y_of({3}).dump(), "[3.0]");
  EXPECT_EQ(y_of({3, 4}).dump(), "[3.0,4.0]");
}

TEST(FigureJson, PacksRowsFromOneNumberMoreThanTheLimitOn) {
  EXPECT_TRUE(y_of(Values(kMostPlainNumbers, 0.5)).is_array());
  const Json packed = y_of(Values(kMostPlainNumbers + 1, 0.5));
  EXPECT_EQ(keys_of(packed), (std::vector<std::string>{"float64"}));
  EXPECT_EQ(test::numbers_of_base64(packed.at("float64")), Values(kMostPlainNumbers + 1, 0.5));
}

// Of all sizes that a double has; both forms go through JSON text.
TEST(FigureJson, GivesNumbersBackBitForBit) {
  const Stream stream = test::stream("FigureJson/GivesNumbersBackBitForBit");
  Values numbers{-0.0, 5e-324, std::numeric_limits<double>::max(), 0.1, 1e23};
  for (std::uint64_t k = 0; numbers.size() < 2000; ++k) {
    const auto bits = stream.bits(k);
    const auto number = std::bit_cast<double>(std::uint64_t{bits[0]} << 32U | bits[1]);
    if (std::isfinite(number)) numbers.push_back(number);
  }
  const Json packed = Json::parse(y_of(numbers).dump());
  const Values unpacked = test::numbers_of_base64(packed.at("float64"));
  Values plain;
  for (std::size_t k = 0; k < numbers.size(); k += kMostPlainNumbers / 2) {
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(k);
    const auto length = std::min(kMostPlainNumbers / 2, numbers.size() - k);
    const Values part(first, first + static_cast<std::ptrdiff_t>(length));
    for (const Json& cell : Json::parse(y_of(part).dump())) plain.push_back(cell.get<double>());
  }
  ASSERT_EQ(unpacked.size(), numbers.size());
  ASSERT_EQ(plain.size(), numbers.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const auto bits = std::bit_cast<std::uint64_t>(numbers[k]);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(unpacked[k]), bits) << numbers[k];
    EXPECT_EQ(std::bit_cast<std::uint64_t>(plain[k]), bits) << numbers[k];
  }
}

TEST(FigureJson, KeepsUnknownAndInfiniteNumbersInPackedRows) {
  Values numbers(kMostPlainNumbers + 1, 1.0);
  numbers[1] = kNaN;
  numbers[2] = -kInfinity;
  const Values back = test::numbers_of_base64(y_of(numbers).at("float64"));
  EXPECT_EQ(back[0], 1.0);
  EXPECT_TRUE(std::isnan(back[1]));
  EXPECT_EQ(back[2], -kInfinity);
}

// -------------------------------------------------------------------------------------- ranges

// 4 % of room on either side of 1 to 3 and, with its bar, of 0 to 10. Sums of a few numbers below
// 16, each rounded to half an ulp.
TEST(FigureJson, ShowsAllPointsWithTheirErrorBars) {
  LinePanel panel;
  panel.series = {{"", SeriesStyle::points, 0, {1, 3}, {2, 6}, {2, 4}},
                  {"", SeriesStyle::solid, 0, {2}, {kNaN}, {}}};
  const Json json = panel_json(panel);
  const double rounding = 8 * 0x1p-50;
  EXPECT_NEAR(json.at("x").at("range").at(0).get<double>(), 0.92, rounding);
  EXPECT_NEAR(json.at("x").at("range").at(1).get<double>(), 3.08, rounding);
  EXPECT_NEAR(json.at("y").at("range").at(0).get<double>(), -0.4, rounding);
  EXPECT_NEAR(json.at("y").at("range").at(1).get<double>(), 10.4, rounding);
}

// The lower end of the bar lies below 0 and has no place, the point itself has: from 10⁰ to 10².
TEST(FigureJson, ShowsAPointWhoseBarLeavesALogarithmicAxis) {
  LinePanel panel;
  panel.y.scale = AxisScale::logarithmic;
  panel.series = {{"", SeriesStyle::points, 0, {1, 2}, {1, 100}, {5, 0}}};
  const Json range = panel_json(panel).at("y").at("range");
  EXPECT_NEAR(range.at(0).get<double>(), -0.08, 8 * 0x1p-52);
  EXPECT_NEAR(range.at(1).get<double>(), 2.08, 8 * 0x1p-52);
}

TEST(FigureJson, LeavesOutMarkersThatHaveNoPlace) {
  LinePanel panel;
  panel.x.scale = AxisScale::logarithmic;
  panel.markers = {{kNaN, "unknown"}, {0, "zero"}, {1e6, "outside"}};
  const Json markers = panel_json(panel).at("markers");
  ASSERT_EQ(markers.size(), 1U);
  EXPECT_EQ(markers[0].at("label"), "outside");
}

// --------------------------------------------------------------------------------------- texts

TEST(FigureJson, KeepsTextsAsTheyAre) {
  const std::string text = "</script> <!-- \"quoted\" \\ \n ≤ &";
  LinePanel panel;
  panel.title = text;
  panel.series = {{text, SeriesStyle::points, 0, {}, {}, {}}};
  const Json json = Json::parse(panel_json(panel).dump());
  EXPECT_EQ(json.at("title"), text);
  EXPECT_EQ(json.at("series").at(0).at("label"), text);
}

// ------------------------------------------------------------------------------------ of a study

// Column by column: ρ along x, γ along y. The errors of these cells count.
TEST(FigureJson, HasTheValuesAndErrorsOfTheStudy) {
  store::StudyRecord study = test::synthetic_study();
  auto& cells = study.frames[0].variable("contraction").cells;
  for (std::size_t k = 0; k < cells.size(); ++k) cells[k].standard_error = 1e-3 * double(k + 1);
  const Json panel = to_json(heatmap_of_study(study, {})).at("panels").at(1);  // simplex, n = 256
  const std::size_t size = panel.at("x").size() * panel.at("y").size();
  ASSERT_EQ(panel.at("z").size(), size);
  ASSERT_EQ(panel.at("error").size(), size);
  for (std::size_t k = 0; k < size; ++k) {
    EXPECT_EQ(panel.at("z")[k], cells[size + k].mean);
    EXPECT_EQ(panel.at("error")[k], cells[size + k].standard_error);
  }
}

}  // namespace
}  // namespace dewpoint::report
