#include "dewpoint/report/condensation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "report/svg_text.hpp"
#include "report/theory_flags.hpp"

namespace dewpoint::report {
namespace {

using Values = std::vector<double>;
using Draw = std::function<void(const store::StudyRecord&)>;

const Values kTheoryLoads{0.5, 0.9, 1.5};
const Values kLoads{0.5, 2.0};
const Values kLimitLoads{0.0, 0.75, 1.0, 3.0};
const Values kPlaces{-1.0, 0.5, 2.0};
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Cells are step, 2 step, 3 step, ...
void add_counting(Frame& frame, const std::string& name, const Names& dimensions, double step) {
  double value = 0;
  for (auto& cell : frame.add_variable(name, dimensions).cells) {
    cell = {step * ++value, step / 10, 50};
  }
}

// Cells are first, first/2, first/4, ...
void add_halving(Frame& frame, const std::string& name, const Names& dimensions, double first) {
  double value = 2 * first;
  for (auto& cell : frame.add_variable(name, dimensions).cells) cell = {value /= 2, 0, 0};
}

Frame empty_frame(const std::string& name, const Values& n, const Values& loads) {
  Frame frame(name);
  frame.add_dimension("n", n);
  frame.add_dimension("t", loads);
  return frame;
}

Frame measured_frame(const Values& n = {1e3, 1e4}) {
  Frame frame = empty_frame("condense", n, kLoads);
  add_counting(frame, "largest_weight", {"n", "t"}, 0.125);
  add_counting(frame, "log_partition", {"n", "t"}, 8.0);
  return frame;
}

// Laws have values of their own, which no formula gives: a figure that computes is found out.
void add_laws(Frame& frame, double step) {
  add_counting(frame, "edge_load", {"n", "t"}, 3 * step);
  add_halving(frame, "largest_weight_law", {"n", "t"}, step);
  add_counting(frame, "log_mean_partition", {"n", "t"}, 16 * step);
}

Frame theory_frame(const Values& n = {1e3, 1e6}) {
  Frame frame = empty_frame("condense_theory", n, kTheoryLoads);
  add_laws(frame, 1.0);
  add_counting(frame, "largest_weight", {"n", "t"}, 0.0625);
  add_counting(frame, "log_partition", {"n", "t"}, 4.0);
  add_counting(frame, "limit_largest_weight", {"n", "t"}, 1.0);
  add_counting(frame, "series_largest_weight", {"n", "t"}, 2.0);
  return frame;
}

Frame law_frame(const Values& n = {1e3, 1e4}, const Values& loads = kLoads) {
  Frame frame = empty_frame("condense_law", n, loads);
  add_laws(frame, 2.0);
  return frame;
}

// The annealed energies are 3, 6, 9 and 12, the quenched ones 2, 4, 6 and 8.
Frame limits_frame() {
  Frame frame("condense_limits");
  frame.add_dimension("t", kLimitLoads);
  add_counting(frame, "decay_exponent", {"t"}, 0.25);
  add_counting(frame, "annealed_free_energy", {"t"}, 3.0);
  add_counting(frame, "quenched_free_energy", {"t"}, 2.0);
  return frame;
}

Frame window_frame() {
  Frame frame("freezing_window");
  frame.add_dimension("scaling_variable", kPlaces);
  add_counting(frame, "log_ratio", {"scaling_variable"}, -0.5);
  return frame;
}

store::StudyRecord study_of(const std::vector<Frame>& frames) {
  store::StudyRecord study;
  study.parameters = {{"sigma", "1"}, {"draws", "50"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = frames;
  return study;
}

std::vector<Frame> small_frames() {
  return {measured_frame(), theory_frame(), law_frame(), limits_frame(), window_frame()};
}

store::StudyRecord small_study() { return study_of(small_frames()); }

const Series& series_of(const LinePanel& panel, const std::string& label) {
  for (const auto& series : panel.series) {
    if (series.label == label) return series;
  }
  ADD_FAILURE() << "no series " << label;
  return panel.series.front();
}

// Points without a name in the legend: those of the n that has a curve.
const Series& nameless_points(const LinePanel& panel) {
  for (const auto& series : panel.series) {
    if (series.style == SeriesStyle::points && series.label.empty()) return series;
  }
  ADD_FAILURE() << "no points";
  return panel.series.front();
}

TEST(FigureOfCondensation, HasTheWeightAndItsExponentAgainstTheLoad) {
  const LineFigure figure = figure_of_condensation(small_study());
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.columns, 2U);
  EXPECT_EQ(figure.panels[0].y.label, "mean largest weight");
  EXPECT_EQ(figure.panels[1].y.label, "−log E w_max / log N");
  for (const auto& panel : figure.panels) {
    EXPECT_EQ(panel.x.label, "load t = β / β_c");
    ASSERT_EQ(panel.markers.size(), 1U);
    EXPECT_EQ(panel.markers[0].x, 1.0);
    EXPECT_EQ(panel.markers[0].label, "freezing");
  }
  EXPECT_EQ(figure.caption,
            "sigma = 1\u00a0· 50 samples per cell\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

// 10³ has a curve, which names it; 10⁴ has none.
TEST(FigureOfCondensation, DrawsCurvesAndPointsInTheColourOfTheirLength) {
  const LineFigure figure = figure_of_condensation(small_study());
  const LinePanel& panel = figure.panels[0];
  const Series& small = series_of(panel, "N = 10³");
  const Series& large = series_of(panel, "N = 10⁶");
  const Series& only_measured = series_of(panel, "N = 10⁴");
  EXPECT_EQ(small.style, SeriesStyle::solid);
  EXPECT_EQ(small.x, kTheoryLoads);
  EXPECT_EQ(small.y, (Values{0.0625, 0.125, 0.1875}));
  EXPECT_TRUE(small.error.empty());
  EXPECT_EQ(large.y, (Values{0.25, 0.3125, 0.375}));
  EXPECT_EQ(small.colour, degree_colour(0, 3));
  EXPECT_EQ(only_measured.colour, degree_colour(1, 3));
  EXPECT_EQ(large.colour, degree_colour(2, 3));
  EXPECT_EQ(only_measured.style, SeriesStyle::points);
  EXPECT_EQ(only_measured.y, (Values{0.375, 0.5}));
  const Series& points = nameless_points(panel);
  EXPECT_EQ(points.colour, small.colour);
  EXPECT_EQ(points.x, kLoads);
  EXPECT_EQ(points.y, (Values{0.125, 0.25}));
  // y ± error are rounded to half an ulp of values below 1.
  for (const double error : points.error) EXPECT_NEAR(error, 0.0125, 0x1p-52);
  EXPECT_TRUE(series_of(panel, "measured").x.empty());
}

TEST(FigureOfCondensation, DashesTheLimitAndDotsThePrintedSeries) {
  const LinePanel panel = figure_of_condensation(small_study()).panels[0];
  const Series& limit = series_of(panel, "N → ∞: Poisson-Dirichlet");
  const Series& printed = series_of(panel, "CAS (118), does not hold");
  EXPECT_EQ(limit.style, SeriesStyle::dashed);
  EXPECT_EQ(printed.style, SeriesStyle::dotted);
  EXPECT_EQ(limit.colour, 0x000000U);
  EXPECT_EQ(printed.colour, 0x000000U);
  EXPECT_EQ(limit.x, kTheoryLoads);
  EXPECT_EQ(limit.y, (Values{4, 5, 6}));
  EXPECT_EQ(printed.y, (Values{8, 10, 12}));
}

// w = 1/8 at N = 10³: log 8/log 1000 = log₁₀ 2. Two logarithms and a division: 4 ulp.
TEST(FigureOfCondensation, HasTheExponentOfEveryWeight) {
  const LinePanel panel = figure_of_condensation(small_study()).panels[1];
  EXPECT_DOUBLE_EQ(series_of(panel, "N = 10³").y[1], std::log10(2.0));
  const Series& points = nameless_points(panel);
  EXPECT_DOUBLE_EQ(points.y[0], std::log10(2.0));
  // (log 0.1375 − log 0.1125)/(2 log 1000) = log₁₀(11/9)/6, as two exponents below 1/2, each right
  // to 2 ulp.
  EXPECT_NEAR(points.error[0], std::log10(11.0 / 9.0) / 6.0, 4 * 0x1p-54);
}

TEST(FigureOfCondensation, DashesTheLimitOfTheExponent) {
  const LinePanel panel = figure_of_condensation(small_study()).panels[1];
  const Series& limit = series_of(panel, "N → ∞: (1 − t)² up to freezing");
  EXPECT_EQ(limit.style, SeriesStyle::dashed);
  EXPECT_EQ(limit.colour, 0x000000U);
  EXPECT_EQ(limit.x, kLimitLoads);
  EXPECT_EQ(limit.y, (Values{0.25, 0.5, 0.75, 1.0}));
}

// Curves have the edge of the theory, points that of the laws at their own loads.
TEST(FigureOfWeightCollapse, HasTheLoadAtTheEdgeOfFiniteLength) {
  const LinePanel panel = figure_of_weight_collapse(small_study()).panels[0];
  EXPECT_EQ(panel.x.label, "load at the edge t_e = β/b_N");
  EXPECT_EQ(series_of(panel, "N = 10³").x, (Values{3, 6, 9}));
  EXPECT_EQ(series_of(panel, "N = 10³").y, (Values{0.0625, 0.125, 0.1875}));
  EXPECT_EQ(series_of(panel, "N = 10⁶").x, (Values{12, 15, 18}));
  EXPECT_EQ(nameless_points(panel).x, (Values{6, 12}));
  EXPECT_EQ(series_of(panel, "N = 10⁴").x, (Values{18, 24}));
  const Series& limit = series_of(panel, "N → ∞: Poisson-Dirichlet");
  EXPECT_EQ(limit.x, kTheoryLoads);
  EXPECT_EQ(limit.y, (Values{4, 5, 6}));
}

TEST(FigureOfWeightCollapse, LeavesPointsBelowFreezingToTheOtherPanel) {
  const LineFigure figure = figure_of_weight_collapse(small_study());
  EXPECT_EQ(figure.panels[0].title, "above freezing");
  EXPECT_EQ(figure.panels[1].title, "below freezing");
  const Series& above = nameless_points(figure.panels[0]);
  EXPECT_TRUE(std::isnan(above.y[0]));
  EXPECT_EQ(above.y[1], 0.25);
  const Series& below = nameless_points(figure.panels[1]);
  EXPECT_EQ(below.x, kLoads);
  EXPECT_TRUE(std::isfinite(below.y[0]));
}

// The laws are powers of 2: ratios are not rounded.
TEST(FigureOfWeightCollapse, DividesByTheLawWithItsPrefactor) {
  const LinePanel panel = figure_of_weight_collapse(small_study()).panels[1];
  EXPECT_EQ(series_of(panel, "N = 10³").y, (Values{0.0625, 0.25, 0.75}));
  EXPECT_EQ(series_of(panel, "N = 10⁶").y, (Values{2, 5, 12}));
  EXPECT_EQ(series_of(panel, "N = 10⁴").y, (Values{0.75, 2}));
  const Series& points = nameless_points(panel);
  EXPECT_EQ(points.y, (Values{0.0625, 0.25}));
  // Weights of 1/8 and 1/4 with the error 1/80, over 2 and 1. Weight plus and minus error are
  // below 1/2, each rounded by 2⁻⁵⁵ at most, and the error itself by less.
  EXPECT_NEAR(points.error[0], 0.00625, 0x1p-54);
  EXPECT_NEAR(points.error[1], 0.0125, 0x1p-54);
}

TEST(FigureOfWeightCollapse, DashesTheRatioOne) {
  const LinePanel panel = figure_of_weight_collapse(small_study()).panels[1];
  const Series& one = series_of(panel, "");
  EXPECT_EQ(one.style, SeriesStyle::dashed);
  EXPECT_EQ(one.x, (Values{0, 1}));
  EXPECT_EQ(one.y, (Values{1, 1}));
}

TEST(FigureOfWeightCollapse, HasNoRatioWhereTheStudyHasNoLaw) {
  store::StudyRecord study = small_study();
  study.frames[1].variable("largest_weight_law").cells[1].mean = kNaN;  // N = 10³, t = 0.9
  study.frames[2].variable("largest_weight_law").cells[1].mean = kNaN;  // N = 10³, t = 2
  const LinePanel panel = figure_of_weight_collapse(study).panels[1];
  const Series& curve = series_of(panel, "N = 10³");
  EXPECT_TRUE(std::isfinite(curve.y[0]));
  EXPECT_TRUE(std::isnan(curve.y[1]));
  EXPECT_TRUE(std::isfinite(curve.y[2]));
  const Series& points = nameless_points(panel);
  EXPECT_TRUE(std::isfinite(points.y[0]));
  EXPECT_TRUE(std::isnan(points.y[1]));
  EXPECT_TRUE(std::isnan(points.error[1]));
}

TEST(FigureOfFreeEnergies, HasThemOverLogN) {
  const LinePanel panel = figure_of_free_energies(small_study()).panels[0];
  EXPECT_EQ(panel.y.label, "free energy / log N");
  const Series& large = series_of(panel, "N = 10⁶");
  const Series& points = nameless_points(panel);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(large.y[i], 4.0 * static_cast<double>(4 + i) / std::log(1e6));
  }
  EXPECT_DOUBLE_EQ(points.y[1], 16.0 / std::log(1e3));
  // Two values below 4, each rounded twice.
  EXPECT_NEAR(points.error[1], 0.8 / std::log(1e3), 2 * 2 * 0x1p-52);
}

// Of the annealed energies 3, 6, 9 and 12 the last two are above the last quenched one.
TEST(FigureOfFreeEnergies, HasTheLimitsUpToTheSameHeight) {
  const LinePanel panel = figure_of_free_energies(small_study()).panels[0];
  const Series& annealed = series_of(panel, "annealed: 1 + t²");
  const Series& quenched = series_of(panel, "quenched, N → ∞: 2t above freezing");
  EXPECT_EQ(annealed.style, SeriesStyle::dotted);
  EXPECT_EQ(quenched.style, SeriesStyle::dashed);
  EXPECT_EQ(quenched.x, kLimitLoads);
  EXPECT_EQ(quenched.y, (Values{2, 4, 6, 8}));
  EXPECT_EQ(annealed.x, (Values{0.0, 0.75}));
  EXPECT_EQ(annealed.y, (Values{3, 6}));
}

TEST(FigureOfFreeEnergies, DrawsAnAnnealedEnergyAsHighAsTheLastQuenchedOne) {
  store::StudyRecord study = small_study();
  study.frames[3].variable("quenched_free_energy").cells.back().mean = 9.0;
  const LinePanel panel = figure_of_free_energies(study).panels[0];
  EXPECT_EQ(series_of(panel, "annealed: 1 + t²").y, (Values{3, 6, 9}));
}

TEST(FigureOfFreeEnergies, CollapsesTheirDifferenceAtFreezing) {
  const LinePanel panel = figure_of_free_energies(small_study()).panels[1];
  EXPECT_EQ(panel.x.label, "(1 − t) √(2 log N)");
  EXPECT_EQ(panel.y.label, "E log Z − log E Z");
  ASSERT_EQ(panel.markers.size(), 1U);
  EXPECT_EQ(panel.markers[0].x, 0.0);
  const Series& points = nameless_points(panel);
  EXPECT_DOUBLE_EQ(points.x[0], 0.5 * std::sqrt(2 * std::log(1e3)));
  EXPECT_DOUBLE_EQ(points.x[1], -std::sqrt(2 * std::log(1e3)));
  EXPECT_EQ(points.y, (Values{8 - 32, 16 - 64}));
  // Terms below 64, rounded twice each.
  EXPECT_NEAR(points.error[0], 0.8, 4 * 32 * 0x1p-52);
  EXPECT_EQ(series_of(panel, "N = 10³").y, (Values{4 - 16, 8 - 32, 12 - 48}));
  EXPECT_EQ(series_of(panel, "N = 10⁶").y, (Values{16 - 64, 20 - 80, 24 - 96}));
  const Series& limit = series_of(panel, "log Φ, N → ∞");
  EXPECT_EQ(limit.style, SeriesStyle::dashed);
  EXPECT_EQ(limit.colour, 0x000000U);
  EXPECT_EQ(limit.x, kPlaces);
  EXPECT_EQ(limit.y, (Values{-0.5, -1.0, -1.5}));
}

// Curves of two n, then limits, then points of two n and their name in the legend.
TEST(FiguresOfCondensation, SayWhatIsTheory) {
  const store::StudyRecord study = small_study();
  EXPECT_EQ(test::theory_flags(figure_of_condensation(study)), "ttttmmm tttmm");
  EXPECT_EQ(test::theory_flags(figure_of_weight_collapse(study)), "tttmmm tttmm");
  EXPECT_EQ(test::theory_flags(figure_of_free_energies(study)), "ttttmmm tttmm");
}

// ---- a planted key --------------------------------------------------------------------------

const Values kSignals{0.5, 1.0, 1.5};

store::StudyRecord retrieval_study() {
  Frame measured = empty_frame("condense", {1e4, 1e30}, kLoads);
  measured.add_dimension("signal", kSignals);
  add_counting(measured, "planted_weight", {"n", "t", "signal"}, 1.0);
  Frame theory = empty_frame("condense_theory", {1e30}, kTheoryLoads);
  add_counting(theory, "retrieval_signal", {"n", "t"}, 1.0);
  return study_of({measured, theory});
}

TEST(FigureOfRetrieval, HasAPanelForEveryLength) {
  const HeatmapFigure figure = figure_of_retrieval(retrieval_study());
  EXPECT_EQ(figure.x_label, "load t = β / β_c");
  EXPECT_EQ(figure.y_label, "signal s = m/(σ √(2 log N))");
  EXPECT_EQ(figure.z_label, "mean weight of the planted key");
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[0].title, "N = 10⁴");
  EXPECT_EQ(figure.panels[1].title, "N = 10³⁰");
  EXPECT_EQ(figure.panels[1].x, kLoads);
  EXPECT_EQ(figure.panels[1].y, kSignals);
  EXPECT_EQ(figure.panels[0].z, (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(figure.panels[1].z, (Values{7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(figure.caption,
            "sigma = 1\u00a0· 50 samples per cell\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
}

TEST(FigureOfRetrieval, HasTheErrorOfEveryCell) {
  store::StudyRecord study = retrieval_study();
  auto& cells = study.frames[0].variable("planted_weight").cells;
  for (std::size_t k = 0; k < cells.size(); ++k) cells[k].standard_error = double(k);
  const HeatmapFigure figure = figure_of_retrieval(study);
  EXPECT_EQ(figure.panels[0].error, (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(figure.panels[1].error, (Values{6, 7, 8, 9, 10, 11}));
}

// Theory has 10³⁰ only.
TEST(FigureOfRetrieval, HasTheBoundaryWhereTheoryHasTheLength) {
  const HeatmapFigure figure = figure_of_retrieval(retrieval_study());
  EXPECT_EQ(figure.panels[0].curves.size(), 1U);
  ASSERT_EQ(figure.panels[1].curves.size(), 2U);
  const Curve& boundary = figure.panels[1].curves[0];
  EXPECT_EQ(boundary.label, "retrieved above s_c(t)");
  EXPECT_EQ(boundary.style, CurveStyle::solid);
  EXPECT_EQ(boundary.x, kTheoryLoads);
  EXPECT_EQ(boundary.y, (Values{1, 2, 3}));
  for (const auto& panel : figure.panels) {
    const Curve& best = panel.curves.back();
    EXPECT_EQ(best.label, "best t = s, below the boundary");
    EXPECT_EQ(best.style, CurveStyle::dashed);
    EXPECT_EQ(best.x, best.y);
    EXPECT_EQ(best.x.back(), 1.0);
  }
}

// ---- what is refused ------------------------------------------------------------------------

void expect_refused(const Draw& draw, const std::vector<Frame>& frames) {
  EXPECT_EQ(test::code_of([&] { draw(study_of(frames)); }), Code::bad_value);
}

const std::vector<Draw> kLineFigures{
    [](const store::StudyRecord& study) { static_cast<void>(figure_of_condensation(study)); },
    [](const store::StudyRecord& study) { static_cast<void>(figure_of_weight_collapse(study)); },
    [](const store::StudyRecord& study) { static_cast<void>(figure_of_free_energies(study)); }};

// The small study with another frame in place of the one of its name.
std::vector<Frame> small_with(const Frame& other) {
  std::vector<Frame> frames = small_frames();
  for (Frame& frame : frames) {
    if (frame.name() == other.name()) frame = other;
  }
  return frames;
}

std::vector<Frame> small_without(const std::string& name) {
  std::vector<Frame> frames = small_frames();
  std::erase_if(frames, [&](const Frame& frame) { return frame.name() == name; });
  return frames;
}

TEST(FiguresOfCondensation, RefuseAStudyOfAnotherForm) {
  for (const Draw& draw : kLineFigures) {
    expect_refused(draw, {});
    for (const char* name : {"condense", "condense_theory", "condense_law"}) {
      expect_refused(draw, small_without(name));
    }
    expect_refused(draw, small_with(empty_frame("condense", {1e3, 1e4}, kLoads)));
    expect_refused(draw, small_with(empty_frame("condense_theory", {1e3}, kLoads)));
    Frame turned = empty_frame("condense", {1e3, 1e4}, kLoads);
    for (const char* name : {"largest_weight", "log_partition"}) {
      turned.add_variable(name, {"t", "n"});
    }
    expect_refused(draw, small_with(turned));
    std::vector<Frame> falling = small_with(measured_frame({1e4, 1e3}));
    falling[2] = law_frame({1e4, 1e3});
    expect_refused(draw, falling);
  }
}

TEST(FiguresOfCondensation, RefuseAStudyWithoutTheCurvesTheyDraw) {
  expect_refused(kLineFigures[0], small_without("condense_limits"));
  expect_refused(kLineFigures[1], small_with(empty_frame("condense_law", {1e3, 1e4}, kLoads)));
  expect_refused(kLineFigures[2], small_with(empty_frame("condense_law", {1e3, 1e4}, kLoads)));
  expect_refused(kLineFigures[2], small_without("condense_limits"));
  expect_refused(kLineFigures[2], small_without("freezing_window"));
}

TEST(FiguresOfCondensation, RefuseLawsAtOtherPlacesThanTheMeasuredOnes) {
  for (const Draw& draw : kLineFigures) {
    expect_refused(draw, small_with(law_frame({1e3, 1e6})));
    expect_refused(draw, small_with(law_frame({1e3, 1e4}, {0.5, 1.5})));
    expect_refused(draw, small_with(law_frame({1e3, 1e4}, kTheoryLoads)));
  }
}

TEST(FiguresOfCondensation, RefuseALengthWithoutALogarithmAboveZero) {
  for (const Draw& draw : kLineFigures) {
    for (const Values& lengths : {Values{1, 1e3}, Values{1e3, kInfinity}}) {
      std::vector<Frame> frames = small_with(measured_frame(lengths));
      frames[2] = law_frame(lengths);
      expect_refused(draw, frames);
    }
    expect_refused(draw, small_with(theory_frame({-5, 1e3})));
  }
}

TEST(FigureOfRetrieval, RefusesAStudyWithoutAPlantedKey) {
  const Draw draw = [](const store::StudyRecord& study) {
    static_cast<void>(figure_of_retrieval(study));
  };
  const std::vector<Frame> good = retrieval_study().frames;
  expect_refused(draw, {});
  expect_refused(draw, {good[0]});
  expect_refused(draw, {measured_frame(), theory_frame()});
  expect_refused(draw, {good[0], theory_frame({1e30})});
  Frame turned = empty_frame("condense", {1e4}, kLoads);
  turned.add_dimension("signal", kSignals);
  turned.add_variable("planted_weight", {"n", "signal", "t"});
  expect_refused(draw, {turned, good[1]});
}

}  // namespace
}  // namespace dewpoint::report
