#include "dewpoint/experiments/critical_limit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

struct Means {
  Estimate largest_weight, participation;
};

Means means_of(const CriticalLimit& question) {
  const Matrix<double> weights = critical_limit_weights(question);
  RunningMoments largest, participation;
  for (std::size_t i = 0; i < question.draws; ++i) {
    double squares = 0.0;
    for (const double weight : weights.view().row(i)) squares += weight * weight;
    largest.add(weights.view()(i, 0));
    participation.add(squares);
  }
  return {largest.estimate(), participation.estimate()};
}

// Property (1). Weights beyond rank K = 512 hold at most w_K of Σw²; their Gaussian law is good to
// w_K as well, below e^{−θ 500^{1/a}} = 4e-5 at the warmest point, a = 3.5 and θ = 2.
TEST(CriticalLimit, HasTheMeansOfTheQuadratures) {
  for (const double exponent : {0.5, 1.0, 2.0, 3.5}) {
    for (const double theta : {2.0, 5.0}) {
      CriticalLimit question{theta, exponent, 20'000, 512, 512, test::seed()};
      const Means means = means_of(question);
      const theory::CriticalSphere law{theta, exponent};
      EXPECT_NEAR(means.largest_weight.mean, theory::critical_sphere_largest_weight(law),
                  test::kSigmas * means.largest_weight.standard_error + 4e-5)
          << exponent << ' ' << theta;
      EXPECT_NEAR(means.participation.mean, theory::critical_sphere_means(law).participation,
                  test::kSigmas * means.participation.standard_error + 4e-5)
          << exponent << ' ' << theta;
    }
  }
}

TEST(CriticalLimit, WeightsAreOrderedAndAddUpToAtMostOne) {
  const Matrix<double> weights = critical_limit_weights({0.3, 2.0, 200, 64, 64, test::seed()});
  for (std::size_t i = 0; i < 200; ++i) {
    double sum = 0.0, before = 1.0;
    for (const double weight : weights.view().row(i)) {
      EXPECT_LE(weight, before);
      before = weight;
      sum += weight;
    }
    EXPECT_LE(sum, 1.0 + 64.0 * 2.3e-16);  // 64 roundings
  }
}

// Property (2).
TEST(CriticalLimit, DoesNotDependOnThreads) {
  const CriticalLimit question{1.0, 1.0, 100, 64, 8, test::seed()};
  RunContext one, two;
  one.threads = 1;
  two.threads = 2;
  const Matrix<double> a = critical_limit_weights(question, one);
  const Matrix<double> b = critical_limit_weights(question, two);
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(a.view()(i, k), b.view()(i, k));
  }
}

}  // namespace
}  // namespace dewpoint::experiments
