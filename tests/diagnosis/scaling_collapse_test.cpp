// Curves that collapse with known exponents, and those that do not.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/diagnosis/scaling_collapse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::diagnosis {
namespace {

double step(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double straight(double x) { return 2.0 + 0.5 * x; }

/// Points over 0.4 ≤ x ≤ 1.6 at each size, on y = L^b f((x − x_c) L^a) with errors `noise` · L^b.
struct Synthetic {
  CollapseScales truth{0.95, 1.0, 0.0};
  std::vector<double> sizes{4.0, 6.0, 9.0, 13.0};
  std::size_t points = 48;
  double noise = 0.02;
  double (*law)(double) = step;

  [[nodiscard]] double spacing() const { return 1.2 / static_cast<double>(points - 1); }

  [[nodiscard]] std::vector<SizeCurve> curves(const Stream& stream) const {
    std::vector<SizeCurve> all;
    std::uint64_t index = 0;
    for (const double size : sizes) {
      SizeCurve curve{size, {}, {}};
      const double height = std::pow(size, truth.height_exponent);
      for (std::size_t j = 0; j < points; ++j) {
        const double x = 0.4 + spacing() * static_cast<double>(j);
        const double value = law((x - truth.critical) * std::pow(size, truth.width_exponent));
        curve.x.push_back(x);
        curve.y.push_back({height * (value + noise * stream.normal(index++)), height * noise, 100});
      }
      all.push_back(std::move(curve));
    }
    return all;
  }
};

Stream replica_stream(const char* name, int replica) {
  return {test::seed(), name, static_cast<std::uint64_t>(replica)};
}

/// S at the true parameters over many experiments.
RunningMoments true_qualities(const Synthetic& synthetic, const char* name, int experiments) {
  RunningMoments qualities;
  for (int i = 0; i < experiments; ++i) {
    const auto curves = synthetic.curves(replica_stream(name, i));
    qualities.add(collapse_quality(curves, synthetic.truth).mean);
  }
  return qualities;
}

/// How many standard errors a fitted parameter may be off. To first order it is Σ c_i y_i with
/// standard error σ √(Σ c_i²), so displacements d_i of the points move it by at most
/// √(Σ d_i²)/σ of these [Cauchy and Schwarz]; to that comes chance, and that the bootstrap knows
/// its errors to 1/√(2 replicates).
double allowed_errors(double displacement_over_error, const CollapseOptions& options) {
  const double replicates = static_cast<double>(options.bootstrap.replicates);
  return (test::kSigmas + displacement_over_error) *
         (1.0 + test::kSigmas / std::sqrt(2.0 * replicates));
}

/// √(Σ d_i²)/σ for d_i ≤ f″ h²/8, what `step` bends between two points of the largest size:
/// |f″| ≤ 1/(6√3).
double bend_over_error(const Synthetic& synthetic) {
  const double spacing = synthetic.spacing() * synthetic.sizes.back();
  const double bend = spacing * spacing / (8.0 * 6.0 * std::sqrt(3.0));
  const auto points = static_cast<double>(synthetic.points * synthetic.sizes.size());
  return std::sqrt(points) * bend / synthetic.noise;
}

// Property (1).
TEST(CollapseQuality, IsOneOnAverageAtTheTruth) {
  const Synthetic synthetic{.truth = {0.95, 0.8, 0.3}, .points = 12, .law = straight};
  const Estimate quality = true_qualities(synthetic, "CollapseQuality/one", 2000).estimate();
  EXPECT_NEAR(quality.mean, 1.0, test::kSigmas * quality.standard_error);
}

// Property (2): powers of two, which round nothing.
TEST(CollapseQuality, DoesNotDependOnUnits) {
  const auto curves = Synthetic{}.curves(test::stream("CollapseQuality/units"));
  auto others = curves;
  for (SizeCurve& curve : others) {
    curve.size *= 4.0;
    for (double& x : curve.x) x *= 8.0;
    for (Estimate& y : curve.y) y = {0.5 * y.mean, 0.5 * y.standard_error, y.samples};
  }
  EXPECT_EQ(collapse_quality(curves, {0.9, 1.1, 0.2}).mean,
            collapse_quality(others, {7.2, 1.1, 0.2}).mean);
}

TEST(CollapseQuality, IsInfiniteWhereCurvesDoNotMeet) {
  const auto curves = Synthetic{}.curves(test::stream("CollapseQuality/apart"));
  const CollapseQuality quality = collapse_quality(curves, {-5.0, 3.0, 0.0});
  EXPECT_EQ(quality.mean, std::numeric_limits<double>::infinity());
  EXPECT_EQ(quality.points, 4u * 48u);
  EXPECT_EQ(quality.compared, 0u);
}

// Property (3), first half: with b known and with b fitted.
TEST(FitCollapse, FindsTheExponentsWithinTheirErrors) {
  for (const double height : {0.0, 0.3}) {
    const Synthetic synthetic{.truth = {0.95, 1.0, height}};
    CollapseOptions options;
    if (height > 0.0) options.height_exponent = std::nullopt;
    const auto curves = synthetic.curves(test::stream("FitCollapse/exponents"));
    const Collapse fit = fit_collapse(curves, options);
    const double allowed = allowed_errors(bend_over_error(synthetic), options);
    EXPECT_EQ(fit.doubt, "");
    for (const auto& [found, truth] : {std::pair{fit.critical, 0.95},
                                       {fit.width_exponent, 1.0},
                                       {fit.height_exponent, height}}) {
      EXPECT_NEAR(found.value.mean, truth, allowed * found.value.standard_error);
      EXPECT_LE(found.lowest, found.value.mean);
      EXPECT_GE(found.highest, found.value.mean);
    }
    EXPECT_EQ(fit.floored, 0u);
    EXPECT_EQ(fit.collapsed.size(), 4u * 48u);
  }
}

// A minimum cannot lie above the truth. How far below: each parameter takes the square of one
// normal number, in every term in which a point occurs: its own, and two of each other size.
TEST(FitCollapse, HasAQualityNearOne) {
  constexpr int experiments = 12;
  const Synthetic synthetic;
  RunningMoments drop, truth;
  for (int i = 0; i < experiments; ++i) {
    const auto curves = synthetic.curves(replica_stream("FitCollapse/quality", i));
    const Collapse fit = fit_collapse(curves, {.bootstrap = {2, 1}});
    truth.add(collapse_quality(curves, synthetic.truth).mean);
    drop.add(collapse_quality(curves, synthetic.truth).mean - fit.quality.mean);
    EXPECT_LE(fit.quality.mean, collapse_quality(curves, synthetic.truth).mean);
    EXPECT_LT(fit.quality.mean, kGoodQuality);
  }
  const double per_point = 1.0 / (4.0 * 48.0), bend = bend_over_error(synthetic);
  EXPECT_LT(drop.mean(), 2.0 * 7.0 * per_point + test::kSigmas * drop.estimate().standard_error);
  EXPECT_NEAR(truth.mean(), 1.0,
              test::kSigmas * truth.estimate().standard_error + bend * bend * per_point);
}

// What is said of kGoodQuality, at its fewest points.
TEST(FitCollapse, SeldomDoubtsARightCollapse) {
  const Synthetic synthetic{.sizes = {4.0, 6.0, 9.0}, .points = 8, .law = straight};
  constexpr int experiments = 4000;
  int above = 0;
  for (int i = 0; i < experiments; ++i) {
    const auto curves = synthetic.curves(replica_stream("FitCollapse/seldom", i));
    above += collapse_quality(curves, synthetic.truth).mean > kGoodQuality ? 1 : 0;
  }
  const double expected = 0.01 * experiments;
  EXPECT_LE(above, expected + test::kSigmas * std::sqrt(expected));
}

// Property (3), second half. Errors are divided by √S where S > 1, the enlargement for bad fits;
// relative errors of a standard deviation over m values are 1/√(2(m − 1)).
TEST(FitCollapse, HasErrorsThatAreItsScatter) {
  const Synthetic synthetic{.sizes = {4.0, 6.0, 9.0}, .points = 20, .noise = 0.01};
  constexpr int experiments = 160, fits = 6;
  RunningMoments critical, width, critical_variance, width_variance;
  for (int i = 0; i < experiments; ++i) {
    const auto curves = synthetic.curves(replica_stream("FitCollapse/scatter", i));
    const std::size_t replicates = i < fits ? 100 : 2;
    const auto seed = static_cast<std::uint64_t>(i);
    const Collapse fit = fit_collapse(curves, {.bootstrap = {replicates, seed}});
    critical.add(fit.critical.value.mean);
    width.add(fit.width_exponent.value.mean);
    if (i >= fits) continue;
    const double enlarged = std::max(1.0, fit.quality.mean);
    critical_variance.add(std::pow(fit.critical.value.standard_error, 2) / enlarged);
    width_variance.add(std::pow(fit.width_exponent.value.standard_error, 2) / enlarged);
  }
  const double spread = std::sqrt(1.0 / (2.0 * experiments) + 1.0 / (2.0 * 100 * fits));
  const auto ratio = [](const RunningMoments& variance, const RunningMoments& scatter) {
    return std::sqrt(variance.mean() / scatter.variance());
  };
  RecordProperty("critical", std::to_string(ratio(critical_variance, critical)));
  RecordProperty("width", std::to_string(ratio(width_variance, width)));
  EXPECT_NEAR(ratio(critical_variance, critical), 1.0, test::kSigmas * spread);
  EXPECT_NEAR(ratio(width_variance, width), 1.0, test::kSigmas * spread);
}

// Property (4). The ends are found to 1 % of their distance, over which S rises by 2 % of 1; and S
// jumps where a point changes its neighbours, each time by a few of 192 terms.
TEST(FitCollapse, RisesByOneAtTheEndsOfItsRange) {
  const auto curves = Synthetic{}.curves(test::stream("FitCollapse/range"));
  const Collapse fit = fit_collapse(curves);
  for (const double end : {fit.width_exponent.lowest, fit.width_exponent.highest}) {
    const Collapse held = fit_collapse(curves, {.width_exponent = end});
    EXPECT_NEAR(held.quality.mean, fit.quality.mean + 1.0, 0.02 + 5.0 / 192.0);
    EXPECT_EQ(held.width_exponent.value.mean, end);
    EXPECT_EQ(held.width_exponent.value.standard_error, 0.0);
  }
}

TEST(FitCollapse, DoubtsWrongExponents) {
  const auto curves = Synthetic{.noise = 0.005}.curves(test::stream("FitCollapse/wrong"));
  const Collapse wrong = fit_collapse(curves, {.width_exponent = 2.0});
  EXPECT_GT(wrong.quality.mean, 10.0 * kGoodQuality);
  EXPECT_NE(wrong.doubt.find("do not fall onto one"), std::string::npos) << wrong.doubt;
}

// Property (5): a constant collapses with anything.
TEST(FitCollapse, DoubtsWhatTheDataDoNotFix) {
  const Synthetic flat{.law = [](double) { return 0.5; }};
  const auto curves = flat.curves(test::stream("FitCollapse/flat"));
  const Collapse fit = fit_collapse(curves, {.bootstrap = {20, 1}});
  EXPECT_LT(fit.quality.mean, kGoodQuality);
  EXPECT_NE(fit.doubt.find("about as well"), std::string::npos) << fit.doubt;
}

// Property (6), and that a call repeats itself.
TEST(FitCollapse, GivesTheSameBytesOnAnyThreads) {
  const auto curves = Synthetic{.points = 12}.curves(test::stream("FitCollapse/bytes"));
  const CollapseOptions options{.height_exponent = std::nullopt, .bootstrap = {20, 3}};
  const Collapse first = fit_collapse(curves, options, {1, {}, {}});
  for (const int threads : {1, 2, 3}) {
    const Collapse again = fit_collapse(curves, options, {threads, {}, {}});
    EXPECT_EQ(again.quality.mean, first.quality.mean);
    for (const auto parameter :
         {&Collapse::critical, &Collapse::width_exponent, &Collapse::height_exponent}) {
      EXPECT_EQ((again.*parameter).value.mean, (first.*parameter).value.mean);
      EXPECT_EQ((again.*parameter).value.standard_error, (first.*parameter).value.standard_error);
      EXPECT_EQ((again.*parameter).lowest, (first.*parameter).lowest);
      EXPECT_EQ((again.*parameter).highest, (first.*parameter).highest);
    }
  }
}

// ---- one attention layer, exactly -----------------------------------------------------------

constexpr double kRho = 0.5;
constexpr std::size_t kPlaces = 240;

/// λ against c at n, 2n, 4n, 8n tokens, with L = log n.
std::vector<SizeCurve> layers(double shortest) {
  std::vector<SizeCurve> all;
  for (const double n : {shortest, 2 * shortest, 4 * shortest, 8 * shortest}) {
    SizeCurve curve{std::log(n), {}, {}};
    for (std::size_t j = 0; j < kPlaces; ++j) {
      const double c = 0.4 + 1.2 * static_cast<double>(j) / (kPlaces - 1);
      const double beta = c * curve.size / (1.0 - kRho);
      const auto layer = theory::simplex_output(curve.size, beta, kRho);
      curve.x.push_back(c);
      curve.y.push_back({std::exp(layer.log_contraction), 0.0, 1});
    }
    all.push_back(std::move(curve));
  }
  return all;
}

/// √(Σ d_i²)/σ: d_i is the distance of a point from the limit n → ∞ at the same (c − 1) log n, plus
/// what that limit bends between two points, a second difference over 8.
double distance_over_error(const std::vector<SizeCurve>& curves, double error) {
  const auto limit = [](double x) { return theory::simplex_crossover(x, kRho).contraction; };
  double sum = 0.0;
  for (const SizeCurve& curve : curves)
    for (std::size_t j = 0; j < curve.x.size(); ++j) {
      const double x = (curve.x[j] - 1.0) * curve.size;
      const double h = (curve.x[1] - curve.x[0]) * curves.back().size;
      const double bend = std::abs(limit(x + h) - 2.0 * limit(x) + limit(x - h)) / 8.0;
      const double distance = std::abs(curve.y[j].mean - limit(x)) + bend;
      sum += distance * distance;
    }
  return std::sqrt(sum) / error;
}

// Nothing is random, so what is left of a tolerance is the correction to scaling, which is known.
TEST(FitCollapse, FindsTheTransitionOfOneLayerAtOne) {
  double last_miss = std::numeric_limits<double>::infinity();
  for (const double shortest : {128.0, 1024.0, 8192.0}) {
    const auto curves = layers(shortest);
    const CollapseOptions options{.bootstrap = {50, 1}};
    const Collapse fit = fit_collapse(curves, options);
    EXPECT_EQ(fit.doubt, "");
    EXPECT_EQ(fit.floored, 4 * kPlaces);
    const double bound =
        distance_over_error(curves, fit.floor) * (1.0 + test::kSigmas / std::sqrt(2.0 * 50.0));
    EXPECT_NEAR(fit.critical.value.mean, 1.0, bound * fit.critical.value.standard_error);
    EXPECT_NEAR(fit.width_exponent.value.mean, 1.0,
                bound * fit.width_exponent.value.standard_error);
    // The correction is proportional to 1/n: eight times less each time, up to what the bends add.
    const double miss = std::abs(fit.critical.value.mean - 1.0);
    EXPECT_LT(miss, last_miss / 4.0) << shortest;
    last_miss = miss;
  }
}

// The transition is 1/log n wide; no power of n makes the same curves one.
TEST(FitCollapse, TellsLogNFromN) {
  auto curves = layers(128.0);
  for (const SizeCurve& longer : layers(2048.0)) curves.push_back(longer);
  curves.erase(curves.begin() + 4);
  EXPECT_EQ(fit_collapse(curves, {.bootstrap = {2, 1}}).doubt, "");
  for (SizeCurve& curve : curves) curve.size = std::exp(curve.size);
  EXPECT_GT(fit_collapse(curves, {.bootstrap = {2, 1}}).quality.mean, kGoodQuality);
}

// ---- refusals -------------------------------------------------------------------------------

std::string refusal(const std::vector<SizeCurve>& curves, const CollapseOptions& options = {}) {
  try {
    (void)fit_collapse(curves, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

TEST(FitCollapse, RefusesWhatCannotBeCompared) {
  const auto curves = Synthetic{.points = 6}.curves(test::stream("FitCollapse/refuse"));
  EXPECT_NE(refusal({curves[0]}).find("1 sizes; at least 2"), std::string::npos);
  EXPECT_NE(refusal({curves[0], curves[0]}).find("twice"), std::string::npos);

  auto changed = curves;
  changed[1].x.resize(3);
  changed[1].y.resize(3);
  EXPECT_NE(refusal(changed).find("size 6: 3 points; at least 4"), std::string::npos);
  changed = curves;
  changed[2].y[1].standard_error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal(changed).find("not known"), std::string::npos);
  changed = curves;
  std::swap(changed[0].x[1], changed[0].x[2]);
  EXPECT_NE(refusal(changed).find("increasing"), std::string::npos);
  changed = curves;
  for (std::size_t i = 0; i < 4; ++i)
    for (double& x : changed[i].x) x += 10.0 * static_cast<double>(i);
  EXPECT_NE(refusal(changed, {.width_exponent = 0.0}).find("common range"), std::string::npos);
  changed = curves;
  for (SizeCurve& curve : changed)
    for (Estimate& y : curve.y) y.standard_error = 0.0;
  EXPECT_NE(refusal(changed, {.error_floor = 0.0}).find("floor"), std::string::npos);
}

}  // namespace
}  // namespace dewpoint::diagnosis
