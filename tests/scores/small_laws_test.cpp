// Subsphere, clustered, empirical and random-query scores against vectors and closed forms.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/scores/clustered_law.hpp"
#include "dewpoint/scores/empirical_law.hpp"
#include "dewpoint/scores/gaussian_law.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/scores/random_query_law.hpp"
#include "dewpoint/scores/simplex_law.hpp"
#include "dewpoint/scores/sphere_law.hpp"
#include "dewpoint/scores/subsphere_law.hpp"
#include "dewpoint/scores/top_scores.hpp"
#include "support/kolmogorov_smirnov.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::scores {
namespace {

using test::kFamilyLevel;
using test::kSigmas;
using test::seed;

// ---- subsphere ------------------------------------------------------------------------------

constexpr SubsphereKeys::Shape kShape{.intrinsic = 2, .ambient = 16, .angle = 0.5, .noise = 0.0};

// Scores ⟨e_1, k⟩ of vectors in R^16 against sample() and against the distribution.
TEST(SubsphereLaw, IsThatOfVectorsInAmbientSpace) {
  constexpr std::size_t count = 20'000;
  const SubsphereLaw law(kShape);
  Matrix<double> keys(count, 16);
  SubsphereKeys(kShape).draw(0, keys, test::stream("SubsphereLaw/Vectors"));
  std::vector<double> depths, uniform, expected;
  for (std::size_t i = 0; i < count; ++i) {
    depths.push_back(*law.supremum() - keys(i, 0));
    uniform.push_back(std::exp(law.log_tail(std::max(0.0, depths.back()))));
    expected.push_back((static_cast<double>(i) + 0.5) / count);
  }
  const double p_sample =
      test::same_law_p(depths, law.sample(count, test::stream("SubsphereLaw/Sample")));
  // A grid instead of a second sample: Kolmogorov's distance to the uniform law itself.
  const double p_law =
      test::kolmogorov_tail(std::sqrt(count) * test::kolmogorov_distance(uniform, expected));
  EXPECT_GT(test::smallest_holm_p({p_sample, p_law}), kFamilyLevel);
}

// The rest is that of the sphere in other units; at α = 0 it is the sphere's.
TEST(SubsphereLaw, IsTheSphereScaledByTheCosine) {
  const SubsphereLaw law(kShape);
  const SphereLaw sphere(3);
  const double factor = std::cos(0.5);
  EXPECT_EQ(law.origin(), factor);
  for (double tilt : {0.0, 1.0, 300.0}) {
    const TiltedDepth rest = law.rest(0.01 * factor, tilt / factor);
    const TiltedDepth exact = sphere.rest(0.01, tilt);
    EXPECT_NEAR(rest.log_mass, exact.log_mass, kSphereRestError * (1.0 + std::abs(exact.log_mass)));
    EXPECT_NEAR(rest.mean / exact.mean, factor, kSphereRestError);
    EXPECT_NEAR(rest.root_mean_square / exact.root_mean_square, factor, kSphereRestError);
  }
  EXPECT_NEAR(law.depth_at(-10.0), factor * sphere.depth_at(-10.0), 1e-15);
  EXPECT_GT(law.depth_at(-37.0 - law.most_log_scores()), 0.0);
  EXPECT_THROW(SubsphereLaw({.intrinsic = 2, .ambient = 16, .angle = 0.5, .noise = 0.1}), Error);
}

// ---- clustered ------------------------------------------------------------------------------

// Z = 1 + (m − 1) e^{−β(1−inner)} + (N − m) e^{−β(1−outer)}, for k below, at and above the size m
// of the cluster, and up to N = 1e30. Roundings: the bound of the simplex, 64 ε of log Z.
TEST(ClusteredLaw, HasItsWeightsInClosedForm) {
  const ClusteredLaw law({.inner = 0.8, .outer = 0.2, .size = 16});
  for (double n : {20.0, 1e4, 1e30})
    for (std::size_t k : {1, 16, 18})
      for (double beta : {0.0, 1.0, 10.0, 100.0}) {
        const Stream stream = test::stream("ClusteredLaw");
        const TopScores top = draw_top_scores(law, std::log(n), k, stream);
        const TopSample sample = weigh_top_scores(law, top, beta, stream);
        const double mate = std::exp(-0.2 * beta), other = std::exp(-0.8 * beta);
        const double partition = 1.0 + 15.0 * mate + (n - 16.0) * other;
        const double squares = 1.0 + 15.0 * mate * mate + (n - 16.0) * other * other;
        const double gaps = 15.0 * mate * 0.2 + (n - 16.0) * other * 0.8;
        const double rounding =
            64.0 * std::numeric_limits<double>::epsilon() * (1.0 + std::log(n) + beta);
        EXPECT_NEAR(sample.largest_weight * partition, 1.0, rounding) << n << " " << k;
        EXPECT_NEAR(sample.participation * partition * partition / squares, 1.0, 2.0 * rounding);
        EXPECT_NEAR(sample.mean_gap * partition, gaps, rounding * gaps);
        EXPECT_EQ(sample.log_partition_bound, 0.0);
      }
}

TEST(ClusteredLaw, IsTheSimplexWithoutMates) {
  const ClusteredLaw cluster({.inner = 0.7, .outer = 0.5, .size = 1});
  const Stream stream = test::stream("ClusteredLaw/Simplex");
  EXPECT_EQ(cluster.sample(9, stream), SimplexLaw(0.5).sample(9, stream));
  EXPECT_EQ(cluster.top_depths(std::log(50.0), 3, stream),
            SimplexLaw(0.5).top_depths(std::log(50.0), 3, stream));
}

// A row shorter than the cluster is all cluster.
TEST(ClusteredLaw, IsCutByAShortRow) {
  const ClusteredLaw law({.inner = 0.5, .outer = 0.25, .size = 16});
  const Stream stream = test::stream("ClusteredLaw/Short");
  EXPECT_EQ(law.top_depths(std::log(3.0), 1, stream), (std::vector<double>{0.0, 0.5, 0.5}));
  EXPECT_EQ(law.sample(3, stream), (std::vector<double>{0.0, 0.5, 0.5}));
}

// ---- empirical ------------------------------------------------------------------------------

Matrix<double> table(std::size_t rows, std::size_t columns) {
  Matrix<double> scores(rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) scores(i, j) = static_cast<double>(10 * i + j);
  return scores;
}

// Every row and every pair of distinct keys of it, each with chance 1/(3 · 6).
TEST(EmpiricalLaw, DrawsEverySubsetOfEveryRow) {
  const EmpiricalLaw law(table(3, 4));
  EXPECT_EQ(law.origin(), 23.0);
  constexpr int draws = 18'000;
  std::map<std::vector<double>, int> seen;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> depths = law.sample(2, Stream(seed(), "EmpiricalLaw/Subsets", draw));
    std::sort(depths.begin(), depths.end());
    ++seen[depths];
  }
  ASSERT_EQ(seen.size(), 18);
  const double chance = 1.0 / 18.0;
  for (const auto& [depths, times] : seen) {
    EXPECT_EQ(std::floor((23.0 - depths[0]) / 10.0), std::floor((23.0 - depths[1]) / 10.0));
    EXPECT_NE(depths[0], depths[1]);
    EXPECT_NEAR(times, draws * chance, kSigmas * std::sqrt(draws * chance * (1.0 - chance)));
  }
}

TEST(EmpiricalLaw, ReturnsAWholeRow) {
  const EmpiricalLaw law(table(1, 5));
  std::vector<double> depths = law.sample(5, test::stream("EmpiricalLaw/Row"));
  std::sort(depths.begin(), depths.end());
  EXPECT_EQ(depths, (std::vector<double>{0.0, 1.0, 2.0, 3.0, 4.0}));
  EXPECT_EQ(law.of_query(test::stream("EmpiricalLaw/Row")), nullptr);
}

std::string refusal(Matrix<double> scores, std::size_t count) {
  try {
    (void)EmpiricalLaw(std::move(scores)).sample(count, test::stream("EmpiricalLaw/Refusal"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "";
}

TEST(EmpiricalLaw, RefusesWhatIsNoScore) {
  Matrix<double> scores = table(3, 4);
  scores(1, 2) = std::nan("");
  EXPECT_EQ(refusal(scores, 2), "scores: row 2, column 3: nan is not finite");
  scores(1, 2) = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(scores, 2), "scores: row 2, column 3: -inf is not finite");
  EXPECT_EQ(refusal(table(3, 1), 1), "scores: 3 x 1 is not at least 1 row and 2 columns");
  EXPECT_EQ(refusal(table(3, 4), 5), "n: 5 is not at most 4, the number of measured keys");
}

// ---- random queries -------------------------------------------------------------------------

// One score of each row, and the largest of ten, against inner products of explicit vectors; the
// ten scores of a row share their query.
TEST(RandomQueryLaw, IsThatOfExplicitVectors) {
  constexpr int draws = 6000, d = 4, keys = 10;
  std::vector<double> p_values;
  for (const bool scaled : {true, false}) {
    const RandomQueryLaw law(d, scaled);
    std::vector<double> first, largest, first_vectors, largest_vectors;
    for (int draw = 0; draw < draws; ++draw) {
      const auto depths = law.sample(keys, Stream(seed(), "RandomQueryLaw/Law", draw));
      first.push_back(depths[0]);
      largest.push_back(-*std::min_element(depths.begin(), depths.end()));
      Matrix<double> vectors(keys + 1, d);
      GaussianKeys(d).draw(0, vectors, Stream(seed(), "RandomQueryLaw/Vectors", draw));
      std::vector<double> scores;
      for (int j = 1; j <= keys; ++j)
        scores.push_back(inner(vectors.row(0), vectors.row(j)) / (scaled ? std::sqrt(d) : 1.0));
      first_vectors.push_back(scores[0]);
      largest_vectors.push_back(*std::max_element(scores.begin(), scores.end()));
    }
    p_values.push_back(test::same_law_p(first, first_vectors));
    p_values.push_back(test::same_law_p(largest, largest_vectors));
  }
  EXPECT_GT(test::smallest_holm_p(p_values), kFamilyLevel);
}

// E|q|² = d: the variance of a score is 1 when scaled and d when not; its fourth moment is
// 3 (1 + 2/d) in units of its square, so the error of the mean square is √((2 + 6/d)/draws).
TEST(RandomQueryLaw, HasTheVarianceOfTheDimension) {
  constexpr int draws = 20'000, d = 16;
  for (const bool scaled : {true, false}) {
    const RandomQueryLaw law(d, scaled);
    RunningMoments squares;
    for (int draw = 0; draw < draws; ++draw) {
      const double depth = law.sample(1, Stream(seed(), "RandomQueryLaw/Variance", draw))[0];
      squares.add(depth * depth / (scaled ? 1.0 : d));
    }
    EXPECT_NEAR(squares.mean(), 1.0, kSigmas * std::sqrt((2.0 + 6.0 / d) / draws));
  }
}

// The law of a row is one Gaussian law; the same stream, the same query. A law without random
// query is its own law of a row.
TEST(LawOfRow, IsGivenByTheQuery) {
  const RandomQueryLaw law(8, true);
  const Stream stream = test::stream("LawOfRow");
  const auto row = law_of_row(law, stream);
  EXPECT_EQ(row->name(), law_of_row(law, stream)->name());
  EXPECT_TRUE(row->name().starts_with("gaussian:sigma="));
  EXPECT_EQ(row->sample(5, stream), law.sample(5, stream));
  EXPECT_EQ(row->top_depths(9.0, 5, stream), law.top_depths(9.0, 5, stream));
  EXPECT_THROW((void)law.rest(0.0, 1.0), Error);
  const GaussianLaw fixed;
  EXPECT_EQ(law_of_row(fixed, stream).get(), &fixed);
}

}  // namespace
}  // namespace dewpoint::scores
