// Every row of docs/errata.md must hold as corrected, must not hold as printed, and must notice
// when a measurement is off.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "dewpoint/claims/lists.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::claims {
namespace {

constexpr int kRows = 46;

std::vector<Claim> rows() {
  std::vector<Claim> all;
  for (const std::vector<Claim>& list :
       {cas_jacobian_errata(), cas_layer_errata(), cc_errata(), fd_origin_errata(),
        fd_critical_point_errata(), fd_flow_errata(), fd_asymmetry_errata()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

struct Examined {
  std::string id;
  Evidence evidence;
};

/// All rows with quick effort, once for all tests of a run.
const std::vector<Examined>& examination() {
  static const std::vector<Examined> result = [] {
    std::vector<Examined> all;
    Setting setting;
    setting.seed = test::seed();
    for (const Claim& row : rows()) all.push_back({row.id, row.examine(setting)});
    return all;
  }();
  return result;
}

TEST(Errata, AreNumberedLikeTheirPage) {
  std::set<std::string> ids;
  for (const Claim& row : rows()) {
    ids.insert(row.id);
    EXPECT_TRUE(row.statement.starts_with("printed")) << row.id;
    EXPECT_NE(row.statement.find("right is"), std::string::npos) << row.id;
    EXPECT_FALSE(row.place.empty()) << row.id;
  }
  EXPECT_EQ(rows().size(), kRows);
  for (int number = 1; number <= kRows; ++number) {
    EXPECT_TRUE(ids.contains("erratum." + std::to_string(number))) << number;
  }
}

TEST(Errata, HoldAsCorrectedAndNotAsPrinted) {
  for (const Examined& row : examination()) {
    EXPECT_EQ(verdict(row.evidence), Verdict::holds_as_corrected) << row.id;
    for (const Comparison& comparison : row.evidence.statement) {
      EXPECT_TRUE(comparison.holds())
          << row.id << ": " << comparison.quantity << ", predicted " << comparison.predicted
          << ", measured " << to_string(comparison.measured);
    }
    EXPECT_FALSE(row.evidence.parameters.empty()) << row.id;
  }
}

/// The measurement a tenth further from the prediction, or beyond the border of an inequality.
Comparison corrupted(Comparison comparison) {
  double& mean = comparison.measured.mean;
  const double allowed = kSigmas * comparison.measured.standard_error + comparison.tolerance;
  const double beyond = 1.001 * allowed + 0.001 * std::abs(comparison.predicted);
  switch (comparison.relation) {
    case Relation::equals:
      mean += std::copysign(0.1 * std::abs(mean), mean - comparison.predicted);
      break;
    case Relation::at_least:
      mean = comparison.predicted - beyond;
      break;
    case Relation::at_most:
      mean = comparison.predicted + beyond;
      break;
  }
  return comparison;
}

TEST(Errata, FailWhenAnyMeasurementIsOffByATenth) {
  for (const Examined& row : examination()) {
    for (std::size_t k = 0; k < row.evidence.statement.size(); ++k) {
      Evidence evidence = row.evidence;
      evidence.statement[k] = corrupted(evidence.statement[k]);
      EXPECT_EQ(verdict(evidence), Verdict::fails)
          << row.id << ": " << row.evidence.statement[k].quantity;
    }
  }
}

// A row whose correction is not needed fails as well.
TEST(Errata, FailWhenThePrintedVersionHolds) {
  for (const Examined& row : examination()) {
    Evidence evidence = row.evidence;
    evidence.as_printed = evidence.statement;
    EXPECT_EQ(verdict(evidence), Verdict::fails) << row.id;
  }
}

}  // namespace
}  // namespace dewpoint::claims
