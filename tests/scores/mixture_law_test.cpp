// Scores of von Mises-Fisher keys: key vectors against the distribution, moments below a cut
// against closed forms, and the top scores against brute force.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scores/mixture_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/scores/sphere_law.hpp"
#include "dewpoint/scores/top_scores.hpp"
#include "scores/softmax_draws.hpp"
#include "support/kolmogorov_smirnov.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::scores {
namespace {

using dewpoint::test::kFamilyLevel;
using dewpoint::test::seed;
using dewpoint::test::smallest_holm_p;

const std::vector<MixtureLaw>& some_laws() {
  static const std::vector<MixtureLaw> laws = {
      MixtureLaw(2, {{3.0, 0.4, 1.0}}),
      MixtureLaw(2, {{200.0, 2.5, 1.0}}),
      MixtureLaw(3, {{8.0, 0.0, 0.3}, {0.0, 0.0, 0.7}}),
      MixtureLaw(5, {{5.0, 0.3, 1.0}}),
      MixtureLaw(9, {{0.0, 0.0, 0.98}, {60.0, 0.0, 0.02}}),
      MixtureLaw(40, {{30.0, 1.2, 0.5}, {300.0, 0.2, 0.5}})};
  return laws;
}

/// Kolmogorov's distance of a sample to the distribution it should have, as a p-value.
double follows_p(const TailLaw& law, std::vector<double> depths) {
  for (double& depth : depths) depth = std::exp(law.log_tail(depth));
  std::sort(depths.begin(), depths.end());
  const auto count = static_cast<double>(depths.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < depths.size(); ++i) {
    distance = std::max({distance, (static_cast<double>(i) + 1.0) / count - depths[i],
                         depths[i] - static_cast<double>(i) / count});
  }
  return dewpoint::test::kolmogorov_tail(std::sqrt(count) * distance);
}

TEST(MixtureSample, FollowsTheGapLaw) {
  std::vector<double> p_values;
  for (const MixtureLaw& law : some_laws())
    p_values.push_back(
        follows_p(law, law.sample(20'000, dewpoint::test::stream("MixtureSample/" + law.name()))));
  EXPECT_GT(smallest_holm_p(p_values), kFamilyLevel);
}

// The test above has power: a concentration that is wrong by a tenth is found.
TEST(MixtureSample, DoesNotFollowAnotherGapLaw) {
  const MixtureLaw law(5, {{5.0, 0.3, 1.0}}), other(5, {{5.5, 0.3, 1.0}});
  EXPECT_LT(follows_p(other, law.sample(20'000, dewpoint::test::stream("MixtureSample/Power"))),
            kFamilyLevel);
}

// Property (3) of rest.
TEST(MixtureRest, IsThatOfTheSphereWithoutConcentration) {
  for (int dimension : {2, 3, 8, 64})
    for (double cut : {1e-250, 1e-4, 0.3, 0.9})
      for (double load : {0.0, 0.1, 3.0, 400.0}) {
        const double tilt = load / cut;
        const TiltedDepth exact = SphereLaw(dimension).rest(cut, tilt);
        const TiltedDepth rest = MixtureLaw(dimension, {{0.0, 0.0, 1.0}}).rest(cut, tilt);
        const double log_survival = SphereGap(dimension).log_survival(cut);
        EXPECT_NEAR(rest.log_mass, exact.log_mass,
                    kMixtureRestError * (1.0 + std::abs(exact.log_mass) - log_survival))
            << dimension << " " << cut << " " << tilt;
        EXPECT_NEAR(rest.mean / exact.mean, 1.0, kMixtureRestError)
            << dimension << " " << cut << " " << tilt;
        EXPECT_NEAR(rest.root_mean_square / exact.root_mean_square, 1.0, kMixtureRestError);
      }
}

// At d = 3 and α = 0 the tilt adds to κ: E e^{−λx} over T > c is the ratio of
// (1 − e^{−(κ+λ)(2−c)})/(κ + λ) at λ and at 0, and x is exponential, cut at 2 − c.
TEST(MixtureRest, IsElementaryInThreeDimensions) {
  for (double kappa : {0.5, 30.0, 2000.0}) {
    const MixtureLaw law(3, {{kappa, 0.0, 1.0}});
    for (double cut : {1e-200, 1e-3, 0.2})
      for (double tilt : {0.0, 1.0, 50.0, 1e6, 1e150}) {
        const double room = 2.0 - cut, rate = kappa + tilt, end = rate * room;
        const double log_mass =
            std::log(-std::expm1(-end) / rate) - std::log(-std::expm1(-kappa * room) / kappa);
        const double missing = end < 700.0 ? end / std::expm1(end) : 0.0;
        const TiltedDepth rest = law.rest(cut, tilt);
        EXPECT_NEAR(rest.log_mass, log_mass,
                    kMixtureRestError * (1.0 + std::abs(log_mass) + kappa * cut))
            << kappa << " " << cut << " " << tilt;
        EXPECT_NEAR(rest.mean * rate / (1.0 - missing), 1.0, kMixtureRestError)
            << kappa << " " << cut << " " << tilt;
        const double square = 2.0 - missing * (2.0 + end);
        EXPECT_NEAR(rest.root_mean_square * rate / std::sqrt(square), 1.0, kMixtureRestError)
            << kappa << " " << cut << " " << tilt;
      }
  }
}

// Property (2), which checks every quadrature against the distribution function.
TEST(MixtureRest, HasMassOneWithoutTilt) {
  for (const MixtureLaw& law : some_laws())
    for (double cut : {1e-250, 1e-6, 0.01, 0.3, 1.0, 1.6}) {
      const double log_survival = law.distribution()->log_survival(cut);
      EXPECT_NEAR(law.rest(cut, 0.0).log_mass, 0.0, kMixtureRestError * (1.0 - log_survival))
          << law.name() << " " << cut;
    }
}

// Property (1) by a central difference, with a step of h = 1e-3 of the tilt: it errs by h² times
// three central moments of λx/6, below 4 (1 + λ · rms)³, and by rounding over the step.
TEST(MixtureRest, HasItsMeanAsDerivative) {
  for (const MixtureLaw& law : some_laws())
    for (double cut : {1e-5, 0.1, 0.5})
      for (double tilt : {1.0, 20.0, 1e6}) {
        const double step = 1e-3 * tilt;
        const double below = law.rest(cut, tilt - step).log_mass;
        const double slope = (below - law.rest(cut, tilt + step).log_mass) / (2.0 * step);
        const TiltedDepth rest = law.rest(cut, tilt);
        const double scale = 1.0 + tilt * rest.root_mean_square;
        const double rounding =
            kMixtureRestError * (1.0 + std::abs(below) - law.distribution()->log_survival(cut));
        EXPECT_NEAR(slope * tilt, rest.mean * tilt,
                    1e-6 * 4.0 * scale * scale * scale + 1e3 * rounding)
            << law.name() << " " << cut << " " << tilt;
      }
}

// The largest, fourth and eighth of 300 scores, and the softmax over all of them, from the top
// scores and from key vectors, where the softmax is spread and where it has condensed.
TEST(MixtureTop, HasTheLawOfBruteForce) {
  constexpr std::size_t scores = 300, count = 8;
  constexpr int draws = 2000;
  const double log_scores = std::log(static_cast<double>(scores));
  std::vector<double> p_values;
  for (const MixtureLaw& law :
       {MixtureLaw(5, {{5.0, 0.3, 1.0}}), MixtureLaw(4, {{0.0, 0.0, 0.97}, {60.0, 0.6, 0.03}})}) {
    const double unit = 0.4 / law.depth_at(-log_scores);
    const std::vector<int> powers = {1, 8};
    const auto direct =
        test::direct_draws(law, scores, unit, powers, draws, seed(), "MixtureTop/Direct");
    const auto tops = test::top_draws(law, log_scores, count, draws, seed(), "MixtureTop/Top");
    for (std::size_t s = 0; s < powers.size(); ++s) {
      const auto top =
          test::weighed_draws(law, tops, count, unit * powers[s], seed(), "MixtureTop/Top");
      for (const double p : test::same_law(direct[s], top)) p_values.push_back(p);
    }
    std::vector<std::vector<double>> sorted(count), spaced(count);
    for (int draw = 0; draw < draws; ++draw) {
      std::vector<double> depths = law.sample(scores, Stream(seed(), "MixtureTop/Rank", draw));
      std::partial_sort(depths.begin(), depths.begin() + count, depths.end());
      for (std::size_t rank = 0; rank < count; ++rank) sorted[rank].push_back(depths[rank]);
    }
    for (const TopScores& top : tops)
      for (std::size_t rank = 0; rank < count; ++rank) spaced[rank].push_back(top.depths[rank]);
    for (const std::size_t rank : {0, 3, 7})
      p_values.push_back(dewpoint::test::same_law_p(sorted[rank], spaced[rank]));
  }
  EXPECT_GT(smallest_holm_p(p_values), kFamilyLevel);
}

TEST(MixtureLaw, KnowsItsLimits) {
  const MixtureLaw law(5, {{5.0, 0.3, 1.0}});
  EXPECT_EQ(law.name(), "vmf:d=5,kappa=5,angle=0.3");
  EXPECT_EQ(law.origin(), 1.0);
  for (int dimension : {2, 3, 9}) {
    const MixtureLaw narrow(dimension, {{50.0, 0.0, 1.0}});
    // The nearest possible key of the largest possible N is still at a positive gap.
    EXPECT_GT(narrow.depth_at(-37.0 - narrow.most_log_scores()), 0.0);
  }
  EXPECT_THROW(MixtureLaw(1, {{1.0, 0.0, 1.0}}), Error);
  EXPECT_THROW(MixtureLaw(3, {{-1.0, 0.0, 1.0}}), Error);
  EXPECT_THROW(MixtureLaw(3, {{std::nan(""), 0.0, 1.0}}), Error);
  EXPECT_THROW(MixtureLaw(3, {{1.0, 0.0, 0.5}}), Error);
}

}  // namespace
}  // namespace dewpoint::scores
