#include "dewpoint/tokens/cloud.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::tokens {
namespace {

double correlation(const TokenCloud& cloud, std::size_t i, std::size_t j) {
  double sum = 0.0;
  for (std::size_t k = 0; k < cloud.dimension(); ++k) {
    sum += cloud.directions(i, k) * cloud.directions(j, k);
  }
  return sum;
}

CloudParameters law(const std::string& name, std::size_t n, std::size_t d = 0) {
  CloudParameters p;
  p.law = name;
  p.n = n;
  p.d = d;
  return p;
}

std::string refusal(const CloudParameters& p) {
  try {
    (void)resolved(p);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

TEST(Rows, StandInThePlaceOfAFile) {
  CloudParameters p = law("array", 7, 3);  // n and d are those of the rows
  auto rows = std::make_shared<Matrix<double>>(2, 3);
  (*rows)(0, 0) = 3.0;
  (*rows)(1, 2) = 0.5;
  p.rows = rows;
  const CloudParameters found = resolved(p);
  EXPECT_EQ(found.n, 2U);
  EXPECT_EQ(found.d, 3U);
  EXPECT_TRUE(is_deterministic(found));
  const TokenCloud cloud = make_cloud(found, 1, 0);
  EXPECT_EQ(correlation(cloud, 0, 0), 1.0);
  EXPECT_EQ(correlation(cloud, 0, 1), 0.0);
  (*rows)(1, 2) = 0.0;
  EXPECT_EQ(refusal(p), "array: row 1 is zero; a token needs a direction");
}

// Directions are right at any size; norms are kept where their powers stay numbers.
TEST(Rows, OfAnySizeHaveDirectionsAndNotEveryNormIsKept) {
  CloudParameters p = law("array", 2, 2);
  auto rows = std::make_shared<Matrix<double>>(2, 2);
  (*rows)(0, 0) = 1.0;
  (*rows)(1, 0) = (*rows)(1, 1) = 1e300;
  p.rows = rows;
  EXPECT_NEAR(correlation(make_cloud(resolved(p), 1, 0), 0, 1), std::sqrt(0.5), 1e-15);
  p.norm = Norm::gauss;
  EXPECT_EQ(refusal(p), "array: row 1 has norm 1.41e+300; allowed: 1e-09 to 1e+09, or --norm unit");
}

TEST(Simplex, HasExactlyTheAskedCorrelation) {
  for (const double rho : {0.0, 0.2, 0.95}) {
    CloudParameters p = law("simplex", 50);
    p.rho = rho;
    const TokenCloud cloud = make_cloud(resolved(p), 1, 0);
    EXPECT_EQ(cloud.dimension(), 50U);
    for (std::size_t i = 0; i < 50; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        EXPECT_NEAR(correlation(cloud, i, j), i == j ? 1.0 : rho, 50 * 2.3e-16);
      }
    }
  }
}

TEST(TwoLevel, HasExactlyTheAskedCorrelations) {
  CloudParameters p = law("two-level", 24);
  p.rho = 0.2;
  p.rho_inner = 0.7;
  p.cluster_size = 6;
  const TokenCloud cloud = make_cloud(resolved(p), 1, 0);
  EXPECT_EQ(cloud.cluster_size, 6U);
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NEAR(correlation(cloud, i, j), i / 6 == j / 6 ? 0.7 : 0.2, 1e-15);
    }
  }
}

// The mean over 40 independent clouds, within its own standard error. Normalising a token moves the
// mean cosine by a few terms of order 1/d, each below 1/2.
TEST(Clustered, HasTheAskedCorrelationsOnAverage) {
  constexpr std::size_t n = 200, d = 200, p = 10;
  CloudParameters parameters = law("clustered", n, d);
  parameters.rho = 0.3;
  parameters.rho_inner = 0.6;
  parameters.cluster_size = p;
  RunningMoments inner, outer;
  for (std::uint64_t replica = 0; replica < 40; ++replica) {
    const TokenCloud cloud = make_cloud(resolved(parameters), test::seed(), replica);
    RunningMoments inner_here, outer_here;
    for (std::size_t i = 0; i + p < n; i += p) {
      inner_here.add(correlation(cloud, i, i + 1));
      outer_here.add(correlation(cloud, i, i + p));
    }
    inner.add(inner_here.mean());
    outer.add(outer_here.mean());
  }
  const auto tolerance = [](const RunningMoments& m) {
    return test::kSigmas * m.estimate().standard_error + 1.0 / d;
  };
  EXPECT_NEAR(inner.mean(), 0.6, tolerance(inner));
  EXPECT_NEAR(outer.mean(), 0.3, tolerance(outer));
}

// Uniform on the sphere: each coordinate has mean 0 and variance 1/d, squared coordinates variance
// below 2/d².
TEST(Sphere, IsUniform) {
  const TokenCloud cloud = make_cloud(resolved(law("sphere", 20000, 5)), test::seed(), 0);
  for (std::size_t k = 0; k < 5; ++k) {
    double mean = 0.0, square = 0.0;
    for (std::size_t i = 0; i < 20000; ++i) {
      mean += cloud.directions(i, k) / 20000.0;
      square += cloud.directions(i, k) * cloud.directions(i, k) / 20000.0;
    }
    EXPECT_NEAR(mean, 0.0, test::kSigmas * std::sqrt(0.2 / 20000.0));
    EXPECT_NEAR(square, 0.2, test::kSigmas * std::sqrt(2.0 / 25.0 / 20000.0));
  }
}

TEST(HalfSphere, StaysOnItsSide) {
  const TokenCloud cloud = make_cloud(resolved(law("half-sphere", 500, 5)), test::seed(), 0);
  for (std::size_t i = 0; i < 500; ++i) EXPECT_GE(cloud.directions(i, 0), 0.0);
}

TEST(Clouds, AreFunctionsOfSeedAndReplica) {
  for (const char* name : {"equicorrelated", "clustered", "sphere", "half-sphere"}) {
    const CloudParameters p = resolved(law(name, 32, 6));
    EXPECT_EQ(make_cloud(p, 1, 2).directions(7, 3), make_cloud(p, 1, 2).directions(7, 3));
    EXPECT_NE(make_cloud(p, 1, 2).directions(7, 3), make_cloud(p, 1, 3).directions(7, 3));
    EXPECT_NE(make_cloud(p, 1, 2).directions(7, 3), make_cloud(p, 2, 2).directions(7, 3));
  }
}

TEST(Clouds, RefuseWhatDoesNotExistAndSayWhatDoes) {
  CloudParameters p = law("equicorrelated", 512);
  EXPECT_EQ(refusal(p), "accepted");
  p.rho = 1.0;
  EXPECT_EQ(refusal(p), "rho: 1 is outside [0, 1)");
  p.rho = std::nan("");
  EXPECT_EQ(refusal(p), "rho: nan is outside [0, 1)");
  EXPECT_EQ(refusal(law("sphere", 1)), "n: 1 is below 2; attention needs at least two tokens");
  EXPECT_EQ(refusal(law("cube", 10)),
            "tokens: 'cube' is not a token law; allowed: equicorrelated, simplex, two-level, "
            "clustered, sphere, half-sphere, or a file ending in .npy");
  EXPECT_EQ(refusal(law("simplex", 512, 64)),
            "d: 64 is below 512, the least dimension of 'simplex' tokens with n = 512");
  EXPECT_EQ(refusal(law("sphere", 10, 1)),
            "d: 1 is below 2, the least dimension of 'sphere' tokens with n = 10");
  CloudParameters clusters = law("clustered", 100);
  EXPECT_EQ(refusal(clusters), "cluster-size: 16 does not divide n = 100");
  clusters.cluster_size = 10;
  clusters.rho_inner = 0.1;
  EXPECT_EQ(
      refusal(clusters),
      "rho-inner: 0.1 is below rho = 0.5; tokens of a cluster are at least as close as others");
}

TEST(Clouds, KnowTheirNames) {
  std::set<Norm> norms;
  for (const auto& [word, norm] : words_of(Norm{})) norms.insert(norm);
  EXPECT_EQ(norms, (std::set{Norm::unit, Norm::gauss_per_d, Norm::gauss}));
  EXPECT_EQ(words_of(Common{}).size(), 2U);
  EXPECT_EQ(words_of(Common{}).back(), (std::pair<std::string, Common>{"fixed", Common::fixed}));
}

}  // namespace
}  // namespace dewpoint::tokens
