#include "dewpoint/report/dew_points.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "report/svg_text.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

using Values = std::vector<double>;
const Values kLengths{1e2, 1e4, 1e6, 1e8};
const Values kFine{1e2, 1e5, 1e8};

// Both variables count on from cell to cell, the first from `first`, the second from 10 more.
Frame over_n(const std::string& name, const Values& n, const std::vector<std::string>& variables,
             double first) {
  Frame frame(name);
  frame.add_dimension("n", n);
  for (std::size_t k = 0; k < variables.size(); ++k) {
    double value = first + 10.0 * static_cast<double>(k);
    for (auto& cell : frame.add_variable(variables[k], {"n"}).cells) cell = {value++, 0.25, 30};
  }
  return frame;
}

Frame dew(const std::string& law, double first) {
  return over_n("dew " + law, kLengths, {"beta_dew_median", "slope_dew"}, first);
}

Frame growth(const std::string& law, double first) {
  return over_n("growth " + law, kFine, {"beta", "slope"}, first);
}

store::StudyRecord study_of(const std::vector<Frame>& frames) {
  store::StudyRecord study;
  study.parameters = {{"n", "100,100000000"}, {"law", "two"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = frames;
  return study;
}

store::StudyRecord small_study() {
  return study_of({dew("sphere:d=3", 100), growth("sphere:d=3", 200), Frame("something else"),
                   growth("gaussian", 400), dew("gaussian", 300)});
}

TEST(FigureOfDewPoints, HasTheDewPointAndItsSlopeAgainstTheKeys) {
  const LineFigure figure = figure_of_dew_points(small_study());
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.columns, 2U);
  EXPECT_EQ(figure.panels[0].y.label, "dew point β_dew");
  EXPECT_EQ(figure.panels[1].y.label, "d log β_dew / d log n");
  for (const auto& panel : figure.panels) {
    EXPECT_EQ(panel.x.label, "keys n");
    EXPECT_EQ(panel.x.scale, AxisScale::logarithmic);
    EXPECT_EQ(panel.y.scale, AxisScale::logarithmic);
  }
  EXPECT_EQ(figure.caption,
            "law = two\u00a0· 30 samples per cell\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

// Each law is a curve, then its points.
TEST(FigureOfDewPoints, HasAColourPerLawInTheOrderOfTheFrames) {
  const LineFigure figure = figure_of_dew_points(small_study());
  for (const auto& panel : figure.panels) {
    ASSERT_GE(panel.series.size(), 4U);
    for (std::size_t k = 0; k < 4; k += 2) {
      EXPECT_EQ(panel.series[k].style, SeriesStyle::solid);
      EXPECT_EQ(panel.series[k].label, "");
      EXPECT_EQ(panel.series[k + 1].style, SeriesStyle::points);
      EXPECT_EQ(panel.series[k].colour, panel.series[k + 1].colour);
    }
    EXPECT_EQ(panel.series[1].label, "sphere:d=3");
    EXPECT_EQ(panel.series[3].label, "gaussian");
    EXPECT_NE(panel.series[1].colour, panel.series[3].colour);
  }
}

TEST(FigureOfDewPoints, SetsWhatWasMeasuredOnWhatIsPredicted) {
  const LineFigure figure = figure_of_dew_points(small_study());
  const std::vector<Series>& scale = figure.panels[0].series;
  EXPECT_EQ(scale[0].x, kFine);
  EXPECT_EQ(scale[0].y, (Values{200, 201, 202}));
  EXPECT_TRUE(scale[0].error.empty());
  EXPECT_EQ(scale[1].x, kLengths);
  EXPECT_EQ(scale[1].y, (Values{100, 101, 102, 103}));
  EXPECT_EQ(scale[1].error, Values(4, 0.25));
  EXPECT_EQ(scale[2].y, (Values{400, 401, 402}));
  EXPECT_EQ(scale[3].y, (Values{300, 301, 302, 303}));
  const std::vector<Series>& slope = figure.panels[1].series;
  EXPECT_EQ(slope[0].y, (Values{210, 211, 212}));
  EXPECT_EQ(slope[1].x, (Values{1e4, 1e6}));  // without its one-sided ends
  EXPECT_EQ(slope[1].y, (Values{111, 112}));
  EXPECT_EQ(slope[1].error, (Values{0.25, 0.25}));
  EXPECT_EQ(slope[2].y, (Values{410, 411, 412}));
  EXPECT_EQ(slope[3].y, (Values{311, 312}));
}

TEST(FigureOfDewPoints, NamesTheCurvesOnceForAll) {
  const LineFigure figure = figure_of_dew_points(small_study());
  EXPECT_EQ(figure.panels[1].series.size(), 4U);
  ASSERT_EQ(figure.panels[0].series.size(), 5U);
  const Series& entry = figure.panels[0].series[4];
  EXPECT_EQ(entry.label, "predicted growth");
  EXPECT_EQ(entry.style, SeriesStyle::solid);
  EXPECT_TRUE(entry.x.empty());
}

TEST(FigureOfDewPoints, SaysWhatIsTheory) {
  EXPECT_EQ(test::theory_flags(figure_of_dew_points(small_study())), "tmtmt tmtm");
}

void expect_refused(const std::vector<Frame>& frames) {
  const store::StudyRecord study = study_of(frames);
  EXPECT_EQ(test::code_of([&] { static_cast<void>(figure_of_dew_points(study)); }),
            Code::bad_value);
}

TEST(FigureOfDewPoints, RefusesAStudyOfAnotherForm) {
  expect_refused({});
  expect_refused({growth("gaussian", 1)});
  expect_refused({dew("gaussian", 1)});
  expect_refused({dew("gaussian", 1), growth("sphere:d=3", 1)});
  expect_refused({over_n("dew a", kLengths, {"beta_dew_median"}, 1), growth("a", 1)});
  expect_refused({over_n("dew a", kLengths, {"slope_dew"}, 1), growth("a", 1)});
  expect_refused({dew("a", 1), over_n("growth a", kFine, {"beta"}, 1)});
  expect_refused(
      {over_n("dew a", {1e8, 1e2}, {"beta_dew_median", "slope_dew"}, 1), growth("a", 1)});
  Frame wide("dew a");
  wide.add_dimension("n", kLengths);
  wide.add_dimension("other_n", kLengths);
  wide.add_variable("beta_dew_median", {"n", "other_n"});
  wide.add_variable("slope_dew", {"n"});
  expect_refused({wide, growth("a", 1)});
}

}  // namespace
}  // namespace dewpoint::report
