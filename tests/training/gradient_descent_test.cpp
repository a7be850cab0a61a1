#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>

#include "training/optimiser_cases.hpp"

namespace dewpoint::training {
namespace {

using test::Case;

const RunContext kRun;

TEST(GradientDescent, SubtractsRateTimesTheGradient) {
  const Case c = test::population_case(4, 5);
  const auto trainer = gradient_descent(*c.loss, c.start, 0.1);
  Parameters<double> expected = c.start;
  for (int step = 1; step <= 20; ++step) {
    const Parameters<double> gradient = test::gradient_at(*c.loss, expected);
    const auto move = [](Matrix<double>& w, const Matrix<double>& g) {
      for (std::size_t n = 0; n < w.size(); ++n) w.data()[n] -= 0.1 * g.data()[n];
    };
    move(expected.embedding, gradient.embedding);
    move(expected.unembedding, gradient.unembedding);
    move(expected.query, gradient.query);
    move(expected.key, gradient.key);
    ASSERT_TRUE(trainer->advance(step, kRun));
    // The same operations in the same order, but for a contraction into fused multiply-adds: one
    // rounding of a weight below 4 per step, and its consequences (1 + 0.1 K)^20 < 100.
    EXPECT_LE(test::largest_difference(trainer->parameters(), expected), 20 * 4 * 0x1p-52 * 100);
  }
  EXPECT_GT(test::largest_difference(expected, c.start), 0.01);
}

// L(θ − rate g) = L − rate |g|² + O(rate²): the loss falls at the rate the gradient promises, to
// within rate K/2 of it.
TEST(GradientDescent, DescendsAtThePromisedRate) {
  const Case c = test::population_case(3, 4);
  const double rate = 1e-4;
  const auto trainer = gradient_descent(*c.loss, c.start, rate);
  const Parameters<double> gradient = test::gradient_at(*c.loss, c.start);
  double square = 0.0;
  test::for_each_weight(gradient, [&](auto entry, std::size_t n) {
    square += entry(gradient)[n] * entry(gradient)[n];
  });
  const double before = test::loss_at(*c.loss, *trainer);
  ASSERT_TRUE(trainer->advance(1, kRun));
  const double fall = before - test::loss_at(*c.loss, *trainer);
  const double curvature = 2.0 * test::largest_curvature(*c.loss, c.start);
  EXPECT_NEAR(fall / (rate * square), 1.0, rate * curvature + 1e-14 / (rate * square));
}

TEST(GradientDescent, GoesOnFromAStateWithTheSameBytes) {
  const Case c = test::population_case(4, 7);
  const auto straight = gradient_descent(*c.loss, c.start, 0.1);
  ASSERT_TRUE(straight->advance(5, kRun));
  const auto saved = straight->state();
  ASSERT_TRUE(straight->advance(12, kRun));
  const auto resumed = gradient_descent(*c.loss, c.start, 0.1);
  resumed->restore(saved);
  EXPECT_EQ(resumed->time(), 5.0);
  ASSERT_TRUE(resumed->advance(8, kRun) && resumed->advance(12, kRun));
  EXPECT_EQ(straight->state(), resumed->state());
}

TEST(GradientDescent, RefusesBytesThatAreNotItsState) {
  const Case c = test::population_case(3, 4);
  const auto trainer = gradient_descent(*c.loss, c.start, 0.1);
  const auto good = trainer->state();
  for (const auto& bad : test::spoiled(good)) {
    EXPECT_TRUE(test::is_malformed([&] { trainer->restore(bad); }));
  }
  const auto other = plain_adam(*c.loss, c.start, {});
  EXPECT_TRUE(test::is_malformed([&] { trainer->restore(other->state()); }));
  EXPECT_EQ(trainer->state(), good);
}

TEST(GradientDescent, NoticesThatItDiverges) {
  const Case c = test::population_case(4, 8);
  const auto trainer = gradient_descent(*c.loss, c.start, 1e100);
  EXPECT_FALSE(trainer->advance(1000, kRun));
  EXPECT_LT(trainer->time(), 10.0);
}

TEST(GradientDescent, StopsOnRequest) {
  const Case c = test::population_case(3, 4);
  const auto trainer = gradient_descent(*c.loss, c.start, 0.1);
  std::stop_source source;
  source.request_stop();
  RunContext stopping;
  stopping.stop = source.get_token();
  EXPECT_TRUE(test::is_stopped([&] { static_cast<void>(trainer->advance(9, stopping)); }));
  EXPECT_EQ(trainer->time(), 0.0);
}

}  // namespace
}  // namespace dewpoint::training
