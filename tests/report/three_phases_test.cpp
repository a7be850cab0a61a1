#include "dewpoint/report/three_phases.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

// Masses count on from cell to cell: self from 0, cluster from 100, rest from 200.
Frame masses(const std::string& name, const std::vector<double>& n) {
  Frame frame(name);
  frame.add_dimension("n", n);
  frame.add_dimension("gamma", {0.5, 1.5});
  double base = 0;
  for (const char* mass : {"self_mass", "cluster_mass", "rest_mass"}) {
    double value = base;
    for (auto& cell : frame.add_variable(mass, {"n", "gamma"}).cells) cell = {value++, 0.25, 8};
    base += 100;
  }
  return frame;
}

store::StudyRecord small_study() {
  Frame thresholds("cluster_thresholds");
  thresholds.add_variable("rest_to_cluster").cells = {{0.75, 0, 1}};
  thresholds.add_variable("cluster_to_self").cells = {{1.25, 0, 1}};
  store::StudyRecord study;
  study.parameters = {{"n", "1000,1000000"}, {"tau", "0.7"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = {masses("three_phases", {1e3, 1e6}), thresholds,
                  masses("three_phases_measured", {512, 1e3})};
  return study;
}

const Series* find_series(const LinePanel& panel, const std::string& label) {
  for (const auto& series : panel.series) {
    if (series.label == label) return &series;
  }
  return nullptr;
}

TEST(FigureOfThreePhases, HasAPanelForEveryLengthOfEitherFrame) {
  const LineFigure figure = figure_of_three_phases(small_study());
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_EQ(figure.panels[0].title, "n = 512");
  EXPECT_EQ(figure.panels[1].title, "n = 10³");
  EXPECT_EQ(figure.panels[2].title, "n = 10⁶");
}

TEST(FigureOfThreePhases, DrawsTheThreeMassesOfItsLength) {
  const LineFigure figure = figure_of_three_phases(small_study());
  const LinePanel& panel = figure.panels[2];
  EXPECT_EQ(find_series(panel, "on itself")->y, (std::vector{2.0, 3.0}));
  EXPECT_EQ(find_series(panel, "on its cluster")->y, (std::vector{102.0, 103.0}));
  EXPECT_EQ(find_series(panel, "on the rest")->y, (std::vector{202.0, 203.0}));
  EXPECT_EQ(find_series(panel, "on the rest")->x, (std::vector{0.5, 1.5}));
  EXPECT_TRUE(find_series(panel, "on the rest")->error.empty());
}

TEST(FigureOfThreePhases, DrawsMeasuredPointsInTheColourOfTheirCurve) {
  const LineFigure figure = figure_of_three_phases(small_study());
  const std::vector<Series>& all = figure.panels[1].series;
  ASSERT_EQ(all.size(), 6U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(all[k].style, SeriesStyle::solid);
    EXPECT_EQ(all[k + 3].style, SeriesStyle::points);
    EXPECT_EQ(all[k].colour, all[k + 3].colour);
    EXPECT_EQ(all[k + 3].y[0], all[k].y[0] + 2);  // the second n of its frame
    EXPECT_EQ(all[k + 3].error, (std::vector{0.25, 0.25}));
  }
  EXPECT_EQ(figure.panels[0].series.size(), 3U);
  EXPECT_EQ(figure.panels[0].series[0].style, SeriesStyle::points);
  EXPECT_NE(find_series(figure.panels[2], "measured"), nullptr);
}

TEST(FigureOfThreePhases, SaysWhatIsTheory) {
  EXPECT_EQ(test::theory_flags(figure_of_three_phases(small_study())), "mmm tttmmm tttm");
}

TEST(FigureOfThreePhases, MarksTheThresholds) {
  const LineFigure figure = figure_of_three_phases(small_study());
  for (const auto& panel : figure.panels) {
    ASSERT_EQ(panel.markers.size(), 2U);
    EXPECT_EQ(panel.markers[0].x, 0.75);
    EXPECT_EQ(panel.markers[0].label, "γ₁");
    EXPECT_EQ(panel.markers[1].x, 1.25);
    EXPECT_EQ(panel.markers[1].label, "γ₂");
  }
}

TEST(FigureOfThreePhases, NeedsNeitherMeasurementsNorThresholds) {
  store::StudyRecord study = small_study();
  EXPECT_EQ(figure_of_three_phases(study).caption,
            "tau = 0.7\u00a0· 8 samples per cell\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
  study.frames.resize(1);
  const LineFigure figure = figure_of_three_phases(study);
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[1].series.size(), 3U);
  EXPECT_TRUE(figure.panels[1].markers.empty());
  EXPECT_EQ(figure.caption, "tau = 0.7\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

void expect_refused(const store::StudyRecord& study) {
  try {
    static_cast<void>(figure_of_three_phases(study));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
  }
}

TEST(FigureOfThreePhases, RefusesAStudyOfAnotherForm) {
  expect_refused({});
  store::StudyRecord study = small_study();
  study.frames[1] = Frame("cluster_thresholds");
  expect_refused(study);
  study = small_study();
  study.frames[0] = masses("three_phases", {1e6, 1e3});
  expect_refused(study);
  Frame turned("three_phases");
  turned.add_dimension("n", {8});
  turned.add_dimension("gamma", {1});
  for (const char* mass : {"self_mass", "cluster_mass", "rest_mass"}) {
    turned.add_variable(mass, {"gamma", "n"});
  }
  study.frames[0] = turned;
  expect_refused(study);
}

}  // namespace
}  // namespace dewpoint::report
