// The law of attention outputs from their top scores against twenty thousand draws of explicit
// keys.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scores/output_draws.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::scores {
namespace {

using dewpoint::test::seed;

/// θ = 0.05, 0.3, 1 and 3.
std::vector<double> compare(int dimension, std::size_t n, std::size_t draws,
                            const std::vector<std::size_t>& counts) {
  const SphereOutput sphere(dimension);
  const double scores = static_cast<double>(n);
  const test::OutputQuestion question{
      dimension, n, 0.05 * test::critical_unit(dimension, scores), {1, 6, 20, 60}};
  const std::string name = "LongSphereOutput/" + sphere.law().name();
  const auto keys = test::explicit_outputs(question, draws, seed(), name + "/keys");
  std::vector<double> p_values;
  for (std::size_t s = 0; s < question.powers.size(); ++s)
    for (std::size_t count : counts) {
      const auto top = test::sampled_outputs(sphere, scores, question.unit * question.powers[s],
                                             count, draws, seed(), name + "/top");
      for (const double p : test::same_output_law(keys[s], top)) p_values.push_back(p);
    }
  return p_values;
}

TEST(LongSphereOutputLaw, IsThatOfTenThousandExplicitKeys) {
  std::vector<double> p_values;
  for (int dimension : {2, 3, 5, 8})
    for (const double p : compare(dimension, 10'000, 20'000, {16, 64})) p_values.push_back(p);
  EXPECT_GT(dewpoint::test::smallest_holm_p(p_values), dewpoint::test::kFamilyLevel);
}

TEST(LongSphereOutputLaw, IsThatOfAHundredThousandExplicitKeys) {
  std::vector<double> p_values;
  for (int dimension : {2, 3, 5, 8})
    for (const double p : compare(dimension, 100'000, 600, {64})) p_values.push_back(p);
  EXPECT_GT(dewpoint::test::smallest_holm_p(p_values), dewpoint::test::kFamilyLevel);
}

}  // namespace
}  // namespace dewpoint::scores
