#include "dewpoint/report/backward_heat.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "report/svg_text.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

using Values = std::vector<double>;
const Values kBetas{10, 100};
const Values kFine{1, 2, 3};

// Cells are first, first + 1, first + 2, ...
void add_counting(Frame& frame, const std::string& name, const Names& dimensions, double first) {
  double value = first;
  for (auto& cell : frame.add_variable(name, dimensions).cells) cell = {value++, 0.25, 12};
}

Frame drift() {
  Frame frame("heat_drift");
  frame.add_dimension("beta", kBetas);
  add_counting(frame, "across", {"beta"}, 1);
  return frame;
}

Frame drift_theory() {
  Frame frame("heat_drift_theory");
  frame.add_dimension("beta", kFine);
  add_counting(frame, "population", {"beta"}, 10);
  add_counting(frame, "first", {"beta"}, 20);
  add_counting(frame, "second", {"beta"}, 30);
  frame.add_variable("heat_beta").cells = {{42, 0, 1}};
  return frame;
}

Frame noise() {
  Frame frame("heat_noise");
  frame.add_dimension("n", {1e4, 1e5});
  frame.add_dimension("beta", kBetas);
  add_counting(frame, "noise_to_signal", {"n", "beta"}, 40);
  add_counting(frame, "relative_beta", {"n", "beta"}, 50);
  return frame;
}

Frame noise_theory() {
  Frame frame("heat_noise_theory");
  frame.add_dimension("relative_beta", kFine);
  add_counting(frame, "law", {"relative_beta"}, 60);
  return frame;
}

Frame harmonics() {
  Frame frame("harmonics");
  frame.add_dimension("d", {2, 3});
  frame.add_dimension("degree", {1, 2, 5});
  frame.add_dimension("beta", kBetas);
  add_counting(frame, "growth", {"d", "degree", "beta"}, 100);
  add_counting(frame, "rate", {"d", "degree", "beta"}, 200);
  return frame;
}

Frame harmonics_theory() {
  Frame frame("harmonics_theory");
  frame.add_dimension("rate", kFine);
  add_counting(frame, "regularised", {"rate"}, 70);
  add_counting(frame, "heat", {"rate"}, 80);
  add_counting(frame, "deconvolution", {"rate"}, 90);
  return frame;
}

store::StudyRecord small_study() {
  store::StudyRecord study;
  study.parameters = {{"keys", "vmf"}, {"beta", "10,100"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = {drift(),        drift_theory(), noise(),
                  noise_theory(), harmonics(),    harmonics_theory()};
  return study;
}

void expect_curve(const Series& series, const std::string& label, SeriesStyle style, double first) {
  EXPECT_EQ(series.label, label);
  EXPECT_EQ(series.style, style);
  EXPECT_EQ(series.x, kFine);
  EXPECT_EQ(series.y, (Values{first, first + 1, first + 2}));
  EXPECT_TRUE(series.error.empty());
}

TEST(FigureOfBackwardHeat, HasTheDriftItsNoiseAndTheGrowthOfHarmonics) {
  const LineFigure figure = figure_of_backward_heat(small_study());
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_EQ(figure.panels[0].x.label, "inverse temperature β");
  EXPECT_EQ(figure.panels[0].y.label, "β × output across q / |∇ log f|");
  EXPECT_EQ(figure.panels[1].x.label, "β/β_heat");
  EXPECT_EQ(figure.panels[1].y.label, "noise² / signal²");
  EXPECT_EQ(figure.panels[1].y.scale, AxisScale::logarithmic);
  EXPECT_EQ(figure.panels[2].x.label, "x = ℓ(ℓ + d − 2)/β");
  EXPECT_EQ(figure.panels[2].y.label, "factor");
  for (const auto& panel : figure.panels) EXPECT_EQ(panel.x.scale, AxisScale::logarithmic);
  EXPECT_EQ(figure.caption,
            "keys = vmf\u00a0· 12 samples per cell\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

TEST(FigureOfBackwardHeat, SaysWhatIsTheory) {
  EXPECT_EQ(test::theory_flags(figure_of_backward_heat(small_study())), "tttm tmm tttmm");
}

TEST(FigureOfBackwardHeat, SetsTheMeasuredDriftOnItsTheory) {
  const LinePanel panel = figure_of_backward_heat(small_study()).panels[0];
  ASSERT_EQ(panel.series.size(), 4U);
  expect_curve(panel.series[0], "n = ∞", SeriesStyle::solid, 10);
  expect_curve(panel.series[1], "backward heat, (1/β) ∇ log f", SeriesStyle::dashed, 20);
  expect_curve(panel.series[2], "to order 1/β²", SeriesStyle::dotted, 30);
  EXPECT_EQ(panel.series[3].label, "measured");
  EXPECT_EQ(panel.series[3].style, SeriesStyle::points);
  EXPECT_EQ(panel.series[3].x, kBetas);
  EXPECT_EQ(panel.series[3].y, (Values{1, 2}));
  EXPECT_EQ(panel.series[3].error, (Values{0.25, 0.25}));
  ASSERT_EQ(panel.markers.size(), 1U);
  EXPECT_EQ(panel.markers[0].x, 42.0);
  EXPECT_EQ(panel.markers[0].label, "β_heat");
}

TEST(FigureOfBackwardHeat, CollapsesTheNoiseOfAllLengths) {
  const LinePanel panel = figure_of_backward_heat(small_study()).panels[1];
  ASSERT_EQ(panel.series.size(), 3U);
  expect_curve(panel.series[0], "(β/β_heat)^((d+1)/2)", SeriesStyle::dashed, 60);
  EXPECT_EQ(panel.series[1].label, "n = 10⁴");
  EXPECT_EQ(panel.series[1].x, (Values{50, 51}));
  EXPECT_EQ(panel.series[1].y, (Values{40, 41}));
  EXPECT_EQ(panel.series[2].label, "n = 10⁵");
  EXPECT_EQ(panel.series[2].x, (Values{52, 53}));
  EXPECT_EQ(panel.series[2].y, (Values{42, 43}));
  for (const std::size_t k : {1U, 2U}) {
    EXPECT_EQ(panel.series[k].style, SeriesStyle::points);
    EXPECT_EQ(panel.series[k].colour, degree_colour(k - 1, 2));
    EXPECT_EQ(panel.series[k].error, (Values{0.25, 0.25}));
  }
}

TEST(FigureOfBackwardHeat, SetsTheGrowthOfAllHarmonicsAgainstTheirRate) {
  const LinePanel panel = figure_of_backward_heat(small_study()).panels[2];
  ASSERT_EQ(panel.series.size(), 5U);
  expect_curve(panel.series[0], "1 + x e^(−x/2)", SeriesStyle::solid, 70);
  expect_curve(panel.series[1], "e^x, backward heat", SeriesStyle::dashed, 80);
  expect_curve(panel.series[2], "e^(x/2), does not hold", SeriesStyle::dotted, 90);
  EXPECT_EQ(panel.series[3].label, "particles on a circle");
  EXPECT_EQ(panel.series[3].style, SeriesStyle::points);
  EXPECT_EQ(panel.series[3].x, (Values{200, 201, 202, 203, 204, 205}));
  EXPECT_EQ(panel.series[3].y, (Values{100, 101, 102, 103, 104, 105}));
  EXPECT_EQ(panel.series[4].label, "particles on a sphere");
  EXPECT_EQ(panel.series[4].x, (Values{206, 207, 208, 209, 210, 211}));
  EXPECT_EQ(panel.series[4].y, (Values{106, 107, 108, 109, 110, 111}));
  EXPECT_NE(panel.series[3].colour, panel.series[4].colour);
}

void expect_refused(const store::StudyRecord& study) {
  EXPECT_EQ(test::code_of([&] { static_cast<void>(figure_of_backward_heat(study)); }),
            Code::bad_value);
}

// A frame again without one of its variables.
Frame without(const Frame& frame, std::size_t variable) {
  Frame rest(frame.name());
  for (const Dimension& dimension : frame.dimensions()) {
    rest.add_dimension(dimension.name, dimension.coordinates);
  }
  for (std::size_t k = 0; k < frame.variables().size(); ++k) {
    const Variable& kept = frame.variables()[k];
    if (k != variable) rest.add_variable(kept.name, kept.dimensions).cells = kept.cells;
  }
  return rest;
}

TEST(FigureOfBackwardHeat, NeedsEveryFrameAndEveryVariable) {
  const store::StudyRecord good = small_study();
  for (std::size_t k = 0; k < good.frames.size(); ++k) {
    store::StudyRecord study = good;
    study.frames.erase(study.frames.begin() + static_cast<std::ptrdiff_t>(k));
    expect_refused(study);
    for (std::size_t m = 0; m < good.frames[k].variables().size(); ++m) {
      study = good;
      study.frames[k] = without(good.frames[k], m);
      expect_refused(study);
    }
  }
}

TEST(FigureOfBackwardHeat, RefusesVariablesOverOtherDimensions) {
  store::StudyRecord study = small_study();
  Frame turned("heat_noise");
  turned.add_dimension("n", {1e4});
  turned.add_dimension("beta", kBetas);
  turned.add_variable("noise_to_signal", {"beta", "n"});
  turned.add_variable("relative_beta", {"beta", "n"});
  study.frames[2] = turned;
  expect_refused(study);
  study = small_study();
  Frame scale = without(study.frames[1], 3);
  scale.add_variable("heat_beta", {"beta"});
  study.frames[1] = scale;
  expect_refused(study);
}

}  // namespace
}  // namespace dewpoint::report
