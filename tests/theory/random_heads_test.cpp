#include "dewpoint/theory/random_heads.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/theory/poisson_dirichlet.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::theory {
namespace {

const double kLogN = std::log(1e4);

RandomHeadStack stack(double b, int d = 512) { return {kLogN, d, b}; }

TEST(RandomHeadWeights, StartAsAnEqualShare) {
  const auto weights = random_head_weights(stack(1.0), 0.0);
  EXPECT_NEAR(weights.participation, 1e-4, 1e-18);
  EXPECT_EQ(weights.alignment, 0.0);
  EXPECT_NEAR(weights.spread, 1e-4, 1e-18);
}

// Both formulas at kSmallVariance: the series leaves out v²/n of Y, and the kurtosis −6/(d + 2) of
// the scores of a sphere enters e^v at v² 2²/4 of that.
TEST(RandomHeadWeights, JoinWhereTheSeriesEnds) {
  const double v = kSmallVariance;
  const auto below = random_head_weights(stack(1.0), v);
  const auto above = random_head_weights(stack(1.0), std::nextafter(v, 1.0));
  EXPECT_NEAR(above.participation / below.participation, 1.0, v * v * (1e-4 + 6.0 / 514.0));
  EXPECT_NEAR(above.alignment / below.alignment, 1.0, v * (1e-4 + 6.0 / 514.0) + 1e-4 * v);
  EXPECT_NEAR(above.spread / below.spread, 1.0, 3.0 * v * v + 3e-4);
}

// Property (2). A cumulant of the scores beyond the second is of order v²/d: −(2^4 − 2) v²/(4 d) of
// log Y in the annealed phase.
TEST(RandomHeadWeights, AreThoseOfTheRandomEnergyModelInHighDimension) {
  for (const double load : {0.1, 0.3, 0.5}) {
    const double b = load * freezing_beta(kLogN), v = b * b;
    const auto weights = random_head_weights(stack(b), v);
    const auto gaussian = random_energy_means(kLogN, b);
    EXPECT_NEAR(weights.participation / gaussian.participation, 1.0, 3.5 * v * v / 512.0 + 1e-9);
    EXPECT_NEAR(weights.alignment * std::sqrt(512.0) / (b * (1.0 - gaussian.participation)), 1.0,
                2.0 * v / 512.0 + 1e-9);
  }
}

// Property (3), with t_e in place of t and the derivative of Y, which the limit has not, of order
// 1/v. The edge of a sphere is softer than that of a normal law by log n/d.
TEST(RandomHeadWeights, SpreadAsPoissonAndDirichletSayAboveFreezing) {
  for (const double load : {1.5, 2.0, 3.0}) {
    const double b = load * freezing_beta(kLogN), v = b * b, t = edge_load(kLogN, load);
    const double found = random_head_weights(stack(b), v).spread;
    EXPECT_NEAR(found, (1.0 - 1.0 / t) / (3.0 * t), 1.0 / v + kLogN / 512.0);
  }
}

// Property (1).
TEST(RandomHeadStep, WithoutScoresAveragesAllTokens) {
  const RandomHeadState next =
      random_head_step(random_head_state(stack(1.0), 1.0, 0.3), stack(0.0));
  EXPECT_EQ(next.gap(), 0.0);
  EXPECT_NEAR(next.squared_norm, 0.3 + 0.7e-4, 1e-15);
}

// Property (2): finite size leaves e^{2v}/n or so, a sphere v²/d.
TEST(RandomHeadStep, FromNoCommonDirectionIsTheAnnealedFormula) {
  for (const double b : {0.05, 0.3, 0.7, 1.0}) {
    const RandomHeadState next =
        random_head_step(random_head_state(stack(1.0), 1.0, 0.0), stack(b));
    const double v = b * b;
    EXPECT_NEAR(next.gap(), annealed_first_gap(stack(b)), std::exp(2.0 * v) * 1e-3 + v * v / 128.0)
        << b;
  }
}

// Property (3), to first order in v = b² g and with 3/n left out; also where no double can hold the
// gap.
TEST(RandomHeadStep, CubesTheGapAfterTheCollapse) {
  for (const double log_gap : {-12.0, -40.0, -600.0, -2000.0}) {
    const RandomHeadState state{1.0, log_gap, 1.5, 0.0, 1.0};
    const RandomHeadState next = random_head_step(state, stack(3.0));
    EXPECT_NEAR(next.log_gap, 3.0 * log_gap + std::log(9.0 * 1.5 / 512.0),
                4e-4 + 20.0 * std::exp(log_gap))
        << log_gap;
  }
}

// Property (4): Y = 1 − 1/t_e of the weights is on one key, and t_e = 40 leaves 3 % of it.
TEST(RandomHeadStep, CoalescesCopiesWhereItIsFrozen) {
  const double b = 40.0 * freezing_beta(kLogN);
  const RandomHeadState next = random_head_step(random_head_state(stack(1.0), 1.0, 0.0), stack(b));
  EXPECT_NEAR(1.0 - next.gap(), 1e-4, 0.1e-4);
  EXPECT_NEAR(next.squared_norm, 1.0, 0.04);
}

TEST(RandomHeadStep, MultipliesSpectraOnlyByItsLinearPart) {
  EXPECT_EQ(anisotropy_step(1.0, 0.7), 1.0);
  EXPECT_DOUBLE_EQ(anisotropy_step(1.8, 0.0), 1.8);
  // To first order in c: 6c − 2c + c of the linear part.
  EXPECT_NEAR(anisotropy_step(1.001, 1.0), 1.005, 1e-5);
}

// The depth of the header: 1/(Y + a²) per layer while ρ is small.
TEST(RandomHeadStep, MultipliesASmallCorrelation) {
  const RandomHeadStack here = stack(0.6 * freezing_beta(kLogN));
  const double b2 = here.scaled_deviation * here.scaled_deviation;
  const auto weights = random_head_weights(here, b2);
  const double kept = weights.participation + weights.alignment * weights.alignment;
  const auto next = random_head_step(random_head_state(stack(1.0), 1.0, 1e-3), here);
  // q' is ρ larger than Y + a², new common parts are Y(ρv) = 1/n, a² ρ and the rest of order ρ.
  EXPECT_NEAR(-std::expm1(next.log_gap) * kept / (1e-3 + 1e-4), 1.0, 1e-3 / kept + 0.1);
}

TEST(RandomHeadState, ChangesThatAllTokensShareOutliveTheCollapse) {
  const auto states =
      random_head_trajectory(random_head_state(stack(0.3, 64), 1.0, 0.0), stack(0.3, 64), 6);
  ASSERT_EQ(states.size(), 7U);
  EXPECT_EQ(states[0].end_to_end(), 1.0);
  EXPECT_LT(states.back().own_change, 1e-6 * states.back().common_change);
  EXPECT_NEAR(states[6].end_to_end() / states[5].end_to_end(), 1.0, 1e-6);
}

}  // namespace
}  // namespace dewpoint::theory
