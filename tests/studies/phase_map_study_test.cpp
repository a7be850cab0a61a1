#include "dewpoint/studies/phase_map_study.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint::studies {
namespace {

using Numbers = std::vector<double>;

question::Asked asked_for(const std::string& law) {
  question::Asked asked;
  asked.fixed = {{"tokens", law}, {"n", 64.0}, {"replicas", 3.0}, {"eta", std::string("auto")}};
  asked.grid = {{"rho", {0.0, 0.5, 0.8, 0.9}}, {"gamma", {1.0, 2.0}}};
  return asked;
}

std::string complaint(const question::Asked& asked) {
  try {
    (void)phase_map_study(asked, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

TEST(PhaseMapStudy, HasItsFourAxesInEveryCase) {
  question::Asked asked = asked_for("equicorrelated");
  const StudyText map = phase_map_study(asked, 7);
  EXPECT_EQ(map.experiment, "phase");
  EXPECT_EQ(map.seed, 7U);
  EXPECT_EQ(map.precision, (Precision{3, 0.0, {}}));
  EXPECT_EQ(map.fixed,
            (Point{{"tokens", std::string("equicorrelated")}, {"eta", std::string("auto")}}));
  EXPECT_EQ(
      map.grid,
      (std::vector<GridAxis>{
          {"n", {64.0}}, {"d", {64.0}}, {"rho", {0.0, 0.5, 0.8, 0.9}}, {"gamma", {1.0, 2.0}}}));
  EXPECT_TRUE(measures_norm(map));
  asked.fixed["eta"] = std::string("none");
  asked.fixed["target-error"] = 0.01;
  const StudyText precise = phase_map_study(asked, 7);
  EXPECT_EQ(precise.precision, (Precision{8, 0.01, "contraction"}));
  EXPECT_FALSE(measures_norm(precise));
  EXPECT_LT(work_of_map(precise), 8.0 / 3.0 * work_of_map(map));
}

TEST(PhaseMapStudy, TakesTheLeastDimensionThatServesEveryLength) {
  question::Asked asked = asked_for("simplex");
  asked.fixed.erase("n");
  asked.grid.push_back({"n", {64.0, 128.0}});
  EXPECT_EQ(phase_map_study(asked, 1).grid[1].values, Numbers{128.0});
  asked.grid.push_back({"d", {0.0, 128.0, 256.0}});
  EXPECT_EQ(phase_map_study(asked, 1).grid[1].values, (Numbers{128.0, 256.0}));
  asked.grid.back().values = {64.0};
  EXPECT_TRUE(complaint(asked).starts_with("d: 64 is below 128"));
}

TEST(PhaseMapStudy, EndsWhereClustersBegin) {
  EXPECT_EQ(phase_map_study(asked_for("clustered"), 1).grid[2].values, (Numbers{0.0, 0.5, 0.8}));
  EXPECT_EQ(phase_map_study(asked_for("equicorrelated"), 1).grid[2].size(), 4U);
  question::Asked far = asked_for("clustered");
  far.fixed["rho-inner"] = 0.1;
  far.grid[0].values = {0.2, 0.3};
  EXPECT_EQ(complaint(far),
            "rho-inner: 0.1 is below rho = 0.2; tokens of a cluster are at least as close as "
            "others");
}

TEST(PhaseMapStudy, RefusesTokensWithoutACorrelation) {
  EXPECT_EQ(complaint(asked_for("sphere")),
            "tokens: 'sphere' has no correlation rho to map over; use phase point");
  EXPECT_TRUE(complaint(asked_for("cube")).starts_with("tokens: 'cube' is not a token law"));
}

}  // namespace
}  // namespace dewpoint::studies
