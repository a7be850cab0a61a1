// Multipliers that keep heads in their phase, from frames whose dew points are made up.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/diagnosis/iso_phase.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/diagnosis/robust_location.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::diagnosis {
namespace {

struct Model {
  std::size_t layers = 4, heads = 10;
  std::vector<double> ends = {128, 256, 512};
  double error = 0.02;  // of log β_dew
  double slope = std::numeric_limits<double>::quiet_NaN();
};

using LogDew = std::function<double(std::size_t head, std::size_t bin)>;

/// Full bins: 3N/4 + 1/2 keys in the mean.
Frame frame_of(const Model& model, const LogDew& log_dew) {
  Frame frame("heads");
  std::vector<double> layers(model.layers), heads(model.heads);
  std::iota(layers.begin(), layers.end(), 0.0);
  std::iota(heads.begin(), heads.end(), 0.0);
  frame.add_dimension("layer", layers);
  frame.add_dimension("head", heads);
  frame.add_dimension("n", model.ends);
  for (const char* name : {"keys", "dew_point", "dew_point_without_sink"})
    frame.add_variable(name, {"layer", "head", "n"});
  frame.add_variable("slope_along_rows", {"layer", "head"});
  const std::size_t bins = model.ends.size();
  for (std::size_t head = 0; head < model.layers * model.heads; ++head) {
    frame.variable("slope_along_rows").cells[head] = {model.slope, 0.01, 4};
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double point = std::exp(log_dew(head, bin));
      frame.variable("keys").cells[head * bins + bin] = {0.75 * model.ends[bin] + 0.5, 0.0, 100};
      for (const char* name : {"dew_point", "dew_point_without_sink"})
        frame.variable(name).cells[head * bins + bin] = {point, point * model.error, 100};
    }
  }
  return frame;
}

IsoPhaseQuestion question(std::vector<double> targets) { return {256, std::move(targets), false}; }

// Property (1): exact, because all heads agree.
TEST(IsoPhase, FindsTheFactorThatAllHeadsShare) {
  const Frame trained =
      frame_of({}, [](std::size_t head, std::size_t) { return 0.1 * static_cast<double>(head); });
  const Frame deployed = frame_of({}, [](std::size_t head, std::size_t bin) {
    return 0.1 * static_cast<double>(head) + 0.25 * static_cast<double>(bin);
  });
  const IsoPhaseFit fit = fit_iso_phase(deployed, trained, question({256, 512}));
  ASSERT_EQ(fit.heads.size(), 40U);
  ASSERT_EQ(fit.layers.size(), 4U);
  EXPECT_NEAR(fit.global[0]->log_factor.mean, 0.25, 1e-12);
  EXPECT_NEAR(fit.global[1]->log_factor.mean, 0.5, 1e-12);
  EXPECT_NEAR(fit.layers[2].factors[1]->value(), std::exp(0.5), 1e-12);
  // Two readings of 2 % each, and at least that over √40 for all.
  EXPECT_NEAR(fit.heads[7].factors[1]->log_factor.standard_error, 0.02 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(fit.global[1]->log_factor.standard_error, 0.02 * std::sqrt(2.0 / 40.0), 1e-9);
  EXPECT_NEAR(fit.spread[1], 0.0, 1e-12);
  ASSERT_TRUE(fit.fitted.has_value());
  EXPECT_NEAR(fit.fitted_slope.mean, (std::exp(0.5) - 1.0) / std::log(2.0), 1e-9);
  EXPECT_EQ(fit.fitted_to, 512.0);
  EXPECT_TRUE(fit.warnings.empty());
}

// Half way between bins in log n.
TEST(IsoPhase, InterpolatesBetweenBins) {
  const Frame frame =
      frame_of({}, [](std::size_t, std::size_t bin) { return 0.3 * static_cast<double>(bin); });
  const IsoPhaseFit fit = fit_iso_phase(frame, frame, question({256.0 * std::sqrt(2.0)}));
  EXPECT_NEAR(fit.global[0]->log_factor.mean, 0.15, 1e-9);
  EXPECT_NEAR(fit.heads[0].factors[0]->log_factor.standard_error, 0.02 * std::sqrt(0.5), 1e-9);
  EXPECT_FALSE(fit.global[0]->extrapolated);
}

// Property (3).
TEST(IsoPhase, IsOneAtTheTrainingLengthOfTheSameModel) {
  const Frame frame = frame_of(
      {}, [](std::size_t head, std::size_t bin) { return 0.01 * static_cast<double>(head * bin); });
  const IsoPhaseFit fit = fit_iso_phase(frame, frame, question({256}));
  EXPECT_EQ(fit.global[0]->value(), 1.0);
  EXPECT_EQ(fit.global[0]->log_factor.standard_error, 0.0);
}

TEST(IsoPhase, ExtrapolatesWithTheSlopeAndSaysSo) {
  Model model;
  model.slope = 0.2;
  const Frame frame = frame_of(model, [](std::size_t, std::size_t) { return 0.0; });
  const IsoPhaseFit fit = fit_iso_phase(frame, frame, question({2048}));
  ASSERT_TRUE(fit.global[0].has_value());
  EXPECT_TRUE(fit.global[0]->extrapolated);
  EXPECT_NEAR(fit.global[0]->log_factor.mean, 0.2 * std::log(4.0), 1e-12);
  EXPECT_NEAR(fit.heads[0].factors[0]->log_factor.standard_error,
              std::hypot(0.02 * std::sqrt(2.0), 0.01 * std::log(4.0)), 1e-12);
  EXPECT_EQ(fit.warnings.front().rfind("extrapolated:", 0), 0U);
  const Frame silent = frame_of({}, [](std::size_t, std::size_t) { return 0.0; });
  const IsoPhaseFit none = fit_iso_phase(silent, silent, question({2048}));
  EXPECT_FALSE(none.global[0].has_value());
  EXPECT_EQ(none.warnings.front().rfind("no-dew-points:", 0), 0U);
}

TEST(IsoPhase, IsNotMovedByOneHeadAndNamesIt) {
  const auto level = [](std::size_t, std::size_t) { return 0.0; };
  const Frame trained = frame_of({}, level);
  const Frame deployed = frame_of({}, [](std::size_t head, std::size_t bin) {
    const double scatter = 0.02 * (static_cast<double>(head % 5) - 2.0);
    return bin == 2 ? (head == 13 ? 4.0 : 0.2 + scatter) : 0.0;
  });
  const IsoPhaseFit fit = fit_iso_phase(deployed, trained, question({512}));
  EXPECT_NEAR(fit.global[0]->log_factor.mean, 0.2, 0.01);
  ASSERT_EQ(fit.warnings.size(), 1U);
  EXPECT_NE(fit.warnings[0].find("layer 1 head 3"), std::string::npos) << fit.warnings[0];
}

// √(log n/log n0) made up: that schedule is best, and misses nothing.
TEST(IsoPhase, RanksTheSchedules) {
  const auto curve = [](double n) { return 0.5 * std::log(std::log(n) / std::log(256.0)); };
  Model model;
  model.ends = {256, 1024, 4096};
  const Frame frame =
      frame_of(model, [&](std::size_t, std::size_t bin) { return curve(model.ends[bin]); });
  const IsoPhaseFit fit = fit_iso_phase(frame, frame, question({1024, 4096}));
  ASSERT_FALSE(fit.schedules.empty());
  EXPECT_EQ(fit.schedules.front().schedule.name, "sqrt-log");
  EXPECT_LT(fit.schedules.front().root_mean_square, 1e-9);
  EXPECT_NEAR(fit.schedules.front().factors[1], std::exp(curve(4096.0)), 1e-12);
  for (std::size_t i = 1; i < fit.schedules.size(); ++i)
    EXPECT_GE(fit.schedules[i].root_mean_square, fit.schedules[i - 1].root_mean_square);
}

// Property (2). Errors from 40 redrawn heads follow Student's law with 39 degrees: two of them
// cover 94.8 %. Over 300 studies 94.8 % ± 1.3 %; redrawing itself is uncertain by 3.5 %.
TEST(IsoPhase, CoversTheCentreOfHeadsThatScatter) {
  constexpr int studies = 300;
  int covered = 0, slope_covered = 0;
  for (std::uint64_t study = 0; study < studies; ++study) {
    const Stream noise(test::seed(), "iso phase/noise", study);
    const Stream spread(test::seed(), "iso phase/spread", study);
    const auto error = [&](std::size_t head, std::size_t bin, std::size_t run) {
      return 0.02 * noise.normal((head * 3 + bin) * 2 + run);
    };
    const Frame trained =
        frame_of({}, [&](std::size_t head, std::size_t bin) { return error(head, bin, 0); });
    const Frame deployed = frame_of({}, [&](std::size_t head, std::size_t bin) {
      return error(head, bin, 1) + 0.3 + 0.1 * spread.normal(head);
    });
    const IsoPhaseFit fit = fit_iso_phase(deployed, trained, question({512}));
    const Estimate& found = fit.global[0]->log_factor;
    covered += std::abs(found.mean - 0.3) < 2.0 * found.standard_error ? 1 : 0;
    const double slope = (std::exp(0.3) - 1.0) / std::log(2.0);
    slope_covered +=
        std::abs(fit.fitted_slope.mean - slope) < 2.0 * fit.fitted_slope.standard_error ? 1 : 0;
  }
  const double least = 0.93 - test::kSigmas * std::sqrt(0.93 * 0.07 / studies);
  EXPECT_GT(covered, least * studies);
  EXPECT_GT(slope_covered, least * studies);
}

TEST(IsoPhase, RefusesFramesWithoutCommonHeadsOrDewPoints) {
  const auto level = [](std::size_t, std::size_t) { return 0.0; };
  const Frame frame = frame_of({}, level);
  EXPECT_THROW((void)fit_iso_phase(frame, frame, {4096, {8192.0}, false}), Error);
  const Frame empty = frame_of(
      {}, [](std::size_t, std::size_t) { return std::numeric_limits<double>::infinity(); });
  EXPECT_THROW((void)fit_iso_phase(empty, empty, question({512})), Error);
}

// ---- location -------------------------------------------------------------------------------

// Properties (1) and (2) of robust_location.
TEST(RobustLocation, IsTheMeanWithoutOutliersAndBoundedWithThem) {
  std::vector<Estimate> values;
  for (const double x : {-1.0, -0.5, 0.0, 0.5, 1.2}) values.push_back({x, 2.0, 1});
  const std::vector<std::uint32_t> once(5, 1);
  EXPECT_NEAR(robust_location(values, once), 0.04, 1e-9);
  values.back().mean = 1e6;  // four numbers of mean −1/4, one that counts as kHuberBend deviations
  EXPECT_LT(robust_location(values, once), -0.25 + kHuberBend * 2.0 / 4.0 + 1e-9);
}

}  // namespace
}  // namespace dewpoint::diagnosis
