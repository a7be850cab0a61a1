// The law of a softmax from its top scores against direct draws: more laws, loads and cuts.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dewpoint/scores/gaussian_law.hpp"
#include "dewpoint/scores/sphere_law.hpp"
#include "scores/softmax_draws.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::scores {
namespace {

using dewpoint::test::seed;

/// What is compared: β = unit · power for each power, k for each count.
struct Comparison {
  std::size_t scores;
  double unit;
  std::vector<int> powers;
  std::vector<std::size_t> counts;
  int draws;
};

std::vector<double> compare(const TopLaw& law, const Comparison& question) {
  const double log_n = std::log(static_cast<double>(question.scores));
  const auto direct = test::direct_draws(law, question.scores, question.unit, question.powers,
                                         question.draws, seed(), "LongLaw/Direct" + law.name());
  const auto tops = test::top_draws(law, log_n, question.counts.back(), 4 * question.draws, seed(),
                                    "LongLaw/Top" + law.name());
  std::vector<double> p_values;
  for (std::size_t s = 0; s < question.powers.size(); ++s)
    for (std::size_t count : question.counts) {
      const double beta = question.unit * question.powers[s];
      const auto top =
          test::weighed_draws(law, tops, count, beta, seed(), "LongLaw/Top" + law.name());
      for (const double p : test::same_law(direct[s], top)) p_values.push_back(p);
    }
  return p_values;
}

// Loads 0.3, 0.6, 0.9, 1.2 and 2.4.
TEST(LongTopScoresLaw, IsThatOfAHundredThousandGaussianScores) {
  const double unit = 0.3 * std::sqrt(2.0 * std::log(1e5));
  const std::vector<double> p_values =
      compare(GaussianLaw(), {100'000, unit, {1, 2, 3, 4, 8}, {8, 32, 128, 512}, 3000});
  EXPECT_GT(dewpoint::test::smallest_holm_p(p_values), dewpoint::test::kFamilyLevel);
}

// From far below β*, where the rest is everything, to well above it.
TEST(LongTopScoresLaw, IsThatOfAllKeysInManyDimensions) {
  std::vector<double> p_values;
  for (int dimension : {2, 3, 5, 9, 24}) {
    const SphereLaw law(dimension);
    const double unit = 0.1 / law.depth_at(-std::log(1e4));
    for (const double p : compare(law, {10'000, unit, {1, 4, 16, 48}, {8, 64}, 3000}))
      p_values.push_back(p);
  }
  EXPECT_GT(dewpoint::test::smallest_holm_p(p_values), dewpoint::test::kFamilyLevel);
}

}  // namespace
}  // namespace dewpoint::scores
