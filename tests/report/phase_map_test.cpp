#include "dewpoint/report/phase_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Two n, one d, three rho, two gamma; cells count 0, 1, 2... Lines only for n = 512.
store::StudyRecord small_study() {
  Frame map("phase_map");
  map.add_dimension("n", {256, 512});
  map.add_dimension("d", {64});
  map.add_dimension("rho", {0.0, 0.5, 0.75});
  map.add_dimension("gamma", {1.0, 2.0});
  double value = 0.0;
  for (auto& cell : map.add_variable("contraction", {"n", "d", "rho", "gamma"}).cells) {
    cell = {value++, 0.1, 8};
  }
  Frame lines("critical_lines");
  lines.add_dimension("n", {512});
  lines.add_dimension("d", {8, 64});
  lines.add_dimension("rho", {0.0, 0.5});
  lines.add_variable("simplex_gamma", {"n", "d", "rho"}).cells = {
      {1, 0, 1}, {2, 0, 1}, {1, 0, 1}, {2, 0, 1}};
  lines.add_variable("finite_dimension_gamma", {"n", "d", "rho"}).cells = {
      {5, 0, 1}, {6, 0, 1}, {7, 0, 1}, {kNaN, 0, 1}};
  store::StudyRecord study;
  study.parameters = {{"n", "256,512"}, {"alpha", "0"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = {map, lines};
  return study;
}

TEST(HeatmapOfPhaseMap, HasAPanelForEveryLengthAndDimension) {
  const HeatmapFigure figure = heatmap_of_phase_map(small_study());
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[0].title, "n = 256, d = 64");
  EXPECT_EQ(figure.panels[1].title, "n = 512, d = 64");
  EXPECT_EQ(figure.panels[1].x, (std::vector{0.0, 0.5, 0.75}));
  EXPECT_EQ(figure.panels[1].y, (std::vector{1.0, 2.0}));
  EXPECT_EQ(figure.panels[1].z, (std::vector<double>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(figure.z_low, 0.0);
  EXPECT_EQ(figure.z_high, 1.0);
}

TEST(HeatmapOfPhaseMap, HasTheErrorOfEveryCell) {
  store::StudyRecord study = small_study();
  auto& cells = study.frames[0].variable("contraction").cells;
  for (std::size_t k = 0; k < cells.size(); ++k) cells[k].standard_error = double(k);
  const HeatmapFigure figure = heatmap_of_phase_map(study);
  EXPECT_EQ(figure.panels[0].error, (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(figure.panels[1].error, (std::vector<double>{6, 7, 8, 9, 10, 11}));
}

TEST(HeatmapOfPhaseMap, MatchesCriticalLinesByValue) {
  const HeatmapFigure figure = heatmap_of_phase_map(small_study());
  EXPECT_TRUE(figure.panels[0].curves.empty());
  ASSERT_EQ(figure.panels[1].curves.size(), 2U);
  const Curve& simplex = figure.panels[1].curves[0];
  EXPECT_EQ(simplex.style, CurveStyle::dashed);
  EXPECT_EQ(simplex.x, (std::vector{0.0, 0.5}));
  EXPECT_EQ(simplex.y, (std::vector{1.0, 2.0}));
  const Curve& finite = figure.panels[1].curves[1];
  EXPECT_EQ(finite.style, CurveStyle::solid);
  EXPECT_EQ(finite.y[0], 7.0);
  EXPECT_TRUE(std::isnan(finite.y[1]));
}

TEST(HeatmapOfPhaseMap, NamesInItsCaptionWhatTheFigureDoesNotShow) {
  store::StudyRecord study = small_study();
  EXPECT_EQ(heatmap_of_phase_map(study).caption,
            "alpha = 0\u00a0· 8 samples per cell\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
  study.frames[0].variable("contraction").cells[3].samples = 2;
  EXPECT_NE(heatmap_of_phase_map(study).caption.find("2 to 8 samples"), std::string::npos);
}

TEST(HeatmapOfPhaseMap, NeedsNoCriticalLines) {
  store::StudyRecord study = small_study();
  study.frames.pop_back();
  EXPECT_TRUE(heatmap_of_phase_map(study).panels[1].curves.empty());
}

void expect_refused(const store::StudyRecord& study) {
  try {
    static_cast<void>(heatmap_of_phase_map(study));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
  }
}

TEST(HeatmapOfPhaseMap, RefusesAStudyOfAnotherForm) {
  expect_refused({});
  store::StudyRecord study = small_study();
  for (const bool repeated : {false, true}) {
    Frame map("phase_map");
    for (const char* name : {"n", "d", "gamma"}) map.add_dimension(name, {1});
    map.add_dimension("rho", repeated ? std::vector{0.5, 0.5} : std::vector{0.0, 0.5});
    repeated ? map.add_variable("contraction", {"n", "d", "rho", "gamma"})
             : map.add_variable("contraction", {"n", "d", "gamma", "rho"});
    study.frames[0] = map;
    expect_refused(study);
  }
}

}  // namespace
}  // namespace dewpoint::report
