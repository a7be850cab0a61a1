#include "dewpoint/report/study_heatmap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "report/svg_text.hpp"
#include "report/synthetic_study.hpp"

namespace dewpoint::report {
namespace {

using test::code_of;
using test::synthetic_contraction;
using test::synthetic_study;
using test::SyntheticAxes;

std::string message_of(const store::StudyRecord& study, const FigureRequest& request) {
  try {
    static_cast<void>(heatmap_of_study(study, request));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "";
}

TEST(HeatmapOfStudy, TakesTheLastTwoAxesAndAPanelForEveryPlaceOfTheOthers) {
  const HeatmapFigure figure = heatmap_of_study(synthetic_study(), {});
  EXPECT_EQ(figure.x_label, "correlation ρ");
  EXPECT_EQ(figure.y_label, "scale γ = β / log n");
  EXPECT_EQ(figure.z_label, "contraction λ");
  ASSERT_EQ(figure.panels.size(), 4U);
  EXPECT_EQ(figure.panels[1].title, "simplex, n = 256");
  EXPECT_EQ(figure.panels[2].title, "gaussian, n = 64");
  const SyntheticAxes axes;
  for (std::size_t i = 0; i < axes.rho.size(); ++i) {
    for (std::size_t j = 0; j < axes.gamma.size(); ++j) {
      EXPECT_EQ(figure.panels[1].z[i * axes.gamma.size() + j],
                synthetic_contraction(256, axes.rho[i], axes.gamma[j]));
    }
  }
}

TEST(HeatmapOfStudy, TurnsTheAxesAndKeepsOnlyWhatWasAskedFor) {
  FigureRequest request;
  request.x = "gamma";
  request.y = "rho";
  request.at = {{"tokens", "gaussian"}, {"n", "64"}, {"gamma", "1,2"}};
  const HeatmapFigure figure = heatmap_of_study(synthetic_study(), request);
  ASSERT_EQ(figure.panels.size(), 1U);
  EXPECT_EQ(figure.panels[0].x, (std::vector<double>{1, 2}));
  EXPECT_EQ(figure.panels[0].z[1 * 5 + 3], synthetic_contraction(64, 0.6, 2));
  EXPECT_NE(figure.caption.find("n = 64"), std::string::npos);
  EXPECT_NE(figure.caption.find("tokens = gaussian"), std::string::npos);
}

TEST(HeatmapOfStudy, DrawsTheCriticalLineOverEitherAxis) {
  FigureRequest request;
  request.at = {{"tokens", "simplex"}, {"n", "64"}};
  const auto curves = heatmap_of_study(synthetic_study(), request).panels[0].curves;
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(curves[0].label, "critical γ (theory)");
  EXPECT_EQ(curves[0].style, CurveStyle::dashed);
  EXPECT_EQ(curves[0].x, SyntheticAxes().rho);
  for (std::size_t i = 0; i < curves[0].x.size(); ++i) {
    EXPECT_EQ(curves[0].y[i], 1 / (1 - curves[0].x[i]));
  }
  request.x = "gamma";
  request.y = "rho";
  const auto turned = heatmap_of_study(synthetic_study(), request).panels[0].curves;
  EXPECT_EQ(turned.at(0).y, curves[0].x);
  EXPECT_EQ(turned.at(0).x, curves[0].y);
}

TEST(HeatmapOfStudy, DrawsEveryCriticalLineThatIsKnownSomewhere) {
  store::StudyRecord study = synthetic_study();
  Frame& frame = study.frames[0];
  Variable finite = frame.variable("critical_gamma");
  for (Estimate& cell : finite.cells) cell.mean *= 1.25;
  frame.add_variable("critical_gamma_at_finite_d", finite.dimensions).cells = finite.cells;
  frame.add_variable("critical_gamma_of_nothing", finite.dimensions);
  for (Estimate& cell : frame.variable("critical_gamma_of_nothing").cells) cell.mean = kUnknown;
  FigureRequest request;
  request.at = {{"tokens", "simplex"}, {"n", "64"}};
  const auto curves = heatmap_of_study(study, request).panels[0].curves;
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].style, CurveStyle::dashed);
  EXPECT_EQ(curves[1].label, "critical γ at finite d (theory)");
  EXPECT_EQ(curves[1].style, CurveStyle::solid);
  EXPECT_EQ(curves[1].y[2], 1.25 * curves[0].y[2]);
}

TEST(HeatmapOfStudy, HasColoursFrom0To1ForFractionsAndOfTheDataOtherwise) {
  FigureRequest request;
  const HeatmapFigure fraction = heatmap_of_study(synthetic_study(), request);
  EXPECT_EQ(fraction.z_low, 0);
  EXPECT_EQ(fraction.z_high, 1);
  request.observable = "jacobian_norm";
  const HeatmapFigure norm = heatmap_of_study(synthetic_study(), request);
  EXPECT_EQ(norm.z_low, 64 * 0.5);
  EXPECT_EQ(norm.z_high, 256 * 3.0);
}

// 1 is as far from 10⁻² as from 10²; ten to a power and back is two roundings of numbers near 1.
TEST(HeatmapOfStudy, DivergesEquallyFarToBothSidesOfTheCentre) {
  FigureRequest request;
  request.observable = "jacobian_norm";
  request.diverging = true;
  request.centre = 200;
  const HeatmapFigure figure = heatmap_of_study(synthetic_study(), request);
  EXPECT_EQ(figure.colours, ColourMap::diverging);
  EXPECT_EQ(figure.z_high, 768);
  EXPECT_EQ(figure.z_low, 200 - 568);
  EXPECT_EQ(colour_of(figure, 200), diverging(0.5));
  request.log_colours = true;
  const HeatmapFigure log = heatmap_of_study(synthetic_study(), request);
  EXPECT_NEAR(log.z_low * log.z_high, 200.0 * 200.0, 1e-10 * 200 * 200);
  EXPECT_EQ(colour_of(log, 200), diverging(0.5));
}

TEST(HeatmapOfStudy, FillsTheHolesOfARefinementAndSaysWhichTheyAre) {
  store::StudyRecord study = synthetic_study();
  auto& cells = study.frames[0].variable("contraction").cells;
  cells[1] = {};                                                  // simplex, 64, ρ = 0, γ = 1
  cells[2] = {std::numeric_limits<double>::quiet_NaN(), 0.0, 8};  // measured, without a value
  FigureRequest request;
  const HeatmapPanel panel = heatmap_of_study(study, request).panels[0];
  EXPECT_FALSE(std::isnan(panel.z[1]));
  EXPECT_TRUE(std::isnan(panel.z[2]));
  EXPECT_TRUE(panel.borrowed.at(1));
  EXPECT_FALSE(panel.borrowed.at(2));
  EXPECT_EQ(panel.error.at(0), 0.01);
  EXPECT_TRUE(std::isnan(panel.error.at(1)));  // a borrowed value has no error of its own
  request.unfinished = true;
  const HeatmapPanel waiting = heatmap_of_study(study, request).panels[0];
  EXPECT_TRUE(std::isnan(waiting.z[1]));
  EXPECT_TRUE(waiting.borrowed.empty());
}

TEST(HeatmapOfStudy, IsLogarithmicWhereValuesGrowByFactorsUnlessToldOtherwise) {
  SyntheticAxes axes;
  axes.gamma = {0.25, 0.5, 1, 2, 4, 8};
  FigureRequest request;
  EXPECT_EQ(heatmap_of_study(synthetic_study(axes), request).y_scale, AxisScale::logarithmic);
  EXPECT_EQ(heatmap_of_study(synthetic_study(axes), request).x_scale, AxisScale::linear);
  request.linear = true;
  EXPECT_EQ(heatmap_of_study(synthetic_study(axes), request).y_scale, AxisScale::linear);
  request.log_y = true;
  EXPECT_EQ(heatmap_of_study(synthetic_study(), request).y_scale, AxisScale::logarithmic);
  request.log_x = true;
  EXPECT_EQ(message_of(synthetic_study(), request),
            "axis 'rho' begins at 0, which has no place on a logarithmic axis");
}

TEST(HeatmapOfStudy, NamesWhatIsAllowedWhenTheRequestDoesNotFit) {
  const store::StudyRecord study = synthetic_study();
  FigureRequest request;
  request.observable = "contration";
  EXPECT_EQ(message_of(study, request),
            "'contration' is no observable of this study; did you mean 'contraction'? Allowed: "
            "contraction, jacobian_norm");
  request = {};
  request.x = "gama";
  EXPECT_EQ(message_of(study, request),
            "'gama' is no axis of 'contraction'; did you mean 'gamma'? Allowed: tokens, n, rho, "
            "gamma");
  request.x = "tokens";
  EXPECT_EQ(message_of(study, request),
            "axis 'tokens' holds words, which name lines or panels: x and y of a figure must be "
            "numbers");
  request = {};
  request.at = {{"n", "100"}};
  EXPECT_EQ(message_of(study, request), "axis 'n' has no value 100; allowed: 64, 256");
  request.at = {{"tokens", "simple"}};
  EXPECT_EQ(
      message_of(study, request),
      "axis 'tokens' has no value simple; did you mean 'simplex'? Allowed: simplex, gaussian");
  request.at = {{"m", "1"}};
  EXPECT_EQ(code_of([&] { static_cast<void>(heatmap_of_study(study, request)); }), Code::bad_value);
  request.at = {{"rho", "0.4"}};
  request.y = "rho";
  EXPECT_EQ(message_of(study, request), "axis 'rho' has only one value here");
}

TEST(HeatmapOfStudy, RefusesMorePanelsThanAPageHolds) {
  SyntheticAxes axes;
  axes.n = {8, 16, 32, 64, 128, 256, 512};
  EXPECT_EQ(
      message_of(synthetic_study(axes), {}),
      "one panel for each value of tokens, n would be 14 panels, more than 12: choose values, "
      "as in --at tokens=simplex");
}

TEST(ParseAt, TakesAnAxisAndItsValues) {
  EXPECT_EQ(parse_at("n=64,128"), (std::pair<std::string, std::string>{"n", "64,128"}));
  for (const char* text : {"n", "=1", "n="}) {
    EXPECT_EQ(code_of([&] { static_cast<void>(parse_at(text)); }), Code::bad_value) << text;
  }
}

}  // namespace
}  // namespace dewpoint::report
