// Minibatches: which sequences a step sees, and that on average it sees them all.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dewpoint/training/token_loss.hpp"
#include "training/loss_cases.hpp"
#include "training/standard_chain.hpp"

namespace dewpoint::training::test {
namespace {

using dewpoint::test::kSigmas;

SequenceSet some_sequences(std::size_t count) {
  return sample_sequences(standard_chain(), kStandardContext, count, dewpoint::test::seed(), 0, {});
}

// The sequences of a step: number u·count for each draw u of the stream.
SequenceSet drawn(const SequenceSet& all, std::size_t batch, std::uint64_t replica,
                  std::uint64_t step) {
  const Stream stream(dewpoint::test::seed(), "training/batch", replica);
  SequenceSet some{all.vocabulary, all.context, {}};
  for (std::size_t b = 0; b < batch; ++b) {
    const double u = stream.uniform(step * batch + b);
    const auto sequence =
        all.sequence(static_cast<std::size_t>(u * static_cast<double>(all.size())));
    some.tokens.insert(some.tokens.end(), sequence.begin(), sequence.end());
  }
  return some;
}

TEST(MinibatchLoss, IsTheLossOfTheSequencesDrawn) {
  const SequenceSet all = some_sequences(500);
  const TokenMaps at = random_maps(4, 2.0, 2.0, "minibatch");
  for (const bool residual : {false, true}) {
    for (const Precision precision : {Precision::single_, Precision::double_}) {
      const double epsilon = precision == Precision::single_ ? kSingleEpsilon : kDoubleEpsilon;
      const double error = 2.0 * pass_error(4, spread(at.attention), largest(at.value), epsilon);
      for (const std::size_t batch : {1U, 16U, 37U, 1000U}) {
        const auto loss =
            minibatch_loss(all, batch, dewpoint::test::seed(), 3, {residual, precision});
        for (const std::uint64_t step : {0U, 1U, 7U}) {
          const auto direct =
              histogram_loss(collapse(drawn(all, batch, 3, step)), {residual, precision});
          TokenMaps slope(4);
          TokenMaps expected(4);
          EXPECT_NEAR(loss->slope(step, at, slope), direct->slope(0, at, expected), 4.0 * error);
          EXPECT_LE(largest_difference(slope.value, expected.value), error);
          EXPECT_LE(largest_difference(slope.attention, expected.attention),
                    8.0 * largest(at.value) * error);
        }
      }
    }
  }
}

TEST(MinibatchLoss, RepeatsAStepToTheLastBit) {
  const SequenceSet all = some_sequences(500);
  const TokenMaps at = random_maps(4, 2.0, 2.0, "minibatch");
  const auto one = minibatch_loss(all, 64, dewpoint::test::seed(), 0, {});
  const auto two = minibatch_loss(all, 64, dewpoint::test::seed(), 0, {});
  const auto other = minibatch_loss(all, 64, dewpoint::test::seed(), 1, {});
  TokenMaps first(4);
  TokenMaps again(4);
  const double early = one->slope(5, at, first);
  EXPECT_NE(one->slope(6, at, again), early);
  EXPECT_NE(other->slope(5, at, again), early);
  EXPECT_EQ(two->slope(5, at, again), early);
  EXPECT_EQ(largest_difference(first.attention, again.attention), 0.0);
  EXPECT_EQ(largest_difference(first.value, again.value), 0.0);
}

struct Moments {
  double sum = 0.0;
  double square = 0.0;
};

// The mean over steps of every number a step returns is that of the whole set within kSigmas
// standard errors, estimated from the steps themselves.
TEST(MinibatchLoss, IsTheWholeLossOnAverage) {
  constexpr std::size_t steps = 4000;
  const SequenceSet all = some_sequences(2000);
  const TokenMaps at = random_maps(4, 1.0, 1.0, "average");
  const auto loss = minibatch_loss(all, 64, dewpoint::test::seed(), 0, {});
  std::vector<Moments> moments(33);
  TokenMaps slope(4);
  const auto number = [&slope](double value, std::size_t i) {
    if (i == 32) return value;
    return i < 16 ? slope.value.data()[i] : slope.attention.data()[i - 16];
  };
  for (std::size_t step = 0; step < steps; ++step) {
    const double value = loss->slope(step, at, slope);
    for (std::size_t i = 0; i < moments.size(); ++i) {
      moments[i].sum += number(value, i);
      moments[i].square += number(value, i) * number(value, i);
    }
  }
  const double whole = histogram_loss(collapse(all), {})->slope(0, at, slope);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const double mean = moments[i].sum / steps;
    const double variance = moments[i].square / steps - mean * mean;
    EXPECT_NEAR(mean, number(whole, i), kSigmas * std::sqrt(variance / steps)) << i;
  }
}

TEST(MinibatchLoss, HasTheGroupsAndTheCurvatureOfTheWholeSet) {
  const SequenceSet all = some_sequences(500);
  const TokenMaps at = random_maps(4, 2.0, 2.0, "minibatch");
  const TokenMaps along = random_maps(4, 1.0, 1.0, "along");
  const auto loss = minibatch_loss(all, 16, dewpoint::test::seed(), 0, {});
  const auto whole = histogram_loss(collapse(all), {});
  EXPECT_EQ(loss->group_losses(at), whole->group_losses(at));
  EXPECT_EQ(loss->group_weights(), whole->group_weights());
  TokenMaps change(4);
  TokenMaps expected(4);
  loss->slope_change(at, along, change);
  whole->slope_change(at, along, expected);
  EXPECT_EQ(largest_difference(change.value, expected.value), 0.0);
  EXPECT_EQ(largest_difference(change.attention, expected.attention), 0.0);
}

}  // namespace
}  // namespace dewpoint::training::test
