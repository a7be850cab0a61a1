#include "dewpoint/report/layer_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/report/study_figure.hpp"
#include "dewpoint/report/training_run.hpp"
#include "report/svg_text.hpp"

namespace dewpoint::report {
namespace {

using Values = std::vector<double>;
using Words = std::vector<std::string>;

// Two models of one and two layers, two tokens, three steps: cells count on from 0, and a layer
// that a model does not have has no samples.
Frame layer_runs(std::size_t runs) {
  Frame frame("layer runs");
  frame.add_labelled_dimension("model", {"1L1H residual", "2L4H residual"});
  Values numbers;
  for (std::size_t k = 0; k < runs; ++k) numbers.push_back(static_cast<double>(k));
  frame.add_dimension("run", numbers);
  frame.add_dimension("step", {0, 10, 20});
  frame.add_dimension("token", {0, 1});
  frame.add_dimension("layer", {0, 1});
  const auto count_on = [&](const char* name, const Words& over) {
    double next = 0.0;
    for (Estimate& cell : frame.add_variable(name, over).cells) cell = {next++, 0.0, 1};
  };
  count_on("loss", {"model", "run", "step"});
  count_on("norm", {"model", "run", "step", "token"});
  count_on("focus", {"model", "run", "step", "layer"});
  for (std::size_t k = 0; k < runs * 3; ++k) frame.variable("focus").cells[2 * k + 1] = Estimate{};
  return frame;
}

store::StudyRecord study_of(std::vector<Frame> frames) {
  store::StudyRecord study;
  study.experiment = "train layers";
  study.parameters = {{"lambda", "0.8"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = std::move(frames);
  return study;
}

TEST(FigureOfLayerNorms, HasAPanelPerModelAndAMeanPerTokenAboveTheRuns) {
  const LineFigure figure = figure_of_layer_norms(study_of({layer_runs(2)}));
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[0].title, "1L1H residual");
  EXPECT_EQ(figure.panels[1].title, "2L4H residual");
  const auto& series = figure.panels[1].series;
  ASSERT_EQ(series.size(), 6U);  // two tokens of two runs, two means
  // Model 1: runs of six cells each begin at 12 and 18.
  const Values runs[] = {{12, 14, 16}, {18, 20, 22}, {13, 15, 17}, {19, 21, 23}};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(series[k].y, runs[k]);
    EXPECT_EQ(series[k].label, "");
    EXPECT_EQ(series[k].colour, pale(token_colour(k / 2)));
  }
  EXPECT_EQ(series[4].y, (Values{15, 17, 19}));
  EXPECT_EQ(series[5].y, (Values{16, 18, 20}));
  EXPECT_EQ(series[4].label, "token 0");
  EXPECT_EQ(series[5].colour, token_colour(1));
  EXPECT_EQ(series[4].x, (Values{0, 10, 20}));
  EXPECT_EQ(figure.caption,
            "Means over 2 runs; pale: the runs. lambda = 0.8\u00a0· seed 17\u00a0· "
            "Dewpoint 0.1.0");
}

TEST(FigureOfLayerNorms, HasASingleRunAsItIs) {
  const LineFigure figure = figure_of_layer_norms(study_of({layer_runs(1)}));
  ASSERT_EQ(figure.panels[0].series.size(), 2U);
  EXPECT_EQ(figure.panels[0].series[0].y, (Values{0, 2, 4}));
  EXPECT_TRUE(figure.caption.starts_with("lambda")) << figure.caption;
}

TEST(FigureOfLayerNorms, IsOverTheRunsThatHaveAValue) {
  Frame frame = layer_runs(2);
  auto& cells = frame.variable("norm").cells;
  cells[4] = Estimate{};  // run 0 of model 0 ends before step 20
  cells[8] = Estimate{};  // at step 10 run 1 is missing
  const LineFigure figure = figure_of_layer_norms(study_of({frame}));
  const Series& mean = figure.panels[0].series[4];
  EXPECT_EQ(mean.y, (Values{3, 2, 10}));
  cells[2] = Estimate{};  // now nobody is there at step 10
  frame.variable("norm").cells = cells;
  EXPECT_TRUE(std::isnan(figure_of_layer_norms(study_of({frame})).panels[0].series[4].y[1]));
}

TEST(FigureOfLayerFocus, HasALinePerLayerThatTheModelHas) {
  const LineFigure figure = figure_of_layer_focus(study_of({layer_runs(2)}));
  ASSERT_EQ(figure.panels[0].series.size(), 3U);  // two runs, one mean
  ASSERT_EQ(figure.panels[1].series.size(), 6U);
  EXPECT_EQ(figure.panels[0].series[2].label, "layer 0");
  EXPECT_EQ(figure.panels[1].series[5].label, "layer 1");
  EXPECT_EQ(figure.panels[1].series[5].colour, degree_colour(1, 2));
  EXPECT_EQ(figure.panels[1].series[5].y, (Values{16, 18, 20}));
  EXPECT_EQ(figure.panels[0].y.range, figure.panels[1].y.range);
}

TEST(FigureOfLayerLosses, HasALinePerModel) {
  const LineFigure figure = figure_of_layer_losses(study_of({layer_runs(2)}));
  ASSERT_EQ(figure.panels.size(), 1U);
  const auto& series = figure.panels[0].series;
  ASSERT_EQ(series.size(), 6U);
  EXPECT_EQ(series[4].label, "1L1H residual");
  EXPECT_EQ(series[4].y, (Values{1.5, 2.5, 3.5}));
  EXPECT_EQ(series[5].label, "2L4H residual");
  EXPECT_EQ(series[5].y, (Values{7.5, 8.5, 9.5}));
}

TEST(Pale, IsTwoThirdsOfTheWayToWhite) {
  EXPECT_EQ(pale(0x000000), 0xaaaaaaU);
  EXPECT_EQ(pale(0xffffff), 0xffffffU);
  EXPECT_EQ(pale(0xff0000), 0xffaaaaU);
}

TEST(LayerFigures, AreFoundByWhatTheyShow) {
  const store::StudyRecord study = study_of({layer_runs(2)});
  const auto label = [&](const std::string& observable) {
    return std::get<LineFigure>(*specialised_figure(study, observable)).panels[0].y.label;
  };
  EXPECT_EQ(label(""), "norm of the embedding");
  EXPECT_EQ(label("norm"), "norm of the embedding");
  EXPECT_EQ(label("focus"), "attention of the rarest token to token 0");
  EXPECT_EQ(label("loss"), "loss (nats)");
}

TEST(LayerFigures, RefuseAStudyOfAnotherForm) {
  const auto refused = [](const std::vector<Frame>& frames) {
    const store::StudyRecord study = study_of(frames);
    for (const auto& figure_of :
         {figure_of_layer_norms, figure_of_layer_focus, figure_of_layer_losses}) {
      EXPECT_EQ(test::code_of([&] { static_cast<void>(figure_of(study)); }), Code::bad_value);
    }
  };
  refused({});
  refused({Frame("layer runs")});
  refused({layer_runs(0)});
  Frame turned("layer runs");
  turned.add_labelled_dimension("model", {"1L1H"});
  turned.add_dimension("run", {0});
  turned.add_dimension("step", {0, 1});
  turned.add_dimension("token", {0});
  turned.add_dimension("layer", {0});
  turned.add_variable("loss", {"run", "model", "step"});
  turned.add_variable("norm", {"run", "model", "step", "token"});
  turned.add_variable("focus", {"run", "model", "step", "layer"});
  refused({turned});
}

}  // namespace
}  // namespace dewpoint::report
