#include "dewpoint/report/head_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "report/svg_text.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

using Values = std::vector<double>;
using Words = std::vector<std::string>;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

store::StudyRecord study_of(std::vector<Frame> frames) {
  store::StudyRecord study;
  study.experiment = "heads";
  study.parameters = {{"input", "dump.npz"}, {"length", "64"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = std::move(frames);
  return study;
}

void expect_refused(const std::function<void()>& draw) {
  EXPECT_EQ(test::code_of(draw), Code::bad_value);
}

// ---- heads ----------------------------------------------------------------------------------

const Words kCurves = {"dew_point_without_sink", "phase_without_sink",
                       "effective_share_without_sink", "largest_weight_without_sink"};

// Layers 2 and 5, three heads: value = 1000 layer place + 100 head + 10 n place + multiplier place.
double value_at(std::size_t layer, std::size_t head, std::size_t n, std::size_t multiplier) {
  return 1000.0 * static_cast<double>(layer) + 100.0 * static_cast<double>(head) +
         10.0 * static_cast<double>(n) + static_cast<double>(multiplier);
}

void fill(Frame& frame, const std::string& name, bool with_multipliers) {
  Words over{"layer", "head", "n"};
  if (with_multipliers) over.push_back("multiplier");
  const std::size_t multipliers =
      with_multipliers ? frame.dimension("multiplier").labels.size() : 1;
  const std::size_t lengths = frame.dimension("n").coordinates.size();
  Variable& variable = frame.add_variable(name, over);
  std::size_t cell = 0;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < 3; ++head) {
      for (std::size_t n = 0; n < lengths; ++n) {
        for (std::size_t m = 0; m < multipliers; ++m) {
          variable.cells[cell++] = {value_at(layer, head, n, m), 0.5, 40};
        }
      }
    }
  }
}

Frame empty_heads(const Values& lengths, const Words& multipliers) {
  Frame frame("heads");
  frame.add_dimension("layer", {2, 5});
  frame.add_dimension("head", {0, 1, 2});
  frame.add_dimension("n", lengths);
  frame.add_labelled_dimension("multiplier", multipliers);
  return frame;
}

Frame heads(const Values& lengths = {16, 32, 64}, const Words& multipliers = {"1", "yarn"}) {
  Frame frame = empty_heads(lengths, multipliers);
  for (const char* name : {"entropy", "phase"}) fill(frame, name, true);
  for (const std::string& name : kCurves) fill(frame, name, name != "dew_point_without_sink");
  fill(frame, "dew_point", false);
  fill(frame, "dew_point_gaussian", false);
  return frame;
}

// ---- verdicts -------------------------------------------------------------------------------

TEST(VerdictsOnHeads, AreSentencesWithTheirProbabilities) {
  Frame frame = heads();
  EXPECT_TRUE(verdicts_on_heads(study_of({frame})).empty());
  frame.add_labelled_dimension("reason", {"head 0: diffuse, far below", "head 1: cannot tell, no"});
  frame.add_variable("reason_probability", {"reason"}).cells = {{0.996, 0.0, 1}, {0.5, 0.0, 1}};
  EXPECT_EQ(verdicts_on_heads(study_of({frame})),
            (Words{"head 0: diffuse, far below (100 %)", "head 1: cannot tell, no (50 %)"}));
  EXPECT_TRUE(verdicts_on_heads(study_of({Frame("loss")})).empty());
}

// ---- maps of heads --------------------------------------------------------------------------

TEST(FigureOfHeadMap, HasAPanelPerMultiplierAtTheLongestContext) {
  const HeatmapFigure figure = figure_of_head_map(study_of({heads()}), "entropy");
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[0].title, "logits × 1");
  EXPECT_EQ(figure.panels[1].title, "logits × yarn");
  EXPECT_EQ(figure.x_label, "head");
  EXPECT_EQ(figure.y_label, "layer");
  for (std::size_t m = 0; m < 2; ++m) {
    const HeatmapPanel& panel = figure.panels[m];
    EXPECT_EQ(panel.x, (Values{0, 1, 2}));
    EXPECT_EQ(panel.y, (Values{2, 5}));  // numbers of the layers, not places
    Values expected;
    for (std::size_t head = 0; head < 3; ++head) {
      for (std::size_t layer = 0; layer < 2; ++layer) {
        expected.push_back(value_at(layer, head, 2, m));
      }
    }
    EXPECT_EQ(panel.z, expected);
    EXPECT_EQ(panel.error, Values(6, 0.5));
  }
}

TEST(FigureOfHeadMap, ShowsUpToFourContextsOfWhatHasNoMultiplier) {
  const Frame frame = heads({8, 16, 32, 64, 128, 256, 512});
  const HeatmapFigure figure = figure_of_head_map(study_of({frame}), "dew_point");
  ASSERT_EQ(figure.panels.size(), 4U);
  const std::size_t places[] = {0, 2, 4, 6};
  const char* titles[] = {"up to 8 keys", "up to 32 keys", "up to 128 keys", "up to 512 keys"};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(figure.panels[k].title, titles[k]);
    EXPECT_EQ(figure.panels[k].z.front(), value_at(0, 0, places[k], 0));
    EXPECT_EQ(figure.panels[k].z.back(), value_at(1, 2, places[k], 0));
  }
}

TEST(FigureOfHeadMap, ShowsContextsToWhereThereIsOneMultiplier) {
  const HeatmapFigure figure = figure_of_head_map(study_of({heads({16, 32}, {"1"})}), "entropy");
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[1].title, "up to 32 keys");
  const HeatmapFigure single = figure_of_head_map(study_of({heads({64}, {"1"})}), "entropy");
  ASSERT_EQ(single.panels.size(), 1U);
  EXPECT_EQ(single.panels[0].title, "up to 64 keys");
}

TEST(FigureOfHeadMap, HasNoMoreThanFourPanels) {
  const Words many = {"1", "0.5", "2", "yarn", "log-n", "ssmax"};
  const HeatmapFigure figure = figure_of_head_map(study_of({heads({16}, many)}), "entropy");
  ASSERT_EQ(figure.panels.size(), 4U);
  EXPECT_EQ(figure.panels[3].title, "logits × yarn");
}

TEST(FigureOfHeadMap, HasColoursFromTheLeastToTheLargest) {
  const HeatmapFigure figure = figure_of_head_map(study_of({heads()}), "entropy");
  EXPECT_EQ(figure.colours, ColourMap::viridis);
  EXPECT_EQ(figure.z_scale, AxisScale::linear);
  EXPECT_EQ(figure.z_low, value_at(0, 0, 2, 0));
  EXPECT_EQ(figure.z_high, value_at(1, 2, 2, 1));
}

// All cells of a variable at one length and one multiplier.
HeatmapFigure map_of(const std::string& name, const Values& values) {
  Frame frame = empty_heads({64}, {"1"});
  Variable& variable = frame.add_variable(name, {"layer", "head", "n", "multiplier"});
  for (std::size_t i = 0; i < values.size(); ++i) variable.cells[i] = {values[i], 0.1, 40};
  return figure_of_head_map(study_of({frame}), name);
}

TEST(FigureOfHeadMap, LeavesRoomAroundASingleValueAndAroundNone) {
  const HeatmapFigure equal = map_of("entropy", Values(6, 3.0));
  EXPECT_EQ(equal.z_low, 2.5);
  EXPECT_EQ(equal.z_high, 3.5);
  const HeatmapFigure none = map_of("entropy", Values(6, kUnknown));
  EXPECT_EQ(none.z_low, 0.0);
  EXPECT_EQ(none.z_high, 1.0);
  const HeatmapFigure some = map_of("entropy", {kUnknown, 2, 3, 4, 5, kUnknown});
  EXPECT_EQ(some.z_low, 2.0);
  EXPECT_EQ(some.z_high, 5.0);
}

TEST(FigureOfHeadMap, PartsPhasesAtOne) {
  const HeatmapFigure figure = map_of("phase", {0.2, 0.5, 1, 1, 2, 4});
  EXPECT_EQ(figure.colours, ColourMap::diverging);
  EXPECT_EQ(figure.z_scale, AxisScale::logarithmic);
  EXPECT_DOUBLE_EQ(figure.z_low, 0.2);  // as far as the farthest, on either side
  EXPECT_DOUBLE_EQ(figure.z_high, 5.0);
  EXPECT_EQ(colour_of(figure, 1.0), diverging(0.5));
  EXPECT_EQ(colour_of(figure, 5.0), diverging(1.0));
  EXPECT_EQ(map_of("phase_without_sink", {0.2, 0.5, 1, 1, 2, 4}).colours, ColourMap::diverging);
}

TEST(FigureOfHeadMap, ShowsAFactorOfTwoAtLeastAndAHundredAtMost) {
  EXPECT_EQ(map_of("phase", Values(6, 1.1)).z_high, 2.0);
  EXPECT_EQ(map_of("phase", {1e-6, 1, 1, 1, 1, 1}).z_high, 100.0);
  EXPECT_EQ(map_of("phase", {0, 1, 1, 1, 1, 3}).z_high, 3.0);  // 0: no row ever condenses
}

TEST(FigureOfHeadMap, ReachesTheWarmestHeadAlsoWhereAnotherNeverCondenses) {
  EXPECT_EQ(map_of("phase", {0, 1, 1, 1, 1, 40}).z_high, 40.0);
}

TEST(FigureOfHeadMap, SaysWhereItIsFrom) {
  const HeatmapFigure figure = figure_of_head_map(study_of({heads()}), "phase");
  EXPECT_EQ(figure.caption,
            "input = dump.npz\u00a0· length = 64\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
  EXPECT_FALSE(figure.z_label.empty());
}

TEST(FigureOfHeadMap, RefusesAStudyOfAnotherForm) {
  const auto refused = [](const std::vector<Frame>& frames, const std::string& observable) {
    expect_refused([&] { static_cast<void>(figure_of_head_map(study_of(frames), observable)); });
  };
  refused({}, "phase");
  refused({Frame("heads")}, "phase");
  refused({heads()}, "no_such_observable");
  Frame flat = heads();
  flat.add_variable("edge_beta", {"layer", "head"});
  refused({flat}, "edge_beta");
  Frame turned = heads();
  turned.add_variable("turned", {"head", "layer", "n"});
  refused({turned}, "turned");
}

// ---- curves of heads ------------------------------------------------------------------------

TEST(FigureOfHeadCurves, HasFourPanelsAgainstTheVisibleKeys) {
  const LineFigure figure = figure_of_head_curves(study_of({heads()}));
  ASSERT_EQ(figure.panels.size(), 4U);
  EXPECT_EQ(figure.columns, 2U);
  const char* labels[] = {"dew point β_dew", "phase τ = 1/β_dew", "share of keys read n_eff/n",
                          "largest weight w_max"};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(figure.panels[k].y.label, labels[k]);
    EXPECT_EQ(figure.panels[k].x.label, "visible keys n");
    EXPECT_EQ(figure.panels[k].x.scale, AxisScale::logarithmic);
    EXPECT_EQ(figure.panels[k].y.scale, k == 3 ? AxisScale::linear : AxisScale::logarithmic);
  }
  EXPECT_TRUE(figure.caption.ends_with("without sinks")) << figure.caption;
}

TEST(FigureOfHeadCurves, HasDotsForHeadsAndALineThroughTheMediansOfALayer) {
  const LineFigure figure = figure_of_head_curves(study_of({heads()}));
  for (const LinePanel& panel : figure.panels) {
    ASSERT_GE(panel.series.size(), 4U);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const Series& dots = panel.series[2 * layer];
      const Series& line = panel.series[2 * layer + 1];
      EXPECT_EQ(dots.style, SeriesStyle::dots);
      EXPECT_EQ(dots.label, "");
      EXPECT_EQ(dots.x, (Values{16, 16, 16, 32, 32, 32, 64, 64, 64}));
      EXPECT_EQ(dots.y[5], value_at(layer, 2, 1, 0));
      EXPECT_EQ(line.style, SeriesStyle::line_and_points);
      EXPECT_EQ(line.label, layer == 0 ? "layer 2" : "layer 5");
      EXPECT_EQ(line.x, (Values{16, 32, 64}));
      EXPECT_EQ(line.y, (Values{value_at(layer, 1, 0, 0), value_at(layer, 1, 1, 0),
                                value_at(layer, 1, 2, 0)}));
      EXPECT_EQ(dots.colour, degree_colour(layer, 2));
      EXPECT_EQ(line.colour, degree_colour(layer, 2));
    }
  }
}

TEST(FigureOfHeadCurves, TakesMediansOfTheHeadsThatAreKnown) {
  Frame frame = heads();
  Variable& dew = frame.variable("dew_point_without_sink");
  // Layer 2 at n = 16: heads 0 and 1 are 1 and 4, head 2 is not known; at n = 32 none is.
  dew.cells[0].mean = 1.0;
  dew.cells[3].mean = 4.0;
  dew.cells[6].mean = kUnknown;
  for (const std::size_t cell : {1, 4, 7}) dew.cells[cell].mean = kUnknown;
  const LineFigure figure = figure_of_head_curves(study_of({frame}));
  const Series& line = figure.panels[0].series[1];
  EXPECT_EQ(line.y[0], 2.5);
  EXPECT_TRUE(std::isnan(line.y[1]));
}

TEST(FigureOfHeadCurves, HasGaussianScoresBesideTheDewPointsOnly) {
  const LineFigure figure = figure_of_head_curves(study_of({heads()}));
  EXPECT_EQ(test::theory_flags(figure), "mmmmt mmmm mmmm mmmm");
  const Series& theory = figure.panels[0].series[4];
  EXPECT_EQ(theory.label, "Gaussian scores of the same variance");
  EXPECT_EQ(theory.style, SeriesStyle::dashed);
  EXPECT_EQ(theory.colour, kind_colour(0));
  // Six heads: half-way between the last of one layer and the first of the other.
  EXPECT_EQ(theory.y[0], 0.5 * (value_at(0, 2, 0, 0) + value_at(1, 0, 0, 0)));
}

TEST(FigureOfHeadCurves, DoesWithoutThePrediction) {
  Frame frame = empty_heads({16, 32}, {"1"});
  for (const std::string& name : kCurves) fill(frame, name, true);
  EXPECT_EQ(test::theory_flags(figure_of_head_curves(study_of({frame}))), "mmmm mmmm mmmm mmmm");
}

TEST(FigureOfHeadCurves, RefusesAStudyOfAnotherForm) {
  const auto refused = [](const std::vector<Frame>& frames) {
    expect_refused([&] { static_cast<void>(figure_of_head_curves(study_of(frames))); });
  };
  refused({});
  for (const std::string& missing : kCurves) {
    Frame frame = empty_heads({16, 32}, {"1"});
    for (const std::string& name : kCurves) {
      if (name != missing) fill(frame, name, true);
    }
    refused({frame});
  }
}

// ---- sweeps of losses -----------------------------------------------------------------------

// Change = place of the length, minus a tenth of that of the rope, at 0.8 and 1.2; 0 at 1.
Frame loss() {
  Frame frame("loss");
  frame.add_dimension("length", {512, 1024});
  frame.add_labelled_dimension("rope", {"own", "ntk", "yarn"});
  frame.add_dimension("multiplier", {0.8, 1.0, 1.2});
  frame.add_variable("loss", {"length", "rope", "multiplier"});
  frame.add_variable("loss_change", {"length", "rope", "multiplier"});
  std::size_t cell = 0;
  for (double length = 1; length <= 2; ++length) {
    for (double rope = 0; rope < 3; ++rope) {
      for (const double m : {0.8, 1.0, 1.2}) {
        const double change = m == 1.0 ? 0.0 : length - 0.1 * rope;
        frame.variable("loss").cells[cell] = {2.0 + change, 0.1, 16};
        frame.variable("loss_change").cells[cell++] = {change, m == 1.0 ? 0.0 : 0.02, 16};
      }
    }
  }
  return frame;
}

Frame iso_phase(const Values& factors) {
  Frame frame("iso_phase");
  frame.add_dimension("length", {512, 1024});
  frame.add_labelled_dimension("rope", {"own", "ntk", "yarn"});
  Variable& variable = frame.add_variable("iso_phase", {"length", "rope"});
  for (std::size_t i = 0; i < factors.size(); ++i) variable.cells[i] = {factors[i], 0.01, 40};
  return frame;
}

Frame schedules() {
  Frame frame("schedules");
  frame.add_dimension("length", {512, 1024});
  frame.add_labelled_dimension("schedule", {"yarn", "log-n"});
  Variable& variable = frame.add_variable("multiplier", {"length", "schedule"});
  const double factors[] = {1.0, 1.0, 1.14, 1.11};
  for (std::size_t i = 0; i < 4; ++i) variable.cells[i] = {factors[i], 0.0, 0};
  return frame;
}

const Values kFactors = {1.0, 1.1, 1.15, 0.9, 1.05, 1.9};

TEST(FigureOfLossSweep, HasAPanelPerLengthAndALinePerRotation) {
  const LineFigure figure = figure_of_loss_sweep(study_of({loss()}));
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[0].title, "n = 512");
  EXPECT_EQ(figure.panels[1].title, "n = 1024");
  const LinePanel& panel = figure.panels[1];
  EXPECT_EQ(panel.x.label, "multiplier of the logits m");
  EXPECT_EQ(panel.y.label, "loss above m = 1 (nats)");
  ASSERT_EQ(panel.series.size(), 3U);
  const char* names[] = {"own", "ntk", "yarn"};
  for (std::size_t rope = 0; rope < 3; ++rope) {
    const Series& line = panel.series[rope];
    EXPECT_EQ(line.label, names[rope]);
    EXPECT_EQ(line.style, SeriesStyle::line_and_points);
    EXPECT_EQ(line.colour, kind_colour(rope + 1));
    EXPECT_EQ(line.x, (Values{0.8, 1.0, 1.2}));
    const double edge = 2.0 - 0.1 * static_cast<double>(rope);
    EXPECT_EQ(line.y, (Values{edge, 0, edge}));
    EXPECT_EQ(line.error, (Values{0.02, 0, 0.02}));
  }
}

TEST(FigureOfLossSweep, HasADottedLineWhereARotationKeepsThePhase) {
  const LineFigure figure = figure_of_loss_sweep(study_of({loss(), iso_phase(kFactors)}));
  EXPECT_EQ(test::theory_flags(figure), "mmmtttt mmmttt");
  for (std::size_t length = 0; length < 2; ++length) {
    const std::vector<Series>& series = figure.panels[length].series;
    for (std::size_t rope = 0; rope < 3; ++rope) {
      const Series& mark = series[3 + rope];
      EXPECT_EQ(mark.style, SeriesStyle::dotted);
      EXPECT_EQ(mark.label, "");
      EXPECT_EQ(mark.colour, series[rope].colour);
      EXPECT_EQ(mark.x, Values(2, kFactors[3 * length + rope]));
      EXPECT_EQ(mark.y, (Values{0.0, length == 0 ? 1.0 : 2.0}));  // as high as all lines
    }
  }
}

TEST(FigureOfLossSweep, IsAsHighAsTheLossesThatAreKnown) {
  Frame frame = loss();
  frame.variable("loss_change").cells[0].mean = kUnknown;
  frame.variable("loss_change").cells[2].mean = -0.5;
  const LineFigure figure = figure_of_loss_sweep(study_of({frame, iso_phase(kFactors)}));
  EXPECT_EQ(figure.panels[0].series[3].y, (Values{-0.5, 0.9}));
}

TEST(FigureOfLossSweep, NamesTheMarksOnce) {
  const LineFigure figure = figure_of_loss_sweep(study_of({loss(), iso_phase(kFactors)}));
  const Series& entry = figure.panels[0].series.back();
  EXPECT_EQ(entry.label, "keeps the phase of training");
  EXPECT_EQ(entry.style, SeriesStyle::dotted);
  EXPECT_TRUE(entry.x.empty());
  EXPECT_TRUE(entry.theory);
}

TEST(FigureOfLossSweep, HasNoEntryForMarksThatAreNotThere) {
  EXPECT_EQ(test::theory_flags(figure_of_loss_sweep(study_of({loss()}))), "mmm mmm");
}

TEST(FigureOfLossSweep, HasSchedulesAsVerticalLinesWhereTheyAreNotOne) {
  const LineFigure figure = figure_of_loss_sweep(study_of({loss(), schedules()}));
  EXPECT_TRUE(figure.panels[0].markers.empty());
  ASSERT_EQ(figure.panels[1].markers.size(), 2U);
  EXPECT_EQ(figure.panels[1].markers[0].x, 1.14);
  EXPECT_EQ(figure.panels[1].markers[0].label, "yarn");
  EXPECT_EQ(figure.panels[1].markers[1].x, 1.11);
  EXPECT_EQ(figure.panels[1].markers[1].label, "log-n");
}

TEST(FigureOfLossSweep, RefusesAStudyOfAnotherForm) {
  const auto refused = [](const std::vector<Frame>& frames) {
    expect_refused([&] { static_cast<void>(figure_of_loss_sweep(study_of(frames))); });
  };
  refused({});
  refused({heads()});
  Frame bare("loss");
  bare.add_dimension("length", {512});
  bare.add_labelled_dimension("rope", {"own"});
  bare.add_dimension("multiplier", {1});
  refused({bare});
  bare.add_variable("loss", {"length", "rope", "multiplier"});
  refused({bare});  // no change of the loss
  refused({loss(), Frame("iso_phase")});
  refused({loss(), Frame("schedules")});
  Frame fewer("iso_phase");
  fewer.add_dimension("length", {512, 1024});
  fewer.add_labelled_dimension("rope", {"own"});
  fewer.add_variable("iso_phase", {"length", "rope"});
  refused({loss(), fewer});
  Frame other("schedules");
  other.add_dimension("length", {512, 2048});
  other.add_labelled_dimension("schedule", {"yarn"});
  other.add_variable("multiplier", {"length", "schedule"});
  refused({loss(), other});
}

}  // namespace
}  // namespace dewpoint::report
