#include "dewpoint/report/critical_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "report/svg_text.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

using Values = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const Values kProbabilities{0.25, 0.75};
const Values kRanks{1, 2, 3};

// Cells are 1, 2, 3, ...
void add_counting(Frame& frame, const std::string& name, const Names& dimensions) {
  double value = 0;
  for (auto& cell : frame.add_variable(name, dimensions).cells) cell = {++value, 0.5, 40};
}

Frame with_dimensions(const std::string& name, const Values& d, const Values& probabilities) {
  Frame frame(name);
  frame.add_dimension("d", d);
  frame.add_dimension("probability", probabilities);
  frame.add_dimension("rank", kRanks);
  return frame;
}

Frame measured_frame() {
  Frame frame = with_dimensions("critical_weights", {3, 5}, kProbabilities);
  frame.add_dimension("n", {1e3, 1e6});
  add_counting(frame, "largest_weight", {"d", "n", "probability"});
  add_counting(frame, "weight", {"d", "n", "rank"});
  return frame;
}

Frame limit_frame(const Values& d = {3, 5}, const Values& probabilities = kProbabilities) {
  Frame frame = with_dimensions("limit_weights", d, probabilities);
  add_counting(frame, "largest_weight", {"d", "probability"});
  add_counting(frame, "weight", {"d", "rank"});
  return frame;
}

store::StudyRecord study_of(const std::vector<Frame>& frames) {
  store::StudyRecord study;
  study.parameters = {{"theta", "1"}, {"n", "1000,1000000"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = frames;
  return study;
}

TEST(FigureOfCriticalWeights, HasAColumnOfTwoPanelsForEveryDimension) {
  const LineFigure figure = figure_of_critical_weights(study_of({measured_frame(), limit_frame()}));
  ASSERT_EQ(figure.panels.size(), 4U);
  EXPECT_EQ(figure.columns, 2U);
  EXPECT_EQ(figure.panels[0].title, "d = 3");
  EXPECT_EQ(figure.panels[1].title, "d = 5");
  for (const std::size_t k : {0U, 1U}) {
    EXPECT_EQ(figure.panels[k].x.label, "quantile of w₁, limit law");
    EXPECT_EQ(figure.panels[k].y.label, "quantile of w₁, n keys");
    EXPECT_EQ(figure.panels[k + 2].x.label, "rank k");
    EXPECT_EQ(figure.panels[k + 2].y.label, "mean weight of rank k");
    EXPECT_EQ(figure.panels[k + 2].y.scale, AxisScale::logarithmic);
  }
  EXPECT_EQ(figure.caption,
            "theta = 1\u00a0· 40 samples per cell\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

TEST(FigureOfCriticalWeights, SetsQuantilesAgainstThoseOfTheLimit) {
  const LineFigure figure = figure_of_critical_weights(study_of({measured_frame(), limit_frame()}));
  const std::vector<Series>& all = figure.panels[1].series;
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].label, "n = 10³");
  EXPECT_EQ(all[1].label, "n = 10⁶");
  EXPECT_EQ(all[0].x, (Values{3, 4}));
  EXPECT_EQ(all[0].y, (Values{5, 6}));
  EXPECT_EQ(all[1].x, (Values{3, 4}));
  EXPECT_EQ(all[1].y, (Values{7, 8}));
  for (const std::size_t k : {0U, 1U}) {
    EXPECT_EQ(all[k].style, SeriesStyle::points);
    EXPECT_EQ(all[k].colour, degree_colour(k, 2));
    EXPECT_EQ(all[k].error, (Values{0.5, 0.5}));
  }
}

// The largest quantile of d = 5 is 8, at finite n.
TEST(FigureOfCriticalWeights, DashesTheDiagonalAsFarAsAnyQuantile) {
  const LineFigure figure = figure_of_critical_weights(study_of({measured_frame(), limit_frame()}));
  const Series& diagonal = figure.panels[1].series[2];
  EXPECT_EQ(diagonal.label, "same law");
  EXPECT_EQ(diagonal.style, SeriesStyle::dashed);
  EXPECT_EQ(diagonal.colour, 0x000000U);
  EXPECT_EQ(diagonal.x, (Values{0, 8}));
  EXPECT_EQ(diagonal.y, (Values{0, 8}));
}

TEST(FigureOfCriticalWeights, HasTheMeanOfEveryRankOnTheLimit) {
  const LineFigure figure = figure_of_critical_weights(study_of({measured_frame(), limit_frame()}));
  const std::vector<Series>& all = figure.panels[3].series;
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].label, "n = 10³");
  EXPECT_EQ(all[0].x, kRanks);
  EXPECT_EQ(all[0].y, (Values{7, 8, 9}));
  EXPECT_EQ(all[0].error, (Values{0.5, 0.5, 0.5}));
  EXPECT_EQ(all[1].y, (Values{10, 11, 12}));
  EXPECT_EQ(all[2].label, "limit law");
  EXPECT_EQ(all[2].style, SeriesStyle::solid);
  EXPECT_EQ(all[2].x, kRanks);
  EXPECT_EQ(all[2].y, (Values{4, 5, 6}));
}

TEST(FigureOfCriticalWeights, SaysWhatIsTheory) {
  const store::StudyRecord study = study_of({measured_frame(), limit_frame()});
  EXPECT_EQ(test::theory_flags(figure_of_critical_weights(study)), "mmt mmt mmt mmt");
}

void expect_refused(const std::vector<Frame>& frames) {
  const store::StudyRecord study = study_of(frames);
  EXPECT_EQ(test::code_of([&] { static_cast<void>(figure_of_critical_weights(study)); }),
            Code::bad_value);
}

TEST(FigureOfCriticalWeights, RefusesAStudyOfAnotherForm) {
  expect_refused({});
  expect_refused({measured_frame()});
  expect_refused({limit_frame()});
  expect_refused({measured_frame(), with_dimensions("limit_weights", {3, 5}, kProbabilities)});
  Frame turned = with_dimensions("critical_weights", {3, 5}, kProbabilities);
  turned.add_dimension("n", {1e3});
  turned.add_variable("largest_weight", {"n", "d", "probability"});
  turned.add_variable("weight", {"n", "d", "rank"});
  expect_refused({turned, limit_frame()});
}

TEST(FigureOfCriticalWeights, RefusesALimitAtOtherPlaces) {
  expect_refused({measured_frame(), limit_frame({3})});
  expect_refused({measured_frame(), limit_frame({3, 6})});
  expect_refused({measured_frame(), limit_frame({3, 5}, {0.25, 0.5})});
}

// ---- the approach to the limit --------------------------------------------------------------

// d = 5 falls with the power −1/2 throughout; of d = 2 the last distance is not known. Laws and
// powers have values of their own, which no formula gives: a figure that computes is found out.
store::StudyRecord convergence_study() {
  Frame frame("convergence");
  frame.add_dimension("d", {2, 5});
  frame.add_dimension("n", {1e2, 1e4, 1e6});
  frame.add_variable("distance", {"d", "n"}).cells = {{0.5, 0, 1}, {0.001, 0, 1}, {kNaN, 0, 1},
                                                      {0.5, 0, 1}, {0.05, 0, 1},  {0.005, 0, 1}};
  frame.add_variable("law", {"d", "n"}).cells = {{8, 0, 0}, {7, 0, 0}, {kNaN, 0, 0},
                                                 {6, 0, 0}, {5, 0, 0}, {4, 0, 0}};
  frame.add_variable("power", {"d"}).cells = {{-3, 0, 0}, {-2, 0, 0}};
  return study_of({frame});
}

TEST(FigureOfConvergence, HasTheDistanceAndItsLocalPower) {
  const LineFigure figure = figure_of_convergence(convergence_study());
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.columns, 2U);
  EXPECT_EQ(figure.panels[0].y.label, "|E w₁ − limit| / limit");
  EXPECT_EQ(figure.panels[0].y.scale, AxisScale::logarithmic);
  EXPECT_EQ(figure.panels[1].y.label, "local power of n");
  EXPECT_EQ(figure.panels[1].y.scale, AxisScale::linear);
  for (const auto& panel : figure.panels) EXPECT_EQ(panel.x.scale, AxisScale::logarithmic);
  EXPECT_EQ(figure.caption, "theta = 1\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

TEST(FigureOfConvergence, IsTheoryThroughout) {
  EXPECT_EQ(test::theory_flags(figure_of_convergence(convergence_study())), "ttttt tttt");
}

// Each d is a law, then its points.
TEST(FigureOfConvergence, DrawsTheDistancesThatAreKnown) {
  const std::vector<Series> all = figure_of_convergence(convergence_study()).panels[0].series;
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[1].label, "d = 2");
  EXPECT_EQ(all[1].style, SeriesStyle::points);
  EXPECT_EQ(all[1].x, (Values{1e2, 1e4}));
  EXPECT_EQ(all[1].y, (Values{0.5, 0.001}));
  EXPECT_EQ(all[3].label, "d = 5");
  EXPECT_EQ(all[3].y, (Values{0.5, 0.05, 0.005}));
  EXPECT_EQ(all[4].label, "n^(−min(1, 2/(d − 1)))");
  EXPECT_TRUE(all[4].x.empty());
}

TEST(FigureOfConvergence, DashesTheLawWhereTheStudyHasIt) {
  const std::vector<Series> all = figure_of_convergence(convergence_study()).panels[0].series;
  for (const std::size_t k : {0U, 2U}) {
    EXPECT_EQ(all[k].style, SeriesStyle::dashed);
    EXPECT_EQ(all[k].label, "");
    EXPECT_EQ(all[k].colour, all[k + 1].colour);
    EXPECT_EQ(all[k].x, all[k + 1].x);
  }
  EXPECT_NE(all[0].colour, all[2].colour);
  EXPECT_EQ(all[0].y, (Values{8, 7}));
  EXPECT_EQ(all[2].y, (Values{6, 5, 4}));
}

// Between 10² and 10⁴ the distance of d = 2 falls by 500: the power −log 500/log 100.
TEST(FigureOfConvergence, HasTheLocalPowerHalfWayBetweenNeighbours) {
  const std::vector<Series> all = figure_of_convergence(convergence_study()).panels[1].series;
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].style, SeriesStyle::dashed);
  EXPECT_EQ(all[0].x, (Values{1e2, 1e6}));
  EXPECT_EQ(all[0].y, (Values{-3, -3}));
  EXPECT_EQ(all[2].y, (Values{-2, -2}));
  EXPECT_EQ(all[1].label, "d = 2");
  ASSERT_EQ(all[1].x.size(), 1U);
  EXPECT_DOUBLE_EQ(all[1].x[0], 1e3);
  EXPECT_DOUBLE_EQ(all[1].y[0], -std::log(500.0) / std::log(100.0));
  ASSERT_EQ(all[3].x.size(), 2U);
  EXPECT_DOUBLE_EQ(all[3].x[1], 1e5);
  EXPECT_DOUBLE_EQ(all[3].y[0], -0.5);
  EXPECT_DOUBLE_EQ(all[3].y[1], -0.5);
}

TEST(FigureOfConvergence, HasNoCurveWhereNothingIsKnown) {
  store::StudyRecord study = convergence_study();
  for (const char* name : {"distance", "law"}) {
    for (auto& cell : study.frames[0].variable(name).cells) cell.mean = kNaN;
  }
  const LineFigure figure = figure_of_convergence(study);
  for (const auto& series : figure.panels[0].series) EXPECT_TRUE(series.x.empty());
}

TEST(FigureOfConvergence, RefusesAStudyOfAnotherForm) {
  const auto code = [](const std::vector<Frame>& frames) {
    const store::StudyRecord study = study_of(frames);
    return test::code_of([&] { static_cast<void>(figure_of_convergence(study)); });
  };
  EXPECT_EQ(code({}), Code::bad_value);
  const auto with = [](const Names& distance, const Names& law, const Names& power) {
    Frame frame("convergence");
    frame.add_dimension("d", {2});
    frame.add_dimension("n", {10});
    if (!distance.empty()) frame.add_variable("distance", distance);
    if (!law.empty()) frame.add_variable("law", law);
    if (!power.empty()) frame.add_variable("power", power);
    return frame;
  };
  EXPECT_EQ(code({with({"d", "n"}, {"d", "n"}, {"d"})}), Code::stopped);  // it ends well
  EXPECT_EQ(code({with({}, {"d", "n"}, {"d"})}), Code::bad_value);
  EXPECT_EQ(code({with({"d", "n"}, {}, {"d"})}), Code::bad_value);
  EXPECT_EQ(code({with({"d", "n"}, {"d", "n"}, {})}), Code::bad_value);
  EXPECT_EQ(code({with({"n", "d"}, {"d", "n"}, {"d"})}), Code::bad_value);
  EXPECT_EQ(code({with({"d", "n"}, {"n", "d"}, {"d"})}), Code::bad_value);
  EXPECT_EQ(code({with({"d", "n"}, {"d", "n"}, {"n"})}), Code::bad_value);
}

}  // namespace
}  // namespace dewpoint::report
