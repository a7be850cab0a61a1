// Dew points of score laws over n: exact laws, tabulated values, direct samples.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/dew.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/observables/dew_point.hpp"
#include "dewpoint/scores/gaussian_law.hpp"
#include "dewpoint/scores/simplex_law.hpp"
#include "dewpoint/scores/sphere_law.hpp"
#include "support/kolmogorov_smirnov.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

DewCurve curve(std::vector<double> n, std::size_t draws, std::size_t top = 256) {
  return {std::move(n), draws, top, test::seed()};
}

// Property (1), to 1e-12, and nothing random in it.
TEST(DewCurve, OfTheSimplexIsExact) {
  const std::vector<double> n{3.0, 100.0, 1e4, 1e15, 1e100};
  const Frame frame = dew_curve(scores::SimplexLaw(0.3), curve(n, 8));
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double exact = std::log(n[i] - 1.0) / 0.7;
    for (const char* name : {"beta_dew_lower", "beta_dew_median", "beta_dew_upper"}) {
      const Estimate& cell = frame.variable(name).cells[i];
      EXPECT_NEAR(cell.mean / exact, 1.0, 1e-12) << n[i];
      EXPECT_EQ(cell.standard_error, 0.0);
    }
    const double others = n[i] - 1.0;
    const double pooled = (std::log(others) + std::log1p(std::sqrt(2.0 - 2.0 / others))) / 0.7;
    EXPECT_NEAR(frame.variable("beta_pr").cells[i].mean / pooled, 1.0, 1e-10);
    EXPECT_EQ(frame.variable("beta_pr").cells[i].standard_error, 0.0);
    EXPECT_NEAR(frame.variable("accumulation").cells[i].mean * 0.7 / std::log(n[i]), 1.0, 1e-12);
  }
  const double rise = std::log(std::log(1e15 - 1.0) / std::log(99.0)) / std::log(1e13);
  EXPECT_NEAR(frame.variable("slope_dew").cells[2].mean, rise, 1e-12);
  EXPECT_EQ(frame.variable("slope_dew").cells[2].standard_error, 0.0);
}

struct Tabulated {
  double n, participation;
};

void expect_tabulated(const scores::TopLaw& law, const std::vector<Tabulated>& table) {
  for (const auto& [n, participation] : table) {
    const Frame frame = dew_curve(law, curve({n}, 600));
    const Estimate& measured = frame.variable("beta_pr").cells[0];
    EXPECT_NEAR(measured.mean, participation,
                test::kSigmas * measured.standard_error + 5e-4 * participation)
        << law.name() << ' ' << n;
    EXPECT_LT(measured.standard_error, 0.05 * participation);
  }
}

// Property (3): β_PR by quadrature, four digits.
TEST(DewCurve, HasTheParticipationPointsOfTheTable) {
  expect_tabulated(scores::GaussianLaw(1.0),
                   {{1e3, 6.261}, {1e4, 7.511}, {1e6, 9.568}, {1e9, 12.047}, {1e15, 15.923}});
  expect_tabulated(scores::SphereLaw(3), {{1e4, 6164.33}, {1e6, 616406.0}});
  expect_tabulated(scores::SphereLaw(5), {{1e4, 267.252}, {1e9, 84959.2}});
  expect_tabulated(scores::SphereLaw(64), {{1e4, 69.2007}, {1e6, 97.9436}, {1e9, 145.217}});
}

std::vector<double> direct_dew_points(const scores::TopLaw& law, std::size_t n, std::size_t draws) {
  std::vector<double> points;
  for (std::size_t i = 0; i < draws; ++i) {
    std::vector<double> row = law.sample(n, Stream(test::seed(), "dew/direct", i));
    for (double& depth : row) depth = -depth;
    points.push_back(observables::dew_point(std::span<const double>(row)).value());
  }
  return points;
}

// Property (2).
TEST(DewCurve, HasTheLawOfDirectSamples) {
  std::vector<double> p_values;
  const scores::GaussianLaw gaussian(1.0);
  const scores::SphereLaw sphere(5);
  for (const scores::TopLaw* law : {static_cast<const scores::TopLaw*>(&gaussian),
                                    static_cast<const scores::TopLaw*>(&sphere)}) {
    const auto top = drawn_dew_points(*law, 1e4, curve({1e4}, 3000, 64));
    p_values.push_back(test::same_law_p(top, direct_dew_points(*law, 10000, 500)));
  }
  EXPECT_GT(test::smallest_holm_p(p_values), test::kFamilyLevel);
}

// The rest beyond the top matters: without it the dew points of Gaussian scores have another law.
TEST(DewCurve, NeedsTheRestBeyondTheTop) {
  const scores::GaussianLaw law(1.0);
  const DewCurve question = curve({1e6}, 3000, 4);
  const std::vector<double> whole = drawn_dew_points(law, 1e6, question);
  std::vector<double> alone;
  for (std::size_t i = 0; i < question.draws; ++i) {
    std::vector<double> best = law.top_depths(std::log(1e6), 4, Stream(question.seed, "dew", i));
    for (double& depth : best) depth = -depth;
    alone.push_back(observables::dew_point(std::span<const double>(best)).value());
    EXPECT_LE(alone.back(), whole[i] * (1.0 + 1e-9));
  }
  EXPECT_LT(test::same_law_p(whole, alone), 1e-9);
}

// Property (4) and (5).
TEST(DewCurve, CellsDependNeitherOnTheListNorOnThreads) {
  const scores::SphereLaw law(5);
  const Frame list = dew_curve(law, curve({1e3, 1e6, 1e9}, 40), {1, {}, {}});
  const Frame single = dew_curve(law, curve({1e6}, 40), {2, {}, {}});
  for (const char* name : {"beta_dew_median", "log_beta_dew", "beta_pr", "accumulation"}) {
    EXPECT_EQ(list.variable(name).cells[1].mean, single.variable(name).cells[0].mean) << name;
    EXPECT_EQ(list.variable(name).cells[1].standard_error,
              single.variable(name).cells[0].standard_error);
  }
  EXPECT_EQ(single.find_variable("slope_pr"), nullptr);
}

// Neighbouring n share their draws: the slope of the power law is 1/a within a small error.
TEST(DewCurve, HasTheSlopeOfThePowerLaw) {
  const Frame frame = dew_curve(scores::SphereLaw(3), curve({1e8, 1e9, 1e10}, 50));
  EXPECT_NEAR(frame.variable("slope_dew").cells[1].mean, 1.0, 1e-7);
  EXPECT_LT(frame.variable("slope_dew").cells[1].standard_error, 1e-7);
}

TEST(DewCurve, RefusesWhatItCannotDraw) {
  const scores::SphereLaw law(2);
  for (const DewCurve& bad : {curve({2.0}, 10), curve({10.5}, 10), curve({1e200}, 10),
                              curve({100.0}, 1), curve({100.0}, 10, 2), curve({}, 10)}) {
    EXPECT_THROW((void)dew_curve(law, bad), Error);
  }
}

}  // namespace
}  // namespace dewpoint::experiments
