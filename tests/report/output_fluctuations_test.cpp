#include "dewpoint/report/output_fluctuations.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "report/svg_text.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

using Values = std::vector<double>;

// Cells are first, first + 1, first + 2, ...
void add_counting(Frame& frame, const std::string& name, const Names& dimensions, double first) {
  double value = first;
  for (auto& cell : frame.add_variable(name, dimensions).cells) cell = {value++, 0.25, 9};
}

Frame trace(const std::string& name, const std::string& parameter, const Values& values,
            const std::string& inner, const Names& variables) {
  Frame frame(name);
  frame.add_dimension(parameter, values);
  frame.add_dimension(inner, {0, 1, 2});
  add_counting(frame, variables[0], {parameter, inner}, 0);
  add_counting(frame, variables[1], {parameter, inner}, 100);
  return frame;
}

Frame ratios() {
  Frame frame("output_ratio");
  frame.add_dimension("d", {3, 5});
  frame.add_dimension("theta", {0, 1});
  const Names place{"d", "theta"};
  frame.add_variable("effective_keys", place).cells = {
      {90, 0, 1}, {4, 0, 1}, {80, 0, 1}, {5, 0, 1}};
  add_counting(frame, "radial_variance", place, 10);
  add_counting(frame, "across_variance", place, 20);
  add_counting(frame, "bias", place, 30);
  return frame;
}

store::StudyRecord study_of(const std::vector<Frame>& frames) {
  store::StudyRecord study;
  study.parameters = {{"d", "3"}, {"n", "1e5"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = frames;
  return study;
}

const Names kOutput{"across", "along"};

std::vector<Frame> output_frames() {
  return {trace("output_cloud", "theta", {0.01, 0.5}, "draw", kOutput),
          trace("output_ellipse", "theta", {0.01, 0.5}, "angle", kOutput), ratios()};
}

TEST(FigureOfOutputFluctuations, HasACloudForEveryTemperatureAndTheRatios) {
  const LineFigure figure = figure_of_output_fluctuations(study_of(output_frames()));
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_EQ(figure.columns, 2U);
  EXPECT_EQ(figure.panels[0].title, "θ = β/β* = 0.01");
  EXPECT_EQ(figure.panels[1].title, "θ = β/β* = 0.5");
  EXPECT_EQ(figure.panels[2].title, "d = 3, 5: where the law ends");
  EXPECT_EQ(figure.panels[1].x.label, "across q, times √n");
  EXPECT_EQ(figure.panels[1].y.label, "along q, times √n");
  EXPECT_EQ(figure.panels[2].x.label, "effective number of keys");
  EXPECT_EQ(figure.panels[2].x.scale, AxisScale::logarithmic);
  EXPECT_EQ(figure.panels[2].y.label, "measured / predicted");
  EXPECT_EQ(figure.caption, "d = 3\u00a0· n = 1e5\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

TEST(FigureOfOutputFluctuations, DrawsTheCloudAsDotsWithTheLawAroundIt) {
  const LineFigure figure = figure_of_output_fluctuations(study_of(output_frames()));
  const std::vector<Series>& all = figure.panels[1].series;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].label, "one draw of n keys");
  EXPECT_EQ(all[0].style, SeriesStyle::dots);
  EXPECT_EQ(all[1].label, "Gaussian law, 2 standard deviations");
  EXPECT_EQ(all[1].style, SeriesStyle::solid);
  EXPECT_NE(all[0].colour, all[1].colour);
  for (const auto& series : all) {
    EXPECT_EQ(series.x, (Values{3, 4, 5}));
    EXPECT_EQ(series.y, (Values{103, 104, 105}));
    EXPECT_TRUE(series.error.empty());
  }
}

TEST(FigureOfOutputFluctuations, SaysWhatIsTheory) {
  EXPECT_EQ(test::theory_flags(figure_of_output_fluctuations(study_of(output_frames()))),
            "mt mt mmmmmmt");
}

// The ellipse of 0.5 is the first of its frame, that of 0.01 is missing.
TEST(FigureOfOutputFluctuations, FindsTheEllipseByItsTemperature) {
  std::vector<Frame> frames = output_frames();
  frames[1] = trace("output_ellipse", "theta", {0.5, 0.75}, "angle", kOutput);
  const LineFigure figure = figure_of_output_fluctuations(study_of(frames));
  EXPECT_EQ(figure.panels[0].series.size(), 1U);
  ASSERT_EQ(figure.panels[1].series.size(), 2U);
  EXPECT_EQ(figure.panels[1].series[1].x, (Values{0, 1, 2}));
}

// Three quantities, of two dimensions each.
TEST(FigureOfOutputFluctuations, SetsEveryRatioAgainstItsEffectiveKeys) {
  const LineFigure figure = figure_of_output_fluctuations(study_of(output_frames()));
  const std::vector<Series>& all = figure.panels[2].series;
  ASSERT_EQ(all.size(), 7U);
  const Names labels{"variance along q", "variance across q", "bias of the mean"};
  for (std::size_t k = 0; k < 6; ++k) {
    const double first = 10.0 * static_cast<double>(k / 2 + 1) + 2.0 * static_cast<double>(k % 2);
    EXPECT_EQ(all[k].label, labels[k / 2]);
    EXPECT_EQ(all[k].style, SeriesStyle::points);
    EXPECT_EQ(all[k].colour, all[k - k % 2].colour);
    EXPECT_EQ(all[k].x, k % 2 == 0 ? (Values{90, 4}) : (Values{80, 5}));
    EXPECT_EQ(all[k].y, (Values{first, first + 1}));
    EXPECT_EQ(all[k].error, (Values{0.25, 0.25}));
  }
  EXPECT_NE(all[0].colour, all[2].colour);
  EXPECT_NE(all[2].colour, all[4].colour);
  EXPECT_EQ(all[6].style, SeriesStyle::dashed);
  EXPECT_EQ(all[6].x, (Values{4, 90}));
  EXPECT_EQ(all[6].y, (Values{1, 1}));
}

const Names kValue{"first", "second"};

std::vector<Frame> value_frames() {
  return {trace("value_cloud", "beta", {1, 10, 1000}, "draw", kValue),
          trace("value_ellipse", "beta", {1, 10, 1000}, "angle", kValue)};
}

TEST(FigureOfValueFluctuations, HasACloudForEveryInverseTemperature) {
  const LineFigure figure = figure_of_value_fluctuations(study_of(value_frames()));
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_EQ(figure.panels[2].title, "β = 1000");
  EXPECT_EQ(figure.panels[2].x.label, "first coordinate, times √n");
  EXPECT_EQ(figure.panels[2].y.label, "second coordinate, times √n");
  const std::vector<Series>& all = figure.panels[2].series;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].style, SeriesStyle::dots);
  EXPECT_EQ(all[1].style, SeriesStyle::solid);
  EXPECT_EQ(all[0].x, (Values{6, 7, 8}));
  EXPECT_EQ(all[1].y, (Values{106, 107, 108}));
  EXPECT_EQ(figure.caption, "d = 3\u00a0· n = 1e5\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

TEST(FigureOfValueFluctuations, SaysWhatIsTheory) {
  EXPECT_EQ(test::theory_flags(figure_of_value_fluctuations(study_of(value_frames()))), "mt mt mt");
}

void expect_refused(LineFigure (*figure)(const store::StudyRecord&),
                    const std::vector<Frame>& frames) {
  const store::StudyRecord study = study_of(frames);
  EXPECT_EQ(test::code_of([&] { static_cast<void>(figure(study)); }), Code::bad_value);
}

// Without a frame, without a variable of it, with its dimensions turned.
void expect_every_frame_needed(LineFigure (*figure)(const store::StudyRecord&),
                               const std::vector<Frame>& good) {
  for (std::size_t k = 0; k < good.size(); ++k) {
    std::vector<Frame> frames = good;
    frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(k));
    expect_refused(figure, frames);
    Frame empty(good[k].name()), turned(good[k].name());
    for (const Dimension& dimension : good[k].dimensions()) {
      empty.add_dimension(dimension.name, dimension.coordinates);
      turned.add_dimension(dimension.name, dimension.coordinates);
    }
    for (const Variable& variable : good[k].variables()) {
      turned.add_variable(variable.name, {variable.dimensions[1], variable.dimensions[0]});
    }
    frames = good;
    frames[k] = empty;
    expect_refused(figure, frames);
    frames[k] = turned;
    expect_refused(figure, frames);
  }
}

TEST(FigureOfOutputFluctuations, RefusesAStudyOfAnotherForm) {
  expect_every_frame_needed(figure_of_output_fluctuations, output_frames());
}

TEST(FigureOfValueFluctuations, RefusesAStudyOfAnotherForm) {
  expect_every_frame_needed(figure_of_value_fluctuations, value_frames());
}

}  // namespace
}  // namespace dewpoint::report
