// The loss over (Φ, M): the plain formulas against complex steps, the vectors against the plain
// formulas, and what is known in closed form.
#include "dewpoint/training/token_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/kernels.hpp"
#include "training/loss_cases.hpp"
#include "training/standard_chain.hpp"

namespace dewpoint::training::test {
namespace {

using dewpoint::test::kSigmas;

double derivative_of_loss(const HistogramRows& rows, bool residual, const TokenMaps& at,
                          const TokenMaps& along) {
  const auto sums = plain_slope<Complex>(rows, residual, shifted(at.attention, along.attention),
                                         shifted(at.value, along.value));
  return sums.loss.imag() / kComplexStep;
}

// Both sides are sums of the same terms in double: plain_error() each.
TEST(PlainSlope, IsTheDerivativeOfTheLossByComplexStep) {
  for (const std::size_t d : {2U, 3U, 4U, 6U}) {
    for (const double size : {0.1, 1.0, 5.0}) {
      for (const bool residual : {false, true}) {
        const std::string name = std::to_string(d) + "/" + std::to_string(size);
        const HistogramRows rows = random_rows(d, 9, 12 * d, name);
        const TokenMaps at = random_maps(d, size, size, name);
        const auto slope = plain_slope<double>(rows, residual, at.attention, at.value);
        const double error = 2.0 * plain_error(rows, at);
        for (std::size_t i = 0; i < d * d; ++i) {
          TokenMaps along(d);
          along.attention.data()[i] = 1.0;
          EXPECT_NEAR(slope.attention.data()[i], derivative_of_loss(rows, residual, at, along),
                      8.0 * largest(at.value) * error);
          along = TokenMaps(d);
          along.value.data()[i] = 1.0;
          EXPECT_NEAR(slope.value.data()[i], derivative_of_loss(rows, residual, at, along), error);
        }
      }
    }
  }
}

class FastSlope : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    force_simd_target(GetParam());
    ASSERT_EQ(simd_target(), GetParam());
  }
  void TearDown() override { force_simd_target(""); }
};

INSTANTIATE_TEST_SUITE_P(EveryTarget, FastSlope, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

// Loss and slope of the vectors within pass_error() of the plain formulas; returns the largest
// error of ∂L/∂M in units of that.
double expect_agreement(const HistogramRows& rows, const TokenMaps& at,
                        const LossOptions& options) {
  const double epsilon = options.precision == Precision::single_ ? kSingleEpsilon : kDoubleEpsilon;
  const double own = pass_error(rows.vocabulary, spread(at.attention), largest(at.value), epsilon);
  const double error = own + plain_error(rows, at);
  const auto plain = plain_slope<double>(rows, options.residual, at.attention, at.value);
  const auto loss = histogram_loss(rows, options);
  TokenMaps slope(rows.vocabulary);
  EXPECT_NEAR(loss->slope(0, at, slope), plain.loss, 4.0 * error);
  EXPECT_LE(largest_difference(slope.value, plain.value), error);
  EXPECT_LE(largest_difference(slope.attention, plain.attention), 8.0 * largest(at.value) * error);
  return largest_difference(slope.value, plain.value) / own;
}

TEST_P(FastSlope, AgreesWithThePlainFormulas) {
  double worst = 0.0;
  for (const std::size_t d : {2U, 3U, 4U, 5U, 6U, 17U}) {
    for (const double size : {0.01, 1.0, 6.0}) {
      const std::string name = "fast" + std::to_string(d) + "/" + std::to_string(size);
      const HistogramRows rows = random_rows(d, 19, 61 * d, name);
      const TokenMaps at = random_maps(d, size, size, name);
      for (const bool residual : {false, true}) {
        worst = std::max(worst, expect_agreement(rows, at, {residual, Precision::single_}));
        expect_agreement(rows, at, {residual, Precision::double_});
      }
    }
  }
  EXPECT_GT(worst, 1e-3);  // the promise is not idle
}

TEST_P(FastSlope, AgreesForTheLargestVocabulary) {
  const HistogramRows rows = random_rows(kMostTokens, 40, 64, "largest");
  const TokenMaps at = random_maps(kMostTokens, 1.0, 1.0, "largest");
  for (const bool residual : {false, true}) {
    expect_agreement(rows, at, {residual, Precision::single_});
    expect_agreement(rows, at, {residual, Precision::double_});
  }
}

// Spreads beyond kWidestSpread, where most contexts lack the token with the largest score.
TEST_P(FastSlope, SurvivesAttentionThatSpreadsOverHundreds) {
  for (const std::size_t d : {4U, 5U}) {
    const HistogramRows rows = random_rows(d, 3, 40 * d, "spread" + std::to_string(d));
    for (const double size : {100.0, 3000.0}) {
      const TokenMaps at = random_maps(d, size, 2.0, "spread" + std::to_string(d));
      ASSERT_GT(spread(at.attention), kWidestSpread<float>);
      for (const bool residual : {false, true}) {
        if (size == 100.0) expect_agreement(rows, at, {residual, Precision::single_});
        expect_agreement(rows, at, {residual, Precision::double_});
      }
    }
  }
}

HistogramRows one_row(std::vector<double> counts, std::vector<double> labels) {
  HistogramRows rows;
  rows.vocabulary = counts.size();
  rows.last = {0};
  rows.counts = Matrix<double>(1, counts.size());
  rows.labels = Matrix<double>(1, counts.size());
  for (std::size_t j = 0; j < counts.size(); ++j) {
    rows.counts(0, j) = counts[j];
    rows.labels(0, j) = labels[j];
    rows.context += static_cast<std::size_t>(counts[j]);
    rows.weight += labels[j];
  }
  return rows;
}

// A context of token 0 alone attends to it, whatever it would rather attend to: z is row 0 of M.
// With M_0· = (0, log 3) label 1 has probability 3/4; ∂L/∂M_0· = (p_0, p_1 − 1).
TEST_P(FastSlope, AttendsToTheOnlyTokenThereIsAgainstAnyScore) {
  TokenMaps at(2);
  at.value(0, 1) = std::log(3.0);
  at.value(1, 0) = 7.0;
  for (const double score : {50.0, 90.0, 750.0, 1e6, 1e30}) {
    at.attention(0, 1) = score;
    for (const Precision precision : {Precision::single_, Precision::double_}) {
      const double epsilon = precision == Precision::single_ ? kSingleEpsilon : kDoubleEpsilon;
      const auto loss = histogram_loss(one_row({5, 0}, {0, 2}), {false, precision});
      TokenMaps slope(2);
      // A is exactly (1, 0), so z carries the rounding of log 3 only; a dozen roundings follow.
      EXPECT_NEAR(loss->slope(0, at, slope), std::log(4.0 / 3.0), 12 * epsilon);
      EXPECT_NEAR(slope.value(0, 0), 0.25, 12 * epsilon);
      EXPECT_NEAR(slope.value(0, 1), -0.25, 12 * epsilon);
      EXPECT_EQ(slope.value(1, 0), 0.0);
      EXPECT_EQ(slope.attention(0, 0), 0.0);
      EXPECT_EQ(slope.attention(0, 1), 0.0);
    }
  }
}

// The softmax of the logits subtracts its maximum: certain and wrong costs the gap, no more.
TEST_P(FastSlope, SurvivesHugeLogits) {
  TokenMaps at(2);
  at.value(0, 0) = 1e4;
  at.value(0, 1) = -2e4;
  for (const Precision precision : {Precision::single_, Precision::double_}) {
    const auto loss = histogram_loss(one_row({3, 0}, {0, 1}), {false, precision});
    TokenMaps slope(2);
    EXPECT_EQ(loss->slope(0, at, slope), 3e4);
    EXPECT_EQ(slope.value(0, 0), 1.0);
    EXPECT_EQ(slope.value(0, 1), -1.0);
  }
}

TEST_P(FastSlope, IsNotANumberWhereTheMapsAreNot) {
  const HistogramRows rows = random_rows(4, 9, 40, "nan");
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const Precision precision : {Precision::single_, Precision::double_}) {
      const auto loss = histogram_loss(rows, {false, precision});
      TokenMaps slope(4);
      TokenMaps at = random_maps(4, 1.0, 1.0, "nan");
      at.attention(2, 1) = bad;
      EXPECT_TRUE(std::isnan(loss->slope(0, at, slope)));
      EXPECT_TRUE(std::isnan(slope.attention(0, 0)));
      at = random_maps(4, 1.0, 1.0, "nan");
      at.value(0, 3) = bad;
      EXPECT_TRUE(std::isnan(loss->slope(0, at, slope)));
      // and is one again afterwards
      EXPECT_TRUE(std::isfinite(loss->slope(0, random_maps(4, 1.0, 1.0, "nan"), slope)));
    }
  }
}

// Single precision overflows before double does: that must be seen, too.
TEST_P(FastSlope, IsNotANumberWhereSinglePrecisionOverflows) {
  const auto loss = histogram_loss(random_rows(4, 9, 40, "nan"), {false, Precision::single_});
  TokenMaps slope(4);
  TokenMaps at = random_maps(4, 1.0, 1.0, "nan");
  at.value(0, 3) = 1e60;
  EXPECT_FALSE(std::isfinite(loss->slope(0, at, slope)));
}

// Shared exponentials as small as they may be: the context lacks token 2, whose score leads by 590.
// Nothing else may depend on that score.
TEST_P(FastSlope, ChangesAlikeBelowALeadThatIsAbsent) {
  TokenMaps at = random_maps(3, 1.0, 1.0, "lead");
  const TokenMaps along = random_maps(3, 1.0, 1.0, "along lead");
  const auto loss = histogram_loss(one_row({1, 2, 0}, {1, 3, 2}), {});
  at.attention(0, 2) = 0.0;
  TokenMaps without(3);
  loss->slope_change(at, along, without);
  const double error = 6.0 * pass_error(3, 600.0, largest(at.value), kDoubleEpsilon);
  const SlopeMove move =
      slope_move(largest(along.attention), largest(along.value), largest(at.value));
  at.attention(0, 2) = 590.0;
  TokenMaps with(3);
  loss->slope_change(at, along, with);
  EXPECT_LE(largest_difference(with.value, without.value), error * move.value);
  EXPECT_LE(largest_difference(with.attention, without.attention), error * move.attention);
  EXPECT_GT(largest(without.attention), 0.0);
}

// A derivative is a sum of products of at most three factors whose values are off by pass_error()
// relatively, and slope_move() bounds the sum of the sizes of these products; twice, for both
// sides, of which the complex one also adds up all rows in one sum.
TEST_P(FastSlope, ChangesAsTheComplexStepOfTheSlopeSays) {
  for (const std::size_t d : {2U, 3U, 4U, 6U}) {
    for (const double size : {0.1, 2.0, 6.0, 150.0, 1000.0}) {  // to beyond kWidestSpread
      const std::string name = "change" + std::to_string(d) + "/" + std::to_string(size);
      const HistogramRows rows = random_rows(d, 6, 30 * d, name);
      const TokenMaps at = random_maps(d, size, std::min(size, 4.0), name);
      const TokenMaps along = random_maps(d, 1.0, 1.0, "along" + name);
      const SlopeMove move =
          slope_move(largest(along.attention), largest(along.value), largest(at.value));
      const double error = 3.0 * 2.0 * plain_error(rows, at);
      for (const bool residual : {false, true}) {
        const auto complex = plain_slope<Complex>(
            rows, residual, shifted(at.attention, along.attention), shifted(at.value, along.value));
        TokenMaps change(d);
        histogram_loss(rows, {residual, Precision::double_})->slope_change(at, along, change);
        EXPECT_LE(largest_difference(change.value, derivative(complex.value)), error * move.value);
        EXPECT_LE(largest_difference(change.attention, derivative(complex.attention)),
                  error * move.attention);
      }
    }
  }
}

// The weighted mean of the groups is the same sum, d terms instead of one: a rounding per group.
TEST(GroupLosses, AverageToTheLoss) {
  const HistogramRows rows = random_rows(4, 9, 200, "groups");
  const TokenMaps at = random_maps(4, 2.0, 2.0, "groups");
  const auto loss = histogram_loss(rows, {});
  const std::vector<double> losses = loss->group_losses(at);
  const std::vector<double> weights = loss->group_weights();
  TokenMaps slope(4);
  const double mean = std::inner_product(losses.begin(), losses.end(), weights.begin(), 0.0);
  EXPECT_NEAR(mean, loss->slope(0, at, slope), 8 * kDoubleEpsilon * mean);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1.0, 4 * kDoubleEpsilon);
}

TEST(GroupLosses, AreNotANumberWhereThereIsNoSequence) {
  const auto loss = histogram_loss(one_row({5, 2}, {1, 2}), {});
  const std::vector<double> losses = loss->group_losses(TokenMaps(2));
  EXPECT_NEAR(losses[0], std::log(2.0), 4 * kDoubleEpsilon);
  EXPECT_TRUE(std::isnan(losses[1]));
  EXPECT_EQ(loss->group_weights(), (std::vector<double>{1.0, 0.0}));
}

// At the origin attention is π, predictions are uniform: L = log d and ∂L/∂M = −π (π − 1/d)ᵀ.
// Products of numbers below 1 that carry a few roundings each.
TEST(PopulationLoss, HasTheKnownSlopeAtTheOrigin) {
  for (const auto& name : chain_names()) {
    const Chain chain = standard_chain(name);
    const auto loss = population_loss(chain, {});
    TokenMaps slope(4);
    EXPECT_NEAR(loss->slope(0, TokenMaps(4), slope), std::log(4.0), 8 * kDoubleEpsilon);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        const double expected = -chain.stationary[i] * (chain.stationary[k] - 0.25);
        EXPECT_NEAR(slope.value(i, k), expected, 16 * kDoubleEpsilon);
        EXPECT_EQ(slope.attention(i, k), 0.0);
      }
    }
    EXPECT_EQ(loss->group_weights().size(), 4U);
    EXPECT_NEAR(loss->group_weights()[0], 0.75, 4 * kDoubleEpsilon);
  }
}

// L = −Σ_ik π_i P_ik log softmax(softmax(Φ_i· + log π) M)_k, written out. [FD, Eq (5)]
TEST(PopulationLoss, IsTheExpectationOverLongContexts) {
  const Chain chain = standard_chain();
  const TokenMaps at = random_maps(4, 1.5, 1.5, "population");
  double expected = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    double total = 0.0;
    std::vector<double> logits(4, 0.0);
    for (std::size_t j = 0; j < 4; ++j) {
      const double share = chain.stationary[j] * std::exp(at.attention(i, j));
      total += share;
      for (std::size_t k = 0; k < 4; ++k) logits[k] += share * at.value(j, k);
    }
    double partition = 0.0;
    for (double& logit : logits) partition += std::exp(logit /= total);
    for (std::size_t k = 0; k < 4; ++k) {
      expected += chain.stationary[i] * chain.transition(i, k) * (std::log(partition) - logits[k]);
    }
  }
  TokenMaps slope(4);
  const double error = pass_error(4, spread(at.attention), largest(at.value), kDoubleEpsilon);
  EXPECT_NEAR(population_loss(chain, {})->slope(0, at, slope), expected, 8.0 * error);
}

}  // namespace
}  // namespace dewpoint::training::test
