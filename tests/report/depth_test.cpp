#include "dewpoint/report/depth.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

void add_counting(Frame& frame, const std::string& name, const Names& dimensions) {
  double value = 0;
  for (auto& cell : frame.add_variable(name, dimensions).cells) cell = {value++, 0.5, 8};
}

Frame measured_frame() {
  Frame frame("phase_depth");
  frame.add_dimension("gamma", {0.8, 1.2});
  frame.add_dimension("layer", {0, 1, 2});
  frame.add_dimension("rank", {1, 2});
  add_counting(frame, "contraction", {"gamma", "layer"});
  add_counting(frame, "singular_value", {"gamma", "layer", "rank"});
  add_counting(frame, "log10_gap", {"gamma", "layer"});
  add_counting(frame, "unheard_of", {"gamma", "layer"});
  return frame;
}

store::StudyRecord small_study() {
  Frame theory("depth_theory");
  theory.add_dimension("gamma", {1.0, 1.2});
  theory.add_dimension("layer", {0, 2});
  add_counting(theory, "log10_gap", {"gamma", "layer"});
  store::StudyRecord study;
  study.frames = {measured_frame(), theory};
  return study;
}

TEST(FigureOfDepth, HasAPanelForEveryQuantityItKnowsInAFixedOrder) {
  const LineFigure figure = figure_of_depth(small_study());
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_EQ(figure.panels[0].y.label, "mean gap 1 − cos");
  EXPECT_EQ(figure.panels[0].y.scale, AxisScale::exponent);
  EXPECT_EQ(figure.panels[1].y.label, "contraction λ");
  EXPECT_EQ(figure.panels[1].y.scale, AxisScale::linear);
  EXPECT_EQ(figure.panels[1].x.label, "layer");
  EXPECT_EQ(figure.panels[2].y.label, "singular value of the product");
  EXPECT_EQ(figure.panels[2].y.scale, AxisScale::logarithmic);
  EXPECT_EQ(figure.panels[2].series[1].y, (std::vector{0.0, 2.0, 4.0}));  // the first rank
}

// Each γ is a name without points, then its data.
TEST(FigureOfDepth, JoinsThePointsOfAGammaWhereThereIsNoTheory) {
  const LineFigure figure = figure_of_depth(small_study());
  const std::vector<Series>& all = figure.panels[1].series;
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].label, "γ = 0.8");
  EXPECT_EQ(all[2].label, "γ = 1.2");
  EXPECT_EQ(all[1].style, SeriesStyle::line_and_points);
  EXPECT_EQ(all[3].x, (std::vector{0.0, 1.0, 2.0}));
  EXPECT_EQ(all[3].y, (std::vector{3.0, 4.0, 5.0}));
  EXPECT_EQ(all[3].error, (std::vector{0.5, 0.5, 0.5}));
  EXPECT_EQ(all[2].colour, all[3].colour);
  EXPECT_NE(all[1].colour, all[3].colour);
}

// Theory has 1.0, which was not measured, and 1.2, which was.
TEST(FigureOfDepth, DashesTheTheoryOfTheSameGammaInTheSameColour) {
  const LineFigure figure = figure_of_depth(small_study());
  const std::vector<Series>& all = figure.panels[0].series;
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[3].style, SeriesStyle::points);
  EXPECT_EQ(all[4].style, SeriesStyle::dashed);
  EXPECT_EQ(all[4].colour, all[3].colour);
  EXPECT_EQ(all[4].x, (std::vector{0.0, 2.0}));
  EXPECT_EQ(all[4].y, (std::vector{2.0, 3.0}));
  EXPECT_EQ(all[5].label, "theory");
}

TEST(FigureOfDepth, SaysWhatIsTheory) {
  EXPECT_EQ(test::theory_flags(figure_of_depth(small_study())), "mmmmtt mmmm mmmm");
}

TEST(FigureOfDepth, NeedsNoTheory) {
  store::StudyRecord study = small_study();
  study.frames.pop_back();
  EXPECT_EQ(figure_of_depth(study).panels[0].series.size(), 4U);
}

void expect_refused(const Frame& frame) {
  store::StudyRecord study;
  study.frames = {frame};
  try {
    static_cast<void>(figure_of_depth(study));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
  }
}

TEST(FigureOfDepth, RefusesAStudyOfAnotherForm) {
  expect_refused(Frame("something else"));
  Frame nothing_known("phase_depth");
  nothing_known.add_dimension("gamma", {1});
  expect_refused(nothing_known);
  Frame no_gamma("phase_depth");
  no_gamma.add_dimension("gamma", {});
  no_gamma.add_dimension("layer", {0, 1});
  no_gamma.add_variable("contraction", {"gamma", "layer"});
  expect_refused(no_gamma);
  Frame turned("phase_depth");
  turned.add_dimension("gamma", {1});
  turned.add_dimension("layer", {0, 1});
  turned.add_variable("contraction", {"layer", "gamma"});
  expect_refused(turned);
}

}  // namespace
}  // namespace dewpoint::report
