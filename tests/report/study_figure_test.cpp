#include "dewpoint/report/study_figure.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "report/svg_text.hpp"
#include "report/synthetic_study.hpp"
#include "report/without_gnuplot.hpp"

namespace dewpoint::report {
namespace {

using test::code_of;
using test::synthetic_study;
using test::SyntheticAxes;

store::StudyRecord depth_record() {
  Frame frame("phase_depth");
  frame.add_dimension("gamma", {1, 2, 3});
  frame.add_dimension("layer", {0, 1});
  frame.add_variable("log10_gap", {"gamma", "layer"});
  frame.add_variable("contraction", {"gamma", "layer"});
  store::StudyRecord study;
  study.experiment = "phase depth";
  study.frames = {frame};
  return study;
}

// As `phase map` of an earlier version kept it.
store::StudyRecord former_map_record() {
  Frame frame("phase_map");
  frame.add_dimension("n", {64});
  frame.add_dimension("d", {8});
  frame.add_dimension("rho", {0.0, 0.2, 0.4, 0.6, 0.8});
  frame.add_dimension("gamma", {1, 2, 3, 4, 5});
  frame.add_variable("contraction", {"n", "d", "rho", "gamma"}).cells[6] = {0.25, 0.0, 1};
  frame.add_variable("jacobian_norm", {"n", "d", "rho", "gamma"}).cells[6] = {0.5, 0.0, 1};
  Frame lines("critical_lines");
  lines.add_dimension("n", {64});
  lines.add_dimension("d", {8});
  lines.add_dimension("rho", {0.0, 0.02});
  lines.add_variable("simplex_gamma", {"n", "d", "rho"});
  store::StudyRecord study;
  study.experiment = "phase map";
  study.frames = {frame, lines};
  return study;
}

TEST(FigureOfStudy, ChoosesAHeatMapForTwoBroadAxesAndACurveForOne) {
  EXPECT_EQ(chosen_kind(synthetic_study(), {}), "heatmap");
  FigureRequest request;
  request.at = {{"rho", "0.2,0.4"}};
  EXPECT_EQ(chosen_kind(synthetic_study(), request), "curve");
  EXPECT_TRUE(std::holds_alternative<LineFigure>(figure_of_study(synthetic_study(), request)));
}

TEST(FigureOfStudy, TakesTheFigureThatWasMadeForTheStudy) {
  FigureRequest request;
  request.title = "Layers";
  EXPECT_EQ(chosen_kind(depth_record(), request), "special");
  const Figure layers = figure_of_study(depth_record(), request);
  EXPECT_EQ(std::get<LineFigure>(layers).panels.size(), 2U);
  EXPECT_EQ(std::get<LineFigure>(layers).title, "Layers");
}

TEST(FigureOfStudy, DrawsItsOwnFigureOfASpecialStudyWhenAxesAreNamed) {
  FigureRequest request;
  request.x = "gamma";
  EXPECT_EQ(chosen_kind(depth_record(), request), "curve");
  request = {};
  request.kind = "heatmap";
  EXPECT_EQ(chosen_kind(depth_record(), request), "heatmap");
}

TEST(FigureOfStudy, DrawsMapsOfEarlierVersions) {
  FigureRequest request;
  EXPECT_EQ(chosen_kind(former_map_record(), request), "heatmap");
  const auto map = std::get<HeatmapFigure>(figure_of_study(former_map_record(), request));
  EXPECT_EQ(map.panels.at(0).z[6], 0.25);
  request.observable = "jacobian_norm";
  const auto norm = std::get<HeatmapFigure>(figure_of_study(former_map_record(), request));
  EXPECT_EQ(norm.panels.at(0).z[6], 0.5);
  EXPECT_EQ(norm.z_label, "Jacobian norm η");
}

TEST(FigureOfStudy, RefusesAnUnknownKindWithTheNearest) {
  FigureRequest request;
  request.kind = "heatmaps";
  try {
    static_cast<void>(figure_of_study(synthetic_study(), request));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "'heatmaps' is no kind of figure; did you mean 'heatmap'? Allowed: auto, heatmap, "
                 "curve, scaling, collapse");
  }
}

TEST(FigureOfStudy, RefusesAStudyOfSingleNumbers) {
  Frame frame("point");
  frame.add_variable("contraction");
  store::StudyRecord study;
  study.frames = {frame};
  EXPECT_EQ(code_of([&] { static_cast<void>(figure_of_study(study, {})); }), Code::bad_value);
}

TEST(SpecialisedFigure, IsNoneForAStudyOfAnotherForm) {
  EXPECT_FALSE(specialised_figure(synthetic_study()).has_value());
  EXPECT_FALSE(specialised_figure(depth_record(), "entropy").has_value());
}

TEST(FigureOfStudy, IsDrawnByGnuplotInEveryKindAndFormat) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const test::ScratchFolder folder;
  SyntheticAxes axes;
  axes.gamma = {0.25, 0.5, 1, 2, 4, 8};
  FigureRequest request;
  request.at = {{"tokens", "simplex"}, {"rho", "0,0.8"}};
  request.diverging = true;
  FigureFits fits;
  fits.collapse = CollapseFit{{1, 0.1, 0}, {1, 0.1, 0}, {0, 0, 0}, 1.0, "log n"};
  for (const char* kind : {"heatmap", "curve", "scaling", "collapse"}) {
    request.kind = kind;
    if (request.kind == "collapse") request.at[1].second = "0";
    const Figure figure = figure_of_study(synthetic_study(axes), request, fits);
    for (const char* ending : {".svg", ".pdf"})
      write_figure(figure, folder / (kind + std::string(ending)));
  }
  EXPECT_EQ(folder.names().size(), 8U);
  // The decades of γ stand where their logarithms are: 1 half-way between 0.5 and 2.
  const std::string svg = test::read_bytes(folder / "heatmap.svg");
  const auto half = test::places_of(svg, "0.5");
  const auto one = test::places_of(svg, "1");
  const auto two = test::places_of(svg, "2");
  ASSERT_FALSE(half.empty() || one.empty() || two.empty());
  EXPECT_NEAR(half[0].y - one[0].y, one[0].y - two[0].y, 4 * test::kPixelRounding);
}

}  // namespace
}  // namespace dewpoint::report
