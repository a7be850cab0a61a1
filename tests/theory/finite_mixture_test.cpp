// Softmax over keys that gather around directions: the virial identity with a density, and clusters
// that few rows see.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/core/distributions/sphere_mixture_gap.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::theory {
namespace {

// Keys of density ~ e^{κ⟨q,k⟩} add E Σ w ⟨q − Uk, ∇ log density⟩ = κ E Σ w (1 − U²) to the
// identity.
TEST(FiniteScoreMeans, SatisfyTheVirialIdentityOfKeysAroundTheQuery) {
  constexpr int kDimension = 5;
  constexpr double kConcentration = 5.0;
  const SphereMixtureGap gap(kDimension, {{kConcentration, 0.0, 1.0}});
  for (double n : {2.0, 1e4, 1e30})
    for (double beta : {0.5, 20.0, 1e3}) {
      const FiniteScoreMeans means = finite_score_means(gap, {std::log(n), beta});
      const double across = 2.0 * means.depth - means.square_depth;  // E Σ w (1 − U²)
      const double scatter = finite_sphere_output(means).scatter;
      EXPECT_NEAR((kDimension - 1) * (1.0 - means.depth),
                  (beta + kConcentration) * across - beta * scatter,
                  3.0 * kFiniteScoresError * (kDimension + (beta + kConcentration) * across))
          << n << ' ' << beta;
    }
}

// One key in fifty around the query moves β_PR from 78.87 to 518.7.
TEST(ParticipationBeta, FollowsASmallClusterAtTheQuery) {
  const SphereMixtureGap gap(9, {{0.0, 0.0, 0.98}, {60.0, 0.0, 0.02}});
  EXPECT_NEAR(participation_beta(gap, std::log(1e4)), 518.7, 0.05);
}

// One row in a thousand has a key in a narrow cluster, far from all others: between the two there
// is no winner, and beyond there is. E Σw² ≤ E w_1 would break by the share of those rows.
TEST(FiniteLargestWeight, CountsWinnersBeyondAGap) {
  const SphereMixtureGap gap(64, {{0.0, 0.0, 1.0 - 1e-6}, {1e4, 0.3, 1e-6}});
  const double log_n = std::log(1e3);
  for (double scale : {0.3, 10.0, 1e3}) {
    const FiniteScores question{log_n, scale * edge_beta(gap, log_n)};
    const FiniteScoreMeans means = finite_score_means(gap, question);
    const double largest = finite_largest_weight(gap, question);
    EXPECT_NEAR(means.normalisation, 1.0, kFiniteScoresError) << scale;
    EXPECT_LE(means.participation, largest) << scale;
    EXPECT_LE(largest, std::sqrt(means.participation)) << scale;
  }
}

}  // namespace
}  // namespace dewpoint::theory
