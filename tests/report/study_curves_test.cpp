#include "dewpoint/report/study_curves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/colour.hpp"
#include "report/svg_text.hpp"
#include "report/synthetic_study.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

using test::code_of;
using test::synthetic_contraction;
using test::synthetic_study;
using test::SyntheticAxes;
using test::theory_flags;

FigureRequest curve_at(const std::string& rho) {
  FigureRequest request;
  request.kind = "curve";
  request.y = "n";
  request.at = {{"tokens", "simplex"}, {"rho", rho}};
  return request;
}

TEST(CurveOfStudy, HasErrorsOnEveryPointAndTheoryDashedInItsColour) {
  const LineFigure figure = curve_of_study(synthetic_study(), curve_at("0.4"));
  ASSERT_EQ(figure.panels.size(), 1U);
  const auto& series = figure.panels[0].series;
  ASSERT_EQ(series.size(), 5U);  // two lines with their theory, and theory's entry of the legend
  EXPECT_EQ(series[0].label, "n = 64");
  EXPECT_EQ(series[0].style, SeriesStyle::points);
  EXPECT_EQ(series[0].error, std::vector<double>(6, 0.01));
  EXPECT_EQ(series[1].style, SeriesStyle::dashed);
  EXPECT_EQ(series[1].colour, series[0].colour);
  EXPECT_EQ(series[2].label, "n = 256");
  EXPECT_NE(series[2].colour, series[0].colour);
  EXPECT_EQ(series[4].label, "theory");
  const SyntheticAxes axes;
  for (std::size_t j = 0; j < axes.gamma.size(); ++j) {
    EXPECT_EQ(series[2].x[j], axes.gamma[j]);
    EXPECT_EQ(series[2].y[j], synthetic_contraction(256, 0.4, axes.gamma[j]));
    EXPECT_EQ(series[3].y[j], series[2].y[j]);
  }
}

TEST(CurveOfStudy, JoinsPointsWithoutTheory) {
  FigureRequest request = curve_at("0.4");
  request.observable = "jacobian_norm";
  const auto series = curve_of_study(synthetic_study(), request).panels[0].series;
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].style, SeriesStyle::line_and_points);
}

TEST(CurveOfStudy, DrawsManyPointsAsALineBetweenItsErrors) {
  for (const std::size_t count : {100, 101}) {
    Frame frame("long");
    std::vector<double> steps(count);
    std::iota(steps.begin(), steps.end(), 0.0);
    frame.add_dimension("step", steps);
    frame.add_variable("focus", {"step"}).cells.assign(count, {0.5, 0.125, 3});
    store::StudyRecord study;
    study.frames = {frame};
    FigureRequest request;
    request.observable = "focus";
    request.x = "step";
    const auto series = curve_of_study(study, request).panels[0].series;
    if (count == 100) {
      ASSERT_EQ(series.size(), 1U);
      EXPECT_EQ(series[0].style, SeriesStyle::line_and_points);
      continue;
    }
    ASSERT_EQ(series.size(), 3U);
    EXPECT_EQ(series[0].y[7], 0.375);
    EXPECT_EQ(series[1].y[7], 0.625);
    EXPECT_EQ(series[0].colour, pale(series[2].colour));
    EXPECT_EQ(series[2].style, SeriesStyle::solid);
    EXPECT_TRUE(series[2].error.empty());
  }
}

// With ρ fixed there is one critical γ, with one line per ρ there are several.
TEST(CurveOfStudy, MarksTheTransitionWhereItIsOne) {
  const auto fixed = curve_of_study(synthetic_study(), curve_at("0.4")).panels[0].markers;
  ASSERT_EQ(fixed.size(), 1U);
  EXPECT_EQ(fixed[0].x, 1 / (1 - 0.4));
  EXPECT_EQ(fixed[0].label, "γ = 1.667");
  FigureRequest request = curve_at("0,0.4");
  request.y = "rho";
  for (const LinePanel& panel : curve_of_study(synthetic_study(), request).panels) {
    EXPECT_TRUE(panel.markers.empty());
  }
}

// Points and theory of two n, then the name of theory in the legend.
TEST(CurveOfStudy, SaysWhatIsTheory) {
  EXPECT_EQ(theory_flags(curve_of_study(synthetic_study(), curve_at("0"))), "mtmtt");
}

// The lower bar of the smallest value has no logarithm.
TEST(CurveOfStudy, ShowsPointsWhoseBarsLeaveALogarithmicAxis) {
  FigureRequest request = curve_at("0,0.4");
  request.log_y = true;
  store::StudyRecord study = synthetic_study();
  auto& cells = study.frames[0].variable("contraction").cells;
  cells[0] = {1e-9, 1.0, 8};  // simplex, n = 64, ρ = 0, γ = 0.5
  const LineFigure figure = curve_of_study(study, request);
  ASSERT_TRUE(figure.panels[0].y.range.has_value());
  EXPECT_LT(figure.panels[0].y.range->low, 1e-9);
}

TEST(CurveOfStudy, HasPanelsForWhatIsLeftAndOneRangeForAll) {
  FigureRequest request = curve_at("0,0.4,0.8");
  const LineFigure figure = curve_of_study(synthetic_study(), request);
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_EQ(figure.panels[1].title, "ρ = 0.4");
  ASSERT_TRUE(figure.panels[0].y.range.has_value());
  for (const LinePanel& panel : figure.panels) EXPECT_EQ(panel.y.range, figure.panels[0].y.range);
}

TEST(CurveOfStudy, NamesLinesOfWordsByTheirWords) {
  FigureRequest request = curve_at("0.4");
  request.y = "tokens";
  request.at = {{"n", "64"}, {"rho", "0.4"}};
  const auto series = curve_of_study(synthetic_study(), request).panels[0].series;
  EXPECT_EQ(series[0].label, "simplex");
  EXPECT_EQ(series[2].label, "gaussian");
  EXPECT_EQ(series[0].colour, kind_colour(0));
  request.x = "tokens";
  request.y = "";
  EXPECT_EQ(code_of([&] { static_cast<void>(curve_of_study(synthetic_study(), request)); }),
            Code::bad_value);
}

TEST(CurveOfStudy, LeavesOutWhatWasNotMeasured) {
  store::StudyRecord study = synthetic_study();
  study.frames[0].variable("contraction").cells[1] = {};  // simplex, n = 64, ρ = 0, γ = 1
  const auto series = curve_of_study(study, curve_at("0")).panels[0].series;
  EXPECT_EQ(series[0].x, (std::vector<double>{0.5, 1.5, 2, 2.5, 3}));
  EXPECT_EQ(series[1].x.size(), 6U);
}

TEST(CurveOfStudy, RefusesMoreLinesThanAReaderTellsApart) {
  SyntheticAxes axes;
  axes.n.clear();
  for (int k = 0; k < 21; ++k) axes.n.push_back(10 + k);
  try {
    static_cast<void>(curve_of_study(synthetic_study(axes), curve_at("0")));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "one line for each of the 21 values of 'n' are more than 20: choose values, as in "
                 "--at n=10,30");
  }
}

TEST(LinesOf, HandsOutWhatTheFigureDraws) {
  const auto lines = lines_of(synthetic_study(), curve_at("0.4,0.8"));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[3].panel, "ρ = 0.8");
  EXPECT_EQ(lines[3].name, "n = 256");
  EXPECT_EQ(lines[3].value, 256);
  EXPECT_EQ(lines[3].mean[2], synthetic_contraction(256, 0.8, 1.5));
  EXPECT_EQ(lines[3].error[2], 0.01);
}

FigureRequest scaling_request() {
  FigureRequest request;
  request.kind = "scaling";
  request.observable = "jacobian_norm";
  request.y = "gamma";
  request.at = {{"tokens", "simplex"}, {"rho", "0"}, {"gamma", "1,2"}};
  return request;
}

// jacobian_norm = n γ: slope 1, intercept log γ.
TEST(ScalingOfStudy, DrawsFitsThroughTheirPointsAndStatesTheSlopes) {
  const double steep = std::log(2.0);
  const LineFigure figure = scaling_of_study(synthetic_study(), scaling_request(),
                                             {{"", "γ = 1", 1.0, 0.02, 0.0, 1.5, {64, 256}},
                                              {"", "γ = 2", 1.0, 0.03, steep, 0.5, {64, 256}}});
  const LinePanel& panel = figure.panels.at(0);
  EXPECT_EQ(panel.x.scale, AxisScale::logarithmic);
  EXPECT_EQ(panel.y.scale, AxisScale::logarithmic);
  ASSERT_EQ(panel.series.size(), 4U);
  const Series& points = panel.series[1];
  const Series& line = panel.series[3];
  EXPECT_EQ(line.colour, points.colour);
  EXPECT_EQ(line.label, "γ = 2: slope 1.000 ± 0.030, χ²/dof = 0.5");
  EXPECT_EQ(points.label, "");
  EXPECT_EQ(line.x, points.x);
  // log, exp and a sum near 6: each rounding is relative to at most 7 in the exponent.
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(line.y[k], points.y[k], 1e-13 * points.y[k]);
}

// The same line under the other laws: a + b log n on an axis of y that is not logarithmic, and a
// power of log n, which is bent on two that are.
TEST(ScalingOfStudy, DrawsOtherLawsOnTheirAxes) {
  FigureRequest request = scaling_request();
  request.fit = "log";
  const std::vector<ScalingFit> fits = {{"", "γ = 2", 3.0, 0.1, 1.0, 0.5, {64, 256}}};
  const LinePanel rising = scaling_of_study(synthetic_study(), request, fits).panels.at(0);
  EXPECT_EQ(rising.x.scale, AxisScale::logarithmic);
  EXPECT_EQ(rising.y.scale, AxisScale::linear);
  EXPECT_EQ(rising.series.back().label, "γ = 2: slope in log n 3.00 ± 0.10, χ²/dof = 0.5");
  EXPECT_DOUBLE_EQ(rising.series.back().y[1], 1.0 + 3.0 * std::log(256.0));

  request.fit = "log-power";
  const LineFigure figure = scaling_of_study(synthetic_study(), request, fits);
  const Series& bent = figure.panels.at(0).series.back();
  EXPECT_EQ(figure.panels[0].y.scale, AxisScale::logarithmic);
  EXPECT_EQ(bent.label, "γ = 2: exponent of log n 3.00 ± 0.10, χ²/dof = 0.5");
  EXPECT_EQ(bent.x.back(), 256.0);
  for (std::size_t k = 0; k < bent.x.size(); ++k) {
    const double exact = std::exp(1.0) * std::pow(std::log(bent.x[k]), 3.0);
    EXPECT_NEAR(bent.y[k], exact, 1e-13 * exact);  // a dozen roundings
  }
  EXPECT_EQ(figure.caption.find("fits of powers of log x"), 0U) << figure.caption;

  request.fit = "line";
  EXPECT_EQ(code_of([&] { static_cast<void>(scaling_of_study(synthetic_study(), request, {})); }),
            Code::bad_value);
}

TEST(ScalingOfStudy, KeepsTheNamesOfLinesWithoutFits) {
  const auto series = scaling_of_study(synthetic_study(), scaling_request(), {}).panels[0].series;
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[1].label, "γ = 2");
  EXPECT_EQ(code_of([&] {
              static_cast<void>(scaling_of_study(synthetic_study(), scaling_request(),
                                                 {{"", "γ = 3", 1, 0, 0, 1, {64, 256}}}));
            }),
            Code::bad_value);
}

TEST(ScalingOfStudy, TakesNoFitForTheory) {
  const LineFigure figure = scaling_of_study(synthetic_study(), scaling_request(),
                                             {{"", "γ = 1", 1.0, 0.02, 0.0, 1.5, {64, 256}}});
  EXPECT_EQ(theory_flags(figure), "mmm");
}

// The synthetic contraction is a function of (γ (1 − ρ) − 1) log n: it collapses exactly.
TEST(CollapseOfStudy, PutsTheCurvesOfAllSizesOntoOne) {
  FigureRequest request = curve_at("0");
  request.y = "";
  const CollapseFit fit{{1.0, 0.01, 0}, {1.0, 0.02, 0}, {0.0, 0.0, 0}, 1.25, "log n"};
  const LineFigure figure = collapse_of_study(synthetic_study(), request, fit);
  ASSERT_EQ(figure.panels.size(), 2U);
  const auto& series = figure.panels[1].series;
  ASSERT_EQ(series.size(), 2U);
  for (const Series& line : series) {
    for (std::size_t k = 0; k < line.x.size(); ++k) {
      // Two roundings of x below 12 and those of exp: the slope of the curve is at most 1/4.
      EXPECT_NEAR(line.y[k], 1 / (1 + std::exp(-line.x[k])), 1e-14);
    }
  }
  EXPECT_EQ(theory_flags(figure), "mtmtt mm");
  EXPECT_EQ(figure.panels[1].x.label, "(γ − 1) · (log n)^1");
  EXPECT_EQ(figure.panels[1].y.label, "contraction λ");
  EXPECT_EQ(figure.caption.find("collapse at γ = 1.000 ± 0.010, exponent 1.000 ± 0.020 of log n, "
                                "quality 1.25"),
            0U)
      << figure.caption;
}

TEST(CollapseOfStudy, LiftsValuesAndErrorsByTheAmplitude) {
  FigureRequest request = curve_at("0");
  request.y = "n";
  const CollapseFit fit{{1.0, 0.01, 0}, {0.5, 0.02, 0}, {0.5, 0.01, 0}, 2.0, "n"};
  const LineFigure figure = collapse_of_study(synthetic_study(), request, fit);
  const Series& line = figure.panels.at(1).series.at(0);  // n = 64: both factors are 8
  EXPECT_EQ(line.x[0], (0.5 - 1.0) * 8);
  EXPECT_EQ(line.y[0], synthetic_contraction(64, 0, 0.5) * 8);
  EXPECT_EQ(line.error[0], 0.08);
  EXPECT_EQ(figure.panels[1].y.label, "contraction λ · n^0.5");
}

// What the data do not determine is named, not measured.
TEST(CollapseOfStudy, PrintsNoNumberThatIsNotDetermined) {
  FigureRequest request = curve_at("0");
  request.y = "n";
  const double unknown = std::numeric_limits<double>::infinity();
  const CollapseFit fit{{1.25, unknown, 0}, {0.75, unknown, 0}, {0.5, unknown, 0}, 2.0, "n"};
  const LineFigure figure = collapse_of_study(synthetic_study(), request, fit);
  EXPECT_EQ(figure.panels.at(1).x.label, "(γ − x_c) · n^a");
  EXPECT_EQ(figure.panels[1].y.label, "contraction λ · n^b");
  EXPECT_EQ(
      figure.caption.find("collapse at γ = x_c, not determined by these data, exponent a, not "
                          "determined by these data, amplitude exponent b, not determined by "
                          "these data of n, quality 2"),
      0U)
      << figure.caption;
  for (const char* number : {"1.25", "0.75", "inf"}) {
    EXPECT_EQ(figure.caption.find(number), std::string::npos) << figure.caption;
  }
}

TEST(CollapseOfStudy, WantsAllOtherAxesFixed) {
  FigureRequest request;
  request.at = {{"tokens", "simplex"}};
  EXPECT_EQ(code_of([&] { static_cast<void>(collapse_of_study(synthetic_study(), request, {})); }),
            Code::bad_value);
}

}  // namespace
}  // namespace dewpoint::report
