#include "dewpoint/report/training_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <variant>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/training_run.hpp"
#include "report/svg_text.hpp"
#include "report/synthetic_run.hpp"
#include "report/theory_flags.hpp"
#include "report/without_gnuplot.hpp"

namespace dewpoint::report {
namespace {

using test::count;
using test::kNotSeen;
using test::synthetic_run;
using test::synthetic_stages;
using Values = std::vector<double>;

// What a study holds at one time, in the order of its cells.
double cell_of(const store::StudyRecord& study, const char* variable, std::size_t position) {
  return study.frame("trajectory").variable(variable).cells[position].mean;
}

const Series* find_series(const LinePanel& panel, const std::string& label) {
  for (const Series& series : panel.series) {
    if (series.label == label) return &series;
  }
  return nullptr;
}

void draw_titled(const TrainingFigure& figure, const store::StudyRecord& study,
                 const std::string& title, const std::filesystem::path& stem) {
  Figure drawn = figure.figure_of(study);
  set_title(drawn, title);
  std::visit([&](const auto& any) { draw(any, stem); }, drawn);
}

std::vector<std::string> titles_of(const LineFigure& figure) {
  std::vector<std::string> titles;
  for (const LinePanel& panel : figure.panels) titles.push_back(panel.title);
  return titles;
}

Frame& frame_of(store::StudyRecord& study, const std::string& name) {
  for (Frame& frame : study.frames) {
    if (frame.name() == name) return frame;
  }
  throw Error(Code::bad_value, name);
}

void remove_frame(store::StudyRecord& study, const std::string& name) {
  std::erase_if(study.frames, [&](const Frame& frame) { return frame.name() == name; });
}

TEST(TrainingFigures, HoldNoTheory) {
  const store::StudyRecord study = synthetic_run();
  for (const TrainingFigure& figure : training_figures()) {
    const Figure drawn = figure.figure_of(study);
    const auto* lines = std::get_if<LineFigure>(&drawn);
    if (lines == nullptr) continue;
    EXPECT_EQ(test::theory_flags(*lines).find('t'), std::string::npos) << figure.name;
  }
}

// Property (1) of token_colour.
TEST(TokenColour, TellsEightTokensApartAndLeavesBlackToTotals) {
  std::set<Colour> colours{0x000000};
  for (std::size_t k = 0; k < kMostTokensShown; ++k) colours.insert(token_colour(k));
  EXPECT_EQ(colours.size(), kMostTokensShown + 1);
}

TEST(TrainingLosses, ShowTheLossAfterEachTokenAndOfAllSequences) {
  const store::StudyRecord study = synthetic_run();
  const LineFigure figure = figure_of_training_losses(study);
  ASSERT_EQ(figure.panels.size(), 1U);
  const LinePanel& panel = figure.panels[0];
  ASSERT_EQ(panel.series.size(), 4U);
  EXPECT_EQ(panel.x.label, "step");
  const Series* second = find_series(panel, "ends in token 1 (π = 0.375)");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->x, study.frame("trajectory").dimension("time").coordinates);
  for (std::size_t k = 0; k < second->y.size(); ++k) {
    EXPECT_EQ(second->y[k], cell_of(study, "group_loss", 3 * k + 1));
  }
  EXPECT_EQ(find_series(panel, "all sequences")->y[4], cell_of(study, "loss", 4));
}

TEST(TrainingLosses, AreMarkedWhereStagesBegin) {
  const auto markers = figure_of_training_losses(synthetic_run()).panels[0].markers;
  ASSERT_EQ(markers.size(), 3U);
  EXPECT_EQ(markers[0].x, 20);
  EXPECT_EQ(markers[0].label, "II");
  EXPECT_EQ(markers[1].x, 40);
  EXPECT_EQ(markers[1].label, "III");
  EXPECT_EQ(markers[2].x, 70);
  EXPECT_EQ(markers[2].label, "IV");
}

TEST(TrainingLosses, SayWhichStagesWereNotSeen) {
  store::StudyRecord study = synthetic_run();
  EXPECT_EQ(figure_of_training_losses(study).caption,
            "Stage II: focus starts, step 20; III: focus peaks, step 40; IV: new direction, step "
            "70. A rise by 0.1 of the way to 1 counts as focus. lambda = 0.8\u00a0· optimiser = "
            "adam\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
  frame_of(study, "stages") = synthetic_stages(20, 40, kNotSeen);
  LineFigure figure = figure_of_training_losses(study);
  EXPECT_EQ(figure.panels[0].markers.size(), 2U);
  EXPECT_NE(figure.caption.find("IV: new direction, not seen."), std::string::npos);
  frame_of(study, "stages") = synthetic_stages(kNotSeen, kNotSeen, kNotSeen);
  figure = figure_of_training_losses(study);
  EXPECT_TRUE(figure.panels[0].markers.empty());
  EXPECT_TRUE(figure.caption.starts_with("No focus on token 0 was seen"));
  remove_frame(study, "stages");
  EXPECT_TRUE(figure_of_training_losses(study).caption.starts_with("lambda = 0.8"));
}

TEST(TrainingLosses, GoWithoutFrequenciesAndNameTheTimeOfAFlow) {
  store::StudyRecord study = synthetic_run();
  remove_frame(study, "data");
  study.parameters[1].second = "flow";
  const LineFigure figure = figure_of_training_losses(study);
  EXPECT_NE(find_series(figure.panels[0], "ends in token 2"), nullptr);
  EXPECT_EQ(figure.panels[0].x.label, "time t");
  EXPECT_NE(figure.caption.find("focus starts, t = 20;"), std::string::npos);
}

TEST(TrainingFigures, ShowTheEightMostFrequentTokensAndSaySo) {
  const store::StudyRecord study = synthetic_run(11);
  const LineFigure losses = figure_of_training_losses(study);
  EXPECT_EQ(losses.panels[0].series.size(), 8U + 1U);
  EXPECT_EQ(count(losses.caption, "The 8 most frequent of 11 tokens are shown."), 1U);
  EXPECT_EQ(figure_of_attention(study).panels.size(), 8U);
  EXPECT_EQ(figure_of_embedding_paths(study).panels[0].series.size(), 8U + 8U);
  // A map has room for all of them.
  const HeatmapFigure maps = figure_of_attention_maps(study);
  EXPECT_EQ(maps.panels[0].x.size(), 11U);
  EXPECT_EQ(count(maps.caption, "most frequent"), 0U);
}

TEST(TrainingAtAGlance, HasSixPanels) {
  const store::StudyRecord study = synthetic_run();
  const LineFigure figure = figure_of_training(study);
  EXPECT_EQ(titles_of(figure),
            (std::vector<std::string>{
                "loss by last token of the context", "attention to token 0 by query",
                "focus of rarer queries on each token", "entropy of attention by query",
                "embedding norms", "across token 0 (solid), along it (dotted)"}));
  EXPECT_EQ(figure.columns, 3U);
  for (const LinePanel& panel : figure.panels) EXPECT_EQ(panel.markers.size(), 3U);
  const LinePanel& focus = figure.panels[2];
  ASSERT_EQ(focus.series.size(), 2U);  // cycles of three tokens
  EXPECT_EQ(focus.series[1].y[3], cell_of(study, "focus", 2 * 3 + 1));
}

TEST(TrainingAtAGlance, GoesWithoutFocusShares) {
  store::StudyRecord study = synthetic_run();
  Frame less("trajectory");
  const Frame& all = study.frame("trajectory");
  for (const Dimension& dimension : all.dimensions()) {
    less.add_dimension(dimension.name, dimension.coordinates);
  }
  for (const Variable& variable : all.variables()) {
    if (variable.name == "focus") continue;
    less.add_variable(variable.name, variable.dimensions).cells = variable.cells;
  }
  frame_of(study, "trajectory") = less;
  EXPECT_EQ(figure_of_training(study).panels.size(), 5U);
}

TEST(TrainingAtAGlance, ShowsPartsAcrossAndAlongTokenZeroButNotItsOwn) {
  const store::StudyRecord study = synthetic_run();
  const LinePanel panel = figure_of_training(study).panels[5];
  ASSERT_EQ(panel.series.size(), 4U);
  for (std::size_t token = 1; token < 3; ++token) {
    const Series& along = panel.series[2 * token - 2];
    const Series& across = panel.series[2 * token - 1];
    EXPECT_EQ(along.style, SeriesStyle::dotted);
    EXPECT_EQ(across.style, SeriesStyle::solid);
    EXPECT_EQ(along.y[2], cell_of(study, "parallel", 3 * 2 + token));
    EXPECT_EQ(across.y[2], cell_of(study, "perpendicular", 3 * 2 + token));
    EXPECT_EQ(along.colour, token_colour(token));
    EXPECT_EQ(across.colour, token_colour(token));
  }
}

TEST(TrainingAttention, HasAPanelPerKeyAndACurvePerQuery) {
  const store::StudyRecord study = synthetic_run();
  const LineFigure figure = figure_of_attention(study);
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_EQ(figure.panels[1].title, "attention to token 1 (π = 0.375)");
  for (std::size_t key = 0; key < 3; ++key) {
    for (std::size_t query = 0; query < 3; ++query) {
      EXPECT_EQ(figure.panels[key].series[query].y[6],
                cell_of(study, "attention", (6 * 3 + query) * 3 + key));
    }
  }
  // To token 0 also as a context shows it.
  ASSERT_EQ(figure.panels[0].series.size(), 3U + 3U + 2U);
  EXPECT_EQ(figure.panels[0].series[4].style, SeriesStyle::dotted);
  EXPECT_EQ(figure.panels[0].series[4].y[6], cell_of(study, "weighted_attention", (6 * 3 + 1) * 3));
  EXPECT_EQ(figure.panels[1].series.size(), 3U);
}

TEST(TrainingAttentionMaps, ShowTheRecordedTimesNearestToTheMoments) {
  const store::StudyRecord study = synthetic_run();
  const HeatmapFigure figure = figure_of_attention_maps(study);
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_EQ(figure.panels[0].title, "step 0");
  EXPECT_EQ(figure.panels[0].subtitle, "stage I");
  EXPECT_EQ(figure.panels[1].title, "step 40");  // of 42
  EXPECT_EQ(figure.panels[1].subtitle, "stage III");
  EXPECT_EQ(figure.panels[2].subtitle, "stage IV");
  EXPECT_EQ(figure.look, PanelLook::matrix);
  for (std::size_t query = 0; query < 3; ++query) {
    for (std::size_t key = 0; key < 3; ++key) {
      EXPECT_EQ(figure.panels[1].z[key * 3 + query],  // x is the key, y the query
                cell_of(study, "attention", (4 * 3 + query) * 3 + key));
    }
  }
}

TEST(WeightCosines, HaveARowPerMatrixAndAColumnPerMoment) {
  const store::StudyRecord study = synthetic_run();
  const HeatmapFigure figure = figure_of_weight_cosines(study);
  ASSERT_EQ(figure.panels.size(), 4U * 3U);
  EXPECT_EQ(figure.columns, 3U);
  EXPECT_EQ(figure.colours, ColourMap::diverging);
  EXPECT_EQ(figure.z_low, -1.0);
  EXPECT_EQ(figure.z_high, 1.0);
  const HeatmapPanel& panel = figure.panels[2 * 3 + 1];
  EXPECT_EQ(panel.title, "WQ, step 42");
  EXPECT_EQ(panel.subtitle, "mean |cos| 0.06");  // number 4 + 2
  const auto& cosine = study.frame("condensation").variable("cosine").cells;
  EXPECT_EQ(panel.z[2 * 3 + 1], cosine[(1 * 4 + 2) * 9 + 1 * 3 + 2].mean);  // row 1, column 2
}

TEST(WeightCosines, ChooseEightOfManyMomentsEvenlyAndSaySo) {
  store::StudyRecord study = synthetic_run();
  frame_of(study, "condensation") = test::synthetic_condensation(test::numbers_up_to(15));
  const HeatmapFigure figure = figure_of_weight_cosines(study);
  ASSERT_EQ(figure.panels.size(), 4U * 8U);
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_EQ(figure.panels[k].title, fmt::format("W0, step {}", 2 * k));
  }
  EXPECT_TRUE(figure.caption.starts_with("8 of 15 moments are shown."));
}

TEST(EmbeddingPaths, ShowTheWholeRunAndEachStageOnWhatWasBefore) {
  const LineFigure figure = figure_of_embedding_paths(synthetic_run());
  EXPECT_EQ(titles_of(figure),
            (std::vector<std::string>{"whole run", "I and II: until focus peaks", "III: dilution",
                                      "IV: new direction, and after"}));
  const LinePanel& whole = figure.panels[0];
  EXPECT_EQ(whole.x.label, "principal component 1 (62 %)");
  EXPECT_EQ(whole.series[1].x.size(), 11U);
  EXPECT_EQ(whole.series[1].x[3], 3 * 6 + 2);  // time 3, token 1, first of two components
  EXPECT_EQ(whole.series[1].y[3], 3 * 6 + 3);
  EXPECT_EQ(whole.series[4].style, SeriesStyle::points);  // where token 1 ends
  EXPECT_EQ(whole.series[4].x, Values{10 * 6 + 2});
  const LinePanel& third = figure.panels[2];
  ASSERT_EQ(third.series.size(), 3U + 3U + 3U);
  EXPECT_EQ(third.series[0].label, "before");
  EXPECT_EQ(third.series[0].x.size(), 5U);      // steps 0 to 40
  EXPECT_EQ(third.series[3].x.front(), 4 * 6);  // steps 40 to 70
  EXPECT_EQ(third.series[3].x.back(), 7 * 6);
}

// Panels are 268 by 248 pixels; the ranges' ends are rounded twice each.
TEST(EmbeddingPaths, HaveOneScaleOnBothAxes) {
  for (const LinePanel& panel : figure_of_embedding_paths(synthetic_run()).panels) {
    ASSERT_TRUE(panel.x.range && panel.y.range);
    const double x_pixel = (panel.x.range->high - panel.x.range->low) / 268;
    const double y_pixel = (panel.y.range->high - panel.y.range->low) / 248;
    EXPECT_NEAR(x_pixel / y_pixel, 1.0, 1e-13) << panel.title;
    for (const Series& series : panel.series) {
      if (series.label == "before") continue;
      for (const double x : series.x) {
        EXPECT_GT(x, panel.x.range->low);
        EXPECT_LT(x, panel.x.range->high);
      }
    }
  }
}

TEST(EmbeddingPaths, HaveNoCloseUpsOfStagesThatWereNotSeen) {
  store::StudyRecord study = synthetic_run();
  frame_of(study, "stages") = synthetic_stages(20, 40, kNotSeen);
  EXPECT_EQ(figure_of_embedding_paths(study).panels.size(), 3U);
  frame_of(study, "stages") = synthetic_stages(kNotSeen, kNotSeen, kNotSeen);
  EXPECT_EQ(figure_of_embedding_paths(study).panels.size(), 1U);
}

TEST(EmbeddingFigure, ShowsEmbeddingsAboveAndWeightsBelow) {
  const store::StudyRecord study = synthetic_run();
  const LineFigure figure = figure_of_embeddings(study);
  ASSERT_EQ(figure.panels.size(), 6U);
  EXPECT_EQ(figure.panels[0].series[2].y[1], cell_of(study, "entropy", 3 + 2));
  EXPECT_EQ(figure.panels[1].series[2].y[1], cell_of(study, "embedding_norm", 3 + 2));
  EXPECT_EQ(figure.panels[3].series[1].y[1], cell_of(study, "unembedding_rank_one", 1));
  const LinePanel& sizes = figure.panels[4];
  EXPECT_EQ(find_series(sizes, "W0")->y[1], cell_of(study, "embedding_size", 1));
  EXPECT_EQ(find_series(sizes, "W1")->y[1], cell_of(study, "unembedding_size", 1));
  EXPECT_EQ(find_series(sizes, "WQ")->y[1], cell_of(study, "query_size", 1));
  EXPECT_EQ(find_series(sizes, "WK")->y[1], cell_of(study, "key_size", 1));
  EXPECT_EQ(figure.panels[5].series[2].y[1], cell_of(study, "embedding_singular_values", 3 + 2));
}

TEST(TrainingFigures, RefuseAStudyOfAnotherForm) {
  const auto refused = [](const store::StudyRecord& study, const TrainingFigure& figure) {
    return test::code_of([&] { static_cast<void>(figure.figure_of(study)); }) == Code::bad_value;
  };
  store::StudyRecord backwards = synthetic_run();
  frame_of(backwards, "trajectory") = test::synthetic_trajectory(3, {1, 0});
  store::StudyRecord without_moments = synthetic_run();
  remove_frame(without_moments, "condensation");
  for (const TrainingFigure& figure : training_figures()) {
    EXPECT_TRUE(refused({}, figure)) << figure.name;
    EXPECT_TRUE(refused(backwards, figure)) << figure.name;
    const bool needs_moments =
        figure.name == "training-cosines" || figure.name == "training-attention-maps";
    EXPECT_EQ(refused(without_moments, figure), needs_moments) << figure.name;
  }
}

TEST(TrainingFigures, AreAllDrawnUnderTheirTitles) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const test::ScratchFolder folder;
  const store::StudyRecord study = synthetic_run();
  std::set<std::string> names;
  for (const TrainingFigure& figure : training_figures()) {
    draw_titled(figure, study, "Under this title", folder / figure.name);
    const std::string svg = test::read_bytes(folder / (figure.name + ".svg"));
    EXPECT_EQ(count(svg, "<text>Under this title</text>"), 1U) << figure.name;
    names.insert(figure.name);
  }
  EXPECT_EQ(names.size(), 7U);
  EXPECT_EQ(folder.names().size(), 2 * names.size());
}

TEST(TrainingFigures, DrawARunOfOneRecord) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const test::ScratchFolder folder;
  store::StudyRecord study = synthetic_run();
  study.frames = {test::synthetic_trajectory(2, {0}), test::synthetic_condensation({0}),
                  synthetic_stages(kNotSeen, kNotSeen, kNotSeen)};
  for (const TrainingFigure& figure : training_figures()) {
    draw_titled(figure, study, figure.title, folder / figure.name);
  }
  EXPECT_EQ(folder.names().size(), 2 * training_figures().size());
}

}  // namespace
}  // namespace dewpoint::report
