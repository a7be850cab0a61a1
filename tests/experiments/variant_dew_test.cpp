// Dew points under layers of any form, against the weights that the reference of attention gives.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/variant_dew.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "dewpoint/attention/variants/feature_rows.hpp"
#include "dewpoint/attention/variants/projections.hpp"
#include "dewpoint/attention/variants/variant_reference.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

VariantDew question(const std::string& mask, const std::string& attention,
                    const std::string& projections = "none") {
  VariantDew q;
  q.cloud.law = "equicorrelated";
  q.cloud.n = 60;
  q.cloud.d = 8;
  q.cloud.common = tokens::Common::fixed;
  q.form = attention::parse_layer_form(mask, attention, projections, 0.0);
  q.rows = 1;
  q.seed = test::seed();
  return q;
}

DewSample sample(const VariantDew& q) { return sample_variant_dew(q, 0, {}); }

/// w_max of the last query by the reference, the sink counted in the denominator.
double reference_weight(const VariantDew& q, double beta, std::uint64_t replica = 0) {
  const TokenCloud cloud = tokens::make_cloud(q.cloud, q.seed, replica);
  const auto layer =
      attention::layer_variant(q.form, cloud.dimension(), beta, 0.0, q.seed, replica);
  const auto inputs = attention::project(layer.projections, 0, cloud.directions);
  // Values that are unit vectors return the weights themselves.
  Matrix<double> values(cloud.size(), cloud.size());
  for (std::size_t i = 0; i < cloud.size(); ++i) values(i, i) = 1.0;
  const auto result =
      attention::reference_attention({inputs.queries, inputs.keys, values}, layer.attention);
  const auto weights = result.outputs.row(cloud.size() - 1);
  return *std::max_element(weights.begin(), weights.end());
}

// The largest weight at the dew point is 1/2. Its slope in log β is at most a quarter of β times
// the largest gap 2, some 20; the root is good to 1e-13 and scores to 1e-15.
TEST(VariantDewPoint, IsWhereTheReferenceGivesHalfOfTheWeight) {
  for (const std::string mask : {"none", "causal", "window:20", "dilated:12:4", "global:12:5"})
    for (const std::string attention : {"softmax", "off-by-one", "sink:6", "top:9"})
      for (const std::string projections : {"none", "orthogonal:1"}) {
        const VariantDew q = question(mask, attention, projections);
        const DewSample found = sample(q);
        if (found.without_dew > 0.0) continue;  // a sink beside scores that are all negative
        EXPECT_NEAR(reference_weight(q, found.dew_point), 0.5, 1e-10)
            << mask << ' ' << attention << ' ' << projections;
      }
}

/// The crossing of 1/2 by bisection around a guess.
double bisected(const VariantDew& q, std::uint64_t replica, double guess) {
  double lower = 0.99 * guess, upper = 1.01 * guess;
  EXPECT_LT(reference_weight(q, lower, replica), 0.5);
  EXPECT_GT(reference_weight(q, upper, replica), 0.5);
  for (int i = 0; i < 20; ++i) {  // to 2e-8
    const double middle = 0.5 * (lower + upper);
    (reference_weight(q, middle, replica) < 0.5 ? lower : upper) = middle;
  }
  return lower;
}

// Property (2), and the error of the grid.
TEST(VariantDewPoint, OfRandomFeaturesIsACrossing) {
  for (const std::string mask : {"none", "causal"})
    for (const std::string attention : {"features:16", "features:200"})
      for (std::uint64_t replica = 0; replica < 4; ++replica) {
        const VariantDew q = question(mask, attention);
        const DewSample found = sample_variant_dew(q, replica, {});
        ASSERT_EQ(found.without_dew, 0.0) << mask << ' ' << attention;
        EXPECT_NEAR(found.dew_point / bisected(q, replica, found.dew_point), 1.0,
                    kEmpiricalGridError)
            << mask << ' ' << attention;
      }
}

// Linear attention over the same tokens never gives half of its weight to one key, and its largest
// weight stays below the bound, at temperatures on and off the grid.
TEST(VariantDewPoint, DoesNotExistForLinearAttention) {
  VariantDew q = question("none", "linear");
  q.rows = 60;
  const DewSample found = sample(q);
  EXPECT_EQ(found.without_dew, 1.0);
  EXPECT_TRUE(std::isnan(found.dew_point));
  EXPECT_LE(found.largest_weight, found.weight_bound);
  for (double beta : {0.0, 0.3, 7.0, 1e3, 1e6, 1e9}) {
    EXPECT_LE(reference_weight(q, beta), found.weight_bound * (1.0 + 1e-13)) << beta;
  }
}

// Tokens in opposite corners do have one: the bound needs keys on either side of every plane.
TEST(VariantDewPoint, OfLinearAttentionIsBoundedByWhatOthersHold) {
  Matrix<double> keys(3, 2);
  keys(0, 0) = keys(0, 1) = 1.0;
  keys(1, 0) = keys(2, 0) = -1.0;
  keys(1, 1) = keys(2, 1) = -1.0;
  EXPECT_EQ(attention::elu_weight_bound(keys), 1.0);
  keys(1, 0) = keys(2, 1) = 0.5;
  EXPECT_DOUBLE_EQ(attention::elu_weight_bound(keys), 2.0 / 3.0);
  keys(0, 0) = -1.0;
  EXPECT_EQ(attention::elu_weight_bound(keys), 1.0);
}

TEST(VariantDewPoint, CountsRowsOfAllHeadsAndQueriesWithTooFewKeys) {
  VariantDew q = question("window:2", "softmax");
  q.rows = 10;
  EXPECT_EQ(sample(q).without_dew, 1.0);
  EXPECT_EQ(sample(q).visible, 2.0);
  EXPECT_EQ(last_queries(5, 3), (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_EQ(last_queries(2, 3), (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace dewpoint::experiments
