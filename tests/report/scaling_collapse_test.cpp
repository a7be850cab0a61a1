#include "dewpoint/report/scaling_collapse.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

const std::vector<double> kPlaces{-1.0, 0.0, 1.0};

Frame collapse(const std::string& name, const std::vector<double>& n) {
  Frame frame(name);
  frame.add_dimension("n", n);
  frame.add_dimension("scaling_variable", kPlaces);
  double value = 0;
  for (const char* variable : {"contraction", "jacobian_norm"}) {
    for (auto& cell : frame.add_variable(variable, {"n", "scaling_variable"}).cells) {
      cell = {value++, 0.5, 16};
    }
  }
  return frame;
}

store::StudyRecord small_study() {
  Frame limit("crossover");
  limit.add_dimension("scaling_variable", kPlaces);
  limit.add_variable("contraction", {"scaling_variable"}).cells = {{1, 0, 1}, {2, 0, 1}, {3, 0, 1}};
  limit.add_variable("jacobian_norm", {"scaling_variable"}).cells = {
      {4, 0, 1}, {5, 0, 1}, {6, 0, 1}};
  store::StudyRecord study;
  study.frames = {collapse("scaling_collapse", {64, 1e6}), limit,
                  collapse("scaling_collapse_measured", {64, 512})};
  return study;
}

TEST(FigureOfScalingCollapse, HasAPanelForEachQuantity) {
  const LineFigure figure = figure_of_scaling_collapse(small_study());
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[0].y.label, "contraction λ");
  EXPECT_EQ(figure.panels[1].y.label, "Jacobian norm η");
  EXPECT_EQ(figure.panels[0].x.label, "scaling variable x = (c − 1) log n");
}

TEST(FigureOfScalingCollapse, DrawsACurvePerLengthThenTheLimitDashedInBlack) {
  const LineFigure figure = figure_of_scaling_collapse(small_study());
  const std::vector<Series>& all = figure.panels[1].series;
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].label, "n = 64");
  EXPECT_EQ(all[0].y, (std::vector{6.0, 7.0, 8.0}));
  EXPECT_EQ(all[1].label, "n = 10⁶");
  EXPECT_EQ(all[1].y, (std::vector{9.0, 10.0, 11.0}));
  EXPECT_EQ(all[1].x, kPlaces);
  EXPECT_EQ(all[2].style, SeriesStyle::dashed);
  EXPECT_EQ(all[2].colour, 0x000000U);
  EXPECT_EQ(all[2].y, (std::vector{4.0, 5.0, 6.0}));
}

// 64 has a curve, which names it; 512 has none.
TEST(FigureOfScalingCollapse, DrawsMeasuredPointsInTheColourOfTheirLength) {
  const LineFigure figure = figure_of_scaling_collapse(small_study());
  const std::vector<Series>& all = figure.panels[0].series;
  EXPECT_EQ(all[3].style, SeriesStyle::points);
  EXPECT_EQ(all[3].label, "");
  EXPECT_EQ(all[3].colour, all[0].colour);
  EXPECT_EQ(all[3].error, (std::vector{0.5, 0.5, 0.5}));
  EXPECT_EQ(all[4].label, "n = 512");
  EXPECT_NE(all[4].colour, all[0].colour);
  EXPECT_NE(all[4].colour, all[1].colour);
  EXPECT_EQ(all[5].label, "measured");
  EXPECT_TRUE(all[5].x.empty());
}

TEST(FigureOfScalingCollapse, SaysWhatIsTheory) {
  EXPECT_EQ(test::theory_flags(figure_of_scaling_collapse(small_study())), "tttmmm tttmmm");
}

TEST(FigureOfScalingCollapse, NeedsNoMeasurements) {
  store::StudyRecord study = small_study();
  study.frames.pop_back();
  EXPECT_EQ(figure_of_scaling_collapse(study).panels[0].series.size(), 3U);
}

TEST(FigureOfScalingCollapse, RefusesAStudyWithoutOneOfItsFrames) {
  for (const std::size_t missing : {0U, 1U}) {
    store::StudyRecord study = small_study();
    study.frames.erase(study.frames.begin() + static_cast<std::ptrdiff_t>(missing));
    try {
      static_cast<void>(figure_of_scaling_collapse(study));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_value);
    }
  }
}

}  // namespace
}  // namespace dewpoint::report
