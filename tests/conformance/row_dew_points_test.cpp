// The dew points of rows in few passes against observables::dew_point, over laws of scores that
// differ in every respect, at scales from frozen to uniform.
#include "dewpoint/attention/row_dew_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "dewpoint/observables/dew_point.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

struct Law {
  const char* name;
  std::function<double(double normal, double uniform, std::size_t key)> score;
};

const std::vector<Law> kLaws = {
    {"normal", [](double z, double, std::size_t) { return z; }},
    {"exponential", [](double, double u, std::size_t) { return -std::log(u); }},
    {"heavy", [](double, double u, std::size_t) { return std::pow(u, -0.3); }},
    {"cluster", [](double z, double u, std::size_t) { return u < 0.01 ? 3 + 0.1 * z : 0.3 * z; }},
    {"edge", [](double, double u, std::size_t) { return -5.0 * std::sqrt(u); }},
    {"simplex", [](double, double, std::size_t key) { return key == 1 ? 1.0 : 0.0; }},
    {"near tie", [](double, double u, std::size_t key) {
       return key < 3 ? 1e-4 * static_cast<double>(key) : -3.0 - 0.01 * u;
     }}};

void expect_equal(double found, std::optional<double> truth) {
  if (!truth) {
    EXPECT_TRUE(std::isnan(found));
  } else if (std::isinf(*truth)) {
    EXPECT_EQ(found, *truth);
  } else {
    EXPECT_NEAR(found, *truth, kRowDewPointError * *truth);
  }
}

// scores[0] is the first key.
void expect_property_one(const std::vector<float>& scores) {
  const std::span<const float> all = scores, others = all.subspan(1);
  RestOfRow rest{others, {}, {}, 1.0};
  rest.moments = kernels::score_moments(others, kernels::largest_score(others), 1.0F, &rest.plain);
  const RowDewPoints with = row_dew_points(rest, scores[0]);
  const RowDewPoints without = row_dew_points(rest, {});
  expect_equal(with.all, observables::dew_point(all));
  expect_equal(with.without_first, observables::dew_point(others));
  expect_equal(without.all, observables::dew_point(others));
  EXPECT_EQ(std::isnan(without.all), std::isnan(without.without_first));
}

TEST(RowDewPoints, EqualTheObservableForEveryLawAndScale) {
  for (std::size_t l = 0; l < kLaws.size(); ++l) {
    for (const std::size_t n : {2U, 3U, 4U, 5U, 18U, 513U, 9000U}) {
      for (const double scale : {0.01, 0.3, 1.0, 5.0, 300.0}) {
        SCOPED_TRACE(testing::Message() << kLaws[l].name << " n " << n << " scale " << scale);
        for (std::uint64_t replica = 0; replica < (n > 1000 ? 5U : 20U); ++replica) {
          const Stream stream(test::seed(), "RowDewPoints", 100 * replica + l);
          std::vector<float> scores(n);
          for (std::size_t j = 0; j < n; ++j) {
            const double score = kLaws[l].score(stream.normal(2 * j), stream.uniform(2 * j + 1), j);
            scores[j] = static_cast<float>(scale * score);
          }
          expect_property_one(scores);
          scores[0] = *std::ranges::max_element(scores) + static_cast<float>(7.0 * scale);
          expect_property_one(scores);  // the first key is a sink
        }
      }
    }
  }
}

std::vector<float> nearly_tied(float gap) {
  std::vector<float> scores(600, -1.0F);
  scores[7] = gap;
  scores[300] = 0.0F;
  for (std::size_t j = 301; j < 600; ++j) scores[j] = -1.0F - 0.01F * static_cast<float>(j);
  return scores;
}

// The runner-up lacks 1e-30 or less of the winner, far below what float32 weights resolve.
TEST(RowDewPoints, NearTiesAreResolved) {
  for (const float gap : {1e-3F, 1e-10F, 1e-30F, 2e-36F}) expect_property_one(nearly_tied(gap));
}

TEST(RowDewPoints, ScoresCloserThanTheTiedGapAreTied) {
  const std::vector<float> scores = nearly_tied(1e-44F);
  const RowDewPoints points = row_dew_points({scores, {1e3, 1e6}, {3.0, 1.0, 1.0, 2.0}, 1.0}, {});
  EXPECT_TRUE(std::isinf(points.all));
}

// Whatever moments and sums the search is started from: at another rate, the root is the same.
TEST(RowDewPoints, DoNotDependOnWhereTheSearchBegins) {
  const Stream stream = test::stream("RowDewPoints/start");
  std::vector<float> scores(4000);
  for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = static_cast<float>(stream.normal(j));
  const double truth = *observables::dew_point(std::span<const float>(scores));
  for (const float rate : {1e-3F, 0.1F, 1.0F, 4.0F, 30.0F, 1e4F}) {
    RestOfRow rest{scores, {}, {}, static_cast<double>(rate)};
    rest.moments =
        kernels::score_moments(scores, kernels::largest_score(scores), rate, &rest.plain);
    EXPECT_NEAR(row_dew_points(rest, {}).all, truth, kRowDewPointError * truth);
  }
}

}  // namespace
}  // namespace dewpoint::attention
