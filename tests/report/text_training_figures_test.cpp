#include "dewpoint/report/text_training_figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/colour.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/report/study_figure.hpp"
#include "dewpoint/report/training_run.hpp"
#include "report/svg_text.hpp"
#include "report/theory_flags.hpp"
#include "report/without_gnuplot.hpp"

namespace dewpoint::report {
namespace {

using Values = std::vector<double>;
using Words = std::vector<std::string>;

const Words kProbe = {"the", ",", ".", "first", "album"};
const Words kFollowed = {"the", "album", "river"};
const Words kSentence = {"0 the", "1 first", "2 ."};
const Values kSteps = {0, 10, 20, 40};

// Cells count on from `first`: the number tells the place.
void add_counting(Frame& frame, const std::string& name, const Words& over, double first) {
  for (Estimate& cell : frame.add_variable(name, over).cells) cell = {first++, 0.0, 1};
}

Frame text_run(const Values& steps = kSteps, const Words& probe = kProbe) {
  Frame frame("text run");
  frame.add_dimension("step", steps);
  frame.add_dimension("layer", {0, 1});
  frame.add_dimension("head", {0, 1});
  frame.add_labelled_dimension("query", probe);
  frame.add_labelled_dimension("key", probe);
  frame.add_labelled_dimension("token", kFollowed);
  frame.add_labelled_dimension("position", kSentence);
  double first = 0;
  for (const char* name : {"loss", "validation_loss", "focus", "self_share", "rank_one",
                           "embedding_size", "unembedding_size"}) {
    add_counting(frame, name, {"step"}, first += 1000);
  }
  for (const char* name : {"query_size", "key_size"}) {
    add_counting(frame, name, {"step", "layer"}, first += 1000);
  }
  add_counting(frame, "attention", {"step", "layer", "head", "query", "key"}, 0);
  add_counting(frame, "norms", {"step", "token"}, 100);
  add_counting(frame, "self_attention", {"step", "position"}, 0);
  for (Estimate& cell : frame.variable("self_attention").cells) cell.mean /= 12.0;
  return frame;
}

Frame vocabulary(double entropy) {
  Frame frame("vocabulary");
  frame.add_variable("unigram_entropy").cells = {{entropy, 0.0, 0}};
  return frame;
}

store::StudyRecord study_of(std::vector<Frame> frames) {
  store::StudyRecord study;
  study.experiment = "train text";
  study.parameters = {{"corpus", "a.txt"}, {"m", "256"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = std::move(frames);
  return study;
}

void expect_refused(const std::function<void()>& draw) {
  EXPECT_EQ(test::code_of(draw), Code::bad_value);
}

// Of a query on a key at step number k: the mean over four maps of 25 cells each.
double attention_at(std::size_t k, std::size_t query, std::size_t key) {
  return 25.0 * (4.0 * static_cast<double>(k) + 1.5) + 5.0 * static_cast<double>(query) +
         static_cast<double>(key);
}

// ---- attention ------------------------------------------------------------------------------

TEST(FigureOfTextAttention, HasAPanelPerMediumQueryAndALinePerKey) {
  const LineFigure figure = figure_of_text_attention(study_of({text_run()}));
  ASSERT_EQ(figure.panels.size(), 2U);  // the second half of five
  for (std::size_t p = 0; p < 2; ++p) {
    const LinePanel& panel = figure.panels[p];
    EXPECT_EQ(panel.title, p == 0 ? "query “first”" : "query “album”");
    EXPECT_EQ(panel.x.label, "step");
    EXPECT_EQ(panel.x.scale, AxisScale::logarithmic);
    ASSERT_EQ(panel.series.size(), 5U);
    for (std::size_t key = 0; key < 5; ++key) {
      const Series& line = panel.series[key];
      EXPECT_EQ(line.label, "“" + kProbe[key] + "”");
      EXPECT_EQ(line.colour, token_colour(key));
      EXPECT_EQ(line.x, kSteps);
      for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_DOUBLE_EQ(line.y[k], attention_at(k, 3 + p, key));  // the mean over maps
      }
    }
  }
  EXPECT_EQ(figure.caption, "corpus = a.txt\u00a0· m = 256\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

TEST(FigureOfTextAttention, DashesTokensWhoseColourIsUsed) {
  Words many;
  for (int k = 0; k < 10; ++k) many.push_back("word" + std::to_string(k));
  const LineFigure figure = figure_of_text_attention(study_of({text_run(kSteps, many)}));
  EXPECT_EQ(figure.panels.size(), 5U);
  const auto& series = figure.panels[0].series;
  EXPECT_EQ(series[7].style, SeriesStyle::solid);
  EXPECT_EQ(series[8].style, SeriesStyle::dashed);
  EXPECT_EQ(series[8].colour, series[0].colour);
}

// ---- norms ----------------------------------------------------------------------------------

TEST(FigureOfTextNorms, HasTokensInTheColoursOfTheProbe) {
  const LineFigure figure = figure_of_text_norms(study_of({text_run()}));
  ASSERT_EQ(figure.panels.size(), 1U);
  const auto& series = figure.panels[0].series;
  ASSERT_EQ(series.size(), 3U);
  const std::size_t colours[] = {0, 4, 7};  // "river" is not in the probe: third after its five
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(series[k].label, "“" + kFollowed[k] + "”");
    EXPECT_EQ(series[k].colour, token_colour(colours[k]));
    const double first = 100.0 + static_cast<double>(k);
    EXPECT_EQ(series[k].y, (Values{first, first + 3, first + 6, first + 9}));
  }
}

// ---- the page -------------------------------------------------------------------------------

TEST(FigureOfTextRun, HasLossesAttentionFocusNormsRankAndSizes) {
  const LineFigure figure = figure_of_text_run(study_of({text_run(), vocabulary(5.5)}));
  EXPECT_EQ(test::theory_flags(figure), "mmt mmmmm mm mmm m mmmm");
  const Series& level = figure.panels[0].series[2];
  EXPECT_EQ(level.label, "law of the tokens alone");
  EXPECT_EQ(level.x, (Values{10, 40}));  // step 0 has no place
  EXPECT_EQ(level.y, (Values{5.5, 5.5}));
  EXPECT_EQ(figure.panels[0].series[0].y, (Values{1000, 1001, 1002, 1003}));
  // Mean over the queries "first" and "album".
  EXPECT_DOUBLE_EQ(figure.panels[1].series[2].y[1],
                   0.5 * (attention_at(1, 3, 2) + attention_at(1, 4, 2)));
  EXPECT_EQ(figure.panels[2].title, "on “the” (solid), on themselves (dotted)");
  EXPECT_EQ(figure.panels[2].series[0].y.front(), 3000);
  EXPECT_EQ(figure.panels[2].series[1].y.front(), 4000);
  EXPECT_EQ(figure.panels[4].series[0].y.back(), 5003);
  EXPECT_DOUBLE_EQ(figure.panels[5].series[2].y[1], std::hypot(8002, 8003));  // of two layers
  EXPECT_TRUE(figure.caption.starts_with("Medium-frequency queries: “first”, “album”. corpus"))
      << figure.caption;
}

TEST(FigureOfTextRun, DoesWithoutTheEntropyOfTokens) {
  EXPECT_EQ(test::theory_flags(figure_of_text_run(study_of({text_run()}))).substr(0, 3), "mm ");
}

TEST(FigureOfTextRun, PassesOverStepsWithoutAValidationLoss) {
  Frame frame = text_run();
  frame.variable("validation_loss").cells[1] = Estimate{};
  const LineFigure figure = figure_of_text_run(study_of({frame}));
  const Series& validation = figure.panels[0].series[1];
  EXPECT_EQ(validation.x, (Values{0, 20, 40}));
  EXPECT_EQ(validation.y, (Values{2000, 2002, 2003}));
}

// ---- the sentence ---------------------------------------------------------------------------

TEST(FigureOfTextSentence, HasPositionsDownAndStepsAcross) {
  const HeatmapFigure figure = figure_of_text_sentence(study_of({text_run()}));
  ASSERT_EQ(figure.panels.size(), 1U);
  const HeatmapPanel& panel = figure.panels[0];
  EXPECT_EQ(panel.x, (Values{10, 20, 40}));  // step 0 has no logarithm
  EXPECT_EQ(panel.y, (Values{0, 1, 2}));
  EXPECT_EQ(panel.y_names, kSentence);
  Values expected;
  for (int k = 3; k < 12; ++k) expected.push_back(k / 12.0);
  EXPECT_EQ(panel.z, expected);
  EXPECT_EQ(figure.x_scale, AxisScale::logarithmic);
  EXPECT_EQ(figure.z_low, 0.0);
  EXPECT_EQ(figure.z_high, 1.0);
}

TEST(FigureOfTextSentence, FramesWhatLooksAtItselfStrongly) {
  const HeatmapFigure figure = figure_of_text_sentence(study_of({text_run()}));
  ASSERT_EQ(figure.panels[0].curves.size(), 1U);
  const Curve& frames = figure.panels[0].curves[0];
  EXPECT_EQ(frames.label, "at least 0.75");
  // 9/12, 10/12 and 11/12, all at step 40; 0.75 itself counts. A lifted pen ends each.
  EXPECT_EQ(std::count_if(frames.x.begin(), frames.x.end(), [](double x) { return std::isnan(x); }),
            3);
  for (std::size_t k = 0; k < frames.x.size(); ++k) {
    if (std::isnan(frames.x[k])) continue;
    EXPECT_GT(frames.x[k], std::sqrt(20.0 * 40.0));
    EXPECT_LT(frames.x[k], 40.0 * std::sqrt(2.0));
  }
  EXPECT_GT(frames.y[0], -0.5);
  EXPECT_LT(frames.y[0], 0.0);
}

TEST(FigureOfTextSentence, HasNoFramesWhereNothingDoes) {
  Frame frame = text_run();
  for (Estimate& cell : frame.variable("self_attention").cells) cell.mean *= 0.5;
  EXPECT_TRUE(figure_of_text_sentence(study_of({frame})).panels[0].curves.empty());
}

TEST(FigureOfTextSentence, ChoosesStepsEvenlyOverTheirLogarithms) {
  Values steps;
  for (int k = 0; k <= 512; ++k) steps.push_back(k);
  const HeatmapFigure figure = figure_of_text_sentence(study_of({text_run(steps)}));
  // Powers of 2: ten from 1 to 512.
  EXPECT_EQ(figure.panels[0].x, (Values{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}));
}

TEST(FigureOfTextSentence, ShowsASingleStep) {
  EXPECT_EQ(figure_of_text_sentence(study_of({text_run({0, 10})})).panels[0].x, (Values{10}));
}

TEST(FigureOfTextSentence, IsDrawnWithItsWordsFromTheTop) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const test::ScratchFolder folder;
  draw(figure_of_text_sentence(study_of({text_run()})), folder / "a");
  const std::string svg = test::read_bytes(folder / "a.svg");
  const auto first = test::places_of(svg, "0 the"), last = test::places_of(svg, "2 .");
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_LT(first[0].y, last[0].y);
}

TEST(HeatmapNames, MakeRoomForThemselves) {
  HeatmapPanel panel;
  for (int k = 0; k < 40; ++k) {
    panel.y.push_back(k);
    panel.y_names.push_back("a name that needs a lot of room");
  }
  panel.x = {0};
  panel.z = Values(40, 0.5);
  HeatmapFigure figure;
  figure.panels = {panel};
  const Page named = sheet_of(figure).page;
  figure.panels[0].y_names.clear();
  const Page plain = sheet_of(figure).page;
  EXPECT_GT(named.panels[0].left, plain.panels[0].left + 100);
  EXPECT_GE(named.panels[0].height, 40 * kSmallSize);
  EXPECT_EQ(plain.panels[0].height, kPanelHeight);
}

// ---- refusals, and figures by name ----------------------------------------------------------

TEST(TextTrainingFigures, AreLeftOutWhereThereIsNoSentence) {
  const auto names = [](const store::StudyRecord& study) {
    Words all;
    for (const TrainingFigure& figure : text_training_figures(study)) all.push_back(figure.name);
    return all;
  };
  EXPECT_EQ(names(study_of({text_run()})),
            (Words{"text-run", "text-attention", "text-norms", "text-sentence"}));
  Frame mute("text run");
  EXPECT_EQ(names(study_of({mute})), (Words{"text-run", "text-attention", "text-norms"}));
}

TEST(TextTrainingFigures, AreFoundByWhatTheyShow) {
  const store::StudyRecord study = study_of({text_run()});
  const auto kind = [&](const std::string& observable) {
    const auto figure = specialised_figure(study, observable);
    if (!figure) return std::string("none");
    const auto* lines = std::get_if<LineFigure>(&*figure);
    return lines != nullptr ? std::to_string(lines->panels.size()) : std::string("map");
  };
  EXPECT_EQ(kind(""), "6");
  EXPECT_EQ(kind("loss"), "6");
  EXPECT_EQ(kind("attention"), "2");
  EXPECT_EQ(kind("norms"), "1");
  EXPECT_EQ(kind("self_attention"), "map");
}

TEST(TextTrainingFigures, RefuseAStudyOfAnotherForm) {
  const auto refused = [](const std::vector<Frame>& frames) {
    const store::StudyRecord study = study_of(frames);
    expect_refused([&] { static_cast<void>(figure_of_text_run(study)); });
    expect_refused([&] { static_cast<void>(figure_of_text_attention(study)); });
    expect_refused([&] { static_cast<void>(figure_of_text_norms(study)); });
    expect_refused([&] { static_cast<void>(figure_of_text_sentence(study)); });
  };
  refused({});
  refused({Frame("text run")});
  refused({text_run({})});
  refused({text_run({10, 5})});
  refused({text_run(kSteps, {"the"})});  // nobody to ask
  Frame nameless("text run");
  nameless.add_dimension("step", {0, 1});
  nameless.add_dimension("query", {0, 1});
  nameless.add_dimension("key", {0, 1});
  refused({nameless});
  Frame mute("text run");
  mute.add_dimension("step", {0, 1});
  mute.add_labelled_dimension("query", {"a", "b"});
  mute.add_labelled_dimension("key", {"a", "b"});
  refused({mute});
  Frame other("text run");
  other.add_dimension("step", {0, 1});
  other.add_labelled_dimension("query", {"a", "b"});
  other.add_labelled_dimension("key", {"a", "c"});
  refused({other});
  expect_refused([&] {
    static_cast<void>(figure_of_text_sentence(study_of({text_run({0})})));  // no step to show
  });
}

}  // namespace
}  // namespace dewpoint::report
